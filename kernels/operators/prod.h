/* prod: x0 * x1 * ... Integers modulo 2^64; floats in canonical order. */
#define TALLY_COLUMN(X) X(TALLY_W, product)
#define TALLY_NODE(X) X(TALLY_W, product)
#define TALLY_START(a) (a).product = 1
#define TALLY_JOIN(a, b) (a).product = (a).product * (b).product
#include "lib/plain.h"

TALLY_FN TALLY_N(column) TALLY_N(lift)(TALLY_N(item) x, TALLY_N(item) y) {
    TALLY_N(column) a;
    (void)y;
    a.product = TALLY_N(present)(x.raw) ? (TALLY_W)x.value : 1;
    return a;
}
typedef TALLY_W TALLY_N(result);
TALLY_FN TALLY_N(result) TALLY_N(finish)(TALLY_N(node) a, const tally_final *final) {
    (void) final;
#if TALLY_FLOAT
    return TALLY_REAL(clean)(a.product);
#else
    return a.product;
#endif
}
