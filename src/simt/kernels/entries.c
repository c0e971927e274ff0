/* The production kernels that the simulator has, by name: the way into libtally-simt.so, which all of this folder and
 * the units that CMake writes are. */
#include <stdio.h>
#include <string.h>

#include "forms.h"
#include "kernel_list.h"
#include "simt/kernels/set.h"
#include "simt/module.h"

#define TALLY_ORDERED_ROW(ID, name, second, third, text, defines) \
    TALLY_KERNELS_OF_FORM(TALLY_SET_ROW, name, second, third)
#define TALLY_EXACT_ROW(ID, name, second, third, text, defines) \
    TALLY_EXACT_KERNELS_OF_FORM(TALLY_SET_ROW, name, second, third)

#define TALLY_SET_ROW(name, second, third, kernel) extern const tally__simt_set tally__simt_##name##_##kernel;
TALLY_ORDERED_FORMS(TALLY_ORDERED_ROW)
TALLY_EXACT_FORMS(TALLY_EXACT_ROW)
#undef TALLY_SET_ROW

static const struct {
    const char *name, *second, *third, *kernel; /* "": there is none */
    const tally__simt_set *set;
} sets[] = {
#define TALLY_SET_ROW(name, second, third, kernel) {#name, #second, #third, #kernel, &tally__simt_##name##_##kernel},
    TALLY_ORDERED_FORMS(TALLY_ORDERED_ROW)
    TALLY_EXACT_FORMS(TALLY_EXACT_ROW)
#undef TALLY_SET_ROW
};

void tally_convert(tally_work work); /* convert.c */

const tally__simt_words *tally__simt;

static const char *const type_words[TALLY_TYPE_END] = {
#define TALLY_ROW(id, name, numpy, bytes, class) [TALLY_##id] = TALLY_##id == TALLY_BOOL ? "boolean" : #name,
    TALLY_TYPES(TALLY_ROW)
#undef TALLY_ROW
};

/* Whether the entry is `name` of that kernel, with a type and a policy behind it. */
static bool find_type(const char *entry, const char *name, const char *kernel, int *type, int *nan) {
    char begin[64], end[32];
    const int length = snprintf(begin, sizeof begin, "tally_%s_%s_", name, kernel);
    if (name[0] == 0 || strncmp(entry, begin, (size_t)length) != 0) return false;
    for (*type = TALLY_NATURAL + 1; *type < TALLY_STRUCT; ++*type)
        for (*nan = TALLY_NAN_PROPAGATE; *nan <= TALLY_NAN_TOTAL; ++*nan) {
            snprintf(end, sizeof end, "%s_%d", type_words[*type], *nan);
            if (strcmp(end, entry + length) == 0) return true;
        }
    return false;
}

static tally__simt_entry *find(const char *entry) {
    int type, nan;
    if (strcmp(entry, "tally_convert") == 0) return tally_convert;
    for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
        if (find_type(entry, sets[k].name, sets[k].kernel, &type, &nan)) return sets[k].set->of[type][nan].first;
        if (find_type(entry, sets[k].second, sets[k].kernel, &type, &nan)) return sets[k].set->of[type][nan].second;
        if (find_type(entry, sets[k].third, sets[k].kernel, &type, &nan)) return sets[k].set->of[type][nan].third;
    }
    return tally__simt_cut(entry);
}

/* A process may have two copies of the library, and so two machines, but these kernels only once: they run on the first
 * that asks. */
__attribute__((visibility("default"))) tally__simt_lookup *
tally_simt_kernels(const char *edition, const tally__simt_words *words, size_t words_bytes) {
    if (strcmp(edition, tally__edition) != 0 || words_bytes != sizeof *words) return NULL;
    if (tally__simt != NULL && tally__simt != words) return NULL;
    tally__simt = words;
    return find;
}
