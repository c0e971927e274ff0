/* norm1: the sum of magnitudes. */
#ifndef TALLY_EXACT_NORM1_H
#define TALLY_EXACT_NORM1_H

#define TALLY_SUM_TERM TALLY_TERM_MAGNITUDE
#include "exact_sums/exact.h"

TALLY_ONCE void round_total(const total_t *a, const tally_final *final, void *result) {
    tally_put(result, tally_sum_result(a->sum, 1, final->format), final->format);
}

#endif
