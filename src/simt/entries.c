/* Kernels by name: those of the production library, and those that a program has registered. An image is the word
 * "simt" and the name of the entry. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "forms.h"
#include "simt/module.h"

typedef struct registered {
    struct registered *next;
    const char *name;
    tally__simt_entry *entry;
} registered;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static registered *entries;

static registered *find_registered(const char *name) {
    registered *r = entries;
    while (r != NULL && strcmp(r->name, name) != 0) r = r->next;
    return r;
}

tally__simt_entry *tally__simt_find(const char *name) {
    tally__simt_entry *entry;
    const registered *r;
    pthread_mutex_lock(&mutex);
    r = find_registered(name);
    entry = r != NULL ? r->entry : tally__simt_production(name);
    pthread_mutex_unlock(&mutex);
    return entry;
}

/* The kernels of kernels/forms.h: the unit of each, and how its name begins. The names of all kernels of a unit end
 * alike. */
static const struct unit_kernel {
    const char *unit, *begin;
} unit_kernels[] = {
#define TALLY_UNIT(kind, ID, text, defines)
#define TALLY_ROW(kind, ID, name, threads, work) {#kind #ID, "tally_" #name},
    TALLY_FORM_UNITS(TALLY_UNIT, TALLY_ROW)
#undef TALLY_UNIT
#undef TALLY_ROW
};
enum { UNIT_KERNELS = sizeof unit_kernels / sizeof *unit_kernels };

/* What follows `begin` in a name; NULL: the name begins otherwise. */
static const char *rest_of(const char *name, const char *begin) {
    const size_t length = strlen(begin);
    return strncmp(name, begin, length) == 0 && (name[length] == '_' || name[length] == 0) ? name + length : NULL;
}

tally__simt_entry *tally__simt_beside(const char *name, const char *other) {
    for (int a = 0; a < UNIT_KERNELS; a++)
        for (int b = 0; b < UNIT_KERNELS; b++) {
            const char *rest = rest_of(name, unit_kernels[a].begin), *its = rest_of(other, unit_kernels[b].begin);
            if (strcmp(unit_kernels[a].unit, unit_kernels[b].unit) == 0 && rest != NULL && its != NULL &&
                strcmp(rest, its) == 0)
                return tally__simt_find(other);
        }
    return NULL;
}

bool tally__simt_register(const char *name, tally__simt_entry *entry) {
    registered *r;
    pthread_mutex_lock(&mutex);
    r = find_registered(name);
    if (r == NULL && (r = malloc(sizeof *r)) != NULL) {
        r->name = name;
        r->next = entries;
        entries = r;
    }
    if (r != NULL) r->entry = entry;
    pthread_mutex_unlock(&mutex);
    return r != NULL;
}

const char *tally__simt_entry_of(const void *image) {
    if (image == NULL || strncmp(image, TALLY_SIMT_IMAGE, strlen(TALLY_SIMT_IMAGE)) != 0) return NULL;
    return (const char *)image + strlen(TALLY_SIMT_IMAGE);
}
