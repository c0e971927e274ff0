/* Reduces the segments of a tile at a price that hardly depends on their lengths, where order does not show. Threads
 * fold equal chunks of the tile (chunks/partial_chunks.h), and a segment is combined from the partial results that its
 * chunks have of it (a segmented reduction by equal chunks: Blelloch, "Prefix sums and their applications", 1990;
 * Sengupta, Harris, Zhang and Owens, "Scan primitives for GPU computing", 2007). */
#ifndef TALLY_PARTIALS_H
#define TALLY_PARTIALS_H

#include "chunks/partial_chunks.h"
#include "segments/own_segments.h"

#if TALLY_IN_PARTIALS

TALLY_FN void begin_partials(all_shared_t *all) {
    for (int32_t k = tally_thread(); k < most_chunks; k += TALLY_SEGMENTS_BLOCK) all->in_partials.heads[k] = 0;
}
/* Whether the tile's segments go by chunks; if TALLY_ALL_IN_PARTIALS, those that cross its boundaries, too. Exact sums
 * look at the values of its own segments alone: chunks of many short ones have no room. */
TALLY_FN int32_t is_for_partials(const tile_t *tile) {
    const int32_t of_others = TALLY_MEASURES_CHUNKS ? tile->opening->run_n[0] + tile->opening->run_n[1] : 0;
    const int32_t are_many = TALLY_ALL_IN_PARTIALS ? tile->own >= least_segments : !are_few(tile);
    return (TALLY_MEASURES_CHUNKS || (int32_t)last_partial >= (int32_t)least_heads) && are_many &&
           lie_alike(tile->x, tile->y) && tile->values - of_others > least_for_partials * tile->own &&
           (TALLY_BYTES > 1 || tile->values < most_for_partials * tile->own);
}

/* ---- first: head flags, where segments end and where the first one begins. Then chunks are folded ---- */

/* An end that is invalid marks nothing: close_partials tells of it. */
TALLY_FN void mark_heads(const tile_t *tile, const partials_t *partials) {
    TALLY_ROLLED
    for (int32_t i = tally_thread(); i <= tile->own; i += TALLY_CONSUMERS) { /* there are ends, as there are segments */
        const uint32_t end = end_of(tile, i);
        if (end <= (uint32_t)tile->values) set_head(partials->in->heads, partials->before + (int32_t)end);
    }
}

/* ---- at last: results ---- */

/* Where a segment lies: from place `from` of its first chunk on, and before place `to` of its last. */
typedef struct placed_t {
    int32_t first, last, from, to;
} placed_t;
TALLY_FN placed_t placed_in_chunks(int32_t before, slice_t slice) {
    const int32_t begin = before + slice.at, end = begin + slice.n;
    placed_t placed;
    placed.first = chunk_of(begin);
    placed.last = chunk_of(end - 1);
    placed.from = begin - placed.first * chunk_values;
    placed.to = end - placed.last * chunk_values;
    return placed;
}
/* The node of a segment of n > 0 values that has few chunks, by one thread. */
TALLY_FN node_t node_alone(const partials_t *partials, const placed_t *placed, int32_t n) {
    const int32_t first = placed->first, last = placed->last;
    partial_t all = no_partial(placed->from);
    if (first < last) {
        all = partial_within(partials, first, placed->from, chunk_values);
        TALLY_ROLLED
        for (int32_t chunk = first + 1; chunk < last; chunk++)
            join_partials(&all, partial_of_all(partials, chunk), (chunk - first) * chunk_values);
    }
    const partial_t end = partial_within(partials, last, first < last ? 0 : placed->from, placed->to);
    join_partials(&all, end, (last - first) * chunk_values);
    return node_of_partial(all, n, placed->from);
}
#if TALLY_MEASURES_CHUNKS
/* The node of values, or none, by `lanes` lanes side by side. Each of them gets it. All lanes of the warp take part. */
TALLY_FN node_t node_by_lanes(const partials_t *partials, slice_t slice, int32_t lanes) {
    const placed_t placed = placed_in_chunks(partials->before, slice);
    column_t all = identity();
    TALLY_ROLLED
    for (int32_t chunk = placed.first + (tally_lane() & (lanes - 1)); slice.n > 0 && chunk <= placed.last;
         chunk += lanes)
        all = combine(all, partial_within(partials, chunk, chunk == placed.first ? placed.from : 0,
                                          chunk == placed.last ? placed.to : chunk_values));
    TALLY_ROLLED
    for (int32_t mask = lanes / 2; mask > 0; mask /= 2) all = combine(all, other(all, mask));
    return to_node(all, slice.n);
}
/* Of the segments of `many` lanes, several at once. */
TALLY_FN void nodes_of_many(const partials_t *partials, uint32_t many, slice_t slice, node_t *node) {
    TALLY_ROLLED
    while (many != 0) {
        const uint32_t all = many;
        int32_t log_lanes;
        const int32_t found = share_lanes(&many, slice.n, &log_lanes), from = found < 0 ? 0 : found;
        slice_t its = slice_of_lane(slice, from);
        if (found < 0) its.n = 0;
        const node_t theirs = node_by_lanes(partials, its, 1 << log_lanes);
        const uint32_t taken = all & ~many;
        const int32_t rank = tally_lanes_before(taken);
        const node_t mine = node_of_lane(theirs, (rank << log_lanes) & (TALLY_WARP - 1));
        if ((taken >> tally_lane() & 1) != 0) *node = mine;
    }
}
/* The nodes of the leaves of segments that cross the tile's boundaries, by groups of lanes, the last warps first. */
TALLY_FN void put_crossing(const tally_segments_work *work, const opening_t *o, const partials_t *partials) {
    enum { LANES = 8, GROUPS = TALLY_WARP / LANES };
    const int32_t before = leaves_in(o->run_n[0]), all = before + leaves_in(o->run_n[1]);
    TALLY_ROLLED
    for (int32_t first = (TALLY_CONSUMER_WARPS - 1 - tally_warp()) * GROUPS; first < all;
         first += TALLY_CONSUMER_WARPS * GROUPS) {
        const int32_t k = first + tally_lane() / LANES, run = k >= before, leaf = run ? k - before : k;
        const int32_t skip = leaf * TALLY_DEVICE_LEAF, left = k < all ? o->run_n[run] - skip : 0;
        const slice_t slice = {o->run_at[run] + skip, left < TALLY_DEVICE_LEAF ? left : TALLY_DEVICE_LEAF, 0};
        const node_t node = node_by_lanes(partials, slice, LANES);
        if (k < all && tally_lane() % LANES == 0)
            *node_at(work->nodes, (run ? o->to_place : o->from.place + o->from.leaf) + leaf) = node;
    }
}
#else
/* Of one that has many, by a warp. Lane 0 gets it. */
TALLY_FN node_t node_of_warp(const partials_t *partials, const placed_t *placed) {
    node_t all = nothing();
    TALLY_ROLLED
    for (int32_t chunk = placed->first + tally_lane(); chunk <= placed->last; chunk += TALLY_WARP) {
        const int32_t skip = (chunk - placed->first) * chunk_values, from = chunk == placed->first ? placed->from : 0,
                      to = chunk == placed->last ? placed->to : chunk_values;
        all = merge(all, node_of_partial(partial_within(partials, chunk, from, to), to - from, placed->from - skip));
    }
    return pair_lanes(all, TALLY_WARP);
}
/* Of the segments of `many` lanes, one after another, each by the whole warp. */
TALLY_FN void nodes_of_many(const partials_t *partials, uint32_t many, slice_t slice, node_t *node) {
    TALLY_ROLLED
    for (; many != 0; many &= many - 1) {
        const int32_t lane = __builtin_ffs((int32_t)many) - 1;
        const placed_t placed = placed_in_chunks(partials->before, slice_of_lane(slice, lane));
        const node_t found = node_of_lane(node_of_warp(partials, &placed), 0);
        if (tally_lane() == lane) *node = found;
    }
}
TALLY_FN void put_crossing(const tally_segments_work *work, const opening_t *o, const partials_t *partials) {
    (void)work, (void)o, (void)partials;
}
#endif
/* Makes results of all segments. Returns status flags. */
TALLY_FN int32_t close_partials(const tally_segments_work *work, const tile_t *tile, const partials_t *partials) {
    const int32_t spreads = TALLY_ALL_IN_PARTIALS && are_few(tile), alone = spreads ? few_by_thread : most_by_thread;
    int32_t flags = 0;
    TALLY_ROLLED
    for (int32_t first = tally_warp() * (spreads ? 1 : TALLY_WARP); first < tile->own; first += TALLY_CONSUMERS) {
        const int32_t i = first + tally_lane() * (spreads ? TALLY_CONSUMER_WARPS : 1), is_there = i < tile->own;
        const slice_t slice = slice_of(tile, i, is_there);
        const placed_t placed = placed_in_chunks(partials->before, slice);
        const uint32_t many = tally_ballot(slice.n > alone);
        node_t mine = nothing();
        flags |= slice.flags;
        if (slice.n > 0 && slice.n <= alone) mine = node_alone(partials, &placed, slice.n);
        if (many != 0) nodes_of_many(partials, many, slice, &mine);
        if (is_there) flags |= put_result(work, tile->opening, i, mine);
    }
    return flags;
}

/* Reduces all segments of the tile for which is_for_partials is true. Returns status flags. */
TALLY_FN int32_t take_partials(const tally_segments_work *work, const tile_t *tile, all_shared_t *all) {
    in_partials_t *const in = &all->in_partials;
    partials_t partials;
    partials.before = (int32_t)((uint64_t)tile->x % 16 / TALLY_BYTES);
    partials.count = chunk_of(partials.before + tile->values - 1) + 1;
    partials.values = (char *)(uint64_t)(tile->x - partials.before);
    partials.in = in;
    partials.apart = (int64_t)((uint64_t)tile->y - (uint64_t)tile->x);
    mark_heads(tile, &partials);
#if TALLY_MEASURES_CHUNKS
    if (tally_thread() == 0) in->pooled = 2; /* 0 is the place of values; all are done with the pool's last tile */
    if (TALLY_ALL_IN_PARTIALS && tally_warp() == TALLY_CONSUMER_WARPS - 1)
        mark_leaves(in->heads, partials.before, tile->opening);
    if (tally_warp() == TALLY_CONSUMER_WARPS - 2)
        clear_around((TALLY_T *)(void *)partials.values, partials.before, tile->values, partials.count);
#endif
    tally_consumer_barrier(TALLY_CONSUMERS);
    const int32_t keeps = tally_any(fold_chunks(&partials));
    if (tally_lane() == 0) in->keeps[tally_warp()] = keeps;
    tally_consumer_barrier(TALLY_CONSUMERS);
    partials.has_kept = tally_any(tally_lane() < TALLY_CONSUMER_WARPS && in->keeps[tally_lane()]);
    if (TALLY_ALL_IN_PARTIALS) put_crossing(work, tile->opening, &partials);
    const int32_t flags = close_partials(work, tile, &partials);
    if (partials.has_kept) clear_kept(&partials);
    return flags;
}
#else
TALLY_FN void begin_partials(all_shared_t *all) { (void)all; }
TALLY_FN int32_t is_for_partials(const tile_t *tile) { return (void)tile, 0; }
TALLY_FN int32_t take_partials(const tally_segments_work *work, const tile_t *tile, all_shared_t *all) {
    return (void)work, (void)tile, (void)all, 0;
}
#endif

#endif
