/* A whole array by any operator of kernels/operators, in the canonical order (docs/order.md), in one launch.
 *
 * A warp reads runs of leaves, a block has one tile of such runs, and the last block to arrive at a group of tiles combines the group: the
 * last-block guard of NVIDIA's threadFenceReduction sample, with a fixed fan-in so that the tree is the canonical one, and counters that
 * wrap around to 0 so that nothing has to be cleared. No include guard: included once for each type. */
#include "lib/types.h"

#include TALLY_KERNEL_FILE
#include "lib/leaf_node.h"
#include "lib/tile.h"

/* Blocks that a multiprocessor holds: two, or one where two would have registers spill (tests/unit/test_compile.c). */
#if (TALLY_PASSES == 2 && TALLY_BYTES <= 2) || (defined(TALLY_SQUARES) && defined(TALLY_RANGE))
#define TALLY_RESIDENT 1
#else
#define TALLY_RESIDENT 2
#endif

TALLY_ENTRY(TALLY_N(TALLY_PASTE(reduce_, TALLY_KERNEL)), TALLY_RESIDENT) {
    TALLY_SHARED(TALLY_N(shared_tile), shared);
    TALLY_N(span) span;
    TALLY_N(node) node;
    span.x = tally_source_of(work.x, work.x_stride, TALLY_BYTES);
    span.y = tally_source_of(work.y, work.y_stride, TALLY_BYTES);
    span.count = work.count;
    span.first = work.first;
    if (!TALLY_N(take_tile)(&span, work.run, tally_block(), tally_blocks(), 0, work.nodes, work.arrivals, shared, &node)) return;
    if (tally_lane() != 0) return;
    if (work.node != 0) __builtin_memcpy(work.node, &node, sizeof node);
    if (work.result != 0) {
        TALLY_N(result) result;
        int32_t saw = TALLY_N(conclude)(node, &work.final, &result);
        __builtin_memcpy(work.result, &result, sizeof result);
        if (work.saw != 0 && saw != 0) tally_or32(work.saw, saw);
    }
}

#include "lib/leaf_node_end.h"
#include "lib/operator_end.h"
#include "lib/types_end.h"
