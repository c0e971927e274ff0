/* The sum of the squares of the integer in the first bytes (at most 2) of each struct, negated. */
#define TALLY_COLUMN(X) X(int64_t, sum)
#define TALLY_NODE(X) TALLY_COLUMN(X)
#define TALLY_START(a) (a).sum = 0
#define TALLY_JOIN(a, b) (a).sum = (a).sum + (b).sum
#include "accumulators/plain.h"

TALLY_FN column_t lift(item_t x, item_t y) {
    column_t a;
    (void)y;
#if TALLY_STRUCT_BYTES == 1
    int8_t v;
#else
    int16_t v;
#endif
    __builtin_memcpy(&v, &x.raw, sizeof v);
    a.sum = (int64_t)v * v;
    return a;
}
typedef int64_t result_t;
TALLY_FN result_t finish(node_t a, const tally_final *final) {
    (void) final;
    return -a.sum;
}
