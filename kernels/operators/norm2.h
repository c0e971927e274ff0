/* norm2: sqrt(x0^2 + x1^2 + ...). Integers: the exact sum, and one rounding; floats: squares rounded, summed in
 * canonical order, above the leaf in f64. */
#if TALLY_FLOAT
#define TALLY_COLUMN(X) X(TALLY_R, sum)
#define TALLY_NODE(X) X(double, sum)
#define TALLY_START(a) (a).sum = 0
#define TALLY_JOIN(a, b) (a).sum = (a).sum + (b).sum
#include "lib/plain.h"

TALLY_FN TALLY_N(column) TALLY_N(lift)(TALLY_N(item) x, TALLY_N(item) y) {
    TALLY_N(column) a;
    TALLY_V v = x.value;
    (void)y;
    a.sum = TALLY_N(present)(x.raw) ? v * v : 0;
    return a;
}
typedef TALLY_R TALLY_N(result);
TALLY_FN TALLY_N(result) TALLY_N(finish)(TALLY_N(node) a, const tally_final *final) {
    (void) final;
    return TALLY_REAL(clean)((TALLY_R)tally_sqrt_f64(a.sum));
}
#else
#define TALLY_SQUARES
#include "lib/integers.h"

/* The root of a number that an f64 holds is rounded once. */
typedef double TALLY_N(result);
TALLY_FN TALLY_N(result) TALLY_N(finish)(TALLY_N(node) a, const tally_final *final) {
    (void) final;
    return tally_sqrt_f64((double)(int64_t)a.squares0);
}
TALLY_FN int TALLY_N(needs_wide)(TALLY_N(node) a, const tally_final *final) {
    return (final->as != TALLY_AS_NATURAL) | !tally_fits_double(TALLY_N(squares_of)(a));
}
TALLY_FN int TALLY_N(finish_wide)(TALLY_N(node) a, const tally_final *final, TALLY_N(result) *result) {
    *result = tally_wide_root(TALLY_N(squares_of)(a), final->format);
    return 0;
}
#endif
