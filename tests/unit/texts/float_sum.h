/* The sum of floats, which shows the order it is computed in. */
#define TALLY_COLUMN(X) X(float, sum)
#define TALLY_NODE(X) TALLY_COLUMN(X)
#define TALLY_START(a) (a).sum = -0.0f
#define TALLY_JOIN(a, b) (a).sum = (a).sum + (b).sum
#include "lib/plain.h"

TALLY_FN TALLY_N(column) TALLY_N(lift)(TALLY_N(item) x, TALLY_N(item) y) {
    TALLY_N(column) a;
    (void)y;
    a.sum = x.value;
    return a;
}
typedef float TALLY_N(result);
TALLY_FN TALLY_N(result) TALLY_N(finish)(TALLY_N(node) a, const tally_final *final) {
    (void)final;
    return a.sum;
}
