/* All that a tile has by strips (segments/strips.h), where the unit takes tiles so. */
#ifndef TALLY_TILE_STRIPS_H
#define TALLY_TILE_STRIPS_H

#include "segments/own_segments.h"
#include "segments/strips.h"

#if TALLY_IN_STRIPS
TALLY_FN void begin_strips(all_shared_t *all) {
    for (int32_t k = tally_thread(); k < (int32_t)(sizeof all->in_strips.heads / 4); k += TALLY_SEGMENTS_BLOCK)
        (&all->in_strips.heads[0][0])[k] = 0;
    if (tally_thread() == 0) all->in_strips.high = first_guess, all->in_strips.current = all->in_strips.count = 0;
}
TALLY_FN int32_t is_for_strips(const tile_t *tile) {
    const int32_t own = tile->own;
    return (own >= least_in_strips || own < few_in_strips) && own <= most_in_strips && tile->values > 4 * own;
}
/* All that the tile has, by strips; adds to *flags; false, if its values are too far apart: it has lost them.
 */
TALLY_FN int32_t take_strips(const tally_segments_work *work, const tile_t *tile, all_shared_t *all, int32_t *flags) {
    const int32_t warp = tally_warp(), lane = tally_lane(), before = (int32_t)((uint64_t)tile->x % 16 / TALLY_BYTES);
    const int32_t count = (before + tile->values + strip_values - 1) / strip_values;
    in_strips_t *const in = &all->in_strips;
    uint16_t *const list = all->list + warp * most_listed;
    strips_t strips;
    range_t range = no_range();
    int32_t is_none = 0, listed = 0;
    strips.values = (char *)(uint64_t)(tile->x - before);
    strips.heads = in->heads[TALLY_HEADS_BESIDE ? in->current : 0];
    strips.others = in->heads[TALLY_HEADS_BESIDE && strips.heads == in->heads[0]];
    strips.before = before;
    if (warp == TALLY_CONSUMER_WARPS - 1) mark_leaves(strips.heads, before, tile->opening);
    if (warp == TALLY_CONSUMER_WARPS - 2) clear_around(&strips, tile->values, count);
    *flags |= mark_own(work, tile, strips.heads, before, list, &listed, &is_none);
    tally_consumer_barrier(TALLY_CONSUMERS);
    if (TALLY_IS_ANCHORED) strips.last = last_bit(in->high, log_in_tile(tile->values));
    if (TALLY_HEADS_BESIDE && tally_thread() == 0) in->current = strips.heads == in->heads[0];
    add_strips(&strips, count, in->count, &range);
    range.most = tally_warp_max(is_none ? UINT32_MAX : range.most);
    range.least = tally_warp_min(range.least);
    if (lane == 0) in->most[warp] = range.most, in->least[warp] = range.least;
    tally_consumer_barrier(TALLY_CONSUMERS);
    if (TALLY_HEADS_BESIDE && tally_thread() == 0) in->count = count;
    strips.range.most = tally_warp_max(lane < TALLY_CONSUMER_WARPS ? in->most[lane] : 0);
    strips.range.least = tally_warp_min(lane < TALLY_CONSUMER_WARPS ? in->least[lane] : UINT32_MAX);
    if (!meet_exactly(&strips, log_in_tile(tile->values))) { /* the same in all threads */
        const int32_t high = high_of(strips.range) + guess_above;
        if (TALLY_IS_ANCHORED && tally_thread() == 0 && is_finite(strips.range))
            in->high = high < most_guessed ? high : most_guessed; /* for the next tile */
        return 0;
    }
    runs_t boundaries = runs_of_boundaries(tile->opening);
    boundaries.until = leaves_in(tile->opening->run_n[0]) + (lane == 0 ? 0 : leaves_in(tile->opening->run_n[1]));
    put_runs(work, tile, boundaries, 0, &strips);
    *flags |= close_own(work, tile, list, listed, &strips);
    return 1;
}
#else
TALLY_FN void begin_strips(all_shared_t *all) { (void)all; }
TALLY_FN int32_t is_for_strips(const tile_t *tile) { return (void)tile, 0; }
TALLY_FN int32_t take_strips(const tally_segments_work *work, const tile_t *tile, all_shared_t *all, int32_t *flags) {
    return (void)work, (void)tile, (void)all, (void)flags, 0;
}
#endif

#endif
