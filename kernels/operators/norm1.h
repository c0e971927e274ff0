/* norm1: |x0| + |x1| + ... Integers modulo 2^64, unsigned; floats in canonical order. */
#define TALLY_COLUMN(X) X(TALLY_S, sum)
#define TALLY_NODE(X) X(TALLY_W, sum)
#define TALLY_START(a) (a).sum = TALLY_ZERO
#define TALLY_JOIN(a, b) (a).sum = (a).sum + (b).sum
#include "lib/plain.h"

TALLY_FN TALLY_N(column) TALLY_N(lift)(TALLY_T x, TALLY_T y) {
    TALLY_N(column) a;
    (void)y;
    a.sum = TALLY_N(present)(x) ? (TALLY_S)TALLY_N(magnitude)(TALLY_N(value)(x)) : TALLY_ZERO;
    return a;
}
#include "lib/finish_sum.h"
