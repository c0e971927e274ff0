/* norminf: the largest magnitude. The bits of a float's magnitude order like the magnitude, NaN above all. */
#ifndef TALLY_OPERATOR_NORMINF_H
#define TALLY_OPERATOR_NORMINF_H

#define TALLY_COLUMN(X) X(TALLY_B, most)
#define TALLY_NODE(X) X(TALLY_B, most)
#define TALLY_START(a) (a).most = 0
#define TALLY_JOIN(a, b) (a).most = (b).most > (a).most ? (b).most : (a).most
#include "accumulators/plain.h"

TALLY_FN column_t lift(item_t x, item_t y) {
    column_t a;
    (void)y;
#if TALLY_FLOAT
    a.most = is_present(x.raw) ? (TALLY_B)(value_bits(x.raw) & TALLY_K_HIGH) : 0;
#else
    a.most = magnitude_of(x.value);
#endif
    return a;
}
typedef TALLY_W result_t;
TALLY_FN result_t finish(node_t a, const tally_final *final) {
    (void) final;
#if TALLY_FLOAT
    return TALLY_REAL(clean)(value_of(from_bits((TALLY_K)a.most)));
#else
    return a.most;
#endif
}

#endif
