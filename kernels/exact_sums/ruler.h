/* The levels that values of a certain size need (sums/levels.h), and the sizes that such levels hold. */
#ifndef TALLY_RULER_H
#define TALLY_RULER_H

#include "sums/levels.h"
#include "exact_sums/terms.h"

#define TALLY_MOST_LEVELS_OF_VALUES (TALLY_NUMBER == TALLY_NUMBER_f16 ? 1 : 3)
#define TALLY_MOST_LEVELS_OF_PRODUCTS (TALLY_IS_F64 ? 4 : 3)
#define TALLY_PRODUCT_PARTS (TALLY_IS_F64 ? 2 : 1)
/* log2 of the terms that meet in one accumulator of a lane */
#define TALLY_LANE_ADDITIONS (TALLY_BYTES == 8 ? 4 : TALLY_BYTES == 4 ? 5 : 6)

typedef struct ruler_t {
    uint32_t most_x, least_x, most_y, least_y; /* the sizes its levels hold */
    TALLY_IF_SUM(tally_levels sum;)
    TALLY_IF_PRODUCTS(tally_levels products;)
} ruler_t;

/* Levels for values of these extents, of which 2^additions meet in one accumulator, and what else they hold. False:
 * there are none. */
TALLY_FN int32_t choose_ruler(ruler_t *ruler, extent_t x, extent_t y, int32_t additions) {
    int32_t high_x = high_of(x.most), unit_x = unit_of(x.least);
    int32_t high_y = high_of(y.most), unit_y = unit_of(y.least);
    int32_t slack = 1 << 10;
    if (x.most >= TALLY_SIZE_INFINITY || y.most >= TALLY_SIZE_INFINITY) return 0;
    if (x.most == 0 || y.most == 0) return 0; /* zeros: their signs may matter */
    if (TALLY_HAS_SUM) slack = tally_slack(high_x - unit_x, additions, 1, TALLY_MOST_LEVELS_OF_VALUES, slack);
    if (TALLY_HAS_PRODUCTS) {
        slack = tally_slack(high_x + high_y - unit_x - unit_y, additions, TALLY_PRODUCT_PARTS,
                            TALLY_MOST_LEVELS_OF_PRODUCTS, slack >= 0 ? 2 * slack : slack);
        slack = slack >= 0 ? slack / 2 : slack;
    }
    if (slack < 0) return 0;
    /* What room is left goes to smaller values, but for three binades. */
    high_x += slack < 6 ? slack / 2 : 3;
    high_y += slack < 6 ? slack / 2 : 3;
    unit_x -= slack < 6 ? slack - slack / 2 : slack - 3;
    unit_y -= slack < 6 ? slack - slack / 2 : slack - 3;
    if (unit_x < TALLY_SIZE_LEAST) unit_x = TALLY_SIZE_LEAST;
    if (unit_y < TALLY_SIZE_LEAST) unit_y = TALLY_SIZE_LEAST;
    TALLY_IF_SUM(if (!tally_choose_levels(&ruler->sum, high_x, unit_x, additions, 1)) return 0;)
    TALLY_IF_PRODUCTS(if (!tally_choose_levels(&ruler->products, high_x + high_y, unit_x + unit_y, additions,
                                               TALLY_PRODUCT_PARTS)) return 0;)
    ruler->most_x = most_below(high_x);
    ruler->least_x = least_above(unit_x);
    ruler->most_y = most_below(high_y);
    ruler->least_y = least_above(unit_y);
    return 1;
}
TALLY_FN void forget_levels(ruler_t *ruler) {
    ruler->most_x = ruler->most_y = 0; /* no leaf but one of zeros is within them */
    ruler->least_x = ruler->least_y = UINT32_MAX;
    TALLY_IF_SUM(tally_no_levels(&ruler->sum);)
    TALLY_IF_PRODUCTS(tally_no_levels(&ruler->products);)
}
/* Whether a lane of the warp has sizes that the levels do not hold. */
TALLY_FN int32_t are_beyond(const ruler_t *ruler, extent_t x, extent_t y) {
    return tally_any(x.most > ruler->most_x || x.least < ruler->least_x || y.most > ruler->most_y ||
                     y.least < ruler->least_y);
}
/* Whether one has infinities or NaNs. */
TALLY_FN int32_t are_special(extent_t x, extent_t y) {
    return tally_any(x.most >= TALLY_SIZE_INFINITY || y.most >= TALLY_SIZE_INFINITY);
}

#endif
