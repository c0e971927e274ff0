/* sumsq: x0^2 + x1^2 + ... Integers exactly, unsigned; floats: each square rounded, then summed in canonical order. */
#ifndef TALLY_OPERATOR_SUMSQ_H
#define TALLY_OPERATOR_SUMSQ_H

#if TALLY_FLOAT
#define TALLY_COLUMN(X) X(TALLY_V, sum)
#define TALLY_NODE(X) X(TALLY_V, sum)
#define TALLY_START(a) (a).sum = TALLY_ZERO
#define TALLY_JOIN(a, b) (a).sum = (a).sum + (b).sum
#include "accumulators/plain.h"

TALLY_FN column_t lift(item_t x, item_t y) {
    column_t a;
    TALLY_V v = x.value;
    (void)y;
    a.sum = is_present(x.raw) ? v * v : TALLY_ZERO;
    return a;
}
#include "accumulators/finish_sum.h"
#else
#define TALLY_SQUARES
#include "accumulators/integers.h"
#define TALLY_WHOLE(a) squares_of(a)
#define TALLY_WHOLE_IS_SIGNED 0
#include "accumulators/finish_integers.h"
#endif

#endif
