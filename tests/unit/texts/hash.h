/* A polynomial hash: the bytes of the values as digits; does not commute. */
#define TALLY_COLUMN(X) X(uint64_t, power) X(uint64_t, hash)
#define TALLY_NODE(X) TALLY_COLUMN(X)
#define TALLY_START(a) (a).power = 1, (a).hash = 0
#define TALLY_JOIN(a, b) (a).hash = (a).hash * (b).power + (b).hash, (a).power = (a).power * (b).power
#include "accumulators/plain.h"

TALLY_FN column_t lift(item_t x, item_t y) {
    column_t a;
    uint8_t bytes[TALLY_BYTES];
    (void)y;
    __builtin_memcpy(bytes, &x.raw, sizeof bytes);
    a.power = 0x9e3779b97f4a7c15u;
    a.hash = 0;
    for (int32_t b = 0; b < TALLY_BYTES; b++) a.hash = a.hash * 257 + bytes[b];
    return a;
}
typedef uint64_t result_t;
TALLY_FN result_t finish(node_t a, const tally_final *final) {
    (void) final;
    return a.hash;
}
