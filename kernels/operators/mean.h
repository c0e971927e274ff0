/* mean: the sum over the count. Integers up to 32 bits are summed exactly within a leaf, others in floats; above the leaf in
 * f64, where i64 sums cannot overflow. */
#if TALLY_FLOAT || TALLY_BYTES == 8
#define TALLY_LANE TALLY_R
#define TALLY_LANE_ZERO (TALLY_R)(-0.0)
#elif TALLY_BYTES == 4
#define TALLY_LANE int64_t
#define TALLY_LANE_ZERO 0
#else
#define TALLY_LANE int32_t
#define TALLY_LANE_ZERO 0
#endif
#define TALLY_COLUMN(X) X(TALLY_LANE, sum)
#define TALLY_NODE(X) X(double, sum)
#define TALLY_START(a) (a).sum = TALLY_LANE_ZERO
#define TALLY_JOIN(a, b) (a).sum = (a).sum + (b).sum
#include "lib/plain.h"

TALLY_FN TALLY_N(column) TALLY_N(lift)(TALLY_N(item) x, TALLY_N(item) y) {
    TALLY_N(column) a;
    (void)y;
    a.sum = TALLY_N(present)(x.raw) ? (TALLY_LANE)x.value : TALLY_LANE_ZERO;
    return a;
}
typedef TALLY_R TALLY_N(result);
TALLY_FN TALLY_N(result) TALLY_N(finish)(TALLY_N(node) a, const tally_final *final) {
    (void)final;
    return TALLY_REAL(clean)((TALLY_R)(a.sum / (double)a.n));
}
