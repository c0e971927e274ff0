/* argmin and argmax of rows whose values lie across others, in one pass: the best key so far, and where it was first.
 * Needs the operator, with TALLY_HAS_INDEX. */
#ifndef TALLY_FOUND_H
#define TALLY_FOUND_H

#include "accumulators/operator.h"

typedef struct found_t {
    column_t best;
    second_t where;
} found_t;

TALLY_FN found_t nothing_found(void) {
    found_t found;
    found.best = identity();
    found.where = identity2();
    return found;
}
/* Value k of a leaf. */
TALLY_FN found_t lift_found(item_t x, int32_t k) {
    found_t found;
    found.best = lift(x, x);
    found.where = lift2(x, k, take_aim(found.best, 1));
    return found;
}
TALLY_FN found_t combine_found(found_t a, found_t b) {
    found_t found;
    found.best = combine(a.best, b.best);
    found.where = combine2(a.best.key == found.best.key ? a.where : identity2(),
                           b.best.key == found.best.key ? b.where : identity2());
    return found;
}

#endif
