/* prod: x0 * x1 * ... Integers modulo 2^64; floats in canonical order. */
#ifndef TALLY_OPERATOR_PROD_H
#define TALLY_OPERATOR_PROD_H

#define TALLY_COLUMN(X) X(TALLY_W, product)
#define TALLY_NODE(X) X(TALLY_W, product)
#define TALLY_START(a) (a).product = 1
#define TALLY_JOIN(a, b) (a).product = (a).product * (b).product
#include "accumulators/plain.h"

TALLY_FN column_t lift(item_t x, item_t y) {
    column_t a;
    (void)y;
    a.product = is_present(x.raw) ? (TALLY_W)x.value : 1;
    return a;
}
typedef TALLY_W result_t;
TALLY_FN result_t finish(node_t a, const tally_final *final) {
    (void) final;
#if TALLY_FLOAT
    return TALLY_REAL(clean)(a.product);
#else
    return a.product;
#endif
}

#endif
