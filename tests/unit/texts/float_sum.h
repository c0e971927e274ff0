/* The sum of floats, which shows the order it is computed in. */
#define TALLY_COLUMN(X) X(float, sum)
#define TALLY_NODE(X) TALLY_COLUMN(X)
#define TALLY_START(a) (a).sum = -0.0f
#define TALLY_JOIN(a, b) (a).sum = (a).sum + (b).sum
#include "accumulators/plain.h"

TALLY_FN column_t lift(item_t x, item_t y) {
    column_t a;
    (void)y;
    a.sum = x.value;
    return a;
}
typedef float result_t;
TALLY_FN result_t finish(node_t a, const tally_final *final) {
    (void) final;
    return a.sum;
}
