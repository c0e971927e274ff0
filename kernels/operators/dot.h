/* dot: x0*y0 + x1*y1 + ... Integers exactly; floats: each product rounded, then summed in canonical order. */
#ifndef TALLY_OPERATOR_DOT_H
#define TALLY_OPERATOR_DOT_H

#if TALLY_FLOAT
#define TALLY_COLUMN(X) X(TALLY_V, sum)
#define TALLY_NODE(X) X(TALLY_V, sum)
#define TALLY_START(a) (a).sum = TALLY_ZERO
#define TALLY_JOIN(a, b) (a).sum = (a).sum + (b).sum
#include "accumulators/plain.h"

TALLY_FN column_t lift(item_t x, item_t y) {
    column_t a;
    TALLY_V v = x.value, w = y.value;
    a.sum = is_present(x.raw) && is_present(y.raw) ? v * w : TALLY_ZERO;
    return a;
}
#include "accumulators/finish_sum.h"
#else
#define TALLY_SUM_TERM TALLY_TERM_PRODUCT
#include "accumulators/integers.h"
#define TALLY_WHOLE(a) sum_of(a)
#define TALLY_WHOLE_IS_SIGNED (TALLY_SIGNED || TALLY_BOOLEAN)
#include "accumulators/finish_integers.h"
#endif

#endif
