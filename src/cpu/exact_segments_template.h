/* Segments that follow one another, exactly: reduce_segments. Once for each type, as exact_runs_template.h. */
#ifndef TALLY_CPU_EXACT_SEGMENTS_TEMPLATE_H
#define TALLY_CPU_EXACT_SEGMENTS_TEMPLATE_H

#include "cpu/exact_batches_template.h"
#include "cpu/exact_plain_template.h"

/* Up to TALLY_BATCH_MOST segments of TALLY_BATCH_VALUES values in all, one at least, together. */
static void reduce_batch(const tally__kernel *kernel, const raw_t *x, const raw_t *y, const int64_t *offsets, int count,
                         const tally_final *final, char *results, bool *empty) {
    int64_t n = offsets[count] - offsets[0], lows[TALLY_BATCH_MOST], highs[TALLY_BATCH_MOST];
    tally__batch batch;
    tally__tile tile;
    x += offsets[0];
    y += offsets[0];
#if TALLY_BYTES == 2
    float wide[TALLY_KERNEL_INPUTS][TALLY_BATCH_VALUES];
    widen(wide[0], x, n);
    if (TALLY_KERNEL_INPUTS == 2) widen(wide[TALLY_KERNEL_INPUTS - 1], y, n);
    tile.x = wide[0];
    tile.y = wide[TALLY_KERNEL_INPUTS - 1];
#else
    tile.x = x;
    tile.y = TALLY_KERNEL_INPUTS == 2 ? y : x;
#endif
    tile.n = n;
    tile.is_f64 = TALLY_IS_F64;
    tally__measure_tile(&tile);
    finite_t finite;
    finite.specials = 0;
    if (tile.x_extent.special || tile.y_extent.special) {
        take_finite(&finite, &tile.x, &tile.y, n);
        tally__measure_tile(&tile);
    }
    tile.x_extent.unit += spared;
    tile.y_extent.unit += spared;
    if (tile.x_extent.zeros) tile.x_extent.high = tile.x_extent.unit = 0;
    if (tile.y_extent.zeros) tile.y_extent.high = tile.y_extent.unit = 0;
    tally__cpu_tiles()->begin_batch(&batch, offsets, count);
    batch.may_be_rough = is_rounded_to_f32(final);
    batch.ddof = final->ddof;
    batch.of_products = !TALLY_HAS_SUM;
#if TALLY_HAS_KEYS
    tally__cpu_tiles()->ranges[TALLY_IS_F64](tile.x, &batch, lows, highs);
#endif
    const void *const a = tile.x, *const b = tile.y;
#if TALLY_IS_F64
    double scaled[TALLY_KERNEL_INPUTS][TALLY_BATCH_VALUES];
    if (tally__is_tiny(&tile) || tally__overreaches(&tile, TALLY_FIRST_TERM) ||
        (TALLY_HAS_PRODUCTS && tally__overreaches(&tile, TALLY_TERM_PRODUCT)))
        tally__scale_batch(&batch, &tile, scaled[0], scaled[TALLY_KERNEL_INPUTS - 1]);
#endif
    tally__sum_batch(&batch, &tile, TALLY_FIRST_TERM, TALLY_HAS_SUM && TALLY_HAS_PRODUCTS);
    finalize_batch(&batch, lows, highs, final, results);
    if (needs_all_parts(&batch)) {
        tally__cpu_tiles()->begin_batch(&batch, offsets, count);
        tally__sum_batch(&batch, &tile, TALLY_FIRST_TERM, TALLY_HAS_SUM && TALLY_HAS_PRODUCTS);
        finalize_batch(&batch, lows, highs, final, results);
    }
    finish_batch(kernel, x, y, a, b, &batch, final, results, empty);
    redo_specials(kernel, x, y, &finite, offsets, count, final, results, empty);
}

static int dense_segments(const tally__kernel *kernel, const void *vx, const void *vy, int64_t limit,
                          const int64_t *offsets, int64_t count, const tally_final *final, void *results) {
    const raw_t *x = vx, *y = vy;
    int64_t bytes = (int64_t)tally__result_bytes(kernel, final);
    bool empty = false, of_parts = is_of_parts(final);
    tally__plain plain;
    bool plainly =
        of_parts && count > 0 && plan_plain(&plain, x + offsets[0], y + offsets[0], offsets[count] - offsets[0], false);
    bool special = false;            /* whether infinities or NaNs are to be expected */
    int64_t again = 0;               /* where plain sums are next tried */
    int refusals = 0;                /* one after the other */
    int most = TALLY_BATCH_MOST / 2; /* segments of a batch: more where they are short */
    (void)limit;
    for (int64_t at = 0; at < count;) {
        const int64_t *from = offsets + at;
        char *to = (char *)results + at * bytes;
        const int together = plainly && at >= again ? plain_fitting(from, count - at) : 0;
        if (together > 0) {
            if (reduce_plain(kernel, &plain, x, y, from, together, &special, final, to, &empty)) {
                refusals = 0;
                at += together;
                continue;
            }
            again = at + tally__skipped(together, refusals++);
        }
        int batch = (int)(count - at < most ? count - at : most);
        if (from[batch] - from[0] > TALLY_BATCH_VALUES) batch = tally__fitting(from, batch, TALLY_BATCH_MOST);
        const int64_t values = from[batch] - from[0];
        if (of_parts && batch > 1 && values > 0 && values <= TALLY_BATCH_VALUES) {
            reduce_batch(kernel, x, y, from, batch, final, to, &empty);
            at += batch;
            most = values <= TALLY_BATCH_VALUES / 4 ? TALLY_BATCH_MOST : TALLY_BATCH_MOST / 2;
            continue;
        }
        for (int s = 0; s < batch; s++, at++) {
            char result[TALLY_RESULT_BYTES];
            int64_t n = from[s + 1] - from[s];
            const raw_t *a = n > 0 ? x + from[s] : x, *b = n > 0 ? y + from[s] : y; /* there may be no array */
            empty |= reduce_run(kernel, a, b, n, final, result);
            place_in_leaf(to, s, result, bytes);
        }
    }
    return empty ? TALLY_FLAG_EMPTY : 0;
}

/* Without the empty ones, half or more of them, the others are segments of the same values: batches have room for so
 * many more. */
static __attribute__((noinline)) void sparse_segments(const tally__kernel *kernel, const void *x, const void *y,
                                                      int64_t limit, const int64_t *offsets, int64_t count,
                                                      int64_t filled, const tally_final *final, char *results) {
    const size_t bytes = tally__result_bytes(kernel, final);
    int64_t begins[TALLY_SIFTED + 8];
    char made[(TALLY_SIFTED + 1) * sizeof(tally_stats)];
    tally__cpu_tiles()->list_filled(offsets, count, begins);
    dense_segments(kernel, x, y, limit, begins, filled, final, made);
    reduce_run(kernel, x, y, 0, final, made + (size_t)filled * bytes);
    tally__cpu_tiles()->spread[bytes == sizeof(float)    ? 0
                               : bytes == sizeof(double) ? 1
                                                         : 2](offsets, count, filled, made, results);
}
static int reduce_segments(const tally__kernel *kernel, const void *x, const void *y, int64_t limit,
                           const int64_t *offsets, int64_t count, const tally_final *final, void *results) {
    const size_t bytes = tally__result_bytes(kernel, final);
    int flags = 0;
    for (int64_t at = 0; at < count; at += TALLY_SIFTED) {
        char *to = (char *)results + (size_t)at * bytes;
        int64_t some = count - at < TALLY_SIFTED ? count - at : TALLY_SIFTED,
                filled = tally__cpu_tiles()->count_filled(offsets + at, some);
        if (filled > some / 2)
            flags |= dense_segments(kernel, x, y, limit, offsets + at, some, final, to);
        else {
            sparse_segments(kernel, x, y, limit, offsets + at, some, filled, final, to);
            flags |= TALLY_FLAG_EMPTY;
        }
    }
    return flags;
}

#endif
