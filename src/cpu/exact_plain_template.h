/* Results of short segments from plain sums in f64 (plain_template.h), where these are exact: reduce_plain. Once for
 * each type, as exact_runs_template.h. */
#ifndef TALLY_CPU_EXACT_PLAIN_TEMPLATE_H
#define TALLY_CPU_EXACT_PLAIN_TEMPLATE_H

#include "cpu/exact_batches_template.h"

/* How many segments are summed together; 0: the first is too long. */
static int plain_fitting(const int64_t *offsets, int64_t count) {
    int some = (int)(count < TALLY_PLAIN_MOST ? count : TALLY_PLAIN_MOST);
    if (offsets[some] - offsets[0] > TALLY_BATCH_VALUES) some = tally__fitting(offsets, some, TALLY_PLAIN_MOST);
    const int64_t most =
        TALLY_RUNS_PLAINLY && some == 1 ? parts_together : TALLY_BATCH_VALUES; /* one alone needs no room for rows */
    return offsets[some] - offsets[0] <= most ? some : 0;
}

/* The sums of a batch of segments from segment s. What makes it up to eight is zeros: subnormals that nobody asked for
 * would cost their time. */
TALLY_FN int take_parts(tally__parts to, tally__plain_sums sums, int parts, int s, const tally__batch *batch) {
    for (int k = 0; k < parts; k++) {
        __builtin_memcpy(to[k], sums[k] + s, (size_t)batch->count * sizeof *sums[k]);
        for (int i = batch->count; i < batch->padded; i++) to[k][i] = 0;
    }
    return parts;
}
/* Results that are more than a sum, by batches; a and b as finish_batch takes them. */
static void finalize_plain(const tally__kernel *kernel, const tally__plain *plain, const raw_t *x, const raw_t *y,
                           const base_raw_t *a, const base_raw_t *b, tally__plain_made *made, const int64_t *offsets,
                           int count, const tally_final *final, char *results, bool *empty) {
    int64_t lows[TALLY_BATCH_MOST], highs[TALLY_BATCH_MOST];
    for (int s = 0; s < count; s += TALLY_BATCH_MOST) {
        const int some = count - s < TALLY_BATCH_MOST ? count - s : TALLY_BATCH_MOST;
        const int64_t at = offsets[s] - offsets[0];
        char *const to = results + s * (int64_t)tally__result_bytes(kernel, final);
        tally__batch batch;
        tally__cpu_tiles()->begin_batch(&batch, offsets + s, some);
        if (some == 1) batch.padded = 1; /* no vector of eight */
        if (plain->power != 0) tally__scale_alike(&batch, -plain->power, -plain->power);
        batch.ddof = final->ddof;
        batch.product_parts = 0;
        batch.of_products = !TALLY_HAS_SUM;
#if !TALLY_HAS_SUM
        batch.sum_parts = take_parts(batch.sums, made->products, parts_of_product, s, &batch);
#else
        batch.sum_parts = take_parts(batch.sums, made->sums, parts_of_sum, s, &batch);
#if TALLY_HAS_PRODUCTS
        batch.product_parts = take_parts(batch.products, made->products, parts_of_product, s, &batch);
#endif
#endif
#if TALLY_HAS_KEYS
        const void *const given = plain->power == 0 ? (const void *)(a + at) : x + at;
        tally__cpu_tiles()->ranges[TALLY_IS_F64](given, &batch, lows, highs);
#endif
        finalize_batch(&batch, lows, highs, final, to);
        finish_batch(kernel, x + at, y + at, a != NULL ? a + at : NULL, b != NULL ? b + at : NULL, &batch, final, to,
                     empty);
    }
}
TALLY_FN bool is_infinite_or_nan(double x) { return !(x - x == 0); }
/* Whether an infinite or NaN sum is what the values add up to. Of f64 some products overflow unseen, and of a NaN the
 * upper half may be infinite. */
TALLY_FN bool is_certain(double special) {
    return !TALLY_IS_F64 || (special != special && TALLY_KERNEL_INPUTS == 1) ||
           (TALLY_HAS_SPREAD && is_infinite_or_nan(special));
}
/* Segments whose sums are not finite, and what they add up to. */
typedef struct special_sums_t {
    int count;
    int16_t segments[TALLY_PLAIN_MOST];
    bool certain[TALLY_PLAIN_MOST];
    double sums[TALLY_PLAIN_MOST];
} special_sums_t;
/* Lists them, and gives them other sums that are finished with the rest. */
static void list_special_sums(const tally__kernel *kernel, special_sums_t *special, tally__plain_made *made,
                              int count) {
    for (int s = 0; s < count; s++) {
        const double sum = TALLY_HAS_SUM ? made->sums[0][s] : 0,
                     of_products = TALLY_HAS_PRODUCTS ? made->products[0][s] : 0;
        if (__builtin_fabs(sum) < 0x1p1000 && __builtin_fabs(of_products) < 0x1p1000) continue;
        special->segments[special->count] = (int16_t)s;
        special->certain[special->count] = !kernel->skips_nans && is_certain(TALLY_HAS_SUM ? sum : of_products);
        special->sums[special->count++] = TALLY_HAS_SPREAD ? tally_nan_f64() : TALLY_HAS_SUM ? sum : of_products;
        for (int k = 0; k < TALLY_PARTS; k++) made->sums[k][s] = made->products[k][s] = k == 0;
    }
}
/* Their results. */
static void redo_special_sums(const tally__kernel *kernel, const raw_t *x, const raw_t *y, const int64_t *offsets,
                              const special_sums_t *special, const tally_final *final, char *results, bool *empty) {
    const int64_t bytes = (int64_t)tally__result_bytes(kernel, final);
    for (int k = 0; k < special->count; k++) {
        const int s = special->segments[k];
        const int64_t from = offsets[s] - offsets[0], n = offsets[s + 1] - offsets[s];
        char result[TALLY_RESULT_BYTES];
        if (special->certain[k] && !TALLY_HAS_KEYS)
            tally_put(result, special->sums[k], final->format);
        else
            *empty |= reduce_run(kernel, x + from, y + from, n, final, result);
        place_in_leaf(results, s, result, bytes);
    }
}
#if TALLY_BYTES == 2
/* Sums of values that need not be widened first. False: that does not pay, as a branch is mispredicted at the end of
 * each short segment unless all are alike; or they were rounded. */
static bool sum_as_they_lie(tally__plain *plain, const raw_t *x, const int64_t *offsets, int count,
                            tally__plain_made *made, tally__plain_outcome *outcome) {
    enum { FEW = TALLY_NUMBER == TALLY_NUMBER_f16 ? 150 : 64, FEW_ALIKE = TALLY_NUMBER == TALLY_NUMBER_f16 ? 150 : 16 };
    const int64_t n = offsets[count] - offsets[0], first = offsets[1] - offsets[0];
    if (!TALLY_HAS_SUM || TALLY_HAS_PRODUCTS || n < count * (int64_t)(n == count * first ? FEW_ALIKE : FEW))
        return false;
    const tally__plain_outcome made_so = tally__sum_halves(plain, plain_from, x, offsets, count, made);
    if (made_so == TALLY_PLAIN_ROUNDED) return false;
    *outcome = made_so;
    return true;
}
/* Whether some of these sums is -0: that of no values, or of values of -0 alone. */
TALLY_FN bool some_are_minus_zero(tally__plain_sums sums, int count) {
    int32_t some = 0;
    for (int s = 0; s < count; s++) some |= tally_bits_f64(sums[0][s]) == INT64_MIN;
    return some;
}
#endif
/* Gives segments without values the sum 0. */
TALLY_FN void clear_empty(const int64_t *offsets, int count, const tally_final *final, char *results) {
    for (int s = 0; s < count; s++)
        if (offsets[s] == offsets[s + 1]) put_signed_zero(results, s, 0, final);
}
/* Segments that plain_fitting gives. False: nothing was done. That some are empty matters to what is more than a sum
 * alone. `special`: whether there were infinities or NaNs in the segments before, and whether there are in these. */
static bool reduce_plain(const tally__kernel *kernel, tally__plain *plain, const raw_t *x, const raw_t *y,
                         const int64_t *offsets, int count, bool *special, const tally_final *final, char *results,
                         bool *empty) {
    const int64_t n = offsets[count] - offsets[0];
    tally__plain_outcome outcome = TALLY_PLAIN_INFINITE;
    finite_t finite;
    tally__plain_made made;
    const void *a = x += offsets[0], *b = y += offsets[0];
#if TALLY_BYTES == 2
    float wide[TALLY_KERNEL_INPUTS][TALLY_BATCH_VALUES];
    const bool is_summed = sum_as_they_lie(plain, x, offsets, count, &made, &outcome);
    if (!is_summed || (TALLY_HAS_MINUS_ZEROS && final->mean && some_are_minus_zero(made.sums, count))) {
        if (n > TALLY_BATCH_VALUES) return false;
        widen(wide[0], x, n);
        if (TALLY_KERNEL_INPUTS == 2) widen(wide[TALLY_KERNEL_INPUTS - 1], y, n);
        a = wide[0], b = wide[TALLY_KERNEL_INPUTS - 1];
    } else
        a = b = NULL;
#else
    const bool is_summed = false;
#endif
#if TALLY_IS_F64
    double large[TALLY_KERNEL_INPUTS][TALLY_BATCH_VALUES];
    if (plain->power != 0) {
        if (n > TALLY_BATCH_VALUES || !tally__cpu_tiles()->enlarge(a, n, plain->power, large[0])) return false;
#if TALLY_KERNEL_INPUTS == 2
        if (!tally__cpu_tiles()->enlarge(b, n, plain->power, large[1])) return false;
#endif
        a = large[0], b = large[TALLY_KERNEL_INPUTS - 1];
    }
#endif
    if (TALLY_KERNEL_INPUTS == 1) b = a;
    finite.specials = 0;
    if (!is_summed && (!*special || n > TALLY_BATCH_VALUES))
        outcome = tally__sum_plainly(plain, a, b, offsets, count, &made);
    if (outcome == TALLY_PLAIN_INFINITE && n <= TALLY_BATCH_VALUES) {
        take_finite(&finite, &a, &b, n);
        *special = finite.specials > 0;
        outcome = tally__sum_plainly(plain, a, b, offsets, count, &made);
    }
    if (outcome != TALLY_PLAIN_EXACT && outcome != TALLY_PLAIN_EXACT_APART) return false;
    special_sums_t special_sums;
    special_sums.count = 0;
    if (outcome == TALLY_PLAIN_EXACT_APART) list_special_sums(kernel, &special_sums, &made, count);
#if !TALLY_HAS_KEYS && !(TALLY_HAS_SPREAD)
    const bool is_f64 = final->format.digits == 53;
    if (!final->mean && !final->root && (plain->power == 0 || (TALLY_HAS_SUM && is_f64))) {
        double(*const of)[TALLY_PLAIN_MOST] = TALLY_HAS_SUM ? made.sums : made.products;
        const int parts = TALLY_HAS_SUM ? parts_of_sum : parts_of_product;
        const bool zeros = tally__cpu_tiles()->round_sums(of, parts, count, is_f64, results);
        if (plain->power != 0) tally__cpu_tiles()->shrink(results, count);
        if (zeros && TALLY_HAS_MINUS_ZEROS) {
            if (is_summed)
                clear_empty(offsets, count, final, results);
            else
                sign_zeros(a, b, offsets, count, final, results);
        }
    } else
#endif
        finalize_plain(kernel, plain, x, y, a, b, &made, offsets, count, final, results, empty);
    redo_specials(kernel, x, y, &finite, offsets, count, final, results, empty);
    redo_special_sums(kernel, x, y, offsets, &special_sums, final, results, empty);
    return true;
}

#endif
