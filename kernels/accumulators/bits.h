/* The bit operators: and, or, xor. Include it after the definitions of TALLY_START and TALLY_JOIN, which say which. */
#ifndef TALLY_BITS_H
#define TALLY_BITS_H

#define TALLY_COLUMN(X) X(TALLY_B, bits)
#define TALLY_NODE(X) X(TALLY_B, bits)
#include "accumulators/plain.h"

TALLY_FN column_t lift(item_t x, item_t y) {
    column_t a;
    (void)y;
    a.bits = (TALLY_B)x.value;
    return a;
}
typedef TALLY_T result_t;
TALLY_FN result_t finish(node_t a, const tally_final *final) {
    (void) final;
#if TALLY_BOOLEAN
    return a.bits != 0;
#else
    return (TALLY_T)a.bits;
#endif
}

#endif
