/* Reductions along an axis that is not the last, exactly: reduce_rows. Columns are added up by plain sums in f64
 * (plain_columns_template.h), where these are exact: a value is read once, where it lies, and not measured. What is not
 * exact is left to levels (exact_rows_template.h). Once for each type, as exact_runs_template.h. */
#ifndef TALLY_CPU_EXACT_PLAIN_ROWS_TEMPLATE_H
#define TALLY_CPU_EXACT_PLAIN_ROWS_TEMPLATE_H

#include "cpu/exact_plain_template.h"
#include "cpu/exact_rows_template.h"

#if !TALLY_HAS_KEYS

enum {
    plain_width = TALLY_IS_F64 ? TALLY_PLAIN_MOST / 2 : TALLY_PLAIN_MOST, /* columns that go together */
    plain_lanes = 128,    /* lanes that several rows of fewer columns make */
    plain_rows = 256,     /* rows that are added up before it is asked whether any operation was rounded, */
    plain_least = 1 << 13 /* or more of them, up to this many values */
};
/* What is known of a column, or of a lane of one: its sums; its result, as some of its values are infinite or NaN;
 * nothing. */
enum { column_has_sums, column_is_special, column_is_open };
typedef struct plain_columns_t {
    tally__plain plain;
    int64_t width, fold, count; /* columns; lanes of each; columns, or lanes of all, that there are sums of */
    int refusals, flushes;      /* one after the other */
    int listed;                 /* how many have no sums, as `list` says */
    tally__plain_made made, kept;
    tally__left_products left;
    int left_before; /* of them are with what is kept */
    uint8_t kinds[TALLY_PLAIN_MOST];
    int16_t list[TALLY_PLAIN_MOST];
    bool again[TALLY_PLAIN_MOST]; /* columns that are open, some rows of which may be in nodes */
    double specials[TALLY_PLAIN_MOST];
} plain_columns_t;

/* Whether some of n sums are not finite: then the exponent, a bit more, has the uppermost bit. */
TALLY_FN bool any_is_special(const double *sums, int n) {
    uint64_t special = 0;
    for (int k = 0; k < n; k++)
        special |= ((uint64_t)tally_bits_f64(sums[k]) & (uint64_t)INT64_MAX) + ((uint64_t)1 << 52);
    return special >> 63 != 0;
}
/* Says what is known of a column whose sums may not be finite, and makes zeros of them then. */
static void note_sums(plain_columns_t *c, int64_t p) {
    const double sum = TALLY_HAS_SUM ? c->made.sums[0][p] : 0,
                 of_products = TALLY_HAS_PRODUCTS ? c->made.products[0][p] : 0,
                 special = TALLY_HAS_SUM ? sum : of_products;
    if (!is_infinite_or_nan(sum) && !is_infinite_or_nan(of_products)) return;
    c->kinds[p] = is_certain(special) ? column_is_special : column_is_open;
    c->list[c->listed++] = (int16_t)p;
    c->specials[p] = TALLY_HAS_SPREAD ? tally_nan_f64() : special;
    for (int k = 0; k < TALLY_PARTS; k++) c->made.sums[k][p] = c->made.products[k][p] = 0;
}
/* Gives how many columns are open. */
static int64_t sort_columns(plain_columns_t *c) {
    enum { SOME = 16 };
    int64_t open = 0;
    for (int64_t first = 0; first < c->count; first += SOME) {
        const int some = (int)(c->count - first < SOME ? c->count - first : SOME);
        if (!(TALLY_HAS_SUM && any_is_special(c->made.sums[0] + first, some)) &&
            !(TALLY_HAS_PRODUCTS && any_is_special(c->made.products[0] + first, some)))
            continue;
        for (int64_t p = first; p < first + some; p++) {
            note_sums(c, p);
            open += c->kinds[p] == column_is_open;
        }
    }
    return open;
}

/* ---- results ---- */

TALLY_FN void count_rows_of(tally__batch *batch, int64_t columns, int64_t rows) {
    batch->count = (int)columns;
    batch->padded = (batch->count + 7) / 8 * 8;
    for (int i = 0; i < batch->padded; i++) batch->lengths[i] = i < batch->count ? (int32_t)rows : 0;
}
/* Results that are more than a sum, by batches; those that are not sure are open. */
static void finalize_columns(plain_columns_t *c, tally__batch *batch, int64_t rows, const tally_final *final,
                             char *results, int64_t bytes) {
    for (int64_t first = 0; first < c->width; first += TALLY_BATCH_MOST) {
        count_rows_of(batch, c->width - first < TALLY_BATCH_MOST ? c->width - first : TALLY_BATCH_MOST, rows);
        batch->ddof = final->ddof;
        batch->product_parts = batch->lost = batch->scaled = batch->vague = batch->may_be_rough = batch->is_rough = 0;
        batch->of_products = !TALLY_HAS_SUM;
#if !TALLY_HAS_SUM
        batch->sum_parts = take_parts(batch->sums, c->made.products, parts_of_product, (int)first, batch);
#else
        batch->sum_parts = take_parts(batch->sums, c->made.sums, parts_of_sum, (int)first, batch);
#if TALLY_HAS_PRODUCTS
        batch->product_parts = take_parts(batch->products, c->made.products, parts_of_product, (int)first, batch);
#endif
#endif
        finalize_batch(batch, NULL, NULL, final, results + first * bytes);
        if (batch->unsure == 0) continue;
        for (int i = 0; i < batch->count; i++) {
            if (batch->sure[i] || c->kinds[first + i] != column_has_sums) continue;
            c->kinds[first + i] = column_is_open;
            c->list[c->listed++] = (int16_t)(first + i);
        }
    }
}
/* Those results of 0 whose sums are of -0 alone. */
static void sign_plain_columns(const tally__kernel *kernel, const plain_columns_t *c, tally__plain_sums sums, int parts,
                               const raw_t *x, const raw_t *y, int64_t rows, int64_t stride, const tally_final *final,
                               char *results) {
    for (int64_t p = 0; p < c->width; p++) {
        int64_t words[TALLY_EVIDENCE] = {0};
        if (sums[0][p] != 0 || tally__plain_total(sums, parts, (int)p) != 0) continue;
        if (!TALLY_HAS_SUM)
            witness(kernel, words, TALLY_FIRST_TERM, x + p, y + p, rows, stride);
        else if (tally_bits_f64(sums[0][p]) < 0)
            words[TALLY_MINUS_ZERO] = 1;
        if (words[TALLY_MINUS_ZERO] && !words[TALLY_OTHER]) put_signed_zero(results, p, -0.0, final);
    }
}
/* Results of sums, but for open columns. */
static void put_columns(const tally__kernel *kernel, plain_columns_t *c, tally__batch *batch, const raw_t *x,
                        const raw_t *y, int64_t rows, int64_t stride, const tally_final *final, char *results,
                        int64_t bytes) {
    const bool is_f64 = final->format.digits == 53, alone = !(TALLY_HAS_SPREAD) && !final->mean && !final->root;
    double(*const of)[TALLY_PLAIN_MOST] = TALLY_HAS_SUM ? c->made.sums : c->made.products;
    const int parts = TALLY_HAS_SUM ? parts_of_sum : parts_of_product;
    bool zeros = true;
    if (alone) /* of one part the sign of a zero is that of the sum */
        zeros = tally__cpu_tiles()->round_sums(of, parts, (int)c->width, is_f64, results) && parts > 1;
    else
        finalize_columns(c, batch, rows, final, results, bytes);
    if (TALLY_HAS_MINUS_ZEROS && zeros) sign_plain_columns(kernel, c, of, parts, x, y, rows, stride, final, results);
    for (int i = 0; i < c->listed; i++) {
        const int64_t p = c->list[i];
        char result[TALLY_RESULT_BYTES];
        if (c->kinds[p] != column_is_special) continue;
        tally_put(result, c->specials[p], final->format);
        place_in_leaf(results, p, result, bytes);
    }
}

/* ---- nodes ---- */

/* Adds sums of `added` rows to nodes, and what all rows say of a sum that is 0. */
static void add_to_number(const tally__kernel *kernel, int64_t *words, int32_t origin, int term, tally__plain_sums sums,
                          int parts, int64_t lane, const raw_t *x, const raw_t *y, int64_t rows, int64_t stride) {
    if (tally__plain_total(sums, parts, (int)lane) != 0)
        for (int k = 0; k < parts; k++) tally_add_value(words, origin, sums[k][lane]);
    else if (term == TALLY_TERM_PRODUCT)
        witness(kernel, words, term, x, y, rows, stride);
    else
        words[tally_bits_f64(sums[0][lane]) < 0 ? TALLY_MINUS_ZERO : TALLY_OTHER] = 1;
}
static void add_to_nodes(const tally__kernel *kernel, plain_columns_t *c, const raw_t *x, const raw_t *y, int64_t rows,
                         int64_t stride, int64_t added, tally__node *nodes) {
#if TALLY_HAS_PRODUCTS
    for (int i = 0; i < c->left.count; i++) {
        accumulator_t *node = (void *)tally__node_at(kernel, nodes, c->left.lanes[i] % c->width);
        tally_add_product(node->products, 2 * TALLY_ORIGIN, c->left.x[i], c->left.y[i]);
    }
#endif
    for (int64_t j = 0; j < c->count; j++) {
        const int64_t p = j % c->width;
        accumulator_t *node = (void *)tally__node_at(kernel, nodes, p);
        if (j < c->width) node->n += added;
        if (c->kinds[j] == column_is_special) {
#if TALLY_HAS_SUM
            tally_witness(node->sum, c->specials[j]);
#endif
#if TALLY_HAS_PRODUCTS
            tally_witness(node->products, c->specials[j]);
#endif
            continue;
        }
#if TALLY_HAS_SUM
        add_to_number(kernel, node->sum, TALLY_ORIGIN, TALLY_SUM_TERM, c->made.sums, parts_of_sum, j, x + p, y + p,
                      rows, stride);
#endif
#if TALLY_HAS_PRODUCTS
        add_to_number(kernel, node->products, 2 * TALLY_ORIGIN, TALLY_TERM_PRODUCT, c->made.products, parts_of_product,
                      j, x + p, y + p, rows, stride);
#endif
        settle_accumulator(node);
    }
}

/* ---- panels ---- */

static void forget_columns(plain_columns_t *c) {
    c->listed = 0;
    __builtin_memset(c->kinds, column_has_sums, sizeof c->kinds);
}
static void open_columns(plain_columns_t *c, int64_t stride, int64_t width) {
    c->width = width;
    c->fold = stride == width && width < plain_lanes ? plain_lanes / width : 1;
    c->flushes = 0;
    __builtin_memset(c->again, false, sizeof c->again);
    forget_columns(c);
}
static bool take_rows_plainly(plain_columns_t *c, const raw_t *x, const raw_t *y, int64_t rows, int64_t stride,
                              bool is_first) {
    return tally__add_columns_plainly(&c->plain, plain_from, x, TALLY_KERNEL_INPUTS == 2 ? y : x, rows, stride,
                                      c->width, c->fold, is_first, &c->made, &c->left);
}
/* What there is is kept, and put back if more of it was of no use. */
static void copy_sums(tally__plain_made *to, const tally__plain_made *from, int64_t lanes) {
    const size_t bytes = (size_t)lanes * sizeof(double);
    for (int k = 0; k < (TALLY_HAS_SUM ? parts_of_sum : 0); k++) __builtin_memcpy(to->sums[k], from->sums[k], bytes);
    for (int k = 0; k < (TALLY_HAS_PRODUCTS ? parts_of_product : 0); k++)
        __builtin_memcpy(to->products[k], from->products[k], bytes);
}
static void keep_sums(plain_columns_t *c) {
    copy_sums(&c->kept, &c->made, c->width * c->fold);
    c->left_before = c->left.count;
}
static void put_sums_back(plain_columns_t *c) {
    copy_sums(&c->made, &c->kept, c->width * c->fold);
    c->left.count = c->left_before;
}
/* Joins the lanes of each column, if it is asked for, and says what is known of each. False: sums are of no use, or of
 * too few. */
static bool close_columns(const tally__kernel *kernel, plain_columns_t *c, bool joins) {
    const int64_t lanes = c->width * c->fold;
    bool special;
    c->count = joins ? c->width : lanes;
    if (!tally__join_columns_plainly(&c->plain, c->count, lanes / c->count, &c->made, &special)) return false;
    return !special || (sort_columns(c) <= c->count / 8 && !kernel->skips_nans);
}

/* Results of columns that all rows were added to. False: they are not exact. */
static bool results_of_sums(const tally__kernel *kernel, plain_columns_t *c, const raw_t *x, const raw_t *y,
                            int64_t rows, int64_t stride, const tally_final *final, void *scratch, char *results,
                            int *flags) {
    panel_t *s = (void *)(((uintptr_t)scratch + 63) & ~(uintptr_t)63);
    const int64_t bytes = (int64_t)tally__result_bytes(kernel, final);
    if (!close_columns(kernel, c, true)) return false;
    for (int i = 0; i < c->left.count; i++) {
        const int64_t p = c->left.lanes[i] % c->width;
        if (c->kinds[p] != column_has_sums) continue;
        c->kinds[p] = column_is_open;
        c->list[c->listed++] = (int16_t)p;
    }
    put_columns(kernel, c, &s->batch, x, y, rows, stride, final, results, bytes);
    for (int i = 0; i < c->listed; i++) {
        const int64_t p = c->list[i];
        if (c->kinds[p] == column_is_open)
            *flags |=
                reduce_by_levels(kernel, x + p, y + p, rows, stride, 1, final, scratch, NULL, results + p * bytes);
    }
    return true;
}
/* Adds sums of `added` rows to nodes, and notes the columns that are open. False: they are of no use. */
static bool flush_sums(const tally__kernel *kernel, plain_columns_t *c, const raw_t *x, const raw_t *y, int64_t rows,
                       int64_t stride, int64_t added, tally__node *nodes) {
    forget_columns(c);
    if (!close_columns(kernel, c, false)) return false;
    add_to_nodes(kernel, c, x, y, rows, stride, added, nodes);
    for (int i = 0; i < c->listed; i++)
        if (c->kinds[c->list[i]] == column_is_open) c->again[c->list[i] % c->width] = true;
    return true;
}
/* Adds a block of rows to the sums of `added` others. If these leave no digits for it they go to the nodes first, and
 * *added is 0, or -1 if nothing is of use. False: the block is not exact. */
static bool add_block_plainly(const tally__kernel *kernel, plain_columns_t *c, const raw_t *x, const raw_t *y,
                              int64_t rows, int64_t stride, int64_t at, int64_t some, int64_t *added,
                              tally__node *nodes) {
    const raw_t *const from_x = x + at * stride, *const from_y = y + at * stride;
    if (*added > 0) {
        keep_sums(c);
        if (take_rows_plainly(c, from_x, from_y, some, stride, false)) {
            c->flushes = 0;
            return true;
        }
        put_sums_back(c);
        *added = flush_sums(kernel, c, x, y, rows, stride, *added, nodes) ? 0 : -1;
        if (c->flushes++ > 0) c->refusals = 1; /* blocks are hardly ever exact together */
        if (*added < 0 || c->refusals > 0) return false;
    }
    return take_rows_plainly(c, from_x, from_y, some, stride, true);
}
/* Nodes of columns: rows that plain sums do not hold go to them by levels. `direct`: where all rows are in sums of one
 * lane each nothing else is done. Gives whether that is so. */
static bool nodes_plainly(const tally__kernel *kernel, plain_columns_t *c, const raw_t *x, const raw_t *y, int64_t rows,
                          int64_t stride, int64_t width, bool direct, const tally_final *final, void *scratch,
                          tally__node *nodes) {
    panel_t *s = (void *)(((uintptr_t)scratch + 63) & ~(uintptr_t)63);
    const int64_t most = plain_rows * width > plain_least ? plain_rows : plain_least / width;
    int64_t added = 0;
    open_columns(c, stride, width);
    const int64_t block = (most + c->fold - 1) / c->fold * c->fold;
    for (int64_t p = 0; p < width; p++) clear_accumulator((void *)tally__node_at(kernel, nodes, p));
    for (int64_t at = 0, some; at < rows; at += some) {
        some = rows - at < block ? rows - at : block;
        if (c->refusals < 2) {
            if (add_block_plainly(kernel, c, x, y, rows, stride, at, some, &added, nodes)) {
                c->refusals = 0;
                added += some;
                continue;
            }
            if (added < 0) break;
            if (++c->refusals == 2) some = rows - at;
        }
        reduce_by_levels(kernel, x + at * stride, y + at * stride, some, stride, width, final, scratch,
                         (void *)s->nodes, NULL);
        for (int64_t p = 0; p < width; p++)
            join_accumulators((void *)tally__node_at(kernel, nodes, p),
                              (const void *)tally__node_at(kernel, (void *)s->nodes, p));
    }
    if (direct && added == rows && c->fold == 1) return true;
    if (added < 0 || (added > 0 && !flush_sums(kernel, c, x, y, rows, stride, added, nodes))) {
        c->refusals = 2;
        reduce_by_levels(kernel, x, y, rows, stride, width, final, scratch, nodes, NULL);
        return false;
    }
    for (int64_t p = 0; p < width; p++)
        if (c->again[p])
            reduce_by_levels(kernel, x + p, y + p, rows, stride, 1, final, scratch, tally__node_at(kernel, nodes, p),
                             NULL);
    return false;
}
#endif
/* Rows as internal.h says. */
static int reduce_rows(const tally__kernel *kernel, const void *vx, const void *vy, int64_t rows, int64_t stride,
                       int64_t width, int64_t first, const tally_final *final, void *scratch, tally__node *nodes,
                       void *results) {
    const raw_t *x = vx, *y = vy;
    int flags = 0;
    int64_t p = 0;
    (void)first;
#if !TALLY_HAS_KEYS
    plain_columns_t c;
    const int64_t beside = stride == width ? rows * width : width,
                  looked_at = beside < TALLY_PLAIN_FEW ? beside : TALLY_PLAIN_FEW;
    c.refusals = 0;
    /* Levels read dense rows of f64 where they lie, too, and need no second try; of products they are slower, but for
     * many lanes of few columns, each of which goes to a node by itself. */
    const bool are_in_lanes =
        TALLY_IS_F64 && stride == width && width < (TALLY_HAS_PRODUCTS ? plain_lanes / 16 : plain_lanes);
    if ((results && !is_of_parts(final)) || are_in_lanes || rows == 0 ||
        !plan_plain(&c.plain, x, y, rows > looked_at ? rows : looked_at, true) ||
        (TALLY_HAS_PRODUCTS && c.plain.power != 0))
        c.refusals = 2;
    for (int64_t some; p < width && c.refusals < 2; p += some) {
        some = width - p < plain_width ? width - p : plain_width;
        const raw_t *const a = x + p, *const b = y + p;
        char *const to = results ? (char *)results + p * (int64_t)tally__result_bytes(kernel, final) : NULL;
        bool are_sums;
        if (nodes) {
            tally__node *const of = tally__node_at(kernel, nodes, p);
            are_sums = nodes_plainly(kernel, &c, a, b, rows, stride, some, results != NULL, final, scratch, of);
            if (results && !are_sums) flags |= finish_nodes(kernel, of, some, final, to);
            if (!are_sums) continue;
        } else {
            open_columns(&c, stride, some);
            are_sums = take_rows_plainly(&c, a, b, rows, stride, true);
        }
        if (are_sums && results_of_sums(kernel, &c, a, b, rows, stride, final, scratch, to, &flags)) {
            c.refusals = 0;
            continue;
        }
        c.refusals++;
        flags |= reduce_by_levels(kernel, a, b, rows, stride, some, final, scratch, NULL, to);
    }
    if (p == width) return flags;
#endif
    char *const to = results ? (char *)results + p * (int64_t)tally__result_bytes(kernel, final) : NULL;
    return flags | reduce_by_levels(kernel, x + p, y + p, rows, stride, width - p, final, scratch,
                                    results ? NULL : tally__node_at(kernel, nodes, p), to);
}

#endif
