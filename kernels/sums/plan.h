/* Which levels an exact sum needs (docs/exact.md), for every backend. */
#ifndef TALLY_PLAN_H
#define TALLY_PLAN_H

#include "device/dialect.h"

enum {
    TALLY_BINADE =
        51, /* an accumulator anchored at 1.5 * 2^52 units stays in its binade while it moves by at most 2^51 */
    /* Bounds within which levels and the rests of products neither overflow nor underflow. */
    TALLY_LEVELS_HIGHEST = 960,
    TALLY_LEVELS_LOWEST = -1074
};

/* Plans the units of levels for terms that are below 2^high and multiples of 2^unit, where one accumulator gets at most
 * 2^additions of them. `parts`: how many parts of a term meet at the levels after the first. Gives the number of levels
 * and fills up the units to `most` with empty levels; 0: more than `most` would be needed, or units out of bounds. */
TALLY_FN int32_t tally_plan_levels(int32_t *units, int32_t most, int32_t high, int32_t unit, int32_t additions,
                                   int32_t parts) {
    int32_t bound = high, count = 0;
    if (high > TALLY_LEVELS_HIGHEST || unit < TALLY_LEVELS_LOWEST) return 0;
    for (int32_t k = 0; k < most; k++) {
        int32_t lowest = bound + additions + (k > 0 ? parts - 1 : 0) - TALLY_BINADE;
        if (lowest <= unit) {
            if (count == 0) count = k + 1;
            lowest = unit;
        }
        units[k] = lowest;
        bound = lowest - 1; /* of the remainder of a term that was rounded to a multiple of 2^lowest */
    }
    return count;
}

/* How many binades `count` levels hold, if tally_plan_levels finds units in bounds. */
TALLY_FN int32_t tally_held(int32_t count, int32_t additions, int32_t parts) {
    return count * (TALLY_BINADE + 1 - additions) - 1 - (count - 1) * (parts - 1);
}
/* How many binades more than `range` the fewest sufficient levels hold, at most `bound`. Negative: `most` levels do not
 * hold `range` binades, or bound is negative. */
TALLY_FN int32_t tally_slack(int32_t range, int32_t additions, int32_t parts, int32_t most, int32_t bound) {
    for (int32_t k = 1; k <= most; k++) {
        int32_t more = tally_held(k, additions, parts) - range;
        if (more >= 0) return more < bound ? more : bound;
    }
    return -1;
}

/* 1.5 * 2^(unit + 52): a double whose last bit is 2^unit. It remains 2^unit while fewer than 2^51 units are added. */
TALLY_FN double tally_anchor(int32_t unit) {
    return tally_from_bits_f64(tally_bits_f64(tally_power_of_two(unit + 52)) | (int64_t)1 << 51);
}

#endif
