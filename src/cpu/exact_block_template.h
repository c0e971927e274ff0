/* Results of columns that are one block (exact_panel_template.h), made of the parts of their sums without numbers of
 * limbs: as those of short segments, a batch of columns at a time. Once for each type. */
#ifndef TALLY_CPU_EXACT_BLOCK_TEMPLATE_H
#define TALLY_CPU_EXACT_BLOCK_TEMPLATE_H

#include "cpu/exact_panel_template.h"

/* Adds up a block for each kind of term that is asked for, by levels where its terms are near each other. */
static void sum_block(panel_t *s, int64_t rows) {
    int32_t additions = TALLY_BATCH_ADDITIONS;
    while (rows > 1 << additions) additions++;
    s->is_far = false;
    for (int kind = first_kind; kind < term_kinds; kind++) {
        tally__columns *c = &s->columns[kind];
        c->count = 0;
        if (no_terms(s, kind)) continue;
        if (!tally__plan_columns(c, &s->tile, terms_of_kinds[kind], additions, TALLY_PARTS, false)) {
            s->is_far = true;
            continue;
        }
        begin_columns(s, kind);
        add_block(s, kind, rows);
    }
}
/* Columns whose terms are too far apart for levels, as expansions take them: a tile that begins with the first of a
 * batch, and whose rows lie `pitch` values apart. */
static __attribute__((noinline)) void open_far(panel_t *s, int64_t first, int64_t rows, tally__tile *far) {
    tally__batch *batch = &s->batch;
    const int64_t skipped = first * (int64_t)sizeof(base_t);
    *far = s->tile;
    far->x = (const char *)far->x + skipped;
    far->y = (const char *)far->y + skipped;
    batch->longest = batch->shortest = (int32_t)rows;
    for (int i = 0; i < batch->count; i++) batch->places[i] = i, batch->lengths[i] = (int32_t)rows;
    for (int i = batch->count; i < batch->padded; i++) batch->lengths[i] = 0;
    for (int kind = first_kind; kind < term_kinds && TALLY_IS_F64; kind++)
        if (tally__overreaches(far, terms_of_kinds[kind])) batch->scaled = TALLY_SCALED_EACH;
}
static bool needs_expansions(const panel_t *s, int kind) {
    return (s->columns[kind].count == 0 || s->batch.scaled == TALLY_SCALED_EACH) && !no_terms(s, kind);
}
/* The parts of the sums of a batch of columns from `first` on, with zeros behind them. Gives the number of parts. */
static int take_columns(const panel_t *s, int kind, int64_t first, const tally__tile *far, tally__batch *batch,
                        tally__parts parts) {
    const int count = s->columns[kind].count;
    if (needs_expansions(s, kind)) return tally__expand_batch(batch, far, s->pitch, terms_of_kinds[kind], parts, NULL);
    for (int k = 0; k < count; k++) {
        const double *held = s->held[kind] + k * s->lanes + first, anchor = s->columns[kind].anchor[k];
        for (int i = 0; i < batch->count; i++) parts[k][i] = held[i] - anchor;
        for (int64_t f = 1; f < s->fold; f++)
            for (int i = 0; i < batch->count; i++) parts[k][i] += held[f * s->pitch + i] - anchor;
        for (int i = batch->count; i < batch->padded; i++) parts[k][i] = 0;
    }
    if (count > 0) return count;
    for (int i = 0; i < batch->padded; i++) parts[0][i] = 0; /* all terms are zeros */
    return 1;
}
/* The batch of the columns from `first` on, of a block of `rows` rows. */
static void fill_batch(panel_t *s, int64_t first, int64_t rows, int32_t ddof, bool may_be_rough) {
    tally__batch *batch = &s->batch;
    tally__tile far;
    batch->count = (int)(s->width - first < TALLY_BATCH_MOST ? s->width - first : TALLY_BATCH_MOST);
    batch->padded = (batch->count + 7) / 8 * 8;
    batch->ddof = ddof;
    batch->product_parts = batch->lost = batch->scaled = batch->vague = batch->is_rough = 0;
    batch->may_be_rough = may_be_rough;
    batch->of_products = first_kind == 1;
    if (s->power != 0) tally__scale_alike(batch, -s->power, -s->power);
    if (s->is_far) open_far(s, first, rows, &far);
    if (first_kind + 1 < term_kinds && needs_expansions(s, 0) && needs_expansions(s, 1))
        batch->sum_parts = batch->product_parts =
            tally__expand_batch(batch, &far, s->pitch, TALLY_TERMS, batch->sums, batch->products);
    else {
        batch->sum_parts = take_columns(s, first_kind, first, &far, batch, batch->sums);
        if (first_kind + 1 < term_kinds)
            batch->product_parts = take_columns(s, first_kind + 1, first, &far, batch, batch->products);
    }
    for (int i = 0; i < batch->count; i++) batch->lengths[i] = (int32_t)rows - s->missing[first + i];
    for (int i = batch->count; i < batch->padded; i++) batch->lengths[i] = 0;
}
/* One column by itself. Gives whether it has no values. */
static bool reduce_column(const tally__kernel *kernel, const raw_t *x, const raw_t *y, int64_t rows, int64_t stride,
                          const tally_final *final, void *result) {
    enum { MOST = 1 << TALLY_COLUMN_ADDITIONS }; /* block_rows */
    TALLY_T a[MOST], b[TALLY_KERNEL_INPUTS == 2 ? MOST : 1];
    for (int64_t r = 0; r < rows; r++) {
        a[r] = x[r * stride];
        if (TALLY_KERNEL_INPUTS == 2) b[r] = y[r * stride];
    }
    return reduce_run(kernel, a, TALLY_KERNEL_INPUTS == 2 ? b : a, rows, final, result);
}
/* What a batch leaves unsure, and columns that something was taken out of. */
static void finish_columns(const tally__kernel *kernel, const panel_t *s, int64_t first, const raw_t *x, const raw_t *y,
                           int64_t rows, int64_t stride, const tally_final *final, char *results, bool *empty) {
    const int64_t bytes = (int64_t)tally__result_bytes(kernel, final);
    const tally__batch *batch = &s->batch;
    for (int i = 0; i < batch->count; i++) {
        const int64_t p = first + i;
        char result[TALLY_RESULT_BYTES];
        if (batch->sure[i] && !s->special[p]) continue;
        *empty |= reduce_column(kernel, x + p, y + p, rows, stride, final, result);
        place_in_leaf(results, p, result, bytes);
    }
}
/* Makes the results -0 that are made of nothing else. */
static void sign_columns(const tally__kernel *kernel, const panel_t *s, int64_t first, const raw_t *x, const raw_t *y,
                         int64_t rows, int64_t stride, const tally_final *final, char *results) {
    const int64_t lines = (rows + s->fold - 1) / s->fold, bytes = (int64_t)sizeof(base_t);
    uint64_t bits[TALLY_COLUMN_MOST_LANES / 64];
    bool others = true;
    for (int64_t r = 0; r < lines && others; r++) {
        const int64_t at = r * s->lanes * bytes;
        others = tally__cpu_tiles()->others[TALLY_IS_F64]((const char *)s->tile.x + at, (const char *)s->tile.y + at,
                                                          s->lanes, bits);
    }
    for (int i = 0; i < s->batch.count && !others; i++) {
        const int64_t p = first + i;
        int64_t words[TALLY_EVIDENCE] = {0};
        if ((s->batch.is_f64 ? s->batch.values[i] : (double)s->batch.narrow[i]) != 0) continue;
        witness(kernel, words, TALLY_FIRST_TERM, x + p, y + p, rows, stride);
        if (words[TALLY_MINUS_ZERO] && !words[TALLY_OTHER]) put_signed_zero(results, p, -0.0, final);
    }
}
/* The results of columns that are one block, from their parts. */
static void finalize_panel(const tally__kernel *kernel, panel_t *s, const raw_t *x, const raw_t *y, int64_t rows,
                           int64_t stride, bool follow, const tally_final *final, char *results, bool *empty) {
    const int64_t bytes = (int64_t)tally__result_bytes(kernel, final);
    read_block(kernel, s, x, y, rows, stride, NULL);
    if (values_are_dense(s, stride))
        note_next(s, x + rows * stride, y + rows * stride, stride, true); /* another outer index, maybe */
    else
        note_next(s, x + s->width, y + s->width, stride, follow);
    sum_block(s, rows);
    fold_keys(s);
    for (int64_t first = 0; first < s->width; first += TALLY_BATCH_MOST) {
        fill_batch(s, first, rows, final->ddof, is_rounded_to_f32(final));
        finalize_batch(&s->batch, s->lows + first, s->highs + first, final, results + first * bytes);
        if (needs_all_parts(&s->batch)) {
            fill_batch(s, first, rows, final->ddof, false);
            finalize_batch(&s->batch, s->lows + first, s->highs + first, final, results + first * bytes);
        }
        if (TALLY_HAS_MINUS_ZEROS && has_zeros(&s->batch))
            sign_columns(kernel, s, first, x, y, rows, stride, final, results);
        if (s->batch.unsure > 0 || s->taken)
            finish_columns(kernel, s, first, x, y, rows, stride, final, results, empty);
    }
}

#endif
