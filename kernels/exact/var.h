/* var and std: from the sum of values and the sum of squares, both exact, so that nothing cancels but what is equal. */
#ifndef TALLY_EXACT_VAR_H
#define TALLY_EXACT_VAR_H

#define TALLY_SUM_TERM TALLY_TERM_VALUE
#define TALLY_PRODUCTS
#include "exact_sums/exact.h"

TALLY_ONCE void round_total(const total_t *a, const tally_final *final, void *result) {
    tally_put(result, tally_spread_result(a->sum, a->products, a->n, final, final->format), final->format);
}

#endif
