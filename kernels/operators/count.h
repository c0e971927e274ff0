/* count: how many values are not zero (a NaN is not zero). */
#ifndef TALLY_OPERATOR_COUNT_H
#define TALLY_OPERATOR_COUNT_H

#define TALLY_COLUMN(X) X(uint32_t, count)
#define TALLY_NODE(X) X(uint64_t, count)
#define TALLY_START(a) (a).count = 0
#define TALLY_JOIN(a, b) (a).count = (a).count + (b).count
#include "accumulators/plain.h"

TALLY_FN column_t lift(item_t x, item_t y) {
    column_t a;
    (void)y;
    a.count = value_counts(x.raw, 0) ? 1 : 0;
    return a;
}
typedef int64_t result_t;
TALLY_FN result_t finish(node_t a, const tally_final *final) {
    (void) final;
    return (int64_t)a.count;
}

#endif
