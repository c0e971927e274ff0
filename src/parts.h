/* Segments of any kind as one input (tally__input) for each result, on the host. */
#ifndef TALLY_SEGMENT_PARTS_H
#define TALLY_SEGMENT_PARTS_H

#include "grouping.h"

typedef struct tally__parts {
    int64_t count, inner;          /* count: of results; inner: numbers in a vector */
    int64_t length;                /* of rows: the values of each; else -1, and `groups` is not NULL */
    const tally__grouping *groups; /* where segments begin and end; NULL for rows */
    tally__grouping own;           /* `groups` points here, unless a plan owns them */
    tally_allocator allocator;
    void *copies[2]; /* copies of an index in GPU memory, or NULL */
} tally__parts;

/* Whether the GPU reads these segments itself: an index in its memory, a plan for it, or unsorted ids. */
bool tally__is_for_gpu(const tally_options *options, const tally_segments *segments);

/* Reads the segmentation of an array of `values` values. An index in GPU memory is copied. TALLY_UNSUPPORTED: a plan
 * for a GPU. Others: TALLY_BAD_SEGMENTS, TALLY_BAD_ARGUMENT, TALLY_NO_MEMORY. After a failure there is nothing to
 * close. */
tally_status tally__open_parts(const tally_context *context, const tally_segments *segments, int64_t values,
                               tally__parts *parts);
void tally__close_parts(tally__parts *parts);

/* The number of values of result r. */
static inline int64_t tally__part_length(const tally__parts *parts, int64_t r) {
    const int64_t s = r / parts->inner;
    return parts->groups == NULL ? parts->length : parts->groups->ends[s] - parts->groups->begins[s];
}
/* Whether values lie in another order than their segments. */
static inline bool tally__parts_are_scattered(const tally__parts *parts, int64_t values) {
    return values > 0 && parts->groups != NULL && parts->groups->order != NULL;
}
/* Makes *part the values of result r. False: they are scattered. */
bool tally__part_input(const tally__parts *parts, const tally__spec *spec, const tally__input *in, int64_t r,
                       tally__input *part);
/* Copies values at .. at + n - 1 of result r to x, and for two inputs to y, side by side. */
void tally__gather_part(const tally__parts *parts, const tally__spec *spec, const tally__input *in, int64_t r,
                        int64_t at, int64_t n, void *x, void *y);
/* Reduces the scattered values of result r to a node, where order does not show. */
void tally__run_scattered(const tally__parts *parts, const tally__spec *spec, const tally__input *in, int64_t r,
                          tally__node *node);

#endif
