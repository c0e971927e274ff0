/* How leaves of segments of vectors are shared out to teams of threads (merge path: Merrill and Garland, "Merge-based
 * parallel sparse matrix-vector multiplication", 2016). A position counts the vectors and the segments before it, so
 * vectors and empty segments are shared alike. A leaf belongs to the tile of positions in which it begins. Needs
 * partition/partition.h, and TALLY_OFFSETS_ANYWHERE: 1 if offsets need not lie at multiples of their size. */
#ifndef TALLY_FEATURE_TILES_H
#define TALLY_FEATURE_TILES_H

#ifndef TALLY_OFFSETS_ANYWHERE
#error "define what the first comment lists"
#endif

#include "partition/partition.h"
#include "features/groups.h"

/* Offset s. */
TALLY_FN int64_t tally_group_offset(const tally_group_work *group, int64_t s) {
    if (group->offsets == 0) return s * group->length;
    if (TALLY_OFFSETS_ANYWHERE) return tally_entry(group->offsets, group->offset_bytes, s);
    return group->offset_bytes == 4 ? (int64_t)((const int32_t *)(const void *)group->offsets)[s]
                                    : ((const int64_t *)(const void *)group->offsets)[s];
}
/* Where segment s begins and ends, in places; false: nowhere. */
TALLY_FN int32_t tally_find_places(const tally_group_work *group, int64_t s, int64_t *begin, int64_t *end) {
    *begin = tally_group_offset(group, s);
    *end = tally_group_offset(group, s + 1);
    return 0 <= *begin && *begin <= *end && *end <= group->places;
}

/* Where segment s begins: the vectors before it, and `each` for each segment before it. */
TALLY_FN int64_t tally_position_of(const tally_group_work *group, int64_t each, int64_t s) {
    return (int64_t)((uint64_t)tally_group_offset(group, s) + (uint64_t)(each * s));
}
/* The last segment that begins at a position or before it, or segment 0. A warp searches. */
TALLY_FN int64_t tally_segment_at(const tally_group_work *group, int64_t each, int64_t position) {
    int64_t low = 0, high = group->segments; /* low begins there or before, or is 0; high does not */
    while (high - low > 1) {
        const int64_t step = (high - low + TALLY_WARP - 1) / TALLY_WARP, probe = low + (tally_lane() + 1) * step;
        const uint32_t before = tally_ballot(probe < high && tally_position_of(group, each, probe) <= position);
        const int32_t lanes = before == UINT32_MAX ? TALLY_WARP : __builtin_ffs((int32_t)~before) - 1;
        low += lanes * step;
        if (low + step < high) high = low + step;
    }
    return low;
}
/* The same between two segments. A thread searches. */
TALLY_FN int64_t tally_segment_between(const tally_group_work *group, int64_t each, int64_t position, int64_t low,
                                       int64_t high) {
    while (low < high) {
        const int64_t middle = high - (high - low) / 2;
        if (tally_position_of(group, each, middle) <= position)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* ---- the leaves of a tile ---- */

/* A leaf in a tile of positions: leaf number `leaf`, of 2^log_leaf vectors, of a segment at places begin to end - 1. */
typedef struct tally_leaf_at {
    int64_t segment, leaf, begin, end;
    int64_t from, until;
    int64_t iterations; /* a limit, in case offsets are wrong */
    int32_t log_leaf;
} tally_leaf_at;

TALLY_FN void tally_step_leaf(tally_leaf_at *at) {
    if ((at->leaf + 1) << at->log_leaf < at->end - at->begin)
        at->leaf++;
    else
        at->leaf = 0, at->segment++;
}
/* Goes on to the first leaf that begins in the tile, this one included. 0: there is none. */
TALLY_FN int32_t tally_find_leaf(const tally_group_work *group, tally_leaf_at *at) {
    for (; at->iterations > 0 && at->segment < group->segments; at->iterations--) {
        if (tally_find_places(group, at->segment, &at->begin, &at->end)) {
            const int64_t behind = at->leaf << at->log_leaf, position = at->segment + at->begin + behind;
            const int32_t is_there = at->leaf == 0 || behind < at->end - at->begin;
            if (is_there && position >= at->until) return 0;
            if (is_there && position >= at->from) return 1;
        } else
            at->begin = at->end = 0;
        tally_step_leaf(at);
    }
    return 0;
}
/* The place before the first leaf of the team's tile. Each thread of the block calls this. segments: shared memory. */
TALLY_FN tally_leaf_at tally_open_tile(const tally_group_work *group, int32_t log_leaf, int64_t tile, int64_t first,
                                       int64_t tiles_of_block, int64_t segments[2]) {
    tally_leaf_at at;
    if (tally_warp() < 2) {
        const int64_t end = tally_warp() == 0 ? first : first + tiles_of_block,
                      s = tally_segment_at(group, 1, end * group->each);
        if (tally_lane() == 0) segments[tally_warp()] = s;
    }
    tally_barrier();
    at.log_leaf = log_leaf;
    at.from = tile * group->each;
    at.until = at.from + group->each;
    at.iterations = group->each + 4;
    at.segment = tally_segment_between(group, 1, at.from, segments[0], segments[1]);
    at.leaf = 0;
    if (!tally_find_places(group, at.segment, &at.begin, &at.end)) at.begin = at.end = 0;
    const int64_t before = at.from - at.segment - at.begin; /* how many positions of the segment lie before the tile */
    if (before > 0) at.leaf = (before + ((int64_t)1 << log_leaf) - 1) >> log_leaf;
    return at;
}

/* Which of 8 vectors that are loaded at once is number b: b, or b with its bits reversed. */
TALLY_FN int32_t tally_place_abreast(const int32_t b, const int32_t is_tree) {
    return is_tree ? (b & 1) << 2 | (b & 2) | b >> 2 : b;
}

/* ---- nodes of leaves ---- */

/* Where the node of a leaf lies, if its segment has several. No two leaves have the same slot: of two segments, only
 * the last leaf of the earlier and the first leaf of the later can begin in the same 2^log_leaf vectors. */
TALLY_FN int64_t tally_node_slot(const tally_leaf_at *at, int64_t leaf, int32_t log_leaf, int64_t slots) {
    const int32_t is_last = (leaf + 1) << log_leaf >= at->end - at->begin;
    return (is_last ? slots : 0) + (at->begin >> log_leaf) + leaf;
}

#endif
