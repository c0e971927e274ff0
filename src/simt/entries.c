/* Kernels by name: those of the production library, and those that a program has registered. An image is the word
 * "simt" and the name of the entry. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

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

const char *tally__simt_entry_of(const void *image) {
    if (image == NULL || strncmp(image, TALLY_SIMT_IMAGE, strlen(TALLY_SIMT_IMAGE)) != 0) return NULL;
    return (const char *)image + strlen(TALLY_SIMT_IMAGE);
}
