/* From a tile to limbs: by levels where the vector loops can, else by bins, and few values one after another.
 * docs/exact.md has the method. */
#include "cpu/bounds.h"

/* ---- levels ---- */

static void begin_levels(tally__levels *levels, tally__bounds b, tally__tile_sum *sum) {
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
    tally__bounds b = tally__bounds_of(tile, term);
    int32_t needed = tally__plan_units(levels->unit, TALLY_MOST_LEVELS, b, TALLY_TILE_ADDITIONS, term, tile->is_f64);
    levels->count = 0;
    for (int i = 0; i < TALLY_LEVEL_COUNTS && needed > 0 && levels->count == 0; i++) {
        if (counts[i] < needed) continue;
        levels->count = counts[i];
        levels->values = term == TALLY_TERM_PRODUCT ? 0 : counts[i];
        levels->spare =
            i == 0 ? -1 : tally_held(counts[i - 1], TALLY_TILE_ADDITIONS, tally__parts_of_term(term, tile->is_f64));
        b = tally__widened(b, tally__slack_of(b, counts[i], term, tile->is_f64), origin, TALLY_LEVELS_HIGHEST);
        tally__plan_units(levels->unit, counts[i], b, TALLY_TILE_ADDITIONS, term, tile->is_f64);
        begin_levels(levels, b, tiles->sum[tile->is_f64][term][i]);
    }
    return levels->count > 0;
}
/* Plans levels of values and squares for a loop that does both. */
static bool plan_both(tally__levels *levels, const tally__tile *tile, int32_t origin) {
    const tally__tiles *tiles = tally__cpu_tiles();
    int32_t values = tiles->level_counts[tile->is_f64][TALLY_TERM_VALUE][0];
    int32_t products = tiles->level_counts[tile->is_f64][TALLY_TERM_PRODUCT][0];
    int32_t slack = tally__slack_of(tally__bounds_of(tile, TALLY_TERM_VALUE), values, TALLY_TERM_VALUE, tile->is_f64);
    int32_t slack_products =
        tally__slack_of(tally__bounds_of(tile, TALLY_TERM_PRODUCT), products, TALLY_TERM_PRODUCT, tile->is_f64);
    tally__bounds b = tally__bounds_of(tile, TALLY_TERM_PRODUCT), squares;
    levels->count = 0;
    if (slack < 0 || slack_products < 0 || b.high > TALLY_LEVELS_HIGHEST || b.unit < TALLY_LEVELS_LOWEST) return false;
    if (slack > slack_products / 2) slack = slack_products / 2;
    b = tally__widened(tally__bounds_of(tile, TALLY_TERM_VALUE), slack, origin, TALLY_LEVELS_HIGHEST / 2);
    if (b.unit < TALLY_LEVELS_LOWEST / 2) b.unit = TALLY_LEVELS_LOWEST / 2;
    squares = (tally__bounds){2 * b.high, 2 * b.unit};
    tally__plan_units(levels->unit, values, b, TALLY_TILE_ADDITIONS, TALLY_TERM_VALUE, tile->is_f64);
    tally__plan_units(levels->unit + values, products, squares, TALLY_TILE_ADDITIONS, TALLY_TERM_PRODUCT, tile->is_f64);
    levels->count = values + products;
    levels->values = values;
    levels->spare = -1;
    begin_levels(levels, b, tiles->both[tile->is_f64]);
    return true;
}

/* How many units level k has counted. */
static int64_t counted(const tally__levels *levels, int k) {
    int64_t total = 0;
    for (int lane = 0; lane < TALLY_LANES; lane++) total += levels->units[k][lane];
    return total;
}
/* Adds what levels have counted to the limbs. */
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

/* Whether the present levels suit a tile within such bounds. */
static bool suit(tally__sums *sums, tally__levels *levels, tally__bounds b, int32_t power) {
    if (levels->tiles == TALLY_FLUSH_TILES) flush(sums, levels);
    return levels->count > 0 && levels->power == power && b.high <= levels->high && b.unit >= levels->lowest &&
           b.high - b.unit > levels->spare;
}
static void count_tile(tally__levels *levels, const tally__tile *tile) {
    levels->sum(tile->x, tile->y, tile->n, levels->anchor, levels->units);
    levels->tiles++;
}

/* Notes which kinds of zero a sum has met, which decide the sign of a zero sum. Even where not all values are 0, all
 * products of them may be. */
static void witness(int64_t *words, const tally__tile *tile) {
    for (int64_t i = 0; i < tile->n && !words[TALLY_OTHER]; i++) {
        double x = tally__value_at(tile, tile->x, i), y = tally__value_at(tile, tile->y, i);
        bool negative = (tally_bits_f64(x) ^ tally_bits_f64(y)) < 0;
        words[(x == 0 || y == 0) && negative ? TALLY_MINUS_ZERO : TALLY_OTHER] = 1;
    }
}

/* Units below this need no level: limbs hold no smaller ones. */
static int32_t lowest_of(const tally__sums *sums, int32_t power) {
    return power == 0 ? sums->origin : TALLY_LEVELS_LOWEST;
}
static bool add_by_levels(tally__sums *sums, tally__levels *levels, int term, const tally__tile *tile, int32_t power) {
    bool product = term == TALLY_TERM_PRODUCT;
    if (!tally__in_reach(tile, term)) return false;
    if (!suit(sums, levels, tally__bounds_of(tile, term), power)) {
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
    if (!tally__in_reach(tile, TALLY_TERM_PRODUCT)) return false;
    if (!suit(sums, levels, tally__bounds_of(tile, TALLY_TERM_VALUE), power)) {
        flush(sums, levels);
        levels->power = power;
        if (!plan_both(levels, tile, lowest_of(sums, power))) return false;
    }
    count_tile(levels, tile);
    sums->values[TALLY_OTHER] = sums->products[TALLY_OTHER] = 1;
    return true;
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

/* Adds a tile of zeros, of which only the signs matter. */
static void add_zeros(int64_t *words, int term, const tally__tile *tile) {
    const bool product = term == TALLY_TERM_PRODUCT;
    if (term == TALLY_TERM_MAGNITUDE || (product && tile->y == tile->x)) words[TALLY_OTHER] = 1;
    for (int64_t i = 0; i < tile->n && !words[TALLY_OTHER]; i++) { /* after one +0 the others do not matter */
        double x = tally__value_at(tile, tile->x, i), y = product ? tally__value_at(tile, tile->y, i) : 1;
        words[(tally_bits_f64(x) ^ tally_bits_f64(y)) < 0 ? TALLY_MINUS_ZERO : TALLY_OTHER] = 1;
    }
}

/* Adds the infinities and NaNs that were taken out of a tile. */
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

/* With fewer values than these, bins cost more to clear and read than they save. */
enum { TALLY_SCATTERED_f32 = 64, TALLY_SCATTERED_f64 = 128 };

/* Adds a word of each bin to the limbs. From bin to bin there are `step` binades; the first is `least` above the
 * origin. Some neighbours are deposited together, in three limbs: the sums of their lower and of their upper halves,
 * shifted, have room in 64 bits. */
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
    if (bins->tiles++ == 0) { /* only the words that will be read are cleared */
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

/* Adds one term of a tile, unless bins should: then returns false. near: what levels take, the tile with values 2^power
 * times as large. */
static bool add_terms(tally__sums *sums, int term, const tally__tile *tile, const tally__tile *near, int32_t power) {
    bool product = term == TALLY_TERM_PRODUCT;
    int64_t *words = product ? sums->products : sums->values;
    int32_t origin = product ? 2 * sums->origin : sums->origin;
    bool zeros = tile->x_extent.zeros || tile->y_extent.zeros;
    if (tile->specials) add_specials(words, term, tile->specials);
    if (is_infinite(words)) return sums->spilled = true; /* which no finite value changes */
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
    values = sums->values != NULL && ((products && !tile->is_f64) || /* bins of f32 take both at once */
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

/* Makes parts of the levels `from` to `to` - 1. Returns how many, or 0 if they are too many, or too long. */
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
