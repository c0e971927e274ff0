/* Exact results of segments that lie whole in a tile, whatever their values: a warp takes them by length
 * (group_sums.h). */
#ifndef TALLY_WHOLE_SEGMENTS_H
#define TALLY_WHOLE_SEGMENTS_H

#include "exact_segments/group_sums.h"

/* ---- a tile ---- */

/* Segments `first` to until - 1, which have values `low` to high - 1 alone. */
typedef struct whole_t {
    int64_t first, until, low, high;
} whole_t;
/* Their numbers by length, but for those that have no values. */
enum { whole_most = 128 }; /* that are sorted together */
typedef struct by_length_t {
    int32_t listed[TALLY_WARP]; /* of each class of lengths */
    uint16_t list[whole_most];
} by_length_t;

/* The place of a segment's first value among those of the tile, or -1 if that is none. */
TALLY_FN int32_t begin_within(const tally_segments_work *work, const whole_t *whole, int64_t s) {
    const int64_t begin = begin_of(work, s);
    return begin < whole->low || begin > whole->high ? -1 : (int32_t)(begin - whole->low);
}
/* Two classes for each power of two. The longest have the lowest. */
TALLY_FN int32_t class_of(int32_t n) {
    const int32_t log2 = 31 - __builtin_clz((uint32_t)n);
    return TALLY_WARP - 1 - 2 * log2 - (log2 > 0 ? n >> (log2 - 1) & 1 : 0);
}
/* One pass over the segments: counts those of each class, or lists them. Gives how many have values, or -1 if they are
 * no segments. */
TALLY_FN int32_t pass_lengths(const tally_segments_work *work, const whole_t *whole, by_length_t *sorted,
                              int32_t is_listing) {
    const uint32_t lower = ((uint32_t)1 << tally_lane()) - 1;
    int32_t all = 0;
    TALLY_ROLLED
    for (int64_t first = whole->first; first < whole->until; first += TALLY_WARP) {
        const int64_t s = first + tally_lane();
        const int32_t is_there = s < whole->until, is_wanted = is_there && wants_segment(work, s);
        if (!tally_any(is_wanted)) continue;
        const int32_t end = is_there ? begin_within(work, whole, s + 1) : -1,
                      other = (int32_t)tally_shuffle((uint32_t)end, tally_lane() == 0 ? 0 : tally_lane() - 1),
                      begin = tally_lane() == 0 ? begin_within(work, whole, first) : other;
        if (tally_any(is_there && (begin < 0 || end < begin))) return -1;
        const int32_t mine = is_wanted && end > begin ? class_of(end - begin) : -1;
        if (is_wanted && end == begin && !is_listing) put_nothing(&work->out, s);
        for (uint32_t left = tally_ballot(mine >= 0), alike; left != 0; left &= ~alike) {
            const int32_t one = (int32_t)tally_shuffle((uint32_t)mine, __builtin_ffs((int32_t)left) - 1);
            alike = tally_ballot(mine == one);
            const int32_t listed = sorted->listed[one], count = __builtin_popcount(alike);
            if (is_listing && mine == one)
                sorted->list[listed + __builtin_popcount(alike & lower)] = (uint16_t)(s - whole->first);
            tally_warp_barrier();
            if (tally_lane() == 0) sorted->listed[one] = listed + count;
            tally_warp_barrier();
            all += count;
        }
    }
    return all;
}

/* The lane's segment, or -1; the longest first. */
TALLY_FN void put_listed(const tally_segments_work *work, const whole_t *whole, const steps_t *steps, int64_t s) {
    values_t of = {0, 0, 0};
    if (s >= 0) {
        const int32_t begin = begin_within(work, whole, s), end = begin_within(work, whole, s + 1);
        of = values_from(work, s, whole->low + begin, end - begin);
    }
    put_group(&work->out, steps, s, of);
}
/* At most whole_most of them by the warp. False: they are no segments. */
TALLY_FN int32_t put_by_length(const tally_segments_work *work, const whole_t *whole, const steps_t *steps,
                               by_length_t *sorted) {
    int32_t all = 0, are_listed = 0, before = 0;
    TALLY_ROLLED
    for (int32_t pass = 0; pass < 1 + are_listed; pass++) {
        sorted->listed[tally_lane()] = before;
        tally_warp_barrier();
        all = pass_lengths(work, whole, sorted, pass);
        if (all <= 0) return all == 0;
        if (pass == 1) break;
        are_listed = all < whole->until - whole->first ||
                     tally_any(sorted->listed[tally_lane()] % all != 0); /* or they are of one class */
        before = tally_sum_before_lane(sorted->listed[tally_lane()]);
        tally_warp_barrier();
    }
    TALLY_ROLLED
    for (int32_t first = 0; first < all; first += TALLY_WARP) {
        const int32_t i = first + tally_lane();
        put_listed(work, whole, steps, i >= all ? -1 : whole->first + (are_listed ? sorted->list[i] : i));
    }
    return 1;
}

#endif
