/* From a tile to limbs: by levels where the vector loops can, else one value after another. docs/exact.md has the method. */
#include "cpu/exact.h"

#include <string.h>

#include "cpu/cpu.h"
#include "lib/plan.h"

/* ---- measuring ---- */

void tally__measure_tile(tally__tile *tile) {
    const tally__tiles *tiles = tally__cpu_tiles();
    tile->present = tile->n;
    tile->given = tile->x;
    tile->x_extent = tiles->measure[tile->is_f64](tile->x, tile->n);
    tile->y_extent = tile->y == tile->x ? tile->x_extent : tiles->measure[tile->is_f64](tile->y, tile->n);
}

static double value_at(const tally__tile *tile, const void *x, int64_t i) {
    double wide;
    float narrow;
    if (tile->is_f64) {
        memcpy(&wide, (const double *)x + i, sizeof wide);
        return wide;
    }
    memcpy(&narrow, (const float *)x + i, sizeof narrow);
    return (double)narrow;
}

static void set_value(const tally__tile *tile, void *x, int64_t i, double value) {
    if (tile->is_f64)
        ((double *)x)[i] = value;
    else
        ((float *)x)[i] = (float)value;
}

void tally__skip_nans(tally__tile *tile, void *x_room, void *y_room) {
    int64_t present = 0;
    bool two = tile->y != tile->x;
    const void *given = tile->x;
    for (int64_t i = 0; i < tile->n; i++) {
        double x = value_at(tile, tile->x, i), y = value_at(tile, tile->y, i);
        bool there = x == x && y == y;
        present += there;
        set_value(tile, x_room, i, there ? x : -0.0);
        if (two) set_value(tile, y_room, i, there ? y : 0.0); /* -0 * 0 is -0, which adds nothing */
    }
    tile->x = x_room;
    tile->y = two ? y_room : x_room;
    tally__measure_tile(tile);
    tile->present = present;
    tile->given = given;
}

/* ---- levels ---- */

/* Levels as some vector loop has them: their number made up by empty ones. */
static tally__tile_sum *choose_sum(tally__levels *levels, const tally__tiles *tiles, bool is_f64, int term) {
    for (int i = 0; i < 4; i++) {
        int count = tiles->level_counts[is_f64][term][i];
        if (count < levels->count) continue;
        for (; levels->count < count; levels->count++) levels->unit[levels->count] = levels->unit[levels->count - 1];
        for (int k = 0; k < count; k++) levels->anchor[k] = tally_scale(1.5, levels->unit[k] + 52);
        return tiles->sum[is_f64][term][i];
    }
    return NULL;
}

/* The levels of a tile's terms; false: they are out of bounds, or too many. */
static bool plan_terms(tally__levels *levels, const tally__tile *tile, int term) {
    int32_t high = tile->x_extent.high, unit = tile->x_extent.unit;
    bool product = term == TALLY_TERM_PRODUCT;
    if (product) {
        high += tile->y_extent.high;
        unit += tile->y_extent.unit;
    }
    if (tile->x_extent.high > TALLY_LEVELS_HIGHEST || tile->y_extent.high > TALLY_LEVELS_HIGHEST) return false;
    levels->count = tally_plan_levels(levels->unit, TALLY_MOST_LEVELS, high, unit, TALLY_TILE_ADDITIONS, product && tile->is_f64 ? 2 : 1);
    return levels->count > 0;
}

int tally__sum_bunch(const tally__tile *tile, int term, int64_t limit, const int64_t *offsets, int count, tally__parts parts) {
    const tally__tiles *tiles = tally__cpu_tiles();
    tally__levels levels;
    double anchor[TALLY_PARTS];
    int given;
    if (!plan_terms(&levels, tile, term) || levels.count > TALLY_PARTS) return 0;
    given = levels.count;
    while (given <= TALLY_PARTS && tiles->bunch_sum[tile->is_f64][term][given] == NULL) given++; /* more levels will do */
    if (given > TALLY_PARTS) return 0;
    for (int k = 0; k < given; k++) {
        int32_t unit = levels.unit[k < levels.count ? k : levels.count - 1];
        anchor[k] = tally_scale(1.5, unit + 52);
    }
    tiles->bunch_sum[tile->is_f64][term][given](tile->x, tile->y, limit, offsets, count, anchor, parts);
    return given;
}

void tally__store_bunch(const tally__bunch *bunch, void *results) {
    float narrow[TALLY_BUNCH_MOST];
    size_t count = (size_t)bunch->count;
    if (bunch->is_f64)
        memcpy(results, bunch->values, count * sizeof(double));
    else {
        for (size_t s = 0; s < count; s++) narrow[s] = (float)bunch->values[s];
        memcpy(results, narrow, count * sizeof(float));
    }
}

static bool add_by_levels(int64_t *words, int32_t origin, int term, const tally__tile *tile) {
    const tally__tiles *tiles = tally__cpu_tiles();
    tally__levels levels;
    int64_t counts[TALLY_MOST_LEVELS];
    bool product = term == TALLY_TERM_PRODUCT, some = false;
    tally__tile_sum *sum;
    if (!plan_terms(&levels, tile, term)) return false;
    sum = choose_sum(&levels, tiles, tile->is_f64, term);
    if (sum == NULL) return false;
    sum(tile->x, tile->y, tile->n, levels.anchor, counts);
    for (int k = 0; k < levels.count; k++) {
        some |= counts[k] != 0;
        tally_deposit(words + TALLY_EVIDENCE, counts[k], levels.unit[k] - origin);
    }
    /* Not all values are 0, but all products may be. */
    if (product && !some) return false;
    words[TALLY_OTHER] = 1;
    return true;
}

/* ---- one after another ---- */

static void add_singly(int64_t *words, int32_t origin, int term, const tally__tile *tile) {
    for (int64_t i = 0; i < tile->n; i++) {
        double x = value_at(tile, tile->x, i);
        if (term == TALLY_TERM_PRODUCT)
            tally_add_product(words, origin, x, value_at(tile, tile->y, i));
        else
            tally_add_value(words, origin, term == TALLY_TERM_MAGNITUDE ? __builtin_fabs(x) : x);
    }
}

/* Zeros, which have nothing but a sign. */
static void add_zeros(int64_t *words, int term, const tally__tile *tile) {
    int64_t minus = 0, other = 0;
    for (int64_t i = 0; i < tile->n; i++) {
        double x = value_at(tile, tile->x, i);
        double zero = term == TALLY_TERM_PRODUCT ? x * value_at(tile, tile->y, i) : x;
        bool negative = tally_bits_f64(zero) < 0 && term != TALLY_TERM_MAGNITUDE;
        minus |= negative;
        other |= !negative;
    }
    words[TALLY_MINUS_ZERO] |= minus;
    words[TALLY_OTHER] |= other;
}

void tally__add_terms(int64_t *words, int32_t origin, int term, const tally__tile *tile) {
    bool nan = words[TALLY_PLUS_INFINITY] && words[TALLY_MINUS_INFINITY]; /* nothing can change that */
    if (nan || tile->present == 0) return;
    if (tile->x_extent.special || (term == TALLY_TERM_PRODUCT && tile->y_extent.special))
        add_singly(words, origin, term, tile);
    else if (tile->x_extent.zeros || (term == TALLY_TERM_PRODUCT && tile->y_extent.zeros))
        add_zeros(words, term, tile);
    else if (!add_by_levels(words, origin, term, tile))
        add_singly(words, origin, term, tile);
}

/* ---- the rest ---- */

void tally__widen_range(int64_t *low, int64_t *high, const tally__tile *tile) {
    int64_t least, greatest;
    if (tile->present == 0) return;
    if (tile->x_extent.special || tile->present < tile->n) {
        for (int64_t i = 0; i < tile->n; i++) {
            double x = value_at(tile, tile->given, i);
            if (x != x && tile->present < tile->n) continue;
            int64_t key = tile->is_f64 ? tally_bits_f64(x) : tally_bits_f32((float)x);
            key ^= key < 0 ? (tile->is_f64 ? INT64_MAX : INT32_MAX) : 0;
            *low = x != x ? INT64_MIN : key < *low ? key : *low;
            *high = x != x ? INT64_MAX : key > *high ? key : *high;
        }
        return;
    }
    tally__cpu_tiles()->range[tile->is_f64](tile->x, tile->n, &least, &greatest);
    *low = least < *low ? least : *low;
    *high = greatest > *high ? greatest : *high;
}

static int32_t round_down(int32_t exponent) { return exponent & ~31; }

tally__fit tally__fit_tiles(const tally__tile *tiles, int count) {
    tally__fit fit = {0, 0, 0};
    int32_t unit = INT32_MAX, high = INT32_MIN;
    for (int k = 0; k < 2 * count; k++) {
        const tally__extent *x = k % 2 ? &tiles[k / 2].x_extent : &tiles[k / 2].y_extent;
        if (x->special) return fit;
        if (x->zeros) continue;
        if (x->unit < unit) unit = x->unit;
        if (x->high > high) high = x->high;
    }
    if (unit > high) unit = high = 0; /* nothing but zeros */
    /* A deposit touches three limbs; sums are of 2^12 terms at most. */
    fit.origin = round_down(unit);
    fit.limbs = (high + 12 - fit.origin) / 32 + 3;
    fit.product_limbs = (2 * high + 12 - 2 * fit.origin) / 32 + 3;
    return fit;
}
