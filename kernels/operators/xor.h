/* xor: the bitwise xor. Booleans count as 0 and 1. */
#define TALLY_COLUMN(X) X(TALLY_B, bits)
#define TALLY_NODE(X) X(TALLY_B, bits)
#define TALLY_START(a) (a).bits = 0
#define TALLY_JOIN(a, b) (a).bits = (TALLY_B)((a).bits ^ (b).bits)
#include "lib/plain.h"

TALLY_FN TALLY_N(column) TALLY_N(lift)(TALLY_N(item) x, TALLY_N(item) y) {
    TALLY_N(column) a;
    (void)y;
    a.bits = (TALLY_B)x.value;
    return a;
}
typedef TALLY_T TALLY_N(result);
TALLY_FN TALLY_N(result) TALLY_N(finish)(TALLY_N(node) a, const tally_final *final) {
    (void) final;
#if TALLY_BOOLEAN
    return a.bits != 0;
#else
    return (TALLY_T)a.bits;
#endif
}
