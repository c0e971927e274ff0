/* One leaf of a user operator (docs/order.md) that kernels/order/leaf_node.h cannot keep in registers: the operator
 * keeps the order, its values do not divide 16 bytes, or its accumulators are wide. The leaf is copied to shared
 * memory, 16 bytes at a time, and read from there value by value. Gives TALLY_IN_REGISTERS, TALLY_STAGE, slow_node and
 * staged_node. */
#ifndef TALLY_USER_LEAF_H
#define TALLY_USER_LEAF_H

#include "user/fold.h"

/* Whether whole leaves of packed values stay in registers. (256 bytes of columns take 64 registers.) */
#define TALLY_IN_REGISTERS \
    (!TALLY_USER_KEEPS_ORDER && TALLY_SLOT == TALLY_BYTES && TALLY_BYTES <= 16 && TALLY_PART * TALLY_USER_ACC <= 256)
#define TALLY_LEAF_QUADS (TALLY_DEVICE_LEAF * TALLY_BYTES / 16)
#define TALLY_STAGE leaf_stage
typedef struct TALLY_STAGE {
    tally_quad quads[TALLY_WARPS][TALLY_IN_REGISTERS ? 1 : TALLY_LEAF_QUADS] __attribute__((aligned(16)));
} TALLY_STAGE;

/* The node of a leaf, from value `at` on, that is short or whose values are not packed: read value by value. Every lane
 * gets it. */
TALLY_RARE node_t slow_node(tally_source x, tally_source y, int64_t at, int64_t left, int64_t first,
                            TALLY_STAGE *stage) {
    int32_t n = (int32_t)(left < TALLY_DEVICE_LEAF ? left : TALLY_DEVICE_LEAF);
    tally_source from = tally_source_of(x.values + at * x.stride, x.stride, TALLY_BYTES);
    (void)y, (void)first, (void)stage;
    return to_node(fold_values(&from, n), n);
}

#if !TALLY_IN_REGISTERS
/* The node of a whole leaf of packed values. They pass through shared memory, with all loads in flight at once. */
TALLY_FN node_t staged_node(const char *values, int64_t at, TALLY_STAGE *stage) {
    const char *begin = values + at * TALLY_BYTES + 16 * tally_lane();
    tally_quad quads[TALLY_DEVICE_STRIPES], *mine = stage->quads[tally_warp()];
    const tally_source from = source_here((const TALLY_T *)(const void *)mine);
    TALLY_UNROLL
    for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++)
        if (s * TALLY_WARP + tally_lane() < TALLY_LEAF_QUADS) quads[s] = tally_load16(begin + s * TALLY_STRIPE_BYTES);
    tally_warp_barrier();
    TALLY_UNROLL
    for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++)
        if (s * TALLY_WARP + tally_lane() < TALLY_LEAF_QUADS) mine[s * TALLY_WARP + tally_lane()] = quads[s];
    tally_warp_barrier();
    return to_node(fold_values(&from, TALLY_DEVICE_LEAF), TALLY_DEVICE_LEAF);
}
#endif

#endif
