/* Segments that cross tile boundaries: the nodes of their leaves, which production/segments/segments.h or exact_tiles.h
 * has left in memory, are combined in the canonical tree (docs/order.md). */
#ifndef TALLY_FORM_SPANS_H
#define TALLY_FORM_SPANS_H

#include "types/types.h"

#include TALLY_KERNEL_FILE
#include "accumulators/operator.h"
#include "order/leaf.h"
#include "order/nodes.h"
#include "partition/partition.h"
#include "segments/results.h"

#if TALLY_EXPANSIONS /* exact sums */
#define TALLY_SPANS expansion_spans
#else
#define TALLY_SPANS spans
#endif

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

TALLY_ASSERT(TALLY_TILE_MOST(TALLY_KERNEL_INPUTS) / (TALLY_DEVICE_LEAF * TALLY_SLOT * TALLY_KERNEL_INPUTS) < TALLY_FAN,
             "several groups of leaves begin in a tile");
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
