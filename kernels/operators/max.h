/* max: the largest value (types/extremes.h): exact in any order, +0 above -0. */
#ifndef TALLY_OPERATOR_MAX_H
#define TALLY_OPERATOR_MAX_H

#include "types/extremes.h"
#define TALLY_COLUMN(X) X(TALLY_COMPARED, best)
#define TALLY_NODE(X) X(TALLY_K, key)
#define TALLY_START(a) (a).best = TALLY_LEAST
#define TALLY_JOIN(a, b) (a).best = greater((a).best, (b).best)
#define TALLY_START_NODE(a) (a).key = TALLY_K_LOW
#define TALLY_JOIN_NODES(a, b) (a).key = (b).key > (a).key ? (b).key : (a).key
#define TALLY_MAKE_NODE(a, column) (a).key = high_key_of((column).best)
#include "accumulators/column_nodes.h"

TALLY_FN column_t lift(item_t x, item_t y) {
    column_t a;
    (void)y;
    a.best = high_compared(x.raw);
    return a;
}
typedef TALLY_T result_t;
TALLY_FN result_t finish(node_t a, const tally_final *final) {
    (void) final;
    return winner(a.key, a.n);
}

#endif
