/* Rows of more than 64 values that lie side by side, by any operator of kernels/operators, in the canonical order (docs/order.md,
 * docs/design/007). No include guard: included once for each type.
 *
 * A warp has a row, or four short ones, or blocks have one, which take tiles of it as those of a whole array are taken. */
#include "lib/types.h"

#include TALLY_KERNEL_FILE
#include "lib/leaf_node.h"
#include "lib/tile.h"
#include "lib/put_result.h"

/* Blocks that a multiprocessor holds: as few as keep registers from spilling (tests/unit/test_compile.c). */
#if TALLY_BYTES == 1 || (TALLY_BYTES == 2 && (TALLY_PASSES == 2 || !TALLY_FLOAT)) || TALLY_KERNEL_INPUTS == 2 || \
    (defined(TALLY_SQUARES) && defined(TALLY_RANGE)) || (TALLY_BYTES == 8 && defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900)
#define TALLY_RESIDENT 1
#else
#define TALLY_RESIDENT 2
#endif

/* Row r; no indices go on from one row to the next. */
TALLY_FN TALLY_N(span) TALLY_N(span_of)(const tally_work *work, int64_t row) {
    TALLY_N(span) span;
    span.x = tally_source_of(work->x + row * work->length * work->x_stride, work->x_stride, TALLY_BYTES);
    span.y = tally_source_of(work->y + row * work->length * work->y_stride, work->y_stride, TALLY_BYTES);
    span.count = work->length;
    span.first = 0;
    return span;
}

/* A warp has a row of at most 32 leaves. */
TALLY_FN void TALLY_N(take_row)(const tally_work *work, tally_stage *stage) {
    int64_t row = (int64_t)tally_block() * TALLY_WARPS + tally_warp();
    if (row >= work->outer) return;
    TALLY_N(span) span = TALLY_N(span_of)(work, row);
    TALLY_N(node) node = TALLY_N(take_run)(&span, 0, TALLY_WARP, 1, stage);
    if (tally_lane() == 0) TALLY_N(put_result)(work, row, node);
}

#define TALLY_TOGETHER 4 /* rows of at most TALLY_FEW stripes that a warp has on their way at once */
#define TALLY_FEW (TALLY_DEVICE_STRIPES / TALLY_TOGETHER)

/* A warp has four packed rows; lane k writes the k-th. */
TALLY_FN void TALLY_N(take_four)(const tally_work *work) {
    const int64_t first = ((int64_t)tally_block() * TALLY_WARPS + tally_warp()) * TALLY_TOGETHER;
    const int32_t n = (int32_t)work->length;
    TALLY_N(share) x, y;
    TALLY_N(node) mine = TALLY_N(nothing)();
    TALLY_UNROLL
    for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++) {
        const int64_t row = first + s / TALLY_FEW;
        if (row >= work->outer || s % TALLY_FEW * TALLY_DEVICE_COLUMNS >= n)
            __builtin_memset(&x.part[s], 0, sizeof x.part[s]), y.part[s] = x.part[s];
        else {
            const TALLY_N(span) span = TALLY_N(span_of)(work, row);
            x.part[s] = y.part[s] = TALLY_N(read_part_of)(&span.x, 0, s % TALLY_FEW, n);
            if (TALLY_KERNEL_INPUTS == 2) y.part[s] = TALLY_N(read_part_of)(&span.y, 0, s % TALLY_FEW, n);
        }
    }
    TALLY_UNROLL
    for (int32_t k = 0; k < TALLY_TOGETHER; k++) {
        const TALLY_N(node) node = TALLY_N(node_of_parts)(x.part + k * TALLY_FEW, y.part + k * TALLY_FEW, TALLY_FEW, n, 0);
        if (tally_lane() == k) mine = node;
    }
    if (tally_lane() < TALLY_TOGETHER && first + tally_lane() < work->outer) TALLY_N(put_result)(work, first + tally_lane(), mine);
}

/* Several blocks have a row; of the nodes and counters of its tree, each row has its own. */
TALLY_FN void TALLY_N(take_row_tile)(const tally_work *work, TALLY_N(shared_tile) *shared) {
    const int64_t row = tally_block() / work->tiles, tile = tally_block() % work->tiles;
    TALLY_N(span) span = TALLY_N(span_of)(work, row);
    TALLY_N(node) node;
    char *nodes = work->nodes + row * work->row_nodes * (int64_t)sizeof node;
    if (!TALLY_N(take_tile)(&span, work->run, tile, work->tiles, 1, nodes, work->arrivals + row * work->row_groups, shared, &node)) return;
    if (tally_lane() == 0) TALLY_N(put_result)(work, row, node);
}

TALLY_ENTRY(TALLY_N(TALLY_PASTE(rows_, TALLY_KERNEL)), TALLY_RESIDENT) {
    TALLY_SHARED(TALLY_N(shared_tile), shared);
    if (work.tiles > 0)
        TALLY_N(take_row_tile)(&work, shared);
    else if (work.run > 0)
        TALLY_N(take_four)(&work);
    else
        TALLY_N(take_row)(&work, &shared->stage);
}

#undef TALLY_TOGETHER
#undef TALLY_FEW
#include "lib/leaf_node_end.h"
#include "lib/operator_end.h"
#include "lib/types_end.h"
