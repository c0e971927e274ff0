/* The struct {float key; uint32_t tag; ...} of the largest key, the earlier operand on a tie: it commutes but for the
 * tag. */
#define TALLY_COLUMN(X) X(float, key) X(uint32_t, tag)
#define TALLY_NODE(X) TALLY_COLUMN(X)
#define TALLY_START(a) (a).key = -3e38f, (a).tag = 0
#define TALLY_JOIN(a, b) \
    (a).tag = (b).key > (a).key ? (b).tag : (a).tag, (a).key = (b).key > (a).key ? (b).key : (a).key
#include "accumulators/plain.h"

TALLY_FN column_t lift(item_t x, item_t y) {
    column_t a;
    (void)y;
    __builtin_memcpy(&a, &x.raw, sizeof a);
    return a;
}
typedef uint32_t result_t;
TALLY_FN result_t finish(node_t a, const tally_final *final) {
    (void) final;
    return a.tag;
}
