/* Affine maps composed modulo a prime; does not commute. */
#define TALLY_COLUMN(X) X(uint32_t, a) X(uint32_t, b)
#define TALLY_NODE(X) TALLY_COLUMN(X)
#define TALLY_START(m) (m).a = 1, (m).b = 0
#define TALLY_JOIN(m, then)                                                 \
    (m).b = (uint32_t)(((uint64_t)(then).a * (m).b + (then).b) % 1000003u), \
    (m).a = (uint32_t)((uint64_t)(then).a * (m).a % 1000003u)
#include "accumulators/plain.h"

TALLY_FN column_t lift(item_t x, item_t y) {
    column_t map;
    (void)y;
    __builtin_memcpy(&map, &x.raw, sizeof map);
    return map;
}
/* The map's value at 1. */
typedef int32_t result_t;
TALLY_FN result_t finish(node_t map, const tally_final *final) {
    (void) final;
    return (int32_t)(((uint64_t)map.a + map.b) % 1000003u);
}
