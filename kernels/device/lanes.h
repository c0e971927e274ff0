/* Functions of a warp, in which all lanes take part: 64-bit shuffles, and prefix sums. */
#ifndef TALLY_LANES_H
#define TALLY_LANES_H

#include "device/device.h"

/* The 64 bits of a lane; and of the lane whose number differs by the bits of `mask`. */
TALLY_FN int64_t tally_of_lane64(int64_t v, int32_t lane) {
    uint64_t low = tally_shuffle((uint32_t)v, lane), high = tally_shuffle((uint32_t)((uint64_t)v >> 32), lane);
    return (int64_t)(high << 32 | low);
}
TALLY_FN int64_t tally_shuffle64(int64_t v, int32_t mask) {
    uint64_t low = tally_shuffle_xor((uint32_t)v, mask), high = tally_shuffle_xor((uint32_t)((uint64_t)v >> 32), mask);
    return (int64_t)(high << 32 | low);
}
TALLY_FN double tally_shuffle_f64(double v, int32_t mask) {
    return tally_from_bits_f64(tally_shuffle64(tally_bits_f64(v), mask));
}

/* How many of these lanes, a bit for each, come before this one. */
TALLY_FN int32_t tally_lanes_before(uint32_t lanes) {
    return __builtin_popcount(lanes & (((uint32_t)1 << tally_lane()) - 1));
}

/* The inclusive prefix sum over lanes (Hillis and Steele, "Data parallel algorithms", 1986). */
TALLY_FN uint32_t tally_sum_until(uint32_t mine) {
    const int32_t lane = tally_lane();
    TALLY_UNROLL
    for (int32_t apart = 1; apart < TALLY_WARP; apart *= 2) {
        const uint32_t before = tally_shuffle(mine, (lane - apart) & (TALLY_WARP - 1));
        if (lane >= apart) mine += before;
    }
    return mine;
}
TALLY_FN int64_t tally_sum_until64(int64_t mine) {
    TALLY_UNROLL
    for (int32_t apart = 1; apart < TALLY_WARP; apart *= 2) {
        const int64_t before = tally_of_lane64(mine, tally_lane() >= apart ? tally_lane() - apart : tally_lane());
        if (tally_lane() >= apart) mine += before;
    }
    return mine;
}
/* The exclusive prefix sum. */
TALLY_FN int32_t tally_sum_before_lane(int32_t mine) { return (int32_t)tally_sum_until((uint32_t)mine) - mine; }

#endif
