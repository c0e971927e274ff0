/* minmax: the smallest and the largest value in one pass. */
#ifndef TALLY_OPERATOR_MINMAX_H
#define TALLY_OPERATOR_MINMAX_H

#include "accumulators/range.h"
#define TALLY_COLUMN(X) TALLY_RANGE_FIELDS(X)
#define TALLY_NODE(X) TALLY_RANGE_NODE_FIELDS(X)
#define TALLY_START(a) TALLY_RANGE_START(a)
#define TALLY_JOIN(a, b) TALLY_RANGE_JOIN(a, b)
#define TALLY_START_NODE(a) TALLY_RANGE_NODE_START(a)
#define TALLY_JOIN_NODES(a, b) TALLY_RANGE_NODE_JOIN(a, b)
#define TALLY_MAKE_NODE(a, column) TALLY_RANGE_TO_NODE(a, column)
#include "accumulators/column_nodes.h"

TALLY_FN column_t lift(item_t x, item_t y) {
    column_t a;
    (void)y;
    TALLY_RANGE_LIFT(a, x);
    return a;
}
typedef struct result_t {
    TALLY_T low, high;
} result_t;
TALLY_FN result_t finish(node_t a, const tally_final *final) {
    result_t pair;
    (void) final;
    pair.low = winner(a.low, a.n);
    pair.high = winner(a.high, a.n);
    return pair;
}

#endif
