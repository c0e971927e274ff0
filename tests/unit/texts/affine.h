/* Affine maps composed modulo a prime; does not commute. */
#define TALLY_COLUMN(X) X(uint32_t, a) X(uint32_t, b)
#define TALLY_NODE(X) TALLY_COLUMN(X)
#define TALLY_START(m) (m).a = 1, (m).b = 0
#define TALLY_JOIN(m, then)                                                                          \
    (m).b = (uint32_t)(((uint64_t)(then).a * (m).b + (then).b) % 1000003u),                          \
    (m).a = (uint32_t)((uint64_t)(then).a * (m).a % 1000003u)
#include "lib/plain.h"

TALLY_FN TALLY_N(column) TALLY_N(lift)(TALLY_N(item) x, TALLY_N(item) y) {
    TALLY_N(column) map;
    (void)y;
    __builtin_memcpy(&map, &x.raw, sizeof map);
    return map;
}
/* The map's value at 1. */
typedef int32_t TALLY_N(result);
TALLY_FN TALLY_N(result) TALLY_N(finish)(TALLY_N(node) map, const tally_final *final) {
    (void)final;
    return (int32_t)(((uint64_t)map.a + map.b) % 1000003u);
}
