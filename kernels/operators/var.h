/* var and std: the variance, the sum of squared deviations from the mean over n - ddof, and its square root. */
#if TALLY_FLOAT
#include "lib/moments.h"
#define TALLY_COLUMN(X) TALLY_MOMENT_FIELDS(X)
#define TALLY_START(a) TALLY_MOMENT_START(a)
#define TALLY_JOIN(a, b) TALLY_MOMENT_JOIN(a, b)
#define TALLY_NODE(X) X(double, mean) X(double, squares)
#include "lib/records.h"
#include "lib/moments_second.h"

TALLY_FN TALLY_N(column) TALLY_N(lift)(TALLY_N(item) x, TALLY_N(item) y) {
    TALLY_N(column) a;
    (void)y;
    TALLY_MOMENT_LIFT(a, x);
    return a;
}
TALLY_FN TALLY_N(node) TALLY_N(nothing)(void) {
    TALLY_N(node) a;
    a.n = 0;
    a.mean = 0;
    a.squares = 0;
    return a;
}
TALLY_FN TALLY_N(node) TALLY_N(with)(int64_t n, tally_moments m) {
    TALLY_N(node) a;
    a.n = n;
    a.mean = m.mean;
    a.squares = m.squares;
    return a;
}
TALLY_FN tally_moments TALLY_N(moments)(TALLY_N(node) a) {
    tally_moments m;
    m.mean = a.mean;
    m.squares = a.squares;
    return m;
}
TALLY_FN TALLY_N(node) TALLY_N(seal)(TALLY_N(column) column, TALLY_N(aim) aim, TALLY_N(second) second, int64_t n,
                                     int64_t first) {
    (void)column;
    (void)first;
    return TALLY_N(with)(n, TALLY_N(leaf_moments)(aim.pivot, second.rest, second.squares, n));
}
TALLY_FN TALLY_N(node) TALLY_N(merge)(TALLY_N(node) a, TALLY_N(node) b) {
    return TALLY_N(with)(a.n + b.n, tally_join_moments(a.n, TALLY_N(moments)(a), b.n, TALLY_N(moments)(b)));
}
typedef TALLY_R TALLY_N(result);
TALLY_FN TALLY_N(result) TALLY_N(finish)(TALLY_N(node) a, const tally_final *final) {
    double variance = a.n == 0 ? tally_nan_f64() : tally_variance(a.n, a.squares, final);
    return TALLY_REAL(clean)((TALLY_R)(final->root ? tally_sqrt_f64(variance) : variance));
}
#else
#define TALLY_SUM_TERM TALLY_VALUES
#define TALLY_SQUARES
#include "lib/integers.h"

typedef double TALLY_N(result);
TALLY_FN TALLY_N(result) TALLY_N(finish)(TALLY_N(node) a, const tally_final *final) {
    return tally_small_spread(TALLY_N(sum_of)(a), TALLY_N(squares_of)(a), a.n, final);
}
TALLY_FN int TALLY_N(needs_wide)(TALLY_N(node) a, const tally_final *final) {
    return (final->as != TALLY_AS_NATURAL) | !tally_is_small_spread(TALLY_N(squares_of)(a), a.n, final);
}
TALLY_FN int TALLY_N(finish_wide)(TALLY_N(node) a, const tally_final *final, TALLY_N(result) *result) {
    *result = tally_wide_spread(TALLY_N(sum_of)(a), TALLY_N(squares_of)(a), a.n, final);
    return 0;
}
#endif
