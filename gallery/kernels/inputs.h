/* inputs: the set of inputs that an element holds, as bits: value i is 1 << i, and sets are joined. An operator of the
 * gallery's own, in the form of kernels/operators; pictures are drawn from it. */
#define TALLY_COLUMN(X) X(uint64_t, set)
#define TALLY_NODE(X) X(uint64_t, set)
#define TALLY_START(a) (a).set = 0
#define TALLY_JOIN(a, b) (a).set |= (b).set
#include "lib/plain.h"

TALLY_FN TALLY_N(column) TALLY_N(lift)(TALLY_N(item) x, TALLY_N(item) y) {
    TALLY_N(column) a;
    (void)y;
    a.set = (uint64_t)x.value;
    return a;
}
typedef uint64_t TALLY_N(result);
TALLY_FN TALLY_N(result) TALLY_N(finish)(TALLY_N(node) a, const tally_final *final) {
    (void)final;
    return a.set;
}
