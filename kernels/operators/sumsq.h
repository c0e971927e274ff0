/* sumsq: x0^2 + x1^2 + ... Integers modulo 2^64, unsigned; floats: each square rounded, then summed in canonical order. */
#if TALLY_FLOAT
#define TALLY_COLUMN(X) X(TALLY_V, sum)
#else
#define TALLY_COLUMN(X) X(TALLY_SQUARE, sum)
#endif
#define TALLY_NODE(X) X(TALLY_W, sum)
#define TALLY_START(a) (a).sum = TALLY_ZERO
#define TALLY_JOIN(a, b) (a).sum = (a).sum + (b).sum
#include "lib/plain.h"

TALLY_FN TALLY_N(column) TALLY_N(lift)(TALLY_N(item) x, TALLY_N(item) y) {
    TALLY_N(column) a;
    TALLY_V v = x.value;
    (void)y;
#if TALLY_FLOAT
    a.sum = TALLY_N(present)(x.raw) ? v * v : TALLY_ZERO;
#else
    a.sum = TALLY_N(square)(v);
#endif
    return a;
}
#include "lib/finish_sum.h"
