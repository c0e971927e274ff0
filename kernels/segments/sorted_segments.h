/* Reduces the segments within a tile, sorted by length for the whole block: for operators by which a value costs so
 * much that all segments of a warp should have about the same length (TALLY_IS_SORTED). Gives begin_lists and take_own;
 * for other operators segments/listed_segments.h does. */
#ifndef TALLY_SORTED_SEGMENTS_H
#define TALLY_SORTED_SEGMENTS_H

#include "segments/own_segments.h"

#if TALLY_IS_SORTED

/* Whether the lane's segment waits. All do that have values, where most have more than one thread takes: beside those,
 * a warp would take the short ones in as many operations as a full warp of them. Elsewhere those wait that have more
 * values than one thread takes; and if few of the warp's are that short, beside such, all that are not empty.
 * segments/tile_sizes.h reckons from this how many can wait. */
TALLY_FN int32_t segment_waits(const tile_t *tile, slice_t slice) {
    const int32_t most_are_long = tile->values > alone_most * tile->own && tile->own <= most_waiting;
    const int32_t few =
        most_are_long || (tally_any(slice.n > alone_most) &&
                          __builtin_popcount(tally_ballot(slice.n >= 1 && slice.n <= alone_most)) <= most_beside);
    return slice.n > (few ? 0 : alone_most) && !(slice.n > TALLY_DEVICE_LEAF && are_few(tile));
}

/* The class of a length: below TALLY_WARP. */
TALLY_FN int32_t length_of(int32_t n) {
    const int32_t some = (n - 1) / 4, many = 15 + (n - 1) / 64;
    return n <= TALLY_DEVICE_SMALL ? some : many < TALLY_WARP ? many : TALLY_WARP - 1;
}

/* Reduces listed segments, the longest first; each warp takes the next ones until there are no more. A segment gets so
 * many lanes that each has about as many values as if all of the block shared those of the tile; or half as many lanes,
 * if each warp has to come but once, then. */
enum { least_fair = 8 * TALLY_PART };
TALLY_FN int32_t take_all_listed(const tally_segments_work *work, const tile_t *tile, waiting_t *waiting,
                                 const uint16_t *listed, int32_t count) {
    const int32_t fair = tile->values / TALLY_CONSUMERS, each = fair > least_fair ? fair : least_fair,
                  share = (count + TALLY_CONSUMER_WARPS - 1) / TALLY_CONSUMER_WARPS;
    int32_t flags = 0;
    TALLY_ROLLED
    for (;;) {
        int32_t first = 0, many = TALLY_WARP;
        if (tally_lane() == 0) {
            first = tally_look32(&waiting->taken);
            if (first < count) {
                const int32_t n =
                    slice_of(tile, listed[first], 1).n; /* or what another warp takes before: no shorter */
                while (many > 1 && n > each * (TALLY_WARP / many)) many /= 2;
                if (many < share && share <= 2 * many && share <= TALLY_WARP) many = share;
                first = tally_fetch_add32(&waiting->taken, many);
            }
        }
        first = (int32_t)tally_shuffle((uint32_t)first, 0), many = (int32_t)tally_shuffle((uint32_t)many, 0);
        if (first >= count) return flags;
        flags |= take_listed(work, tile, listed + first, count - first < many ? count - first : many);
    }
}
TALLY_FN void clear_waiting(waiting_t *waiting) { waiting->counted[tally_lane()] = waiting->listed[tally_lane()] = 0; }

/* Lists the tile's waiting segments, the longest first, and shares them out to warps. */
TALLY_FN int32_t take_waiting(const tally_segments_work *work, const tile_t *tile, waiting_t *waiting, uint16_t *list) {
    const int32_t own = tile->own, last = TALLY_WARP - 1, lane = tally_lane();
    const int32_t mine = (int32_t)waiting->counted[last - lane], until = (int32_t)tally_sum_until((uint32_t)mine);
    const int32_t found = (int32_t)tally_shuffle((uint32_t)until, last), capacity = most_waiting,
                  count = found < capacity ? found : capacity;
    if (count == 0) return 0;
    const iterations_t iterations = iterations_of(own);
    for (int32_t first = iterations.first; first < own; first += TALLY_CONSUMERS) {
        const int32_t i = first + lane * iterations.apart;
        const slice_t slice = slice_of(tile, i, i < own);
        const int32_t length = length_of(slice.n > 0 ? slice.n : 1), waits = segment_waits(tile, slice);
        uint32_t at = tally_shuffle((uint32_t)(until - mine), last - length);
        if (waits) at += tally_arrive(&waiting->listed[length], UINT32_MAX);
        if (waits && at < (uint32_t)capacity) list[at] = (uint16_t)i;
    }
    if (found > capacity && lane == 0) tally_or32(work->out.flags, TALLY_FLAG_BAD_SEGMENTS); /* they overlap */
    tally_consumer_barrier(TALLY_CONSUMERS);
    if (tally_warp() == TALLY_CONSUMER_WARPS - 1) clear_waiting(waiting); /* empty for the next tile */
    return take_all_listed(work, tile, waiting, list, count);
}
TALLY_FN void begin_lists(shared_t *its) { clear_waiting(&its->waiting); }

/* Reduces all segments within the tile: short ones in iterations of TALLY_WARP for each warp, then those that wait.
 * Returns status flags. */
TALLY_FN int32_t take_own(const tally_segments_work *work, const tile_t *tile, shared_t *its, all_shared_t *all) {
    const int32_t own = tile->own;
    waiting_t *const waiting = &its->waiting;
    int32_t flags = 0, may_be_few = tile->values <= 4 * own && own > TALLY_CONSUMERS;
    if (own == 0) return 0; /* all threads agree on that */
    if (tally_thread() == 0) waiting->taken = 0;
    const iterations_t iterations = iterations_of(own);
    for (int32_t first = iterations.first; first < own; first += TALLY_CONSUMERS) {
        const int32_t count = own - first < TALLY_WARP ? own - first : TALLY_WARP;
        may_be_few = may_be_few && take_few(work, tile, first, count, &flags);
        if (may_be_few) continue;
        const int32_t i = first + tally_lane() * iterations.apart;
        const slice_t slice = slice_of(tile, i, i < own);
        flags |= slice.flags;
        if (segment_waits(tile, slice))
            tally_arrive(&waiting->counted[length_of(slice.n)], UINT32_MAX);
        else if (i < own && slice.n <= alone_most)
            flags |= take_alone(work, tile, i, slice);
    }
    tally_consumer_barrier(TALLY_CONSUMERS);
    return flags | take_waiting(work, tile, waiting, all->list);
}
#endif

#endif
