/* var and std: the variance, the sum of squared deviations from the mean over n - ddof, and its square root. */
#ifndef TALLY_OPERATOR_VAR_H
#define TALLY_OPERATOR_VAR_H

#if TALLY_FLOAT
#include "accumulators/moments.h"
#define TALLY_COLUMN(X) TALLY_MOMENT_FIELDS(X)
#define TALLY_START(a) TALLY_MOMENT_START(a)
#define TALLY_JOIN(a, b) TALLY_MOMENT_JOIN(a, b)
#define TALLY_NODE(X) X(double, mean) X(double, squares)
#include "accumulators/records.h"
#include "accumulators/moments_second.h"

TALLY_FN column_t lift(item_t x, item_t y) {
    column_t a;
    (void)y;
    TALLY_MOMENT_LIFT(a, x);
    return a;
}
TALLY_FN node_t nothing(void) {
    node_t a;
    a.n = 0;
    a.mean = 0;
    a.squares = 0;
    return a;
}
TALLY_FN node_t node_with(int64_t n, tally_moments m) {
    node_t a;
    a.n = n;
    a.mean = m.mean;
    a.squares = m.squares;
    return a;
}
TALLY_FN tally_moments moments(node_t a) {
    tally_moments m;
    m.mean = a.mean;
    m.squares = a.squares;
    return m;
}
TALLY_FN node_t to_node(column_t column, aim_t aim, second_t second, int64_t n, int64_t first) {
    (void)column;
    (void)first;
    return node_with(n, leaf_moments(aim.pivot, second.rest, second.squares, n));
}
TALLY_FN node_t merge(node_t a, node_t b) {
    return node_with(a.n + b.n, tally_join_moments(a.n, moments(a), b.n, moments(b)));
}
typedef TALLY_R result_t;
TALLY_FN result_t finish(node_t a, const tally_final *final) {
    double variance = a.n == 0 ? tally_nan_f64() : tally_variance(a.n, a.squares, final);
    return TALLY_REAL(clean)((TALLY_R)(final->root ? tally_sqrt_f64(variance) : variance));
}
#else
#define TALLY_SUM_TERM TALLY_TERM_VALUE
#define TALLY_SQUARES
#include "accumulators/integers.h"

typedef double result_t;
TALLY_FN result_t finish(node_t a, const tally_final *final) {
    return tally_small_spread(sum_of(a), squares_of(a), a.n, final).value;
}
TALLY_FN int needs_wide(node_t a, const tally_final *final) {
    tally_rounded spread = tally_small_spread(sum_of(a), squares_of(a), a.n, final);
    return (final->as != TALLY_AS_NATURAL) | !tally_is_small_spread(squares_of(a), a.n) | !spread.sure;
}
TALLY_FN int finish_wide(node_t a, const tally_final *final, result_t *result) {
    *result = tally_wide_spread(sum_of(a), squares_of(a), a.n, final);
    return 0;
}
#endif

#endif
