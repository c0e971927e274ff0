/* mean: the sum over the count. Integers: the exact sum, and one rounding; floats: summed in canonical order, above the
 * leaf in f64. */
#ifndef TALLY_OPERATOR_MEAN_H
#define TALLY_OPERATOR_MEAN_H

#if TALLY_FLOAT
#define TALLY_COLUMN(X) X(TALLY_V, sum)
#define TALLY_NODE(X) X(double, sum)
#define TALLY_START(a) (a).sum = TALLY_ZERO
#define TALLY_JOIN(a, b) (a).sum = (a).sum + (b).sum
#include "accumulators/plain.h"

TALLY_FN column_t lift(item_t x, item_t y) {
    column_t a;
    (void)y;
    a.sum = is_present(x.raw) ? x.value : TALLY_ZERO;
    return a;
}
typedef TALLY_R result_t;
TALLY_FN result_t finish(node_t a, const tally_final *final) {
    (void) final;
    return TALLY_REAL(clean)((TALLY_R)(a.sum / (double)a.n));
}
#else
#define TALLY_SUM_TERM TALLY_TERM_VALUE
#include "accumulators/integers.h"

/* Where an f64 holds both numbers, their quotient is rounded once. */
typedef double result_t;
TALLY_FN result_t finish(node_t a, const tally_final *final) {
    (void) final;
    return tally_clean_f64((double)(int64_t)a.sum0 / (double)a.n);
}
TALLY_FN int needs_wide(node_t a, const tally_final *final) {
    int is_small = tally_fits_double(sum_of(a)) & tally_count_fits_double(a.n);
    return (final->as != TALLY_AS_NATURAL) | !is_small;
}
TALLY_FN int finish_wide(node_t a, const tally_final *final, result_t *result) {
    if (TALLY_BYTES == 8)
        *result = tally_wide_mean(sum_of(a), (uint64_t)a.n, final->format);
    else /* it takes millions of values that an f64 does not hold their sum */
        *result = tally_wide_mean_of_many(sum_of(a), (uint64_t)a.n, final->format);
    return 0;
}
#endif

#endif
