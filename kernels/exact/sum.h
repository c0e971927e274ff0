/* sum and mean: the sum of the values, and that over their count. */
#ifndef TALLY_EXACT_SUM_H
#define TALLY_EXACT_SUM_H

#define TALLY_SUM_TERM TALLY_TERM_VALUE
#include "exact_sums/exact.h"

TALLY_ONCE void round_total(const total_t *a, const tally_final *final, void *result) {
    tally_put(result, tally_sum_result(a->sum, final->mean ? (uint64_t)a->n : 1, final->format), final->format);
}

#endif
