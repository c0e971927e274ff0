/* min: the smallest value, as the smallest integer key (types/types.h): exact in any order, -0 below +0. */
#ifndef TALLY_OPERATOR_MIN_H
#define TALLY_OPERATOR_MIN_H

#define TALLY_COLUMN(X) X(TALLY_K, key)
#define TALLY_NODE(X) X(TALLY_K, key)
#define TALLY_START(a) (a).key = TALLY_K_HIGH
#define TALLY_JOIN(a, b) (a).key = (b).key < (a).key ? (b).key : (a).key
#include "accumulators/plain.h"

TALLY_FN column_t lift(item_t x, item_t y) {
    column_t a;
    (void)y;
    a.key = low_key((x).raw);
    return a;
}
typedef TALLY_T result_t;
TALLY_FN result_t finish(node_t a, const tally_final *final) {
    (void) final;
    return winner(a.key, a.n);
}

#endif
