/* Rows by any operator of kernels/operators, in the canonical order (docs/order.md): the values of each lie side by side, or the rows are
 * short (docs/design/007). No include guard: included once for each type.
 *
 * Rows of at most 64 values are taken by 1, 2, 4 or 8 lanes each, so that neighbouring lanes read neighbouring values; longer ones by a warp
 * each, or, where there are few, by blocks, which take tiles of a row as those of a whole array are taken. */
#include "lib/types.h"

#include TALLY_KERNEL_FILE
#include "lib/leaf_node.h"
#include "lib/tile.h"
#include "lib/put_result.h"

#define TALLY_SHORT_COLUMNS 8 /* of a leaf of at most TALLY_DEVICE_SMALL values */
#include "lib/short_row.h"

/* Blocks that a multiprocessor holds: as few as keep registers from spilling (tests/unit/test_compile.c). */
#if (TALLY_PASSES == 2 && TALLY_BYTES <= 2) || (defined(TALLY_SQUARES) && defined(TALLY_RANGE))
#define TALLY_RESIDENT 1
#else
#define TALLY_RESIDENT 2
#endif

/* ---- short rows ---- */

/* Row r of results is at outer index r / inner and inner index r % inner. */
TALLY_FN void TALLY_N(take_short_rows)(const tally_work *work, const int32_t lanes) {
    const tally_source x = tally_source_of(work->x, work->x_stride, TALLY_BYTES), y = tally_source_of(work->y, work->y_stride, TALLY_BYTES);
    const int64_t rows = work->outer * work->inner;
    const int32_t together = TALLY_WARP / lanes, mine = tally_lane() % lanes, length = (int32_t)work->length;
    int64_t first = ((int64_t)tally_block() * TALLY_WARPS + tally_warp()) * together << work->run;
    for (int32_t k = 0; k < 1 << work->run && first < rows; k++, first += together) {
        int64_t row = first + tally_lane() / lanes, at = row * length;
        int32_t is_there = row < rows;
        if (work->inner > 1) at = row / work->inner * length * work->inner + row % work->inner;
        TALLY_N(node) node = TALLY_N(short_node)(&x, &y, at, work->inner, is_there ? length : 0, length, mine, lanes);
        if (is_there && mine == 0) TALLY_N(put_result)(work, row, node);
    }
}

/* ---- long rows ---- */

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
TALLY_FN void TALLY_N(take_rows)(const tally_work *work, tally_stage *stage) {
    int64_t row = (int64_t)tally_block() * TALLY_WARPS + tally_warp();
    if (row >= work->outer) return;
    TALLY_N(span) span = TALLY_N(span_of)(work, row);
    TALLY_N(node) node = TALLY_N(take_run)(&span, 0, TALLY_WARP, 1, stage);
    if (tally_lane() == 0) TALLY_N(put_result)(work, row, node);
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
    if (work.lanes == 1)
        TALLY_N(take_short_rows)(&work, 1);
    else if (work.lanes == 2)
        TALLY_N(take_short_rows)(&work, 2);
    else if (work.lanes == 4)
        TALLY_N(take_short_rows)(&work, 4);
    else if (work.lanes == 8)
        TALLY_N(take_short_rows)(&work, 8);
    else if (work.tiles == 0)
        TALLY_N(take_rows)(&work, &shared->stage);
    else
        TALLY_N(take_row_tile)(&work, shared);
}

#undef TALLY_SHORT_COLUMNS
#include "lib/leaf_node_end.h"
#include "lib/operator_end.h"
#include "lib/types_end.h"
