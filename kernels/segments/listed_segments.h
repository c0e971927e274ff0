/* Reduces the segments within a tile. Each warp has a list, in which segments wait until there is one for each lane. No
 * warp waits for another. Gives begin_lists and take_own; if TALLY_IS_SORTED, segments/sorted_segments.h does. */
#ifndef TALLY_LISTED_SEGMENTS_H
#define TALLY_LISTED_SEGMENTS_H

#include "segments/own_segments.h"
#include "shared/quarters.h"

#if !TALLY_IS_SORTED

/* The lists of a warp: segments of up to 64 values, and of more. */
typedef struct lists_t {
    uint16_t *list, *longs;
    int32_t listed, many; /* entries of each */
} lists_t;
TALLY_FN void begin_lists(shared_t *its) { (void)its; }

/* ---- segments of more than 64 values that are listed ---- */

#if TALLY_BY_QUARTERS
/* Whether listed segments of more than 64 values have quarters of a warp each: not those of tiles whose segments are
 * long, where three quarters would wait for the longest. Measured. */
TALLY_FN int32_t are_for_quarters(const tile_t *tile) {
    enum { MOST = 512 };
    return tile->values <= MOST * tile->own;
}
/* Reduces up to `count` listed segments of more than 64 values, each by a quarter; or by the whole warp one after the
 * other, if there is only one, or one has several leaves. */
TALLY_FN int32_t take_longs(const tally_segments_work *work, const tile_t *tile, const uint16_t *listed, int32_t count,
                            int32_t by_quarters) {
    const int32_t mine = by_quarters ? tally_lane() / quarter : tally_lane(), is_there = mine < count,
                  is_first = !by_quarters || tally_lane() % quarter == 0, i = is_there ? listed[mine] : 0;
    const slice_t slice = slice_of(tile, i, is_there);
    if (!by_quarters || count == 1 || tally_any(slice.n > TALLY_DEVICE_LEAF))
        return take_each(work, tile, i, slice, tally_ballot(is_there && is_first));
    const node_t node = quarter_node(tile->x + slice.at, slice.n);
    return is_there && is_first ? put_result(work, tile->opening, i, node) : 0;
}
/* Reduces all of these. */
TALLY_FN int32_t take_all_longs(const tally_segments_work *work, const tile_t *tile, const lists_t *lists) {
    const int32_t by_quarters = are_for_quarters(tile), step = by_quarters ? TALLY_WARP / quarter : TALLY_WARP;
    int32_t flags = 0;
    tally_warp_barrier();
    for (int32_t k = 0; k < lists->many; k += step)
        flags |= take_longs(work, tile, lists->longs + k, lists->many - k, by_quarters);
    tally_warp_barrier();
    return flags;
}
#else
TALLY_FN int32_t take_all_longs(const tally_segments_work *work, const tile_t *tile, const lists_t *lists) {
    return (void)work, (void)tile, (void)lists, 0;
}
#endif

/* ---- all ---- */

/* Reduces segment i of each lane, or puts it in a list. Returns status flags. */
TALLY_FN int32_t take_iteration(const tally_segments_work *work, const tile_t *tile, int32_t i, int32_t lane,
                                lists_t *lists) {
    const int32_t is_there = i < tile->own;
    const slice_t slice = slice_of(tile, i, is_there);
    int32_t flags = slice.flags;
    if (is_there && slice.n <= alone_most) flags |= take_alone(work, tile, i, slice);
    if (!tally_any(slice.n > alone_most)) return flags;
    const int32_t waits = slice.n > alone_most && slice.n <= TALLY_DEVICE_SMALL;
    const int32_t is_long = slice.n > TALLY_DEVICE_SMALL && !(slice.n > TALLY_DEVICE_LEAF && are_few(tile));
    put_in_list(lists->list, &lists->listed, waits, i, lane);
    const uint32_t many = tally_ballot(is_long);
    if (many == 0) return flags;
    if (!TALLY_BY_QUARTERS) return flags | take_long(work, tile, i, slice, many);
    put_in_list(lists->longs, &lists->many, is_long && lists->many + TALLY_WARP <= most_longs, i, lane);
    return lists->many + TALLY_WARP > most_longs ? flags | TALLY_FLAG_BAD_SEGMENTS : flags;
}
/* Reduces all segments within the tile, in iterations of TALLY_WARP segments for each warp. Listed ones are reduced as
 * soon as there are TALLY_WARP, and at the end. */
TALLY_FN int32_t take_own(const tally_segments_work *work, const tile_t *tile, shared_t *its, all_shared_t *all) {
    uint16_t *const list = all->list + most_listed * tally_warp();
    const int32_t own = tile->own, lane = tally_lane();
    (void)its;
    const iterations_t iterations = iterations_of(own);
    lists_t lists = {list, list + most_waiting, 0, 0};
    int32_t flags = 0, may_be_few = tile->values <= few_most * own && own > TALLY_CONSUMERS;
    for (int32_t first = iterations.first; first < own; first += TALLY_CONSUMERS) {
        const int32_t i = first + lane * iterations.apart, least = own - first > TALLY_CONSUMERS ? TALLY_WARP : 1;
        may_be_few =
            may_be_few && take_few(work, tile, first, own - first < TALLY_WARP ? own - first : TALLY_WARP, &flags);
        if (may_be_few) continue; /* then nothing is listed */
        flags |= take_iteration(work, tile, i, lane, &lists);
        while (lists.listed >= least) {
            const int32_t count = lists.listed > TALLY_WARP ? TALLY_WARP : lists.listed;
            lists.listed -= count;
            tally_warp_barrier();
            flags |= take_listed(work, tile, list + lists.listed, count);
            tally_warp_barrier();
        }
    }
    return flags | take_all_longs(work, tile, &lists);
}
#endif

#endif
