/* Exact results of segments that lie whole in a tile, whatever their values. A warp takes them by length, several at a
 * time, each by equally many lanes: 32 short ones or a long one. A sum is three doubles and a bound of what these have
 * dropped (thread_sums.h). Where that leaves a result uncertain, a thread adds the segment up in limbs of its own
 * (lane_sums.h). */
#ifndef TALLY_WHOLE_SEGMENTS_H
#define TALLY_WHOLE_SEGMENTS_H

#include "exact_segments/lane_sums.h"
#include "exact_segments/segment_values.h"
#include "exact_segments/thread_sums.h"
#include "sums/levels.h"

/* ---- sums ---- */

/* Sums of all values by 2^log_lanes neighbouring lanes, of f64 in units of a power of two; each lane gets them. All
 * lanes of the warp take part. */
TALLY_FN void add_values(thread_sums_t *sums, int32_t *power, const steps_t *steps, const values_t *of,
                         int32_t log_lanes) {
    const int32_t lanes = 1 << log_lanes, begin = tally_lane() & (lanes - 1), count = count_from(of, begin, log_lanes);
    const char *const first_x = of->x + begin * steps->x, *const first_y = of->y + begin * steps->y;
    const int64_t next_x = values_together * lanes * steps->x, next_y = values_together * lanes * steps->y;
    *sums = no_sums();
    *power = 0;
    if (TALLY_IS_F64) {
        const char *x = first_x, *y = first_y;
        uint32_t most = 0;
        TALLY_ROLLED
        for (int32_t at = 0; at < count; at += values_together, x += next_x, y += next_y) {
            const some_values_t some = read_some(steps, x, y, count - at, lanes);
            TALLY_UNROLL
            for (int32_t k = 0; k < values_together; k++) {
                if (term_is_special(some.x[k], some.y[k])) continue;
                const uint32_t size = term_size(some.x[k], some.y[k]);
                most = size > most ? size : most;
            }
        }
        TALLY_ROLLED
        for (int32_t mask = lanes / 2; mask > 0; mask /= 2) {
            const uint32_t other = tally_shuffle_xor(most, mask);
            most = other > most ? other : most;
        }
        *power = power_for(most);
    }
    const char *x = first_x, *y = first_y;
    TALLY_ROLLED
    for (int32_t at = 0; at < count; at += values_together, x += next_x, y += next_y) {
        const some_values_t some = read_some(steps, x, y, count - at, lanes);
        TALLY_UNROLL
        for (int32_t k = 0; k < values_together; k++)
            if (at + k < count) add_value(sums, some.x[k], some.y[k], *power);
    }
    TALLY_ROLLED
    for (int32_t mask = lanes / 2; mask > 0; mask /= 2) {
        const thread_sums_t other = sums_of_lane(sums, tally_lane() ^ mask);
        join_sums(sums, &other);
    }
}

/* ---- results ---- */

#define TALLY_PUT_NAME add_pair_to_lane
#define TALLY_PUT_TYPE lane_sums_t
#define TALLY_PUT_DEPOSIT tally_deposit
#include "exact_sums/pair_to_limbs.h"

/* Value by value, by one thread. */
TALLY_RARE void put_by_limbs(const tally_segments_work *work, int64_t s, const char *x, const char *y, int32_t n,
                             const noted_t *noted) {
    const steps_t steps = steps_of(work);
    lane_sums_t a;
    notes_t notes = no_notes(); /* they are in `noted` */
    __builtin_memset(&a, 0, sizeof a);
    a.origin = TALLY_ORIGIN;
    TALLY_ROLLED
    for (int32_t i = 0; i < n; i++, x += steps.x, y += steps.y) {
        const some_values_t one = read_some(&steps, x, y, 1, 0);
        if (!term_is_special(one.x[0], one.y[0])) add_pair_to_lane(&notes, &a, one.x[0], one.y[0]);
    }
    put_lane_sums(&work->out, s, &a, n - noted->absent, noted);
}
TALLY_FN void put_whole(const tally_segments_work *work, int64_t s, const values_t *of, const thread_sums_t *sums,
                        int32_t power) {
    uint64_t result[6] = {0, 0, 0, 0, 0, 0};
    if (of->n == sums->noted.absent)
        put_nothing(&work->out, s);
    else if (finalize_sums(sums, of->n, power, &work->out.final, result))
        put_bytes(&work->out, s, result, of->n - sums->noted.absent);
    else {
        const noted_t noted = sums->noted;
        put_by_limbs(work, s, of->x, of->y, of->n, &noted);
    }
}

/* ---- a tile ---- */

/* Segments `first` to until - 1, which have values `low` to high - 1 alone. */
typedef struct whole_t {
    int64_t first, until, low, high;
} whole_t;
/* Their numbers by length, but for those that have no values. */
enum {
    ends_most = TALLY_FLAT_TILE_MOST / TALLY_FLAT_END_BYTES,
    share_most = ends_most / TALLY_FLAT_WARPS + 1,
    whole_few = 256, /* in a tile: one warp has them; of more each warp of the block has a share */
    whole_most = share_most > whole_few ? share_most : whole_few
};
typedef struct by_length_t {
    int32_t listed[TALLY_WARP]; /* of each class of lengths */
    uint16_t list[whole_most];
} by_length_t;

TALLY_RARE int64_t begin_by_ids(const tally_segments_work *work, int64_t low, int64_t high, int64_t s) {
    return tally_first_with_id(&work->partition, s, low, high);
}
/* The place of a segment's first value among those of the tile, or -1 if that is none. */
TALLY_FN int32_t begin_within(const tally_segments_work *work, const whole_t *whole, int64_t s) {
    const int64_t begin =
        work->partition.segment_ids == 0 ? begin_of(work, s) : begin_by_ids(work, whole->low, whole->high, s);
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

/* log2 of the lanes for each segment from lane `at` on, the longest first. n: the values of this lane's segment. The
 * warp adds up as many segments at once as it has lanes for, which takes as long as the longest of them. A step of
 * joining lanes takes JOIN times as long as a value. The choice is where a value takes least time. */
TALLY_FN int32_t choose_log_lanes(int32_t n, int32_t at) {
    enum { JOIN = 3, RESULT = 4 };
    const int32_t longest = (int32_t)tally_shuffle((uint32_t)n, at);
    if (longest <= 2 * JOIN) return 0; /* no more than joining them would take */
    const int32_t own = n + (n > 0) * RESULT, before = tally_sum_before_lane(own);
    const int32_t log_shares = tally_lane() < log_warp ? tally_lane() : log_warp, log_lanes = log_warp - log_shares,
                  end = at + (1 << log_shares), last = end < TALLY_WARP ? end - 1 : TALLY_WARP - 1;
    const int32_t values =
        (int32_t)(tally_shuffle((uint32_t)(before + own), last) - tally_shuffle((uint32_t)before, at));
    const float cost = (float)(((longest + (1 << log_lanes) - 1) >> log_lanes) + JOIN * log_lanes + RESULT);
    const uint32_t rate = (uint32_t)((float)values / cost * 1024), most = tally_warp_max(rate);
    return log_warp - (__builtin_ffs((int32_t)tally_ballot(rate == most)) - 1);
}
/* The lane's segment, or -1; the longest first. */
TALLY_FN void put_group(const tally_segments_work *work, const whole_t *whole, const steps_t *steps, int64_t s) {
    values_t of = {0, 0, 0};
    thread_sums_t sums = no_sums();
    int32_t power = 0;
    if (s >= 0) {
        const int32_t begin = begin_within(work, whole, s), end = begin_within(work, whole, s + 1);
        of = values_from(work, s, whole->low + begin, end - begin);
    }
    const int32_t count = __builtin_popcount(tally_ballot(s >= 0));
    TALLY_ROLLED
    for (int32_t at = 0, shares; at < count; at += shares) {
        const int32_t log_lanes = choose_log_lanes(of.n, at), from = at + (tally_lane() >> log_lanes),
                      its = from < TALLY_WARP ? from : 0;
        values_t values;
        thread_sums_t some;
        int32_t some_power;
        shares = TALLY_WARP >> log_lanes;
        values.x = (const char *)tally_of_lane64((int64_t)of.x, its);
        values.y = TALLY_KERNEL_INPUTS == 1 ? values.x : (const char *)tally_of_lane64((int64_t)of.y, its);
        values.n = (int32_t)tally_shuffle((uint32_t)of.n, its);
        if (from >= TALLY_WARP) values.n = 0;
        add_values(&some, &some_power, steps, &values, log_lanes);
        const int32_t mine = tally_lane() - at, is_mine = mine >= 0 && mine < shares,
                      lane = is_mine ? mine << log_lanes : 0;
        if (shares < TALLY_WARP || at > 0) { /* or the lane has added up its own */
            some = sums_of_lane(&some, lane);
            some_power = (int32_t)tally_shuffle((uint32_t)some_power, lane);
        }
        if (is_mine) sums = some, power = some_power;
    }
    if (s >= 0) put_whole(work, s, &of, &sums, power);
}
/* By the warp. False: they are no segments. */
TALLY_FN int32_t put_by_length(const tally_segments_work *work, const whole_t *whole, const steps_t *steps,
                               by_length_t *sorted) {
    if (whole->until - whole->first > whole_most) return 0;
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
        put_group(work, whole, steps, i >= all ? -1 : whole->first + (are_listed ? sorted->list[i] : i));
    }
    return 1;
}

#endif
