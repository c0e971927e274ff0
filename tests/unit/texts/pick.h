/* The struct {float key; uint32_t tag; ...} of the largest key, the earlier operand on a tie: it commutes but for the
 * tag. */
#define TALLY_COLUMN(X) X(float, key) X(uint32_t, tag)
#define TALLY_NODE(X) TALLY_COLUMN(X)
#define TALLY_START(a) (a).key = -3e38f, (a).tag = 0
#define TALLY_JOIN(a, b)                                   \
    (a).tag = (b).key > (a).key ? (b).tag : (a).tag, \
    (a).key = (b).key > (a).key ? (b).key : (a).key
#include "lib/plain.h"

TALLY_FN TALLY_N(column) TALLY_N(lift)(TALLY_N(item) x, TALLY_N(item) y) {
    TALLY_N(column) a;
    (void)y;
    __builtin_memcpy(&a, &x.raw, sizeof a);
    return a;
}
typedef uint32_t TALLY_N(result);
TALLY_FN TALLY_N(result) TALLY_N(finish)(TALLY_N(node) a, const tally_final *final) {
    (void)final;
    return a.tag;
}
