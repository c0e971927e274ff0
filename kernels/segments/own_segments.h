/* A block reduces the tile that it has read (production/segments/segments.h): first the leaves of segments that cross
 * its boundaries, then its own segments. One thread takes a segment of few values. Others wait in a list of the warp
 * until there is one for each lane (segments/listed_segments.h), or are sorted by length for the whole block where a
 * value costs much (segments/sorted_segments.h). Plain sums take all segments by chunks (chunks/chunks.h). */
#ifndef TALLY_OWN_SEGMENTS_H
#define TALLY_OWN_SEGMENTS_H

#include "order/nodes.h"
#include "chunks/chunks.h"
#include "segments/scaled_segments.h"
#include "shared/leaves.h"
#include "segments/tile.h"

/* ---- leaf by leaf, by all warps ---- */

/* Runs of leaves, one for each lane: those of lanes 0 and 1 cross the tile's boundaries; those of the other lanes are
 * segments of several leaves. */
typedef struct runs_t {
    int32_t at, n, until; /* the first value; how many values; leaves of this lane and of those before it */
} runs_t;
TALLY_FN int32_t leaves_in(int32_t n) { return (n + TALLY_DEVICE_LEAF - 1) / TALLY_DEVICE_LEAF; }

/* Reduces the leaves of all runs, warps taking turns. Nodes of runs that cross boundaries go to memory, the others to
 * `leaves`. chunks: if values were replaced by sums of chunks, the leaves are made of these. */
TALLY_FN void put_runs(const tally_segments_work *work, const tile_t *tile, runs_t mine, node_t *leaves,
                       const chunks_t *chunks) {
    const int32_t all = (int32_t)tally_shuffle((uint32_t)mine.until, TALLY_WARP - 1),
                  of_boundaries = (int32_t)tally_shuffle((uint32_t)mine.until, boundary_runs - 1);
    TALLY_ROLLED
    for (int32_t k = TALLY_CONSUMER_WARPS - 1 - tally_warp(); k < all;
         k += TALLY_CONSUMER_WARPS) { /* the last warps first: they have the least of what follows */
        const int32_t run = __builtin_popcount(tally_ballot(mine.until <= k)),
                      n = (int32_t)tally_shuffle((uint32_t)mine.n, run);
        const int32_t leaf = k - (int32_t)tally_shuffle((uint32_t)mine.until, run) + leaves_in(n),
                      skip = leaf * TALLY_DEVICE_LEAF;
        const int32_t at = (int32_t)tally_shuffle((uint32_t)mine.at, run) + skip,
                      left = n - skip < TALLY_DEVICE_LEAF ? n - skip : TALLY_DEVICE_LEAF;
        const opening_t *const o = tile->opening; /* loaded here, so that it takes no registers outside of the loop */
        const int64_t first = run == 0 ? o->from.leaf + leaf : leaf;
        node_t node;
        if (TALLY_IN_CHUNKS && chunks != 0)
            node = leaf_of_chunks(work, o, chunks, at, left);
        else
            node = shared_leaf(tile->x + at, tile->y + at, left, first * TALLY_DEVICE_LEAF);
        if (tally_lane() != 0) continue;
        if (k < of_boundaries)
            *node_at(work->nodes, (run == 0 ? o->from.place + o->from.leaf : o->to_place) + leaf) = node;
        else
            leaves[k - of_boundaries] = node;
    }
}
/* Makes results of the runs whose leaves stayed in the block, a warp for each. */
TALLY_FN void close_runs(const tally_segments_work *work, const tile_t *tile, runs_t mine, uint32_t some,
                         const node_t *leaves) {
    const int32_t of_boundaries = (int32_t)tally_shuffle((uint32_t)mine.until, boundary_runs - 1);
    for (int32_t k = 0; some != 0; some &= some - 1, k++) {
        const int32_t run = __builtin_ffs((int32_t)some) - 1,
                      count = leaves_in((int32_t)tally_shuffle((uint32_t)mine.n, run));
        const int32_t begin = (int32_t)tally_shuffle((uint32_t)mine.until, run) - count - of_boundaries;
        if (k % TALLY_CONSUMER_WARPS != tally_warp()) continue; /* all lanes of a warp agree on that */
        /* copied unconditionally, by words: under a condition it would be by bytes */
        const node_t leaf = leaves[begin + (tally_lane() < count ? tally_lane() : 0)], node = pair_lanes(leaf, count);
        if (tally_lane() == 0)
            tally_raise_flags(work->out.flags, put_result(work, tile->opening, run - boundary_runs, node));
    }
}

TALLY_FN runs_t runs_of_boundaries(const opening_t *o) {
    const int32_t lane = tally_lane();
    runs_t mine = {0, 0, 0};
    if (lane < boundary_runs) mine.at = o->run_at[lane], mine.n = o->run_n[lane];
    return mine;
}
/* Whether the tile has so few segments that those of several leaves are shared out leaf by leaf, too. */
TALLY_FN int32_t are_few(const tile_t *tile) { return tile->own <= TALLY_WARP - boundary_runs; }
/* Reduces runs that cross boundaries and, if segments are few, those of several leaves, leaf by leaf. The warps that
 * make results of these keep no other waiting. True: nothing else is left. */
TALLY_FN int32_t put_leaves(const tally_segments_work *work, const tile_t *tile, node_t *leaves) {
    const int32_t own = tally_lane() - boundary_runs;
    runs_t mine = runs_of_boundaries(tile->opening);
    if (are_few(tile)) {
        const slice_t slice = slice_of(tile, own, own >= 0 && own < tile->own);
        /* Invalid segments might overlap, and then have more leaves than there is room for. */
        if (!tally_any(slice.flags) && slice.n > TALLY_DEVICE_LEAF) mine.at = slice.at, mine.n = slice.n;
    }
    if (!tally_any(mine.n > 0)) return tile->own == 0;
    const uint32_t some = tally_ballot(own >= 0 && mine.n > 0);
    mine.until = (int32_t)tally_sum_until((uint32_t)leaves_in(mine.n));
    put_runs(work, tile, mine, leaves, 0);
    if (some == 0) return tile->own == 0; /* all warps agree on that */
    tally_consumer_barrier(TALLY_CONSUMERS);
    close_runs(work, tile, mine, some, leaves);
    return __builtin_popcount(some) == tile->own;
}

/* ---- segments of few values, each by a thread ---- */

/* Segments of at most few_most values are reduced by a thread each, if all of a warp are. */
enum { few_most = TALLY_READS_TWICE ? 8 : 4 };
/* Reduces up to TALLY_WARP segments from `first` on, one by each lane, if all of them are valid and have at most
 * few_most values. False: nothing was done. */
TALLY_FN int32_t take_few(const tally_segments_work *work, const tile_t *tile, int32_t first, int32_t count,
                          int32_t *flags) {
    const int32_t lane = tally_lane(), i = first + (lane < count ? lane : count - 1);
    const uint32_t at = end_of(tile, i), end = end_of(tile, i + 1);
    const uint32_t n = end < at || end > (uint32_t)tile->values ? UINT32_MAX : end - at;
#if TALLY_IS_PLAIN
    if (TALLY_NAN == 0 && is_plain(work->out.digits) && !tally_any(n > 2)) {
        if (lane < count)
            *flags |= put_plain_few(place_of(tile->opening->results, i, (int32_t)sizeof(TALLY_PLAIN)), tile->x + at,
                                    (int32_t)n, work->out.final.mean);
        return 1;
    }
#endif
    node_t node;
    if (!tally_any(n > 4))
        node = thread_node(tile->x + at, tile->y + at, (int32_t)n, 4);
    else if ((int32_t)few_most > 4 && !tally_any(n > few_most))
        node = thread_node(tile->x + at, tile->y + at, (int32_t)n, few_most);
    else
        return 0;
    const slice_t slice = {(int32_t)at, (int32_t)n, 0};
    *flags |= put_own(work, tile, i, slice, 1, lane < count, node);
    return 1;
}

/* Segments of at most alone_most values are reduced by one thread, value after value. */
enum { alone_most = TALLY_IS_SORTED ? 8 : 4 };
TALLY_FN int32_t take_alone(const tally_segments_work *work, const tile_t *tile, int32_t i, slice_t slice) {
    node_t node = nothing();
    if (slice.n > 0) node = thread_node(tile->x + slice.at, tile->y + slice.at, slice.n, alone_most);
    return put_own(work, tile, i, slice, 1, 1, node);
}

/* ---- segments of more than 64 values ---- */

/* Reduces the segments of the lanes in `many`, which have more than 64 values, one after the other by the whole warp.
 * Their results are made together, if nodes fit registers. */
TALLY_FN int32_t take_each(const tally_segments_work *work, const tile_t *tile, int32_t i, slice_t slice,
                           uint32_t many) {
    const int32_t later = sizeof(node_t) <= 24, is_mine = many >> tally_lane() & 1;
    node_t mine = nothing();
    int32_t flags = 0;
    for (; many != 0; many &= many - 1) {
        const int32_t from = __builtin_ffs((int32_t)many) - 1;
        const slice_t its = slice_of_lane(slice, from);
        const node_t node = shared_run(tile->x + its.at, tile->y + its.at, its.n);
        if (tally_lane() == from) mine = node;
        if (!later && tally_lane() == from) flags |= put_result(work, tile->opening, i, mine);
    }
    return later && is_mine ? flags | put_result(work, tile->opening, i, mine) : flags;
}

#if TALLY_BY_LANES
/* Assigns the lanes of a warp to segments. Each lane in *some has one; n is the values of this lane's. A segment gets
 * 1 << *log_lanes lanes: enough to keep all lanes busy, and to have little more than 16 parts of the longest segment
 * for each. Returns the lane whose segment this lane works on, or -1. Takes assigned segments out of *some. */
TALLY_FN int32_t share_lanes(uint32_t *some, int32_t n, int32_t *log_lanes) {
    enum { MOST = TALLY_PART <= 4 ? 4 : 16, EACH = 16 * TALLY_PART };
    const int32_t count = __builtin_popcount(*some), spare = count == 1 ? 5 : __builtin_clz((uint32_t)count - 1) - 27;
    int32_t least = 3;
    if (MOST > 4) {
        const int32_t longest = (int32_t)tally_warp_max(*some >> tally_lane() & 1 ? (uint32_t)n : EACH);
        least = 32 - __builtin_clz((uint32_t)(longest - 1) / EACH | 1);
    }
    const int32_t log = spare > least ? spare : least < 5 ? least : 5, group = tally_lane() >> log;
    uint32_t mine = *some;
    TALLY_UNROLL
    for (int32_t k = 0; k < MOST - 1; k++) mine = k < group ? mine & (mine - 1) : mine;
    const uint32_t behind = mine & (mine - 1);
    *some = tally_shuffle(behind, TALLY_WARP - 1);
    *log_lanes = log;
    return __builtin_ffs((int32_t)mine) - 1;
}
/* Reduces the segments of the lanes in `many`, several at once. */
TALLY_FN int32_t take_several(const tally_segments_work *work, const tile_t *tile, int32_t i, slice_t slice,
                              uint32_t many) {
    int32_t flags = 0;
    while (many != 0) {
        int32_t log_lanes;
        const int32_t found = share_lanes(&many, slice.n, &log_lanes), from = found < 0 ? 0 : found,
                      lanes = 1 << log_lanes;
        slice_t its = slice_of_lane(slice, from);
        if (found < 0) its.n = 0;
        const node_t node = parts_node(tile->x, tile->y, its.at, its.n, lanes, 0);
        const int32_t whose = (int32_t)tally_shuffle((uint32_t)i, from);
        flags |= put_own(work, tile, whose, its, lanes, found >= 0 && (tally_lane() & (lanes - 1)) == 0, node);
    }
    return flags;
}
TALLY_FN int32_t take_long(const tally_segments_work *work, const tile_t *tile, int32_t i, slice_t slice,
                           uint32_t many) {
    const uint32_t single = TALLY_NEEDS_LEAVES ? many & tally_ballot(slice.n <= TALLY_DEVICE_LEAF) : many;
    const int32_t flags = take_several(work, tile, i, slice, single);
    return many == single ? flags : flags | take_each(work, tile, i, slice, many & ~single);
}
#else
TALLY_FN int32_t take_long(const tally_segments_work *work, const tile_t *tile, int32_t i, slice_t slice,
                           uint32_t many) {
    return take_each(work, tile, i, slice, many);
}
#endif

/* ---- segments that have waited ---- */

#if TALLY_BY_LANES
/* Reduces up to TALLY_WARP listed segments. Lanes are shared out evenly: one each if there are more than 16. */
TALLY_FN int32_t take_listed(const tally_segments_work *work, const tile_t *tile, const uint16_t *listed,
                             int32_t count) {
    const int32_t log_lanes = count == 1 ? 5 : __builtin_clz((uint32_t)count - 1) - 27, lanes = 1 << log_lanes;
    const int32_t lane = tally_lane(), mine = lane >> log_lanes, is_there = mine < count,
                  i = is_there ? listed[mine] : 0;
    const slice_t slice = slice_of(tile, i, is_there);
    const node_t node = parts_node(tile->x, tile->y, slice.at, slice.n, lanes, 0);
    return put_own(work, tile, i, slice, lanes, is_there && (lane & (lanes - 1)) == 0, node);
}
#else
/* Whether it pays to give each of `count` segments, of which this lane has one of n values, to one thread, and not to 8
 * lanes, 4 at a time. If values are read twice, by what a value and a result cost, in operations. The lengths differ: 8
 * lanes meet half of the longest on average. */
TALLY_FN int32_t threads_pay(int32_t count, int32_t n) {
    enum { VALUE = (TALLY_IS_DEAR ? 40 : 8) * (TALLY_BYTES == 8 ? 2 : 1), RESULT = 250 };
    if (!TALLY_READS_TWICE && !TALLY_COLUMNS_ARE_LARGE)
        return count > 8; /* the lengths would cost more than they tell */
    const int32_t most = (int32_t)tally_warp_max((uint32_t)n);
    if (!TALLY_READS_TWICE) return count > 8 && most <= 16;
    return 4 * ((most + 8) * VALUE + RESULT) < count * (most * VALUE / 16 + RESULT);
}
/* Reduces up to TALLY_WARP listed segments of up to 64 values: each by a thread, or four at a time by 8 lanes each. */
TALLY_FN int32_t take_listed(const tally_segments_work *work, const tile_t *tile, const uint16_t *listed,
                             int32_t count) {
    const int32_t lane = tally_lane(), lanes = TALLY_DEVICE_SMALL_COLUMNS;
    int32_t flags = 0;
#if TALLY_COLUMN_MOST > 0
    const int32_t is_mine = lane < count, i = is_mine ? listed[lane] : 0;
    const slice_t own = slice_of(tile, i, is_mine);
    if (sizeof(column_t) <= TALLY_COLUMN_MOST && lie_alike(tile->x, tile->y) && threads_pay(count, own.n)) {
        const TALLY_T *const x = tile->x + own.at, *const y = tile->y + own.at;
        const node_t node = TALLY_BYTES > 4 && TALLY_COLUMNS_ARE_LARGE
                                ? called_columns(tally_address_of(x), tally_address_of(y), own.n)
                                : columns_node(x, y, own.n);
        return is_mine ? put_result(work, tile->opening, i, node) : 0;
    }
#endif
    TALLY_ROLLED
    for (int32_t k = 0; k < count; k += TALLY_WARP / lanes) {
        int32_t mine = k + lane / lanes, is_there = mine < count, segment = is_there ? listed[mine] : 0;
        slice_t slice = slice_of(tile, segment, is_there);
        node_t node = lanes_node(tile->x + slice.at, tile->y + slice.at, slice.n, 0);
        if (is_there && lane % lanes == 0) flags |= put_result(work, tile->opening, segment, node);
    }
    return flags;
}
#endif

#endif
