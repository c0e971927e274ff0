/* From a tile to limbs: by levels where the vector loops can, else by bins, and few values one after another.
 * docs/exact.md has the method. */
#include "cpu/exact.h"

#include <string.h>

#include "cpu/cpu.h"
#include "sums/plan.h"

/* ---- measuring ---- */

void tally__measure_tile(tally__tile *tile) {
    const tally__tiles *tiles = tally__cpu_tiles();
    tile->present = tile->n;
    tile->given = tile->x;
    tile->specials = 0;
    tile->x_extent = tiles->measure[tile->is_f64](tile->x, tile->n);
    tile->y_extent = tile->y == tile->x ? tile->x_extent : tiles->measure[tile->is_f64](tile->y, tile->n);
}

bool tally__is_tiny(const tally__tile *tile) {
    const tally__extent *x = &tile->x_extent, *y = &tile->y_extent;
    if (!tile->is_f64 || x->zeros || y->zeros || x->special || y->special) return false;
    return x->high <= TALLY_ENLARGED_MOST && y->high <= TALLY_ENLARGED_MOST &&
           (x->unit <= -TALLY_ENLARGED || y->unit <= -TALLY_ENLARGED);
}
void tally__enlarge_tile(tally__tile *tile, double *x_space, double *y_space) {
    const bool are_two = tile->y != tile->x;
    tally__cpu_tiles()->enlarge(tile->x, tile->n, TALLY_ENLARGED, x_space);
    if (are_two) tally__cpu_tiles()->enlarge(tile->y, tile->n, TALLY_ENLARGED, y_space);
    tile->x = x_space;
    tile->y = are_two ? y_space : x_space;
    tile->x_extent = tally__cpu_tiles()->measure[1](tile->x, tile->n);
    tile->y_extent = are_two ? tally__cpu_tiles()->measure[1](tile->y, tile->n) : tile->x_extent;
}

void tally__take_out_specials(tally__tile *tile, bool skips, void *x_space, void *y_space) {
    const void *given = tile->x;
    tally__taken taken;
    if (!tile->x_extent.special && !tile->y_extent.special) return;
    taken = tally__cpu_tiles()->take_out[tile->is_f64](tile->x, tile->y, tile->n, skips, x_space, y_space);
    tile->y = tile->y != tile->x ? y_space : x_space;
    tile->x = x_space;
    tile->given = given;
    tile->present = taken.present;
    tile->specials = taken.specials;
    tile->x_extent = taken.x_extent;
    tile->y_extent = taken.y_extent;
}

/* ---- levels ---- */

/* Whether levels can take the terms of a tile at all: products of values this large can be split, those of f64 that are
 * not subnormal have as many digits as docs/exact.md counts on. */
static bool in_reach(const tally__tile *tile, int term) {
    if (tile->x_extent.high > TALLY_LEVELS_HIGHEST || tile->y_extent.high > TALLY_LEVELS_HIGHEST) return false;
    return term != TALLY_TERM_PRODUCT || !tile->is_f64 ||
           (tile->x_extent.unit > TALLY_LEVELS_LOWEST && tile->y_extent.unit > TALLY_LEVELS_LOWEST);
}
/* Bounds of a tile's terms: below 2^high, multiples of 2^unit. */
typedef struct bounds {
    int32_t high, unit;
} bounds;
static bounds bounds_of(const tally__tile *tile, int term) {
    bounds b = {tile->x_extent.high, tile->x_extent.unit};
    if (term == TALLY_TERM_PRODUCT) {
        b.high += tile->y_extent.high;
        b.unit += tile->y_extent.unit;
    }
    return b;
}
/* How many parts of a term meet at the levels after the first. */
static int32_t parts_of(int term, bool is_f64) { return term == TALLY_TERM_PRODUCT && is_f64 ? 2 : 1; }

static int32_t plan_units(int32_t *units, int32_t most, bounds b, int32_t additions, int term, bool is_f64) {
    return tally_plan_levels(units, most, b.high, b.unit, additions, parts_of(term, is_f64));
}
/* How many binades `count` levels for a term have left when they hold its bounds. */
static int32_t slack_of(bounds b, int32_t count, int term, bool is_f64) {
    return tally_slack(b.high - b.unit, TALLY_TILE_ADDITIONS, parts_of(term, is_f64), count, INT32_MAX);
}
/* Bounds that leave some room above and below: the next tiles are not quite alike. Limbs take nothing below their
 * origin. */
static bounds widened(bounds b, int32_t slack, int32_t origin, int32_t highest) {
    int32_t margin = slack < 16 ? slack / 2 : 8;
    bounds wide = {b.high + margin < highest ? b.high + margin : highest,
                   b.unit - margin > origin ? b.unit - margin : origin};
    if (wide.unit < TALLY_LEVELS_LOWEST) wide.unit = TALLY_LEVELS_LOWEST;
    return wide;
}
static void begin_levels(tally__levels *levels, bounds b, tally__tile_sum *sum) {
    levels->high = b.high;
    levels->lowest = b.unit;
    levels->tiles = 0;
    levels->sum = sum;
    for (int k = 0; k < levels->count; k++) levels->anchor[k] = tally_anchor(levels->unit[k]);
    memset(levels->units, 0, (size_t)levels->count * sizeof *levels->units);
}

/* Plans levels for one kind of term, those of the vector loop that has the fewest. */
static bool plan_terms(tally__levels *levels, const tally__tile *tile, int term, int32_t origin) {
    const tally__tiles *tiles = tally__cpu_tiles();
    const int8_t *counts = tiles->level_counts[tile->is_f64][term];
    bounds b = bounds_of(tile, term);
    int32_t needed = plan_units(levels->unit, TALLY_MOST_LEVELS, b, TALLY_TILE_ADDITIONS, term, tile->is_f64);
    levels->count = 0;
    for (int i = 0; i < TALLY_LEVEL_COUNTS && needed > 0 && levels->count == 0; i++) {
        if (counts[i] < needed) continue;
        levels->count = counts[i];
        levels->values = term == TALLY_TERM_PRODUCT ? 0 : counts[i];
        levels->spare = i == 0 ? -1 : tally_held(counts[i - 1], TALLY_TILE_ADDITIONS, parts_of(term, tile->is_f64));
        b = widened(b, slack_of(b, counts[i], term, tile->is_f64), origin, TALLY_LEVELS_HIGHEST);
        plan_units(levels->unit, counts[i], b, TALLY_TILE_ADDITIONS, term, tile->is_f64);
        begin_levels(levels, b, tiles->sum[tile->is_f64][term][i]);
    }
    return levels->count > 0;
}
/* Plans levels of values and squares for a loop that does both. */
static bool plan_both(tally__levels *levels, const tally__tile *tile, int32_t origin) {
    const tally__tiles *tiles = tally__cpu_tiles();
    int32_t values = tiles->level_counts[tile->is_f64][TALLY_TERM_VALUE][0];
    int32_t products = tiles->level_counts[tile->is_f64][TALLY_TERM_PRODUCT][0];
    int32_t slack = slack_of(bounds_of(tile, TALLY_TERM_VALUE), values, TALLY_TERM_VALUE, tile->is_f64);
    int32_t slack_products = slack_of(bounds_of(tile, TALLY_TERM_PRODUCT), products, TALLY_TERM_PRODUCT, tile->is_f64);
    bounds b = bounds_of(tile, TALLY_TERM_PRODUCT), squares;
    levels->count = 0;
    if (slack < 0 || slack_products < 0 || b.high > TALLY_LEVELS_HIGHEST || b.unit < TALLY_LEVELS_LOWEST) return false;
    if (slack > slack_products / 2) slack = slack_products / 2;
    b = widened(bounds_of(tile, TALLY_TERM_VALUE), slack, origin, TALLY_LEVELS_HIGHEST / 2);
    if (b.unit < TALLY_LEVELS_LOWEST / 2) b.unit = TALLY_LEVELS_LOWEST / 2;
    squares = (bounds){2 * b.high, 2 * b.unit};
    plan_units(levels->unit, values, b, TALLY_TILE_ADDITIONS, TALLY_TERM_VALUE, tile->is_f64);
    plan_units(levels->unit + values, products, squares, TALLY_TILE_ADDITIONS, TALLY_TERM_PRODUCT, tile->is_f64);
    levels->count = values + products;
    levels->values = values;
    levels->spare = -1;
    begin_levels(levels, b, tiles->both[tile->is_f64]);
    return true;
}

/* What was counted goes to the limbs. */
static int64_t counted(const tally__levels *levels, int k) {
    int64_t total = 0;
    for (int lane = 0; lane < TALLY_LANES; lane++) total += levels->units[k][lane];
    return total;
}
static void flush(tally__sums *sums, tally__levels *levels) {
    for (int k = 0; k < levels->count && levels->tiles > 0; k++) {
        bool value = k < levels->values;
        int32_t offset = levels->unit[k] - (value ? 1 : 2) * (sums->origin + levels->power);
        const int64_t units = tally_from_origin(counted(levels, k), &offset);
        tally_deposit((value ? sums->values : sums->products) + TALLY_EVIDENCE, units, offset);
    }
    sums->spilled |= levels->tiles > 0;
    memset(levels->units, 0, (size_t)levels->count * sizeof *levels->units);
    levels->tiles = 0;
}

/* A tile moves a level by at most 2^51 units for each of the 16 accumulators that its terms fill, so the counts of so
 * many fit. */
enum { TALLY_FLUSH_TILES = 128 };

/* Whether the levels that there are suit a tile within such bounds. */
static bool suit(tally__sums *sums, tally__levels *levels, bounds b, int32_t power) {
    if (levels->tiles == TALLY_FLUSH_TILES) flush(sums, levels);
    return levels->count > 0 && levels->power == power && b.high <= levels->high && b.unit >= levels->lowest &&
           b.high - b.unit > levels->spare;
}
static void count_tile(tally__levels *levels, const tally__tile *tile) {
    levels->sum(tile->x, tile->y, tile->n, levels->anchor, levels->units);
    levels->tiles++;
}

/* Of a tile of finite values that are not all 0, all products may be: then their signs matter. Alone, or squared, the
 * first value tells. */
static void witness(int64_t *words, const tally__tile *tile) {
    for (int64_t i = 0; i < tile->n && !words[TALLY_OTHER]; i++) {
        double x = tally__value_at(tile, tile->x, i), y = tally__value_at(tile, tile->y, i);
        bool negative = (tally_bits_f64(x) ^ tally_bits_f64(y)) < 0;
        words[(x == 0 || y == 0) && negative ? TALLY_MINUS_ZERO : TALLY_OTHER] = 1;
    }
}

/* Whose units levels need not go below. */
static int32_t lowest_of(const tally__sums *sums, int32_t power) {
    return power == 0 ? sums->origin : TALLY_LEVELS_LOWEST;
}
static bool add_by_levels(tally__sums *sums, tally__levels *levels, int term, const tally__tile *tile, int32_t power) {
    bool product = term == TALLY_TERM_PRODUCT;
    if (!in_reach(tile, term)) return false;
    if (!suit(sums, levels, bounds_of(tile, term), power)) {
        flush(sums, levels);
        levels->power = power;
        if (!plan_terms(levels, tile, term, (product ? 2 : 1) * lowest_of(sums, power))) return false;
    }
    count_tile(levels, tile);
    witness(product ? sums->products : sums->values, tile);
    return true;
}
static bool add_both(tally__sums *sums, const tally__tile *tile, int32_t power) {
    tally__levels *levels = &sums->of_both;
    if (tally__cpu_tiles()->both[tile->is_f64] == NULL || tile->specials || tile->x_extent.zeros) return false;
    if (!in_reach(tile, TALLY_TERM_PRODUCT)) return false;
    if (!suit(sums, levels, bounds_of(tile, TALLY_TERM_VALUE), power)) {
        flush(sums, levels);
        levels->power = power;
        if (!plan_both(levels, tile, lowest_of(sums, power))) return false;
    }
    count_tile(levels, tile);
    sums->values[TALLY_OTHER] = sums->products[TALLY_OTHER] = 1;
    return true;
}

/* ---- batches ---- */

bool tally__overreaches(const tally__tile *tile, int term) {
    const bounds b = bounds_of(tile, term);
    if (tile->x_extent.zeros || tile->y_extent.zeros) return false;
    return !in_reach(tile, term) || b.high > TALLY_LEVELS_HIGHEST ||
           (term == TALLY_TERM_PRODUCT && b.unit < TALLY_LEVELS_LOWEST);
}
/* Divides n values by 2^exponent, in two steps, as the power may be no normal number. */
static void divide_by_power(double *to, const char *x, int64_t n, int32_t exponent) {
    const double once = tally_scale(1, -exponent / 2), again = tally_scale(1, -exponent - -exponent / 2);
    if (exponent < -900) {
        tally__cpu_tiles()->enlarge(x, n, -exponent, to);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        double value;
        memcpy(&value, x + i * (int64_t)sizeof value, sizeof value);
        to[i] = value * once * again;
    }
}
void tally__scale_alike(tally__batch *batch, int32_t by_x, int32_t by_y) {
    batch->scaled = TALLY_SCALED_ALIKE;
    for (int s = 0; s < batch->count; s++) batch->scale_x[s] = by_x, batch->scale_y[s] = by_y;
}
void tally__scale_batch(tally__batch *batch, tally__tile *tile, double *x_space, double *y_space) {
    enum { NEAR = 190 }; /* binades: squares stay in reach (kernels/sums/parts.h) */
    const int32_t by_x = tile->x_extent.high, by_y = tile->y_extent.high;
    batch->scaled = TALLY_SCALED_EACH;
    if (by_x - tile->x_extent.unit >= NEAR || by_y - tile->y_extent.unit >= NEAR) return;
    divide_by_power(x_space, tile->x, tile->n, by_x);
    if (tile->y != tile->x) divide_by_power(y_space, tile->y, tile->n, by_y);
    tile->y = tile->y == tile->x ? x_space : y_space;
    tile->x = x_space;
    tally__measure_tile(tile); /* subnormals have other digits now */
    tally__scale_alike(batch, by_x, by_y);
}
/* So many multiples of the unit of terms, none larger than this, add up exactly. */
static double fine_of(const tally__tile *tile, int term) {
    const int32_t power = bounds_of(tile, term).unit + 53 - TALLY_FINE_TERMS;
    return power < -1022 || power > 1023 ? 0 : tally_power_of_two(power);
}
int tally__expand_batch(tally__batch *batch, const tally__tile *tile, int64_t apart, int term, tally__parts first,
                        tally__parts second) {
    batch->fine_sum = batch->fine_product = 0;
    if (batch->scaled != TALLY_SCALED_EACH) {
        batch->fine_sum = fine_of(tile, TALLY_TERM_VALUE);
        batch->fine_product = fine_of(tile, TALLY_TERM_PRODUCT);
    }
    return tally__cpu_tiles()->batch_expand[tile->is_f64][term](tile->x, tile->y, apart, batch, first, second);
}
/* Plans levels for a term that there is a loop for: how many, or 0. */
static int plan_batch(int32_t *units, const tally__batch *batch, const tally__tile *tile, int term) {
    tally__batch_sum *const *const sum = tally__cpu_tiles()->batch_sum[tile->is_f64][term];
    int32_t count, additions = TALLY_BATCH_ADDITIONS;
    if (batch->scaled == TALLY_SCALED_EACH || !in_reach(tile, term)) return 0;
    while (batch->longest > 1 << additions) additions++;
    count = plan_units(units, TALLY_PARTS, bounds_of(tile, term), additions, term, tile->is_f64);
    while (count > 0 && count <= TALLY_PARTS && sum[count] == NULL) count++; /* more levels will do */
    return count <= TALLY_PARTS ? count : 0;
}
/* By so many levels, or expansions where there are none: the number of parts. */
static int sum_terms(tally__batch *batch, const tally__tile *tile, int term, const int32_t *units, int count,
                     tally__parts parts) {
    double anchor[TALLY_PARTS];
    if (count == 0) return tally__expand_batch(batch, tile, 1, term, parts, NULL);
    for (int k = 0; k < count; k++) anchor[k] = tally_anchor(units[k]);
    tally__cpu_tiles()->batch_sum[tile->is_f64][term][count](tile->x, tile->y, batch, anchor, parts);
    return count;
}
void tally__sum_batch(tally__batch *batch, const tally__tile *tile, int first, bool products) {
    int32_t units[TALLY_PARTS], product_units[TALLY_PARTS];
    const int count = plan_batch(units, batch, tile, first),
              product_count = products ? plan_batch(product_units, batch, tile, TALLY_TERM_PRODUCT) : 0;
    batch->product_parts = 0;
    if (products && count + product_count == 0 && first == TALLY_TERM_VALUE) {
        batch->sum_parts = batch->product_parts =
            tally__expand_batch(batch, tile, 1, TALLY_TERMS, batch->sums, batch->products);
        return;
    }
    batch->sum_parts = sum_terms(batch, tile, first, units, count, batch->sums);
    if (products)
        batch->product_parts =
            sum_terms(batch, tile, TALLY_TERM_PRODUCT, product_units, product_count, batch->products);
}

/* ---- columns ---- */

bool tally__plan_columns(tally__columns *columns, const tally__tile *tile, int term, int32_t additions, int32_t most,
                         bool follow) {
    tally__column_sum *const *const sum = tally__cpu_tiles()->column_sum[tile->is_f64][term];
    const int32_t parts = parts_of(term, tile->is_f64), ample = 16;
    bounds b = bounds_of(tile, term);
    int32_t count = 0;
    columns->count = 0;
    if (in_reach(tile, term)) count = plan_units(columns->unit, most, b, additions, term, tile->is_f64);
    while (count > 0 && count <= most && sum[count] == NULL) count++; /* more levels will do */
    if (count == 0 || count > most) return false;
    if (follow) { /* with little room, a tile that follows would need new levels */
        const int32_t range = b.high - b.unit, spare = tally_held(count, additions, parts) - range;
        if (spare < ample && count < most && sum[count + 1] != NULL) count++;
        b = widened(b, tally_held(count, additions, parts) - range, TALLY_LEVELS_LOWEST, TALLY_LEVELS_HIGHEST);
        plan_units(columns->unit, count, b, additions, term, tile->is_f64);
    }
    columns->count = count;
    columns->high = b.high;
    columns->lowest = b.unit;
    columns->rows = 0;
    columns->sum = sum[count];
    for (int k = 0; k < count; k++) columns->anchor[k] = tally_anchor(columns->unit[k]);
    return true;
}
bool tally__columns_suit(const tally__columns *columns, const tally__tile *tile, int term, int64_t rows) {
    const bounds b = bounds_of(tile, term);
    if (columns->count == 0 || columns->rows + rows > 1 << TALLY_COLUMN_ADDITIONS) return false;
    return b.high <= columns->high && b.unit >= columns->lowest && in_reach(tile, term);
}

/* ---- one after another ---- */

static void add_singly(int64_t *words, int32_t origin, int term, const tally__tile *tile) {
    for (int64_t i = 0; i < tile->n; i++) {
        double x = tally__value_at(tile, tile->x, i);
        if (term == TALLY_TERM_PRODUCT)
            tally_add_product(words, origin, x, tally__value_at(tile, tile->y, i));
        else
            tally_add_value(words, origin, term == TALLY_TERM_MAGNITUDE ? __builtin_fabs(x) : x);
    }
}

/* Zeros, which have nothing but a sign. */
static void add_zeros(int64_t *words, int term, const tally__tile *tile) {
    const bool product = term == TALLY_TERM_PRODUCT;
    if (term == TALLY_TERM_MAGNITUDE || (product && tile->y == tile->x)) words[TALLY_OTHER] = 1;
    for (int64_t i = 0; i < tile->n && !words[TALLY_OTHER]; i++) { /* beside a +0 the sign of others does not matter */
        double x = tally__value_at(tile, tile->x, i), y = product ? tally__value_at(tile, tile->y, i) : 1;
        words[(tally_bits_f64(x) ^ tally_bits_f64(y)) < 0 ? TALLY_MINUS_ZERO : TALLY_OTHER] = 1;
    }
}

/* What was taken out of a tile. */
static void add_specials(int64_t *words, int term, int32_t specials) {
    int32_t plus = TALLY_SEEN_PLUS, minus = TALLY_SEEN_MINUS;
    if (term == TALLY_TERM_MAGNITUDE) plus = TALLY_SEEN_PLUS | TALLY_SEEN_MINUS, minus = TALLY_SEEN_NAN;
    if (term == TALLY_TERM_PRODUCT) plus = TALLY_SEEN_PRODUCT_PLUS, minus = TALLY_SEEN_PRODUCT_MINUS;
    words[TALLY_OTHER] = 1;
    if (specials & plus) words[TALLY_PLUS_INFINITY] = 1;
    if (specials & minus) words[TALLY_MINUS_INFINITY] = 1;
}
static bool is_infinite(const int64_t *words) {
    return words != NULL && (words[TALLY_PLUS_INFINITY] | words[TALLY_MINUS_INFINITY]);
}

/* ---- bins ---- */

/* Values for which bins are worth to be cleared and read. */
enum { TALLY_SCATTERED_f32 = 64, TALLY_SCATTERED_f64 = 128 };

/* Word k of all bins goes to limbs: `step` binades from bin to bin, `least` those of the first above the origin. Some
 * neighbours are deposited together, in three limbs, so that nothing is behind the last: their lower and their upper
 * halves, shifted, have room in 64 bits. */
static inline void flush_words(const int64_t *words, const int32_t bins, const int32_t step, const int32_t chains,
                               const int32_t apart, int32_t least, int64_t *limbs) {
    const int32_t together = (step < 8 ? 16 : 32) / step;
    for (int32_t b = 0; b < bins; b += together, least += together * step) {
        int64_t low = 0, high = 0;
        for (int32_t j = 0; j < together; j++) {
            int64_t bin = 0;
            for (int32_t c = 0; c < chains; c++) bin += words[((b + j) * chains + c) * apart];
            low += (bin & 0xffffffff) << (j * step);
            high += (bin >> 32) * ((int64_t)1 << (j * step));
        }
        if ((low | high) == 0) continue;
        int32_t offset = least < 0 ? 0 : least;
        tally_i128 total = (tally_i128)high * ((int64_t)1 << 32) + low;
        total =
            least < 0 ? total >> -least : total * ((int64_t)1 << (offset & 31)); /* terms are multiples of 2^origin */
        limbs[offset >> 5] += (int64_t)(total & 0xffffffff);
        limbs[(offset >> 5) + 1] += (int64_t)(total >> 32 & 0xffffffff);
        limbs[(offset >> 5) + 2] += (int64_t)(total >> 64); /* less than 2^56 */
    }
}
static inline void flush_layout(tally__sums *sums, const tally__bin_layout layout) {
    const int64_t *words = sums->bins.words;
    for (int32_t k = 0; k < layout.levels && sums->values; k++)
        flush_words(words + k, layout.bins, 1 << layout.binades, layout.chains, layout.apart,
                    layout.least + layout.unit[k] - sums->origin, sums->values + TALLY_EVIDENCE);
    for (int32_t k = 0; k < layout.product_levels && sums->products; k++)
        flush_words(words + layout.products_at + k, layout.bins, 2 << layout.binades, layout.chains,
                    layout.products_apart, 2 * (layout.least - sums->origin) + layout.product_unit[k],
                    sums->products + TALLY_EVIDENCE);
}
static void flush_bins(tally__sums *sums) {
    if (sums->bins.tiles == 0) return;
    if (sums->bins.is_f64)
        flush_layout(sums, TALLY_BIN_LAYOUT(1));
    else
        flush_layout(sums, TALLY_BIN_LAYOUT(0));
    sums->bins.tiles = 0;
}
static void add_to_bins(tally__sums *sums, bool values, bool products, const tally__tile *tile) {
    tally__bins *bins = &sums->bins;
    const tally__bin_layout layout = TALLY_BIN_LAYOUT(tile->is_f64);
    if (bins->tiles == layout.tiles) flush_bins(sums);
    if (bins->tiles++ == 0) { /* what is not asked for is not read either */
        int32_t from = sums->values ? 0 : layout.products_at,
                to = sums->products || layout.products_at == 1 ? layout.words : layout.products_at;
        memset(bins->words + from, 0, (size_t)(to - from) * sizeof *bins->words);
    }
    bins->is_f64 = tile->is_f64;
    tally__cpu_tiles()->scatter[tile->is_f64](tile->x, tile->y, tile->n, values ? sums->term : TALLY_TERMS, products,
                                              bins->words);
    if (values) witness(sums->values, tile);
    if (products) witness(sums->products, tile);
}

/* False: the tile's terms are for bins. `near`: the tile for levels, with values 2^power times as large. */
static bool add_terms(tally__sums *sums, int term, const tally__tile *tile, const tally__tile *near, int32_t power) {
    bool product = term == TALLY_TERM_PRODUCT;
    int64_t *words = product ? sums->products : sums->values;
    int32_t origin = product ? 2 * sums->origin : sums->origin;
    bool zeros = tile->x_extent.zeros || tile->y_extent.zeros;
    if (tile->specials) add_specials(words, term, tile->specials);
    if (is_infinite(words)) return sums->spilled = true; /* nothing finite can change that */
    if (!zeros && add_by_levels(sums, product ? &sums->of_products : &sums->of_values, term, near, power)) return true;
    sums->spilled = true;
    if (zeros)
        add_zeros(words, term, tile);
    else if (tile->n < (tile->is_f64 ? TALLY_SCATTERED_f64 : TALLY_SCATTERED_f32))
        add_singly(words, origin, term, tile);
    else
        return false;
    return true;
}

void tally__begin_sums(tally__sums *sums, int64_t *values, int64_t *products, int32_t origin, int term) {
    sums->values = values;
    sums->products = products;
    sums->origin = origin;
    sums->term = term;
    sums->spilled = false;
    sums->of_values.count = sums->of_products.count = sums->of_both.count = 0;
    sums->of_values.tiles = sums->of_products.tiles = sums->of_both.tiles = 0;
    sums->of_values.power = sums->of_products.power = sums->of_both.power = 0;
    sums->bins.tiles = 0;
}
static void add_near(tally__sums *sums, const tally__tile *tile, const tally__tile *near, int32_t power) {
    bool values, products;
    if (sums->values != NULL && sums->products != NULL && sums->term == TALLY_TERM_VALUE &&
        !is_infinite(sums->products) && add_both(sums, near, power))
        return;
    products = sums->products != NULL && !add_terms(sums, TALLY_TERM_PRODUCT, tile, near, power);
    values = sums->values != NULL && ((products && !tile->is_f64) || /* of f32 bins take both at once */
                                      !add_terms(sums, sums->term, tile, near, power));
    if (values || products) add_to_bins(sums, values, products, tile);
}
static __attribute__((noinline)) void add_tiny(tally__sums *sums, const tally__tile *tile) {
    _Alignas(64) double x[TALLY_TILE / 2], y[TALLY_TILE / 2];
    tally__tile near = *tile;
    tally__enlarge_tile(&near, x, y);
    add_near(sums, tile, &near, TALLY_ENLARGED);
}
void tally__add_tile(tally__sums *sums, const tally__tile *tile) {
    if (tile->present == 0) return;
    if (tally__is_tiny(tile))
        add_tiny(sums, tile);
    else
        add_near(sums, tile, tile, 0);
}
void tally__flush_sums(tally__sums *sums) {
    flush(sums, &sums->of_values);
    flush(sums, &sums->of_products);
    flush(sums, &sums->of_both);
    flush_bins(sums);
}

/* Levels from ... to as parts: the number of parts; 0: there are too many, or too long ones. */
static int parts_of_levels(const tally__levels *levels, int from, int to, tally__parts parts) {
    int count = 0;
    for (int k = from; k < to; k++) {
        int64_t total = counted(levels, k);
        if (total == 0) continue;
        if (count == TALLY_PARTS || total > (int64_t)1 << 53 || total < -((int64_t)1 << 53)) return 0;
        parts[count++][0] = tally_scale((double)total, levels->unit[k]);
    }
    return count;
}
bool tally__parts_of_sums(const tally__sums *sums, tally__batch *one) {
    const tally__levels *both = &sums->of_both, *values = &sums->of_values, *products = &sums->of_products;
    if (sums->spilled || (both->tiles > 0 && values->tiles + products->tiles > 0)) return false;
    one->count = one->padded = 1;
    one->product_parts = one->lost = one->scaled = one->vague = one->is_rough = 0;
    const int32_t power = both->tiles > 0 ? both->power : values->tiles > 0 ? values->power : products->power;
    if (values->tiles > 0 && products->tiles > 0 && products->power != power) return false;
    if (power != 0) {
        one->scaled = TALLY_SCALED_ALIKE;
        one->of_products = sums->values == NULL;
        one->scale_x[0] = one->scale_y[0] = -power;
    }
    if (both->tiles > 0) {
        one->sum_parts = parts_of_levels(both, 0, both->values, one->sums);
        one->product_parts = parts_of_levels(both, both->values, both->count, one->products);
        return one->sum_parts > 0 && one->product_parts > 0;
    }
    if (sums->values == NULL) return (one->sum_parts = parts_of_levels(products, 0, products->count, one->sums)) > 0;
    one->sum_parts = parts_of_levels(values, 0, values->count, one->sums);
    if (sums->products == NULL) return one->sum_parts > 0;
    one->product_parts = parts_of_levels(products, 0, products->count, one->products);
    return one->sum_parts > 0 && one->product_parts > 0;
}

/* ---- the rest ---- */

void tally__widen_range(int64_t *low, int64_t *high, const tally__tile *tile) {
    int64_t least, greatest;
    if (tile->present == 0 || (*low == INT64_MIN && *high == INT64_MAX)) return; /* a NaN: nothing can change that */
    if (tile->specials & TALLY_SEEN_NAN) {
        *low = INT64_MIN;
        *high = INT64_MAX;
        return;
    }
    if (tile->present < tile->n) { /* some are skipped */
        for (int64_t i = 0; i < tile->n; i++) {
            double x = tally__value_at(tile, tile->given, i);
            if (x != x) continue;
            int64_t key = tile->is_f64 ? tally_bits_f64(x) : tally_bits_f32((float)x);
            key ^= key < 0 ? (tile->is_f64 ? INT64_MAX : INT32_MAX) : 0;
            *low = key < *low ? key : *low;
            *high = key > *high ? key : *high;
        }
        return;
    }
    tally__cpu_tiles()->range[tile->is_f64](tile->given, tile->n, &least, &greatest);
    *low = least < *low ? least : *low;
    *high = greatest > *high ? greatest : *high;
}

static int32_t round_down(int32_t exponent) { return exponent & ~31; }

tally__fit tally__fit_tiles(const tally__tile *tiles, int count) {
    tally__fit fit = {0, 0, 0};
    int32_t unit = INT32_MAX, high = INT32_MIN;
    for (int k = 0; k < 2 * count; k++) {
        const tally__extent *x = k % 2 ? &tiles[k / 2].x_extent : &tiles[k / 2].y_extent;
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
