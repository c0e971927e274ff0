/* Sums of many segments, or of columns, at once: how many levels they take, or that they need expansions. The loops are
 * those of batch_template.h, expansions_template.h and columns_template.h. */
#include "cpu/bounds.h"

/* ---- batches of short segments ---- */

bool tally__overreaches(const tally__tile *tile, int term) {
    const tally__bounds b = tally__bounds_of(tile, term);
    if (tile->x_extent.zeros || tile->y_extent.zeros) return false;
    return !tally__in_reach(tile, term) || b.high > TALLY_LEVELS_HIGHEST ||
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
/* As many terms as a segment may have add up exactly if none is larger than this. */
static double fine_of(const tally__tile *tile, int term) {
    const int32_t power = tally__bounds_of(tile, term).unit + 53 - TALLY_FINE_TERMS;
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
/* Plans levels for a term. Returns how many, or 0 if there is no loop for enough of them. */
static int plan_batch(int32_t *units, const tally__batch *batch, const tally__tile *tile, int term) {
    tally__batch_sum *const *const sum = tally__cpu_tiles()->batch_sum[tile->is_f64][term];
    int32_t count, additions = TALLY_BATCH_ADDITIONS;
    if (batch->scaled == TALLY_SCALED_EACH || !tally__in_reach(tile, term)) return 0;
    while (batch->longest > 1 << additions) additions++;
    count = tally__plan_units(units, TALLY_PARTS, tally__bounds_of(tile, term), additions, term, tile->is_f64);
    while (count > 0 && count <= TALLY_PARTS && sum[count] == NULL) count++; /* more levels will do */
    return count <= TALLY_PARTS ? count : 0;
}
/* Adds up a term by `count` levels, or if that is 0 by expansions. Returns the number of parts. */
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
    const int32_t parts = tally__parts_of_term(term, tile->is_f64), ample = 16;
    tally__bounds b = tally__bounds_of(tile, term);
    int32_t count = 0;
    columns->count = 0;
    if (tally__in_reach(tile, term)) count = tally__plan_units(columns->unit, most, b, additions, term, tile->is_f64);
    while (count > 0 && count <= most && sum[count] == NULL) count++; /* more levels will do */
    if (count == 0 || count > most) return false;
    if (follow) { /* with little room, a tile that follows would need new levels */
        const int32_t range = b.high - b.unit, spare = tally_held(count, additions, parts) - range;
        if (spare < ample && count < most && sum[count + 1] != NULL) count++;
        b = tally__widened(b, tally_held(count, additions, parts) - range, TALLY_LEVELS_LOWEST, TALLY_LEVELS_HIGHEST);
        tally__plan_units(columns->unit, count, b, additions, term, tile->is_f64);
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
    const tally__bounds b = tally__bounds_of(tile, term);
    if (columns->count == 0 || columns->rows + rows > 1 << TALLY_COLUMN_ADDITIONS) return false;
    return b.high <= columns->high && b.unit >= columns->lowest && tally__in_reach(tile, term);
}
