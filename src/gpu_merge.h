/* A merge in GPU memory: src/merge checks what is asked, a backend of GPUs does it, and waits. It sets *misplaced to
 * -1; or, if an array is not sorted, to the place, of all arrays side by side, of the first value that belongs before
 * the one in front of it; to `total` if there is none any more. Errors are those of tally_merge. */
#ifndef TALLY_GPU_MERGE_H
#define TALLY_GPU_MERGE_H

#include "internal.h"
#include "merge/merge.h"

/* Of a type that has an order. total: IEEE 754 totalOrder of floats. */
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
    int64_t count, total; /* arrays, some; values, some */
    int64_t width;        /* bytes of a value */
    tally_type type;
    uint64_t infinity; /* the bits of a float infinity */
    char *out;
    int64_t out_stride;
    char *origin; /* NULL: nobody wants it */
    int64_t origin_stride;
};

#endif
