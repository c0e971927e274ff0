/* The values of a segment in a tile, or of a part of one, as threads read them from memory: several at once. */
#ifndef TALLY_SEGMENT_VALUES_H
#define TALLY_SEGMENT_VALUES_H

#include "exact_segments/flat_nodes.h"

/* Bytes from one value of a segment to the next, of both inputs. */
typedef struct steps_t {
    int64_t x, y;
    int32_t are_aligned; /* the values lie where their type may */
} steps_t;
TALLY_FN steps_t steps_of(const tally_segments_work *work) {
    const tally_source x = tally_source_of(work->x, work->x_stride, TALLY_BYTES),
                       y = tally_source_of(work->y, work->y_stride, TALLY_BYTES);
    const int64_t inner = work->partition.inner;
    const steps_t steps = {inner * x.stride, inner * y.stride, x.is_aligned && y.is_aligned};
    return steps;
}
/* Where n values begin. */
typedef struct values_t {
    const char *x, *y;
    int32_t n;
} values_t;
/* Those of segment s from number `at` on. */
TALLY_FN values_t values_from(const tally_segments_work *work, int64_t s, int64_t at, int32_t n) {
    values_t of;
    const tally_partition *const partition = &work->partition;
    if (partition->inner > 1) /* of a row that lies across others */
        at = tally_begin_of_row(s, partition->row, partition->inner) + (at - s * partition->row) * partition->inner;
    of.x = work->x + at * work->x_stride;
    of.y = TALLY_KERNEL_INPUTS == 2 ? work->y + at * work->y_stride : of.x;
    of.n = n;
    return of;
}

TALLY_RARE TALLY_T unaligned_value(const char *p) {
    const tally_source unaligned = {0, 0, 0, 0};
    return read_at(&unaligned, p);
}
TALLY_FN TALLY_T value_at(const steps_t *steps, const char *p) {
    return steps->are_aligned ? *(const TALLY_T *)(const void *)p : unaligned_value(p);
}
/* `count` of values_together values, each `apart` behind the one before; zeros in the place of others. */
enum { values_together = 4, log_warp = 5 };
typedef struct some_values_t {
    TALLY_T x[values_together], y[values_together];
} some_values_t;
TALLY_FN some_values_t read_some(const steps_t *steps, const char *x, const char *y, int32_t count, int32_t apart) {
    some_values_t some;
    TALLY_UNROLL
    for (int32_t k = 0; k < values_together; k++, x += apart * steps->x, y += apart * steps->y) {
        some.x[k] = k < count ? value_at(steps, x) : plus_zero();
        if (TALLY_KERNEL_INPUTS == 1)
            some.y[k] = some.x[k];
        else
            some.y[k] = k < count ? value_at(steps, y) : plus_zero();
    }
    return some;
}
/* How many there are from number `at` on, below 2^log_apart, each 2^log_apart behind the one before. */
TALLY_FN int32_t values_of_lane(const values_t *of, int32_t at, int32_t log_apart) {
    return (of->n - at + (1 << log_apart) - 1) >> log_apart;
}

#endif
