/* any: whether some value is not zero (a NaN is not zero). A value is all ones or all zeros in a lane of its own width.
 */
#ifndef TALLY_OPERATOR_ANY_H
#define TALLY_OPERATOR_ANY_H

#define TALLY_COLUMN(X) X(TALLY_B, bits)
#define TALLY_NODE(X) X(TALLY_B, bits)
#define TALLY_START(a) (a).bits = 0
#define TALLY_JOIN(a, b) (a).bits = (TALLY_B)((a).bits | (b).bits)
#include "accumulators/plain.h"

TALLY_FN column_t lift(item_t x, item_t y) {
    column_t a;
    (void)y;
    a.bits = value_counts(x.raw, 0) ? (TALLY_B) ~(TALLY_B)0 : 0;
    return a;
}
typedef uint8_t result_t;
TALLY_FN result_t finish(node_t a, const tally_final *final) {
    (void) final;
    return a.bits != 0;
}

#endif
