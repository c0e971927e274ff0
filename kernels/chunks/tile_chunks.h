/* Reduces all segments of a tile by chunks (chunks/chunks.h), in units that do so (TALLY_IN_CHUNKS). */
#ifndef TALLY_TILE_CHUNKS_H
#define TALLY_TILE_CHUNKS_H

#include "segments/own_segments.h"
#include "chunks/chunks.h"

#if TALLY_IN_CHUNKS
TALLY_FN void begin_chunks(all_shared_t *all) {
    for (int32_t k = tally_thread(); k < (int32_t)(sizeof all->in_chunks.heads / 4); k += TALLY_SEGMENTS_BLOCK)
        (&all->in_chunks.heads[0][0])[k] = 0;
    if (tally_thread() < TALLY_CONSUMER_WARPS)
        all->in_chunks.to_skip[tally_thread()] = all->in_chunks.is_list_shared[tally_thread()] = 0;
    if (tally_thread() == 0) all->in_chunks.high = first_guess, all->in_chunks.current = all->in_chunks.count = 0;
}
/* Whether the tile's segments go by chunks. Long ones of f32 have more of warps that wait for nobody. */
TALLY_FN int32_t is_for_chunks(const tile_t *tile) {
    return (TALLY_IS_F64 || tile->own > few_in_chunks) && tile->own <= most_in_chunks && tile->values > 4 * tile->own;
}
/* Whether the tile goes another way at once, as the last two that were tried had values too far apart for chunks: one
 * such tile says little, as few values that are close to 0 make one. Each warp counts for itself: all see the same
 * tiles. */
enum { has_failed = -1 };
TALLY_FN int32_t skips_chunks(all_shared_t *all) {
    int32_t *const to_skip = &all->in_chunks.to_skip[tally_warp()];
    const int32_t left = *to_skip;
    tally_warp_barrier();
    if (left > 0 && tally_lane() == 0) *to_skip = left > 1 ? left - 1 : has_failed;
    return left > 0;
}
/* Segments that are sorted have one list for all warps, which others may still read when this one is done with the
 * tile. In chunks each warp writes its own part of that list before it meets them. So it waits for them first. */
TALLY_FN void share_list(all_shared_t *all) {
    if (tally_lane() == 0) all->in_chunks.is_list_shared[tally_warp()] = 1;
}
TALLY_FN void await_list(in_chunks_t *in) {
    int32_t *const is_shared = &in->is_list_shared[tally_warp()];
    if (!*is_shared) return; /* all warps agree on that */
    tally_consumer_barrier(TALLY_CONSUMERS);
    if (tally_lane() == 0) *is_shared = 0;
}
/* Of f64: guesses for the next tile how large values are. Whether that would have done for this one. */
TALLY_FN int32_t is_better_guess(chunks_t *chunks, int32_t values, int32_t *guess) {
    const int32_t found = high_of_range(chunks->range) + guess_above,
                  high = found < most_guessed ? found : most_guessed;
    if (!TALLY_IS_ANCHORED || !is_finite(chunks->range)) return 0;
    if (tally_thread() == 0) *guess = high;
    chunks->last = last_bit(high, log_in_tile(values));
    return meet_exactly(chunks, log_in_tile(values));
}
/* Reduces all segments of the tile by chunks, and adds status flags to *flags. False: its values are too far apart, and
 * were overwritten. */
TALLY_FN int32_t take_chunks(const tally_segments_work *work, const tile_t *tile, all_shared_t *all, int32_t *flags) {
    const int32_t warp = tally_warp(), lane = tally_lane(), before = (int32_t)((uint64_t)tile->x % 16 / TALLY_BYTES);
    const int32_t count = (before + tile->values + chunk_values - 1) / chunk_values;
    in_chunks_t *const in = &all->in_chunks;
    uint16_t *const list = all->list + warp * most_listed;
    chunks_t chunks;
    range_t range = no_range();
    int32_t is_none = 0, listed = 0;
    chunks.values = (char *)(uint64_t)(tile->x - before);
    chunks.heads = in->heads[TALLY_HEADS_BESIDE ? in->current : 0];
    chunks.others = in->heads[TALLY_HEADS_BESIDE && chunks.heads == in->heads[0]];
    chunks.before = before;
    await_list(in);
    if (warp == TALLY_CONSUMER_WARPS - 1) mark_leaves(chunks.heads, before, tile->opening);
    if (warp == TALLY_CONSUMER_WARPS - 2) clear_around((TALLY_T *)(void *)chunks.values, before, tile->values, count);
    *flags |= mark_own(work, tile, chunks.heads, before, list, &listed, &is_none);
    tally_consumer_barrier(TALLY_CONSUMERS);
    if (TALLY_IS_ANCHORED) chunks.last = last_bit(in->high, log_in_tile(tile->values));
    if (TALLY_HEADS_BESIDE && tally_thread() == 0) in->current = chunks.heads == in->heads[0];
    add_chunks(&chunks, count, in->count, &range);
    range.most = tally_warp_max(is_none ? UINT32_MAX : range.most);
    range.least = tally_warp_min(range.least);
    if (lane == 0) in->most[warp] = range.most, in->least[warp] = range.least;
    tally_consumer_barrier(TALLY_CONSUMERS);
    if (TALLY_HEADS_BESIDE && tally_thread() == 0) in->count = count;
    chunks.range.most = tally_warp_max(lane < TALLY_CONSUMER_WARPS ? in->most[lane] : 0);
    chunks.range.least = tally_warp_min(lane < TALLY_CONSUMER_WARPS ? in->least[lane] : UINT32_MAX);
    if (!meet_exactly(&chunks, log_in_tile(tile->values))) { /* all threads agree on that */
        const int32_t to_skip = in->to_skip[warp] == has_failed ? most_skipped : has_failed;
        tally_warp_barrier();
        const int32_t is_better = is_better_guess(&chunks, tile->values, &in->high);
        if (lane == 0) in->to_skip[warp] = is_better ? 0 : to_skip;
        return 0;
    }
    if (lane == 0) in->to_skip[warp] = 0;
    runs_t boundaries = runs_of_boundaries(tile->opening);
    boundaries.until = leaves_in(tile->opening->run_n[0]) + (lane == 0 ? 0 : leaves_in(tile->opening->run_n[1]));
    put_runs(work, tile, boundaries, 0, &chunks);
    *flags |= close_own(work, tile, list, listed, &chunks);
    return 1;
}
#else
TALLY_FN void begin_chunks(all_shared_t *all) { (void)all; }
TALLY_FN int32_t is_for_chunks(const tile_t *tile) { return (void)tile, 0; }
TALLY_FN int32_t skips_chunks(all_shared_t *all) { return (void)all, 0; }
TALLY_FN void share_list(all_shared_t *all) { (void)all; }
TALLY_FN int32_t take_chunks(const tally_segments_work *work, const tile_t *tile, all_shared_t *all, int32_t *flags) {
    return (void)work, (void)tile, (void)all, (void)flags, 0;
}
#endif

#endif
