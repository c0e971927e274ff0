/* Bounds of the terms of a tile, by which levels are planned (sums/plan.h). */
#ifndef TALLY_CPU_BOUNDS_H
#define TALLY_CPU_BOUNDS_H

#include "cpu/exact.h"
#include "sums/plan.h"

/* Whether levels can take the terms of a tile at all. Products of larger values could not be split, and products of f64
 * that are subnormal have fewer digits than docs/exact.md counts on. */
static inline bool tally__in_reach(const tally__tile *tile, int term) {
    if (tile->x_extent.high > TALLY_LEVELS_HIGHEST || tile->y_extent.high > TALLY_LEVELS_HIGHEST) return false;
    return term != TALLY_TERM_PRODUCT || !tile->is_f64 ||
           (tile->x_extent.unit > TALLY_LEVELS_LOWEST && tile->y_extent.unit > TALLY_LEVELS_LOWEST);
}
/* Bounds of a tile's terms: below 2^high, multiples of 2^unit. */
typedef struct tally__bounds {
    int32_t high, unit;
} tally__bounds;
static inline tally__bounds tally__bounds_of(const tally__tile *tile, int term) {
    tally__bounds b = {tile->x_extent.high, tile->x_extent.unit};
    if (term == TALLY_TERM_PRODUCT) {
        b.high += tile->y_extent.high;
        b.unit += tile->y_extent.unit;
    }
    return b;
}
/* How many parts of a term meet at the levels after the first. */
static inline int32_t tally__parts_of_term(int term, bool is_f64) {
    return term == TALLY_TERM_PRODUCT && is_f64 ? 2 : 1;
}

static inline int32_t tally__plan_units(int32_t *units, int32_t most, tally__bounds b, int32_t additions, int term,
                                        bool is_f64) {
    return tally_plan_levels(units, most, b.high, b.unit, additions, tally__parts_of_term(term, is_f64));
}
/* How many binades `count` levels for a term have left when they hold its bounds. */
static inline int32_t tally__slack_of(tally__bounds b, int32_t count, int term, bool is_f64) {
    return tally_slack(b.high - b.unit, TALLY_TILE_ADDITIONS, tally__parts_of_term(term, is_f64), count, INT32_MAX);
}
/* Bounds that leave some room above and below: the next tiles are not quite alike. Limbs take nothing below their
 * origin. */
static inline tally__bounds tally__widened(tally__bounds b, int32_t slack, int32_t origin, int32_t highest) {
    int32_t margin = slack < 16 ? slack / 2 : 8;
    tally__bounds wide = {b.high + margin < highest ? b.high + margin : highest,
                          b.unit - margin > origin ? b.unit - margin : origin};
    if (wide.unit < TALLY_LEVELS_LOWEST) wide.unit = TALLY_LEVELS_LOWEST;
    return wide;
}

#endif
