/* dot: x0*y0 + x1*y1 + ... Integers exactly; floats: each product rounded, then summed in canonical order. */
#if TALLY_FLOAT
#define TALLY_COLUMN(X) X(TALLY_V, sum)
#define TALLY_NODE(X) X(TALLY_V, sum)
#define TALLY_START(a) (a).sum = TALLY_ZERO
#define TALLY_JOIN(a, b) (a).sum = (a).sum + (b).sum
#include "lib/plain.h"

TALLY_FN TALLY_N(column) TALLY_N(lift)(TALLY_N(item) x, TALLY_N(item) y) {
    TALLY_N(column) a;
    TALLY_V v = x.value, w = y.value;
    a.sum = TALLY_N(present)(x.raw) && TALLY_N(present)(y.raw) ? v * w : TALLY_ZERO;
    return a;
}
#include "lib/finish_sum.h"
#else
#define TALLY_SUM_TERM TALLY_PRODUCTS
#include "lib/integers.h"
#define TALLY_WHOLE(a) TALLY_N(sum_of)(a)
#define TALLY_WHOLE_IS_SIGNED (TALLY_SIGNED || TALLY_BOOLEAN)
#include "lib/finish_integers.h"
#endif
