/* The production kernels that the simulator has, by name. */
#include <stdio.h>
#include <string.h>

#include "kernel_list.h"
#include "simt/production.h"

#define TALLY_ROW(kernel) extern const tally__simt_set tally__simt_reduce_##kernel, tally__simt_segments_##kernel;
TALLY_KERNELS(TALLY_ROW)
#undef TALLY_ROW
#define TALLY_ROW(kernel) extern const tally__simt_set tally__simt_exact_##kernel, tally__simt_quick_##kernel, tally__simt_careful_##kernel;
TALLY_EXACT_KERNELS(TALLY_ROW)
#undef TALLY_ROW

static const struct {
    const char *name, *second;
    const tally__simt_set *set;
} sets[] = {
#define TALLY_ROW(kernel)                                             \
    {"tally_reduce_" #kernel, NULL, &tally__simt_reduce_##kernel},    \
    {"tally_segments_" #kernel, "tally_spans_" #kernel, &tally__simt_segments_##kernel},
    TALLY_KERNELS(TALLY_ROW)
#undef TALLY_ROW
#define TALLY_ROW(kernel)                                                          \
    {"tally_exact_" #kernel, NULL, &tally__simt_exact_##kernel},                   \
    {"tally_quick_" #kernel, "tally_quick_spans_" #kernel, &tally__simt_quick_##kernel}, \
    {"tally_careful_" #kernel, NULL, &tally__simt_careful_##kernel},
    TALLY_EXACT_KERNELS(TALLY_ROW)
#undef TALLY_ROW
};

/* Whether the entry is `name` with a type and a policy behind it. */
static bool find_type(const char *entry, const char *name, int *type, int *nan) {
    char whole[64];
    if (name == NULL || strncmp(entry, name, strlen(name)) != 0) return false;
    for (*type = TALLY_NATURAL + 1; *type < TALLY_TYPE_END; ++*type)
        for (*nan = TALLY_NAN_PROPAGATE; *nan <= TALLY_NAN_TOTAL; ++*nan) {
            const char *word = *type == TALLY_BOOL ? "boolean" : tally_type_name((tally_type)*type);
            snprintf(whole, sizeof whole, "%s_%s_%d", name, word, *nan);
            if (strcmp(whole, entry) == 0) return true;
        }
    return false;
}

tally__simt_entry *tally__simt_production(const char *entry) {
    int type, nan;
    for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
        if (find_type(entry, sets[k].name, &type, &nan)) return sets[k].set->of[type][nan].first;
        if (find_type(entry, sets[k].second, &type, &nan)) return sets[k].set->of[type][nan].second;
    }
    return NULL;
}
