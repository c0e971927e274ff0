/* sumsq and norm2: the sum of squares, and its square root. */
#ifndef TALLY_EXACT_SUMSQ_H
#define TALLY_EXACT_SUMSQ_H

#define TALLY_PRODUCTS
#include "exact_sums/exact.h"

TALLY_ONCE void round_total(const total_t *a, const tally_final *final, void *result) {
    double value =
        final->root ? tally_root_result(a->products, final->format) : tally_sum_result(a->products, 1, final->format);
    tally_put(result, value, final->format);
}

#endif
