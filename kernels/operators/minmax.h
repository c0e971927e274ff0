/* minmax: the smallest and the largest value in one pass. */
#include "lib/range.h"
#define TALLY_COLUMN(X) TALLY_RANGE_FIELDS(X)
#define TALLY_NODE(X) TALLY_RANGE_FIELDS(X)
#define TALLY_START(a) TALLY_RANGE_START(a)
#define TALLY_JOIN(a, b) TALLY_RANGE_JOIN(a, b)
#include "lib/plain.h"

TALLY_FN TALLY_N(column) TALLY_N(lift)(TALLY_N(item) x, TALLY_N(item) y) {
    TALLY_N(column) a;
    (void)y;
    TALLY_RANGE_LIFT(a, x);
    return a;
}
typedef struct TALLY_N(result) {
    TALLY_T low, high;
} TALLY_N(result);
TALLY_FN TALLY_N(result) TALLY_N(finish)(TALLY_N(node) a, const tally_final *final) {
    TALLY_N(result) pair;
    (void) final;
    pair.low = TALLY_N(winner)(a.low, a.n);
    pair.high = TALLY_N(winner)(a.high, a.n);
    return pair;
}
