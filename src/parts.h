/* Segments of any kind, on the host, as inputs of their own: one for each result. */
#ifndef TALLY_PARTS_OF_CUT_H
#define TALLY_PARTS_OF_CUT_H

#include "grouping.h"

typedef struct tally__parts {
    int64_t count, inner;          /* results; numbers in a vector */
    int64_t length;                /* of rows; else -1: */
    const tally__grouping *groups; /* where the segments are */
    tally__grouping own;           /* `groups`, unless a plan has them */
    tally_allocator allocator;
    void *copies[2]; /* of an index in GPU memory, or NULL */
} tally__parts;

/* Whether segments of an array in GPU memory are left to the GPU: an index there, a plan for it, or unsorted ids. */
bool tally__is_for_gpu(const tally_options *options, const tally_segments *segments);

/* Reads a segmentation of an array of so many values; an index in GPU memory is copied. TALLY_BAD_SEGMENTS,
 * TALLY_BAD_ARGUMENT, TALLY_NO_MEMORY; TALLY_UNSUPPORTED: its plan is a GPU's. On failure nothing is left to close. */
tally_status tally__open_parts(const tally_context *context, const tally_segments *segments, int64_t values,
                               tally__parts *parts);
void tally__close_parts(tally__parts *parts);

/* The number of values of result r. */
static inline int64_t tally__part_length(const tally__parts *parts, int64_t r) {
    const int64_t s = r / parts->inner;
    return parts->groups == NULL ? parts->length : parts->groups->ends[s] - parts->groups->begins[s];
}
/* Whether there are values that do not lie in the order of their segments. */
static inline bool tally__parts_are_scattered(const tally__parts *parts, int64_t values) {
    return values > 0 && parts->groups != NULL && parts->groups->order != NULL;
}
/* The values of result r. False: they lie scattered. */
bool tally__part_input(const tally__parts *parts, const tally__spec *spec, const tally__input *in, int64_t r,
                       tally__input *part);
/* Values at places at .. at + n - 1 of result r, side by side, to x (and y for two inputs). */
void tally__gather_part(const tally__parts *parts, const tally__spec *spec, const tally__input *in, int64_t r,
                        int64_t at, int64_t n, void *x, void *y);
/* The node of scattered values, where order does not show. */
void tally__run_scattered(const tally__parts *parts, const tally__spec *spec, const tally__input *in, int64_t r,
                          tally__node *node);

#endif
