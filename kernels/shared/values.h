/* What all ways to reduce values in shared memory have in common: a value as a column, and how many count. */
#ifndef TALLY_SHARED_VALUES_H
#define TALLY_SHARED_VALUES_H

#include "accumulators/operator.h"
#include "order/leaf.h"

TALLY_FN column_t column_of(const TALLY_T *x, const TALLY_T *y, int32_t i) {
    return lift(item_of(x[i]), item_of(y[i]));
}

/* Whether both inputs have the same remainder modulo 16, so that 16 bytes of both can be read at the same places. */
TALLY_FN int32_t lie_alike(const TALLY_T *x, const TALLY_T *y) {
    return TALLY_KERNEL_INPUTS == 1 || ((uint64_t)x ^ (uint64_t)y) % 16 == 0;
}

/* How many of values from, from + step, ... below n the NaN policy counts. */
TALLY_FN int32_t count_from(const TALLY_T *x, const TALLY_T *y, int32_t n, int32_t from, int32_t step) {
    int32_t present = 0;
    for (int32_t i = from; i < n; i += step) present += is_present(x[i]) && is_present(y[i]);
    return present;
}

#define TALLY_UNROLL_PARTS TALLY_UNROLL_BY(TALLY_PART <= 4 ? 2 : 1)

#endif
