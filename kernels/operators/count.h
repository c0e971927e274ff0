/* count: how many values are not zero (a NaN is not zero). */
#define TALLY_COLUMN(X) X(uint32_t, count)
#define TALLY_NODE(X) X(uint64_t, count)
#define TALLY_START(a) (a).count = 0
#define TALLY_JOIN(a, b) (a).count = (a).count + (b).count
#include "lib/plain.h"

TALLY_FN TALLY_N(column) TALLY_N(lift)(TALLY_N(item) x, TALLY_N(item) y) {
    TALLY_N(column) a;
    (void)y;
    a.count = TALLY_N(counts)(x.raw, 0) ? 1 : 0;
    return a;
}
typedef int64_t TALLY_N(result);
TALLY_FN TALLY_N(result) TALLY_N(finish)(TALLY_N(node) a, const tally_final *final) {
    (void) final;
    return (int64_t)a.count;
}
