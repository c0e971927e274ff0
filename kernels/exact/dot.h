/* dot: the sum of products. */
#ifndef TALLY_EXACT_DOT_H
#define TALLY_EXACT_DOT_H

#define TALLY_PRODUCTS
#include "exact_sums/exact.h"

TALLY_ONCE void round_total(const total_t *a, const tally_final *final, void *result) {
    tally_put(result, tally_sum_result(a->products, 1, final->format), final->format);
}

#endif
