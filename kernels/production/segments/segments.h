/* Segments of any lengths, by any operator. Each segment has the bits that it has when it is reduced alone
 * (docs/order.md). The method: docs/design/006-gpu-segments.md.
 *
 * production/segments/partition.h has divided values and end markers into tiles (partition/partition.h). Blocks are
 * persistent and take tile after tile. One warp, the producer, copies the next tile to shared memory while the consumer
 * warps reduce the current one (segments/own_segments.h; producers and consumers: Bauer, Cook and Khailany, "CudaDMA",
 * 2011). Where a segment crosses a tile boundary, each tile leaves the nodes of the segment's leaves in memory. A
 * second kernel, production/segments/spans.h, combines them, so that no block waits for another. The index is checked
 * as it is used. */
#ifndef TALLY_FORM_SEGMENTS_H
#define TALLY_FORM_SEGMENTS_H

#define TALLY_LANE_AGAIN 1 /* or compilers keep what follows from the lane in 20 registers, for all tiles */
#include "types/types.h"

#include "order/nodes.h"
#include "segments/copy_tile.h"
#include "chunks/tile_chunks.h"
#include "segments/listed_segments.h"
#include "chunks/partials.h"
#include "segments/sorted_segments.h"

#if TALLY_EXPANSIONS /* exact sums */
#define TALLY_SEGMENTS expansions
#else
#define TALLY_SEGMENTS segments
#endif

/* Blocks that a multiprocessor holds: three, for which shared memory has room, or fewer where registers would spill
 * (tests/unit/test_compile.c). */
#if TALLY_READS_TWICE
#define TALLY_SEGMENTS_RESIDENT (sizeof(node_t) <= (TALLY_BYTES == 4 ? 40 : 24) ? 3 : 2)
#else
#define TALLY_SEGMENTS_RESIDENT (sizeof(node_t) <= (TALLY_KERNEL_INPUTS == 2 ? 24 : 40) ? 3 : 2)
#endif

/* ---- tiles ---- */

/* Reduces a tile's segments, by the consumers; gives status flags. */
TALLY_FN int32_t take_tile(const tally_segments_work *work, all_shared_t *all, shared_t *its, const opening_t *opening,
                           char *buffer) {
    int32_t flags = 0;
    tile_t tile;
    TALLY_ROLLED
    for (int32_t is_again = 0;; is_again = 1) {
        if (!read_tile(work, &tile, opening, buffer, is_again)) return 0;
        if (!TALLY_IN_CHUNKS || is_again || !opening->is_dense || !is_for_chunks(&tile) || skips_chunks(all)) break;
        if (take_chunks(work, &tile, all, &flags)) return flags;
    }
    const int32_t in_partials = is_for_partials(&tile);
    if (!(in_partials && TALLY_ALL_IN_PARTIALS) && put_leaves(work, &tile, its->leaves)) return flags;
    if (in_partials) return flags | take_partials(work, &tile, all);
    share_list(all);
    return flags | take_own(work, &tile, its, all);
}
TALLY_FN void take_tiles(const tally_segments_work *work, all_shared_t *shared, char *buffers) {
    for (int32_t iteration = 0, next;; iteration = next) {
        shared_t *const its = shared_of(&work->partition, shared, iteration);
        const opening_t *const opening = opening_of(shared, iteration);
        tally_mbarrier_wait(&its->come, phase_of(&work->partition, iteration));
        if (its->is_none) return;
        const int32_t flags =
            take_tile(work, shared, its, opening,
                      buffers + buffer_of(&work->partition, iteration) * TALLY_TILE_BUFFER(TALLY_KERNEL_INPUTS));
        if (flags != 0 && (flags & ~tally_look32(&shared->flags)) != 0) { /* about once for each flag */
            tally_raise_flags(work->out.flags, flags);
            tally_or32(&shared->flags, flags);
        }
        next = its->iteration + 1;
        tally_warp_barrier(); /* lanes go on together in the warp's list and to the next tile: they shuffle there */
        tally_mbarrier_arrive(&its->left);
    }
}

TALLY_KERNEL_ENTRY(TALLY_SEGMENTS_BLOCK, TALLY_SEGMENTS, tally_segments_work, TALLY_SEGMENTS_RESIDENT) {
    TALLY_SHARED(all_shared_t, shared);
    TALLY_SHARED_BUFFER(buffers, TALLY_TILE_BUFFER(TALLY_KERNEL_INPUTS) << work.partition.log_buffers);
    if (tally_is_idle(work.wanted)) return;
    if (tally_warp() < TALLY_MOST_BUFFERS) {
        begin_lists(&shared->of[tally_warp()]);
        if (tally_lane() == 0) {
            tally_mbarrier_init(&shared->of[tally_warp()].come, 1);
            tally_mbarrier_init(&shared->of[tally_warp()].left, TALLY_CONSUMERS);
        }
    }
    begin_chunks(shared);
    begin_partials(shared);
    if (tally_thread() == 0) shared->flags = 0;
    tally_let_next_start();
    tally_barrier();
    tally_await_before();
    if (tally_warp() < TALLY_CONSUMER_WARPS)
        take_tiles(&work, shared, buffers);
    else if (tally_lane() == 0)
        bring_tiles(&work, shared, buffers);
}

#endif
