/* norm2: sqrt(x0^2 + x1^2 + ...). Squares of 8- and 16-bit integers are summed exactly within a leaf, others in floats;
 * above the leaf in f64. */
#if TALLY_FLOAT || TALLY_BYTES > 2
#define TALLY_COLUMN(X) X(TALLY_R, sum)
#else
#define TALLY_COLUMN(X) X(TALLY_SQUARE, sum)
#endif
#define TALLY_NODE(X) X(double, sum)
#define TALLY_START(a) (a).sum = 0
#define TALLY_JOIN(a, b) (a).sum = (a).sum + (b).sum
#include "lib/plain.h"

TALLY_FN TALLY_N(column) TALLY_N(lift)(TALLY_N(item) x, TALLY_N(item) y) {
    TALLY_N(column) a;
    TALLY_V v = x.value;
    (void)y;
#if TALLY_FLOAT
    a.sum = TALLY_N(present)(x.raw) ? v * v : 0;
#elif TALLY_BYTES > 2
    a.sum = (double)v * (double)v;
#else
    a.sum = TALLY_N(square)(v);
#endif
    return a;
}
typedef TALLY_R TALLY_N(result);
TALLY_FN TALLY_N(result) TALLY_N(finish)(TALLY_N(node) a, const tally_final *final) {
    (void)final;
    return TALLY_REAL(clean)((TALLY_R)tally_sqrt_f64(a.sum));
}
