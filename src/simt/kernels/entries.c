/* The production kernels that the simulator has, by name: the way into libtally-simt.so, which all of this folder and the units that CMake
 * writes are. */
#include <stdio.h>
#include <string.h>

#include "kernel_list.h"
#include "simt/kernels/set.h"
#include "simt/module.h"

#define TALLY_DECLARE(form, kernel) extern const tally__simt_set tally__simt_##form##_##kernel;
#define TALLY_ENTER(form, kernel) {"tally_" #form "_" #kernel, NULL, NULL, &tally__simt_##form##_##kernel},
#define TALLY_SINGLE(X)                       \
    TALLY_KERNELS_OF_FORM(X, reduce)          \
    TALLY_KERNELS_OF_FORM(X, short)           \
    TALLY_KERNELS_OF_FORM(X, rows)            \
    TALLY_KERNELS_OF_FORM(X, columns)         \
    TALLY_EXACT_KERNELS_OF_FORM(X, exact)     \
    TALLY_EXACT_KERNELS_OF_FORM(X, exact_small) \
    TALLY_EXACT_KERNELS_OF_FORM(X, prefix) \
    TALLY_EXACT_KERNELS_OF_FORM(X, prefix_columns) \
    TALLY_EXACT_KERNELS_OF_FORM(X, wide)
TALLY_SINGLE(TALLY_DECLARE)
TALLY_KERNELS_OF_FORM(TALLY_DECLARE, segments)
TALLY_EXACT_KERNELS_OF_FORM(TALLY_DECLARE, quick)
TALLY_EXACT_KERNELS_OF_FORM(TALLY_DECLARE, flat)

static const struct {
    const char *name, *second, *third;
    const tally__simt_set *set;
} sets[] = {
    TALLY_SINGLE(TALLY_ENTER)
#define TALLY_ENTER_TWO(form, kernel) {"tally_" #form "_" #kernel, "tally_spans_" #kernel, NULL, &tally__simt_##form##_##kernel},
    TALLY_KERNELS_OF_FORM(TALLY_ENTER_TWO, segments)
#undef TALLY_ENTER_TWO
#define TALLY_ENTER_TWO(form, kernel) {"tally_" #form "_" #kernel, "tally_quick_spans_" #kernel, NULL, &tally__simt_##form##_##kernel},
    TALLY_EXACT_KERNELS_OF_FORM(TALLY_ENTER_TWO, quick)
#undef TALLY_ENTER_TWO
#define TALLY_ENTER_THREE(form, kernel) {"tally_" #form "_" #kernel, "tally_flat_clear_" #kernel, "tally_flat_finish_" #kernel, &tally__simt_##form##_##kernel},
    TALLY_EXACT_KERNELS_OF_FORM(TALLY_ENTER_THREE, flat)
#undef TALLY_ENTER_THREE
};

void tally_convert(tally_work work); /* convert.c */

const tally__simt_words *tally__simt;

static const char *const type_words[TALLY_TYPE_END] = {
#define TALLY_ROW(id, name, numpy, bytes, class) [TALLY_##id] = TALLY_##id == TALLY_BOOL ? "boolean" : #name,
    TALLY_TYPES(TALLY_ROW)
#undef TALLY_ROW
};

/* Whether the entry is `name` with a type and a policy behind it. */
static bool find_type(const char *entry, const char *name, int *type, int *nan) {
    char whole[64];
    if (name == NULL || strncmp(entry, name, strlen(name)) != 0) return false;
    for (*type = TALLY_NATURAL + 1; *type < TALLY_STRUCT; ++*type)
        for (*nan = TALLY_NAN_PROPAGATE; *nan <= TALLY_NAN_TOTAL; ++*nan) {
            snprintf(whole, sizeof whole, "%s_%s_%d", name, type_words[*type], *nan);
            if (strcmp(whole, entry) == 0) return true;
        }
    return false;
}

static tally__simt_entry *find(const char *entry) {
    int type, nan;
    if (strcmp(entry, "tally_convert") == 0) return tally_convert;
    for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
        if (find_type(entry, sets[k].name, &type, &nan)) return sets[k].set->of[type][nan].first;
        if (find_type(entry, sets[k].second, &type, &nan)) return sets[k].set->of[type][nan].second;
        if (find_type(entry, sets[k].third, &type, &nan)) return sets[k].set->of[type][nan].third;
    }
    return tally__simt_cut(entry);
}

/* A process may have two copies of the library, and so two machines, but these kernels only once: they run on the first that asks. */
__attribute__((visibility("default"))) tally__simt_lookup *
tally_simt_kernels(const char *edition, const tally__simt_words *words, size_t words_bytes) {
    if (strcmp(edition, tally__edition) != 0 || words_bytes != sizeof *words) return NULL;
    if (tally__simt != NULL && tally__simt != words) return NULL;
    tally__simt = words;
    return find;
}
