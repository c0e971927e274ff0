/* Exact results of up to 32 segments by a warp, whatever their values. It takes several at a time, each by equally many
 * lanes: 32 short ones or a long one. A sum is three doubles and a bound of what these have dropped (thread_sums.h).
 * Where that leaves a result uncertain, a thread adds the segment up in limbs of its own (lane_sums.h). */
#ifndef TALLY_GROUP_SUMS_H
#define TALLY_GROUP_SUMS_H

#include "exact_segments/lane_sums.h"
#include "exact_segments/segment_values.h"
#include "exact_segments/thread_sums.h"
#include "sums/levels.h"

/* ---- sums ---- */

/* The size of the largest term of f64 (thread_sums.h), by 2^log_lanes neighbouring lanes; each lane gets it. All lanes
 * of the warp take part, likewise below. */
TALLY_FN uint32_t most_of_values(const steps_t *steps, const values_t *of, int32_t log_lanes) {
    const int32_t lanes = 1 << log_lanes, begin = tally_lane() & (lanes - 1),
                  count = values_of_lane(of, begin, log_lanes);
    const char *x = of->x + begin * steps->x, *y = of->y + begin * steps->y;
    const int64_t next_x = values_together * lanes * steps->x, next_y = values_together * lanes * steps->y;
    uint32_t most = 0;
    TALLY_ROLLED
    for (int32_t at = 0; at < count && TALLY_IS_F64; at += values_together, x += next_x, y += next_y) {
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
    return most;
}
/* Joins what 2^log_lanes neighbouring lanes have; each lane gets it. */
TALLY_FN void meet_sums(thread_sums_t *sums, int32_t log_lanes) {
    TALLY_ROLLED
    for (int32_t mask = (1 << log_lanes) / 2; mask > 0; mask /= 2) {
        const thread_sums_t other = sums_of_lane(sums, tally_lane() ^ mask);
        join_sums(sums, &other);
    }
}
/* Sums of all values by these lanes, of f64 in units of a power of two. */
TALLY_FN thread_sums_t add_values(int32_t power, const steps_t *steps, const values_t *of, int32_t log_lanes) {
    const int32_t lanes = 1 << log_lanes, begin = tally_lane() & (lanes - 1),
                  count = values_of_lane(of, begin, log_lanes);
    const char *x = of->x + begin * steps->x, *y = of->y + begin * steps->y;
    const int64_t next_x = values_together * lanes * steps->x, next_y = values_together * lanes * steps->y;
    thread_sums_t sums = no_sums();
    TALLY_ROLLED
    for (int32_t at = 0; at < count; at += values_together, x += next_x, y += next_y) {
        const some_values_t some = read_some(steps, x, y, count - at, lanes);
        TALLY_UNROLL
        for (int32_t k = 0; k < values_together; k++)
            if (at + k < count) add_value(&sums, some.x[k], some.y[k], power);
    }
    meet_sums(&sums, log_lanes);
    return sums;
}

/* ---- results ---- */

#define TALLY_PUT_NAME add_pair_to_lane
#define TALLY_PUT_TYPE lane_sums_t
#define TALLY_PUT_DEPOSIT tally_deposit
#include "exact_sums/pair_to_limbs.h"

/* Value by value, by one thread. */
TALLY_RARE void put_by_limbs(const tally_results *out, const steps_t *steps, int64_t s, values_t of,
                             const noted_t *noted) {
    lane_sums_t a;
    notes_t notes = no_notes(); /* they are in `noted` */
    __builtin_memset(&a, 0, sizeof a);
    a.origin = TALLY_ORIGIN;
    TALLY_ROLLED
    for (int32_t i = 0; i < of.n; i++) {
        const some_values_t one = read_some(steps, of.x + i * steps->x, of.y + i * steps->y, 1, 0);
        if (!term_is_special(one.x[0], one.y[0])) add_pair_to_lane(&notes, &a, one.x[0], one.y[0]);
    }
    put_lane_sums(out, s, &a, of.n - noted->absent, noted);
}
TALLY_FN void put_sums(const tally_results *out, const steps_t *steps, int64_t s, const values_t *of,
                       const thread_sums_t *sums, int32_t power) {
    uint64_t result[6] = {0, 0, 0, 0, 0, 0};
    if (of->n == sums->noted.absent)
        put_nothing(out, s);
    else if (finalize_sums(sums, of->n, power, &out->final, result))
        put_bytes(out, s, result, of->n - sums->noted.absent);
    else {
        const noted_t noted = sums->noted;
        put_by_limbs(out, steps, s, *of, &noted);
    }
}

/* ---- a group ---- */

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
/* Reduces the segment of each lane, of which this lane has number s, with the values `of`. Lanes without one, for which
 * s is -1, come last, and the longest segment first. */
TALLY_FN void put_group(const tally_results *out, const steps_t *steps, int64_t s, values_t of) {
    thread_sums_t sums = no_sums();
    int32_t power = 0;
    const int32_t count = __builtin_popcount(tally_ballot(s >= 0));
    TALLY_ROLLED
    for (int32_t at = 0, shares; at < count; at += shares) {
        const int32_t log_lanes = choose_log_lanes(of.n, at), from = at + (tally_lane() >> log_lanes),
                      its = from < TALLY_WARP ? from : 0;
        values_t values;
        shares = TALLY_WARP >> log_lanes;
        values.x = (const char *)tally_of_lane64((int64_t)of.x, its);
        values.y = TALLY_KERNEL_INPUTS == 1 ? values.x : (const char *)tally_of_lane64((int64_t)of.y, its);
        values.n = (int32_t)tally_shuffle((uint32_t)of.n, its);
        if (from >= TALLY_WARP) values.n = 0;
        int32_t some_power = TALLY_IS_F64 ? power_for(most_of_values(steps, &values, log_lanes)) : 0;
        thread_sums_t some = add_values(some_power, steps, &values, log_lanes);
        const int32_t mine = tally_lane() - at, is_mine = mine >= 0 && mine < shares,
                      lane = is_mine ? mine << log_lanes : 0;
        if (shares < TALLY_WARP || at > 0) { /* or the lane has added up its own */
            some = sums_of_lane(&some, lane);
            some_power = (int32_t)tally_shuffle((uint32_t)some_power, lane);
        }
        if (is_mine) sums = some, power = some_power;
    }
    if (s >= 0) put_sums(out, steps, s, &of, &sums, power);
}

#endif
