/* Tiles before they are added up: extents, values that are taken out, ranges. */
#include "cpu/exact.h"

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

void tally__widen_range(int64_t *low, int64_t *high, const tally__tile *tile) {
    int64_t least, greatest;
    if (tile->present == 0 || (*low == INT64_MIN && *high == INT64_MAX))
        return; /* a NaN was met: no value widens that */
    if (tile->specials & TALLY_SEEN_NAN) {
        *low = INT64_MIN;
        *high = INT64_MAX;
        return;
    }
    if (tile->present < tile->n) { /* NaNs are skipped: the loop that is fast would see them */
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
