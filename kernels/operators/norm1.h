/* norm1: |x0| + |x1| + ... Integers modulo 2^64, unsigned; floats in canonical order. */
#define TALLY_COLUMN(X) X(TALLY_S, sum)
#define TALLY_NODE(X) X(TALLY_W, sum)
#define TALLY_START(a) (a).sum = TALLY_ZERO
#define TALLY_JOIN(a, b) (a).sum = (a).sum + (b).sum
#include "lib/plain.h"

TALLY_FN TALLY_N(column) TALLY_N(lift)(TALLY_N(item) x, TALLY_N(item) y) {
    TALLY_N(column) a;
    (void)y;
    a.sum = TALLY_N(present)(x.raw) ? (TALLY_S)TALLY_N(magnitude)(x.value) : TALLY_ZERO;
    return a;
}
#include "lib/finish_sum.h"
