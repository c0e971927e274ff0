/* A merge in GPU memory. src/merge checks the arguments; the `merge` of a GPU backend merges and waits. If all arrays
 * are sorted, it sets *misplaced to -1. Otherwise *misplaced is the place of the first value that belongs before its
 * predecessor, counted over all arrays side by side, or `total` if the arrays have changed since. Errors are those of
 * tally_merge. */
#ifndef TALLY_GPU_MERGE_H
#define TALLY_GPU_MERGE_H

#include "internal.h"
#include "merge/merge.h"

/* How values of a type are compared. total: IEEE 754 totalOrder of floats. */
static inline tally_merge_reading tally__merge_reading_of(tally_type type, bool total) {
    switch (tally__type_class(type)) {
    case TALLY_CLASS_BOOL: return TALLY_MERGE_BOOL;
    case TALLY_CLASS_INT: return TALLY_MERGE_SIGNED;
    case TALLY_CLASS_FLOAT: return total ? TALLY_MERGE_TOTAL : TALLY_MERGE_FLOAT;
    default: return TALLY_MERGE_UNSIGNED;
    }
}

struct tally__gpu_merge {
    const tally_array *arrays;
    int64_t count; /* of arrays, at least one */
    int64_t total; /* of values, at least one */
    int64_t width; /* bytes of a value */
    tally_type type;
    uint64_t infinity; /* the bits of a float infinity */
    char *out;
    int64_t out_stride;
    char *origin; /* or NULL */
    int64_t origin_stride;
};

#endif
