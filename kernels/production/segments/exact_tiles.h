/* Exact results of segments that have many values on average, which lie side by side: a warp has a tile
 * (partition/partition.h), and some lanes a segment, which they read from memory as they would a row
 * (exact_rows/lanes_row.h). So warps do not wait for each other, and the results of up to 32 segments are made at once.
 * Segments whose result two doubles do not decide are added up again (exact_segments/group_sums.h). Of segments that
 * cross a tile's boundaries nodes stay in memory, for production/segments/spans.h. The method: docs/design/012. */
#ifndef TALLY_FORM_EXACT_TILES_H
#define TALLY_FORM_EXACT_TILES_H

#include "types/types.h"

#include TALLY_KERNEL_FILE
#include "exact_rows/lanes_row.h"
#include "exact_rows/row_results.h"
#include "order/nodes.h"
#include "segments/open_tile.h"

/* The leaves that a warp folds together: of so many values in all, and whole. */
enum { leaves_together = TALLY_LANE_VALUES * TALLY_WARP / TALLY_DEVICE_LEAF };

/* A segment of the tile: its number, its first value, and how many it has. */
typedef struct listed_t {
    int64_t value;
    int32_t i, n;
} listed_t;
/* What a warp keeps in shared memory, where it takes no registers: its tile; and the segments that it reduces at a
 * time, one for each lane, the short ones first, with their nodes. */
typedef struct warp_tile_t {
    int64_t segment, value;          /* the first of the tile */
    int32_t own, values;             /* how many */
    int32_t shorts, count;           /* of those listed: how many are short, and how many there are */
    int32_t log_lanes;               /* log2 of the lanes of a short one */
    listed_t listed[TALLY_WARP + 1]; /* and one without values */
    node_t nodes[TALLY_WARP];
} warp_tile_t;
typedef struct warp_tiles_t {
    warp_tile_t of[TALLY_FLAT_WARPS];
} warp_tiles_t;

/* Folds n values from number `value` of the array on by 2^log_lanes lanes. All lanes of the warp call this. */
TALLY_FN node_t node_of_values(const tally_segments_work *work, int64_t value, int32_t n, int32_t log_lanes) {
    const row_t row = row_at(work->x + value * TALLY_BYTES, work->y + value * TALLY_BYTES, n);
    const folded_t folded = folded_row(&row, log_lanes);
    return to_node(folded.column, folded.present);
}

/* ---- segments that cross a boundary ---- */

/* Writes the nodes of the leaves of such a segment, of which the tile has n values from number `value` on. As the order
 * does not show, the place of the first of several leaves gets the node of all, and the others get nothing(). */
TALLY_LONG void put_leaves_of(const tally_segments_work *work, int64_t value, int32_t n, int64_t place) {
    enum { MOST = leaves_together * TALLY_DEVICE_LEAF };
    const int32_t leaves = (n + TALLY_DEVICE_LEAF - 1) / TALLY_DEVICE_LEAF, lane = tally_lane();
    TALLY_ROLLED
    for (int32_t leaf = 0; leaf < leaves; leaf += leaves_together) {
        const int32_t skip = leaf * TALLY_DEVICE_LEAF, left = n - skip;
        node_t node = node_of_values(work, value + skip, left < MOST ? left : MOST, 5);
        if (lane > 0) node = nothing();
        if (lane < leaves_together && leaf + lane < leaves) *node_at(work->nodes, place + leaf + lane) = node;
    }
}

/* ---- segments within the tile ---- */

/* Segment i of the tile, as slice_of has it of a tile in shared memory. */
TALLY_FN slice_t slice_in_memory(const tally_partition *partition, const warp_tile_t *tile, int32_t i,
                                 int32_t is_there) {
    const int64_t s = tile->segment + (is_there ? i : 0);
    const uint32_t at = (uint32_t)tally_place_of(tally_apart(tally_offset(partition, s), tile->value)),
                   end = (uint32_t)tally_place_of(tally_apart(tally_offset(partition, s + is_there), tile->value));
    slice_t slice = {(int32_t)at, (int32_t)(end - at), 0};
    if (!is_there || at > end || end > (uint32_t)tile->values) {
        slice.at = slice.n = 0;
        slice.flags = is_there ? TALLY_FLAG_BAD_SEGMENTS : 0;
    }
    return slice;
}
/* log2 of the lanes of each segment, if segments have n values on average and `longest` at most. With few lanes more
 * segments are folded at once, and each lane has enough values to pay for the joins. */
TALLY_FN int32_t log_lanes_for(int32_t n, int32_t longest) {
    enum { LANE = 256 / (TALLY_BYTES * TALLY_KERNEL_INPUTS), LEAST = 1, MOST = 5 };
    int32_t log = LEAST;
    while (log < MOST && (n > LANE << log || longest > 2 * LANE << log)) log++;
    return log;
}
/* Lists the tile's segments from number `first` on. Gives status flags. */
TALLY_FN int32_t list_segments(const tally_partition *partition, warp_tile_t *tile, int32_t first) {
    enum { LONG = 4096 / (TALLY_BYTES * TALLY_KERNEL_INPUTS) }; /* values that pay for a warp */
    const int32_t lane = tally_lane(), left = tile->own - first, count = left < TALLY_WARP ? left : TALLY_WARP;
    const slice_t slice = slice_in_memory(partition, tile, first + lane, lane < count);
    const int32_t is_short = slice.n <= LONG;
    const uint32_t shorts = tally_ballot(lane < count && is_short), longs = tally_ballot(!is_short);
    const int32_t many = __builtin_popcount(shorts),
                  place = is_short ? tally_lanes_before(shorts) : many + tally_lanes_before(longs);
    const listed_t mine = {tile->value + slice.at, first + lane, slice.n}, none = {tile->value, 0, 0};
    tile->listed[lane < count ? place : lane] = lane < count ? mine : none;
    const uint32_t n = is_short ? (uint32_t)slice.n : 0;
    const int32_t longest = (int32_t)tally_warp_max(n),
                  sum = (int32_t)tally_shuffle(tally_sum_until(n), TALLY_WARP - 1);
    if (lane == 0) {
        tile->listed[TALLY_WARP] = none;
        tile->shorts = many;
        tile->count = count;
        tile->log_lanes = log_lanes_for(many > 0 ? sum / many : 0, longest);
    }
    return slice.flags;
}
/* Makes the nodes of listed segments. */
TALLY_FN void fold_segments(const tally_segments_work *work, warp_tile_t *tile) {
    TALLY_ROLLED
    for (int32_t from = 0; from < tile->count;) {
        const int32_t are_short = from < tile->shorts, log_lanes = are_short ? tile->log_lanes : 5,
                      until = are_short ? tile->shorts : tile->count, i = from + (tally_lane() >> log_lanes);
        const listed_t *const its = &tile->listed[i < until ? i : TALLY_WARP];
        const node_t node = node_of_values(work, its->value, its->n, log_lanes);
        if ((tally_lane() & ((1 << log_lanes) - 1)) == 0 && i < until) tile->nodes[i] = node;
        from += TALLY_WARP >> log_lanes;
        if (are_short && from > tile->shorts) from = tile->shorts;
    }
}
/* Writes the results of listed segments. */
TALLY_FN void put_segments(const tally_segments_work *work, const warp_tile_t *tile) {
    const int32_t lane = tally_lane();
    const listed_t its = tile->listed[lane];
    int64_t s = lane < tile->count ? tile->segment + its.i : -1;
    if (s >= 0 && its.n <= TALLY_LANE_VALUES * TALLY_WARP && put_row(&work->out, s, tile->nodes[lane])) s = -1;
    if (tally_any(s >= 0)) put_rows_again(&work->out, work->x, work->y, s, its.value * TALLY_BYTES, its.n);
}

TALLY_KERNEL_ENTRY(TALLY_FLAT_THREADS, exact_tiles, tally_segments_work, 2 * TALLY_RESIDENT) {
    TALLY_SHARED(warp_tiles_t, shared);
    if (tally_is_idle(work.wanted)) return;
    tally_let_next_start();
    tally_await_before();
    const int64_t t = (int64_t)tally_block() * TALLY_FLAT_WARPS + tally_warp();
    if (t >= work.partition.tiles) return;
    warp_tile_t *const tile = &shared->of[tally_warp()];
    opening_t o;
    open_tile(&work, t, &o);
    if (!o.is_good) {
        tally_raise_flags(work.out.flags, TALLY_FLAG_BAD_SEGMENTS);
        return;
    }
    if (tally_lane() == 0) {
        tile->segment = o.from.segment, tile->own = o.own;
        tile->value = o.from.value, tile->values = o.values;
    }
    put_leaves_of(&work, o.from.value + o.run_at[0], o.run_n[0], o.from.place + o.from.leaf);
    put_leaves_of(&work, o.from.value + o.run_at[1], o.run_n[1], o.to_place);
    TALLY_ROLLED
    for (int32_t first = 0;; first += TALLY_WARP) {
        tally_warp_barrier();
        if (first >= tile->own) return;
        const int32_t flags = list_segments(&work.partition, tile, first);
        tally_raise_flags(work.out.flags, flags);
        tally_warp_barrier();
        fold_segments(&work, tile);
        tally_warp_barrier();
        put_segments(&work, tile);
    }
}

#endif
