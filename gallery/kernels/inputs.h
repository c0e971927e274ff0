/* inputs: the set of inputs that an element holds, as bits: value i is 1 << i, and sets are joined. An operator of the
 * gallery's own, in the form of kernels/operators; pictures are drawn from it. */
#ifndef TALLY_GALLERY_INPUTS_H
#define TALLY_GALLERY_INPUTS_H

#define TALLY_COLUMN(X) X(uint64_t, set)
#define TALLY_NODE(X) X(uint64_t, set)
#define TALLY_START(a) (a).set = 0
#define TALLY_JOIN(a, b) (a).set |= (b).set
#include "accumulators/plain.h"

TALLY_FN column_t lift(item_t x, item_t y) {
    column_t a;
    (void)y;
    a.set = (uint64_t)x.value;
    return a;
}
typedef uint64_t result_t;
TALLY_FN result_t finish(node_t a, const tally_final *final) {
    (void) final;
    return a.set;
}

#endif
