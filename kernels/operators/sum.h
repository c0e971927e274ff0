/* sum: x0 + x1 + ... Integers modulo 2^64; floats in canonical order.
 * -0 is the float that adds nothing: 0 + -0 is 0, and -0 + -0 stays -0. */
#define TALLY_COLUMN(X) X(TALLY_S, sum)
#define TALLY_NODE(X) X(TALLY_W, sum)
#define TALLY_START(a) (a).sum = TALLY_ZERO
#define TALLY_JOIN(a, b) (a).sum = (a).sum + (b).sum
#include "lib/plain.h"

TALLY_FN TALLY_N(column) TALLY_N(lift)(TALLY_N(item) x, TALLY_N(item) y) {
    TALLY_N(column) a;
    (void)y;
    a.sum = TALLY_N(present)(x.raw) ? TALLY_N(summand)(x.value) : TALLY_ZERO;
    return a;
}
#include "lib/finish_sum.h"
