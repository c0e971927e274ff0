/* Segments of any lengths, by any operator. Each segment has the bits that it has when it is reduced alone
 * (docs/order.md). The method: docs/design/006-gpu-segments.md.
 *
 * production/partition.h has divided values and end markers into tiles (partition/partition.h). Blocks are persistent
 * and take tile after tile. One warp, the producer, copies the next tile to shared memory while the consumer warps
 * reduce the current one (segments/own_segments.h; producers and consumers: Bauer, Cook and Khailany, "CudaDMA", 2011).
 * Where a segment crosses a tile boundary, each tile leaves the nodes of the segment's leaves in memory. A second
 * kernel, `spans`, combines them, so that no block waits for another. The index is checked as it is used. */
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

#if TALLY_EXPANSIONS /* an exact sum, of values or of magnitudes alone */
#define TALLY_SEGMENTS expansions
#define TALLY_SPANS expansion_spans
#else
#define TALLY_SEGMENTS segments
#define TALLY_SPANS spans
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

/* ---- spans ---- */

/* A group of TALLY_FAN leaves of segment s, from leaf `leaf` on. The segment has `count` values; its nodes are at
 * `place`. */
typedef struct group_of_leaves_t {
    int64_t s, count, leaf, place;
} group_of_leaves_t;

/* Combines a group. The last of a segment's groups to be combined gives the result. */
TALLY_FN void close_group(const tally_segments_work *work, const group_of_leaves_t *group) {
    const tally_partition *partition = &work->partition;
    int64_t leaves = (group->count + TALLY_DEVICE_LEAF - 1) / TALLY_DEVICE_LEAF, pitch = 2 * partition->cells + 2,
            left = leaves - group->leaf;
    tally_ladder ladder = {work->nodes + pitch * (int64_t)sizeof(node_t), work->arrivals,
                           group->place / (2 * TALLY_FAN), tally_next_pitch(pitch), partition->cells / TALLY_FAN + 1};
    node_t node = gather_nodes(work->nodes, group->place + group->leaf, (int32_t)(left < TALLY_FAN ? left : TALLY_FAN));
    int32_t flags = 0;
    if (!climb(ladder, &node, group->leaf / TALLY_FAN, (leaves + TALLY_FAN - 1) / TALLY_FAN)) return;
    if (tally_lane() == 0) flags = put_at(work, results_from(&work->out, group->s), group->s, 0, node);
    tally_raise_flags(work->out.flags, flags);
}

/* Combines the groups that lanes have found, one after another, by the whole warp. */
TALLY_FN void close_groups(const tally_segments_work *work, int32_t is_there, group_of_leaves_t mine) {
    for (uint32_t some = tally_ballot(is_there); some != 0; some &= some - 1) {
        const int32_t lane = __builtin_ffs((int32_t)some) - 1;
        const group_of_leaves_t group = {tally_of_lane64(mine.s, lane), tally_of_lane64(mine.count, lane),
                                         tally_of_lane64(mine.leaf, lane), tally_of_lane64(mine.place, lane)};
        close_group(work, &group);
    }
}

/* Combines groups of leaves. A lane looks at a tile, and a warp combines the groups that begin in TALLY_SPAN_TILES
 * tiles. Where segments are short, few tiles have any. */
TALLY_KERNEL_ENTRY(TALLY_THREADS, TALLY_SPANS, tally_segments_work, 1) {
    if (tally_is_idle(work.wanted)) return;
    tally_let_next_start();
    tally_await_before();
    const tally_partition *partition = &work.partition;
    const int64_t t = ((int64_t)tally_block() * TALLY_WARPS + tally_warp()) * TALLY_SPAN_TILES + tally_lane();
    group_of_leaves_t before = {0, 0, 0, 0}, behind = before;
    int32_t has_before = 0, has_behind = 0;
    const int32_t is_there = tally_lane() < TALLY_SPAN_TILES && t < partition->tiles,
                  flags = tally_look32(work.out.flags);
    tally_boundary from = {0, 0, 0, 0, 0}, to = from;
    if (is_there) from = partition->boundaries[t], to = partition->boundaries[t + 1];
    if ((flags & TALLY_FLAG_BAD_SEGMENTS) != 0) return;
    if (is_there) {
        if (from.value != to.value && from.segment > 0) { /* a segment that began in an earlier tile */
            int64_t leaf = (from.leaf + TALLY_FAN - 1) / TALLY_FAN * TALLY_FAN,
                    begin = from.value - from.leaf * TALLY_DEVICE_LEAF;
            int64_t until = from.end < to.value ? from.end : to.value;
            const group_of_leaves_t found = {from.segment - 1, from.end - begin, leaf, from.place};
            before = found;
            has_before = from.place >= 0 && from.end > from.value && begin + leaf * TALLY_DEVICE_LEAF < until;
        }
        if (from.value != to.value && to.segment > from.segment) { /* a segment that ends in a later tile */
            const group_of_leaves_t found = {to.segment - 1, to.end - to.value + to.leaf * TALLY_DEVICE_LEAF, 0,
                                             to.place};
            behind = found;
            has_behind = to.place >= 0 && to.end > to.value;
        }
    }
    close_groups(&work, has_before, before);
    close_groups(&work, has_behind, behind);
}

#endif
