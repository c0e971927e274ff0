/* norm2: sqrt(x0^2 + x1^2 + ...). Integers: the exact sum, and one rounding; floats: squares rounded, summed in
 * canonical order, above the leaf in f64. */
#ifndef TALLY_OPERATOR_NORM2_H
#define TALLY_OPERATOR_NORM2_H

#if TALLY_FLOAT
#define TALLY_COLUMN(X) X(TALLY_R, sum)
#define TALLY_NODE(X) X(double, sum)
#define TALLY_START(a) (a).sum = 0
#define TALLY_JOIN(a, b) (a).sum = (a).sum + (b).sum
#include "accumulators/plain.h"

TALLY_FN column_t lift(item_t x, item_t y) {
    column_t a;
    TALLY_V v = x.value;
    (void)y;
    a.sum = is_present(x.raw) ? v * v : 0;
    return a;
}
typedef TALLY_R result_t;
TALLY_FN result_t finish(node_t a, const tally_final *final) {
    (void) final;
    return TALLY_REAL(clean)((TALLY_R)tally_sqrt_f64(a.sum));
}
#else
#define TALLY_SQUARES
#include "accumulators/integers.h"

/* Where an f64 holds the number, its root is rounded once. */
typedef double result_t;
TALLY_FN result_t finish(node_t a, const tally_final *final) {
    (void) final;
    return tally_sqrt_f64((double)(int64_t)a.squares0);
}
TALLY_FN int needs_wide(node_t a, const tally_final *final) {
    return (final->as != TALLY_AS_NATURAL) | !tally_fits_double(squares_of(a));
}
TALLY_FN int finish_wide(node_t a, const tally_final *final, result_t *result) {
    *result = tally_wide_root(squares_of(a), final->format);
    return 0;
}
#endif

#endif
