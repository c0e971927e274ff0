/* max: the largest value, as the largest integer key (lib/types.h): exact in any order, +0 above -0. */
#define TALLY_COLUMN(X) X(TALLY_K, key)
#define TALLY_NODE(X) X(TALLY_K, key)
#define TALLY_START(a) (a).key = TALLY_K_LOW
#define TALLY_JOIN(a, b) (a).key = (b).key > (a).key ? (b).key : (a).key
#include "lib/plain.h"

TALLY_FN TALLY_N(column) TALLY_N(lift)(TALLY_N(item) x, TALLY_N(item) y) {
    TALLY_N(column) a;
    (void)y;
    a.key = TALLY_N(high_key)((x).raw);
    return a;
}
typedef TALLY_T TALLY_N(result);
TALLY_FN TALLY_N(result) TALLY_N(finish)(TALLY_N(node) a, const tally_final *final) {
    (void) final;
    return TALLY_N(winner)(a.key, a.n);
}
