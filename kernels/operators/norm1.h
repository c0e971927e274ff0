/* norm1: |x0| + |x1| + ... Integers exactly, unsigned; floats in canonical order. */
#ifndef TALLY_OPERATOR_NORM1_H
#define TALLY_OPERATOR_NORM1_H

#if TALLY_FLOAT
#define TALLY_COLUMN(X) X(TALLY_V, sum)
#define TALLY_NODE(X) X(TALLY_V, sum)
#define TALLY_START(a) (a).sum = TALLY_ZERO
#define TALLY_JOIN(a, b) (a).sum = (a).sum + (b).sum
#include "accumulators/plain.h"

TALLY_FN column_t lift(item_t x, item_t y) {
    column_t a;
    (void)y;
    a.sum = is_present(x.raw) ? magnitude_of(x.value) : TALLY_ZERO;
    return a;
}
#include "accumulators/finish_sum.h"
#else
#define TALLY_SUM_TERM TALLY_TERM_MAGNITUDE
#include "accumulators/integers.h"
#define TALLY_WHOLE(a) sum_of(a)
#define TALLY_WHOLE_IS_SIGNED 0
#include "accumulators/finish_integers.h"
#endif

#endif
