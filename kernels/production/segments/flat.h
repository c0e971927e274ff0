/* Exact segments of any values: those that two doubles for each sum did not decide (compensated/nodes.h,
 * exact_rows/pair_sums.h), or all. Long rows have production/rows/left_rows.h.
 *
 * A thread or a warp adds up a segment that lies in one tile (exact_segments/whole_segments.h). If a segment crosses
 * tile boundaries, each tile adds its part to a number of limbs in memory (exact_segments/digits.h): the number of the
 * tile in which the segment begins. If it crosses more than TALLY_FLAT_GROUP tiles, each group of tiles has a number of
 * its own, and the last kernel adds these up. */
#ifndef TALLY_FORM_FLAT_H
#define TALLY_FORM_FLAT_H

#include "types/types.h"

#include TALLY_KERNEL_FILE

#include "exact_segments/flat_nodes.h"
#define TALLY_LANE_LIMBS TALLY_LIMBS
#define TALLY_LANE_PRODUCT_LIMBS TALLY_PRODUCT_LIMBS
#include "exact_segments/digits.h"
#include "exact_segments/finish_nodes.h"
#include "exact_segments/whole_segments.h"

/* Whether any segment is to be reduced. Others may be writing: all lanes of a warp go on, or none. */
TALLY_FN int32_t warp_has_work(const tally_segments_work *work) { return !tally_any(!thread_sees_work(work)); }
/* Empties the numbers of limbs, by the warps of all blocks. */
TALLY_FN void clear_nodes(const tally_segments_work *work) {
    const int64_t step = (int64_t)tally_blocks() * TALLY_FLAT_WARPS;
    for (int64_t t = (int64_t)tally_block() * TALLY_FLAT_WARPS + tally_warp(); t < work->partition.tiles; t += step)
        if (is_node_used(work, t)) clear_node(node_of(work, t));
}

/* ---- tiles ---- */

/* A tile: the segment that enters it (or -1), the segments that lie in it, and the segment that leaves it (or -1). */
typedef struct tile_t {
    int64_t value, end; /* its values */
    int64_t runs_in, first, until, runs_out;
} tile_t;
/* False: the boundaries are not those of a segmentation. */
TALLY_FN int32_t place_tile(const tally_segments_work *work, int64_t t, tile_t *tile) {
    const tally_boundary from = work->partition.boundaries[t], to = work->partition.boundaries[t + 1];
    const int32_t runs_in = from.segment > 0 && from.end > from.value, runs_out = to.segment > 0 && to.end > to.value;
    tile->value = from.value;
    tile->end = to.value;
    tile->runs_in = runs_in ? from.segment - 1 : -1;
    tile->first = from.segment;
    tile->until = to.segment - runs_out;
    tile->runs_out = runs_out ? to.segment - 1 : -1;
    return from.segment >= 0 && to.segment >= from.segment && to.segment <= work->partition.count && from.value >= 0 &&
           to.value >= from.value && to.value <= work->partition.values && from.end >= from.value &&
           to.end >= to.value && (to.segment > from.segment ? from.end <= to.value : from.end >= to.value);
}
/* Reduces a warp's share of the segments in a tile, of which warps take whole_most in turn, as a few are best sorted by
 * one warp. False: the offsets are bad. */
TALLY_FN int32_t put_share(const tally_segments_work *work, const tile_t *tile, const steps_t *steps, int32_t number,
                           by_length_t *sorted) {
    TALLY_ROLLED
    for (int64_t first = tile->first + number % TALLY_FLAT_WARPS * whole_most; first < tile->until;
         first += TALLY_FLAT_WARPS * whole_most) {
        const int64_t end = first + whole_most;
        const whole_t whole = {first, end < tile->until ? end : tile->until, tile->value, tile->end};
        if (!put_by_length(work, &whole, steps, sorted)) return 0;
    }
    return 1;
}
/* Adds a tile's parts of the segments that enter and leave it to their numbers of limbs. False: the offsets are bad. */
TALLY_FN int32_t add_parts(const tally_segments_work *work, int64_t t, const tile_t *tile, const steps_t *steps,
                           digits_t *digits) {
    const int64_t in = tile->runs_in, out = tile->runs_out, last = out >= 0 ? out : tile->until - 1;
    for (int64_t s = in >= 0 ? in : tile->first; s <= last; s = s == last ? s + 1 : last) {
        if (!(s == in || s == out) || !wants_segment(work, s)) continue;
        const int64_t begin = begin_of(work, s), at = s == in ? tile->value : begin,
                      end = s == out ? tile->end : begin_of(work, s + 1);
        if (at < tile->value || end < at || end > tile->end) return 0;
        const values_t of = values_from(work, s, at, (int32_t)(end - at));
        add_part(steps, &of, digits, node_for(work, t, s != in ? t : tile_of(work, s, begin)));
    }
    return 1;
}

/* The segments that lie in tiles: a block takes a tile. The numbers that the next kernel adds to are emptied, too. */
typedef struct all_by_length_t {
    by_length_t of[TALLY_FLAT_WARPS];
} all_by_length_t;
#define TALLY_WHOLE_BLOCKS (TALLY_HAS_KEYS || TALLY_IS_F64 ? 4 : 5) /* or registers spill */
TALLY_KERNEL_ENTRY(TALLY_FLAT_THREADS, flat_whole, tally_segments_work, TALLY_WHOLE_BLOCKS) {
    TALLY_SHARED(all_by_length_t, shared);
    if (tally_is_idle(work.wanted)) return;
    tally_let_next_start();
    tally_await_before();
    if (!warp_has_work(&work)) return;
    clear_nodes(&work);
    const steps_t steps = steps_of(&work);
    int32_t turn = tally_warp();
    for (int64_t t = tally_block(); t < work.partition.tiles; t += tally_blocks()) {
        tile_t tile;
        if (place_tile(&work, t, &tile) && (!wants_any(&work, tile.first, tile.until) ||
                                            put_share(&work, &tile, &steps, turn++, &shared->of[tally_warp()])))
            continue;
        tally_or32(work.out.flags, TALLY_FLAG_BAD_SEGMENTS);
    }
}

/* The parts of segments that cross tile boundaries: a warp takes a tile. */
TALLY_KERNEL_ENTRY(TALLY_FLAT_THREADS, flat, tally_segments_work, 4) {
    TALLY_SHARED(all_digits_t, shared);
    if (tally_is_idle(work.wanted)) return;
    tally_let_next_start();
    tally_await_before();
    if (!warp_has_work(&work)) return;
    digits_t *const digits = &shared->of[tally_warp()];
    const steps_t steps = steps_of(&work);
    const int64_t step = (int64_t)tally_blocks() * TALLY_FLAT_WARPS;
    clear_digits(digits);
    for (int64_t t = (int64_t)tally_block() * TALLY_FLAT_WARPS + tally_warp(); t < work.partition.tiles; t += step) {
        tile_t tile;
        if (!place_tile(&work, t, &tile) || !add_parts(&work, t, &tile, &steps, digits))
            tally_or32(work.out.flags, TALLY_FLAG_BAD_SEGMENTS);
    }
}

/* ---- segments across tile boundaries: the last kernel ---- */

/* Finishes the segments that cross tile boundaries, each from the tile in which it begins. */
TALLY_KERNEL_ENTRY(TALLY_THREADS, flat_finish, tally_segments_work, 1) {
    TALLY_SHARED(finished_t, shared);
    if (tally_is_idle(work.wanted)) return;
    tally_let_next_start();
    tally_await_before();
    if (tally_thread() == 0) shared->has[0] = thread_sees_work(&work);
    tally_barrier(); /* others may be writing: all threads of a block go on, or none */
    const int32_t has_work = shared->has[0];
    tally_barrier();
    if (!has_work) return;
    const tally_partition *const partition = &work.partition;
    const int64_t first = (int64_t)tally_block() * finished_most, t = first + tally_thread();
    int64_t s = -1, begin = 0, end = 0, last = 0;
    if (tally_thread() < finished_most && t < partition->tiles &&
        partition->boundaries[t].segment < partition->boundaries[t + 1].segment)
        s = runs_over(&work, &partition->boundaries[t + 1]);
    if (s >= 0) {
        begin = begin_of(&work, s);
        end = partition->boundaries[t + 1].end;
        last = s + 1 < partition->count ? tile_of(&work, s + 1, end) : partition->tiles - 1;
    }
    for (uint32_t some = tally_ballot(s >= 0 && (t / TALLY_FLAT_GROUP + 1) * TALLY_FLAT_GROUP < last); some != 0;
         some &= some - 1) {
        const int32_t lane = __builtin_ffs((int32_t)some) - 1;
        gather_groups(&work, tally_of_lane64(t, lane), tally_of_lane64(last, lane));
    }
    finish_nodes(&work, first, s, end - begin, shared);
}

#endif
