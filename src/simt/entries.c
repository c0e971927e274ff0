/* The production kernels that the simulator has, by name. */
#include <stdio.h>
#include <string.h>

#include "kernel_list.h"
#include "simt/production.h"

#define TALLY_DECLARE(form, kernel) extern const tally__simt_set tally__simt_##form##_##kernel;
#define TALLY_ENTER(form, kernel) {"tally_" #form "_" #kernel, &tally__simt_##form##_##kernel},
#define TALLY_ALL(X)                          \
    TALLY_KERNELS_OF_FORM(X, reduce)          \
    TALLY_KERNELS_OF_FORM(X, short)           \
    TALLY_KERNELS_OF_FORM(X, rows)            \
    TALLY_KERNELS_OF_FORM(X, columns)         \
    TALLY_EXACT_KERNELS_OF_FORM(X, exact)     \
    TALLY_EXACT_KERNELS_OF_FORM(X, exact_short) \
    TALLY_EXACT_KERNELS_OF_FORM(X, exact_rows) \
    TALLY_EXACT_KERNELS_OF_FORM(X, exact_columns)
TALLY_ALL(TALLY_DECLARE)

static const struct {
    const char *name;
    const tally__simt_set *set;
} sets[] = {TALLY_ALL(TALLY_ENTER)};

void tally_convert(tally_work work); /* convert.c */

tally__simt_entry *tally__simt_production(const char *entry) {
    char name[64];
    if (strcmp(entry, "tally_convert") == 0) return tally_convert;
    for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
        if (strncmp(entry, sets[k].name, strlen(sets[k].name)) != 0) continue;
        for (int type = TALLY_NATURAL + 1; type < TALLY_TYPE_END; type++)
            for (int nan = TALLY_NAN_PROPAGATE; nan <= TALLY_NAN_TOTAL; nan++) {
                const char *word = type == TALLY_BOOL ? "boolean" : tally_type_name((tally_type)type);
                snprintf(name, sizeof name, "%s_%s_%d", sets[k].name, word, nan);
                if (strcmp(name, entry) == 0) return sets[k].set->of[type][nan];
            }
    }
    return NULL;
}
