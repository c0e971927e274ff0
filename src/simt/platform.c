/* The simulator's platform: kernels by name. There is nothing to compile; an image is the word "simt" and the name of
 * the entry. An operator given as text is found if a program has compiled that text itself and registered it: a library
 * that runs a compiler behind the caller's back for the sake of a simulator would be a surprise, and its code beyond
 * the reach of sanitizers. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/platform.h"
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

/* Texts of several kernels: those of segments, of cuts, of groups, and of merges. */
tally__simt_entry *tally__simt_beside(const char *name, const char *other) {
    static const char *const texts[][2] = {{"tally_cut_", "tally_cut_"},
                                           {"tally_group_", "tally_group_"},
                                           {"tally_merge_", "tally_merge_"},
                                           {"tally_segments_", "tally_spans_"},
                                           {"tally_features_", "tally_feature_nodes_"},
                                           {"tally_quick_features_", "tally_quick_feature_nodes_"},
                                           {"tally_quick_", "tally_quick_spans_"},
                                           {"tally_flat_", "tally_flat_"}};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
        if (strncmp(name, texts[k][0], strlen(texts[k][0])) == 0 &&
            strncmp(other, texts[k][1], strlen(texts[k][1])) == 0)
            return tally__simt_find(other);
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

static const char image_word[] = "simt ";

const char *tally__simt_entry_of(const void *image) {
    if (image == NULL || strncmp(image, image_word, strlen(image_word)) != 0) return NULL;
    return (const char *)image + strlen(image_word);
}

static const tally__driver *driver(const char **why) {
    (void)why;
    return &tally__simt_driver;
}

static tally_status compile(const tally__unit *unit, int sm, tally__image *image) {
    size_t size = strlen(image_word) + strlen(unit->entry) + 1;
    bool found = tally__simt_find(unit->entry) != NULL;
    (void)sm;
    TALLY_CHECK(found || unit->user_text == NULL, UNSUPPORTED,
                "the simulator has no kernel \"%s\", and no compiler for an operator given as text", unit->entry);
    TALLY_CHECK(found || tally__simt_missing()[0] == '\0', UNSUPPORTED, "%s", tally__simt_missing());
    TALLY_CHECK(found, UNSUPPORTED, "the simulator has no kernel \"%s\"", unit->entry);
    image->bytes = malloc(size);
    TALLY_CHECK(image->bytes != NULL, NO_MEMORY, "no memory for an image of %zu bytes", size);
    image->size = size;
    snprintf(image->bytes, size, "%s%s", image_word, unit->entry);
    return TALLY_OK;
}

static tally_status compiler_version(char *version, size_t capacity) {
    TALLY_CHECK(capacity > 0, NO_SPACE, "no space for the compiler's version");
    version[0] = '\0';
    return TALLY_OK;
}

const tally__platform tally__simt_platform = {"simt", driver, compile, compiler_version, NULL};
