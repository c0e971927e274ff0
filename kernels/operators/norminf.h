/* norminf: the largest magnitude. The bits of a float's magnitude order like the magnitude, NaN above all. */
#define TALLY_COLUMN(X) X(TALLY_B, most)
#define TALLY_NODE(X) X(TALLY_B, most)
#define TALLY_START(a) (a).most = 0
#define TALLY_JOIN(a, b) (a).most = (b).most > (a).most ? (b).most : (a).most
#include "lib/plain.h"

TALLY_FN TALLY_N(column) TALLY_N(lift)(TALLY_N(item) x, TALLY_N(item) y) {
    TALLY_N(column) a;
    (void)y;
#if TALLY_FLOAT
    a.most = TALLY_N(present)(x.raw) ? (TALLY_B)(TALLY_N(bits)(x.raw) & TALLY_K_HIGH) : 0;
#else
    a.most = TALLY_N(magnitude)(x.value);
#endif
    return a;
}
typedef TALLY_W TALLY_N(result);
TALLY_FN TALLY_N(result) TALLY_N(finish)(TALLY_N(node) a, const tally_final *final) {
    (void) final;
#if TALLY_FLOAT
    return TALLY_REAL(clean)(TALLY_N(value)(TALLY_N(from_bits)((TALLY_K)a.most)));
#else
    return a.most;
#endif
}
