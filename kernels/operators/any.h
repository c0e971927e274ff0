/* any: whether some value is not zero (a NaN is not zero). A value is all ones or all zeros in a lane of its own width.
 */
#define TALLY_COLUMN(X) X(TALLY_B, bits)
#define TALLY_NODE(X) X(TALLY_B, bits)
#define TALLY_START(a) (a).bits = 0
#define TALLY_JOIN(a, b) (a).bits = (TALLY_B)((a).bits | (b).bits)
#include "lib/plain.h"

TALLY_FN TALLY_N(column) TALLY_N(lift)(TALLY_N(item) x, TALLY_N(item) y) {
    TALLY_N(column) a;
    (void)y;
    a.bits = TALLY_N(counts)(x.raw, 0) ? (TALLY_B) ~(TALLY_B)0 : 0;
    return a;
}
typedef uint8_t TALLY_N(result);
TALLY_FN TALLY_N(result) TALLY_N(finish)(TALLY_N(node) a, const tally_final *final) {
    (void) final;
    return a.bits != 0;
}
