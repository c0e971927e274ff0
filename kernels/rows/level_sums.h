/* Sums of a lane of production/exact_columns.h or exact_rows.h, in levels (sums/levels.h). The warp measures a share
 * before it adds it, as for whole arrays (exact_sums/exact_block.h): values beyond the levels choose new ones. What no
 * levels hold goes to digits (rows/block_sums.h). Behind rows/columns_task.h or rows_task.h, which define
 *
 *     sums_held      a lane has so many sums, to which it adds its values in turn
 *     log_additions  log2 of what is added to one, at most
 *     adds_rest      of a share with infinities or NaNs, the rest goes to levels if these hold it; if not, to digits */
#ifndef TALLY_LEVEL_SUMS_H
#define TALLY_LEVEL_SUMS_H

#include "sums/levels.h"
#include "exact_sums/ruler.h"
#include "rows/block_sums.h"

enum {
    /* levels of a value and of a product, at most; and of ordinary values */
    values_held = TALLY_HAS_SUM * (TALLY_BYTES == 2 ? 1 : 2),
    products_held = TALLY_HAS_PRODUCTS * (TALLY_IS_F64       ? 4
                                          : TALLY_BYTES == 2 ? 2
                                                             : 3),
    values_usual = TALLY_HAS_SUM * (TALLY_IS_F64 ? 2 : 1),
    products_usual = TALLY_HAS_PRODUCTS * (TALLY_IS_F64       ? 4
                                           : TALLY_BYTES == 2 ? 1
                                                              : 2),
    levels_held = values_held + products_held
};

typedef struct level_sums_t {
    double at[sums_held][levels_held];
    TALLY_IF_KEYS(TALLY_K low[sums_held], high[sums_held];)
} level_sums_t;

TALLY_FN int32_t unit_of_level(const ruler_t *ruler, const int32_t k) {
    TALLY_IF_SUM(if (k < values_held) return ruler->sum.unit[k];)
    TALLY_IF_PRODUCTS(return ruler->products.unit[k - values_held];)
    return 0;
}
TALLY_FN void begin_levels(level_sums_t *a, const ruler_t *ruler) {
    TALLY_UNROLL
    for (int32_t k = 0; k < levels_held; k++) {
        TALLY_UNROLL
        for (int32_t v = 0; v < sums_held; v++) a->at[v][k] = tally_anchor(unit_of_level(ruler, k));
    }
}
TALLY_FN void begin_keys(level_sums_t *a) {
    (void)a;
    TALLY_IF_KEYS(TALLY_UNROLL for (int32_t v = 0; v < sums_held; v++) a->low[v] = TALLY_K_HIGH,
                  a->high[v] = TALLY_K_LOW;)
}
/* Units that sum v has counted at level k. */
TALLY_FN int64_t counted(const level_sums_t *a, const ruler_t *ruler, const int32_t v, const int32_t k) {
    return tally_moved(a->at[v][k], unit_of_level(ruler, k));
}
/* Adds such a count to the digits of a column. */
TALLY_FN void scatter_level(shared_t *shared, int32_t column, int32_t is_product, int32_t unit, int64_t count) {
    scatter_count(digits_of(shared, column, is_product), count, unit - (is_product ? 2 : 1) * TALLY_ORIGIN);
}
/* The kernel's: notes which of the lane's values in a share of a certain extent are not -0; and what has been counted
 * goes to digits, before levels change. */
TALLY_FN void note_others(const work_t *work, const task_t *task, int64_t k, const share_t *x, const share_t *y,
                          extent_t of_x, found_t *found);
TALLY_FN void flush_early(const work_t *work, const task_t *task, const level_sums_t *a, const ruler_t *ruler,
                          shared_t *shared);

/* Adds `stripes` parts that the levels hold, of which so many are in use. */
TALLY_FN void add_share(level_sums_t *a, const share_t *x, const share_t *y, int32_t stripes, const int32_t values,
                        const int32_t products) {
    (void)y;
    TALLY_UNROLL
    for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++) {
        if (s >= stripes) break;
        TALLY_UNROLL
        for (int32_t v = 0; v < TALLY_PART; v++) {
            double *const at = a->at[v % sums_held];
            if (values > 0) tally_put_term(at, term_in_double(x->part[s].v[v]), 0, values);
            if (products == 0) continue;
            const double p = (double)value_of(x->part[s].v[v]), q = (double)value_of(y->part[s].v[v]), product = p * q;
            tally_put_term(at + values_held, product, 0, products);
            if (TALLY_IS_F64) tally_put_term(at + values_held, __builtin_fma(p, q, -product), 1, products);
        }
    }
}
TALLY_FN int32_t is_usual(const ruler_t *ruler) {
    int32_t is = 1;
    TALLY_IF_SUM(is = is && ruler->sum.count <= values_usual;)
    TALLY_IF_PRODUCTS(is = is && ruler->products.count <= products_usual;)
    return is;
}
/* Chooses levels for such values. False: there are none. */
TALLY_FN int32_t has_levels(ruler_t *ruler, extent_t x, extent_t y) {
    forget_levels(ruler);
    int32_t has = choose_ruler(ruler, x, y, log_additions);
    TALLY_IF_SUM(has = has && ruler->sum.count <= values_held;)
    TALLY_IF_PRODUCTS(has = has && ruler->products.count <= products_held;)
    if (!has) forget_levels(ruler);
    return has;
}
TALLY_FN int32_t are_beyond(const ruler_t *ruler, extent_t x, extent_t y) {
    return tally_any(x.most > ruler->most_x || x.least < ruler->least_x || y.most > ruler->most_y ||
                     y.least < ruler->least_y);
}
/* Adds a share of `stripes` parts. What functions out of line are given is a copy, so that the rest stays in
 * registers. */
TALLY_FN void take_share(const work_t *work, const task_t *task, int64_t k, share_t *x, share_t *y, int32_t stripes,
                         level_sums_t *sums, ruler_t *ruler, found_t *found, shared_t *shared) {
    extent_t of_x = measure(x), of_y = TALLY_KERNEL_INPUTS == 2 ? measure(y) : of_x;
    int32_t there = all_of(task);
    if (are_beyond(ruler, of_x, of_y)) {
        if (tally_any(of_x.most >= TALLY_SIZE_INFINITY || of_y.most >= TALLY_SIZE_INFINITY)) {
            share_t kept_x = *x, kept_y = *y;
            const task_t of_task = *task;
            there = note_specials(work, &of_task, k, &kept_x, TALLY_KERNEL_INPUTS == 2 ? &kept_y : &kept_x, shared);
            if (!adds_rest) {
                found->others |=
                    scatter_share(work, &of_task, k, &kept_x, TALLY_KERNEL_INPUTS == 2 ? &kept_y : &kept_x, shared);
                found->there |= there;
                return;
            }
            *x = kept_x, *y = TALLY_KERNEL_INPUTS == 2 ? kept_y : kept_x;
            of_x = measure(x), of_y = TALLY_KERNEL_INPUTS == 2 ? measure(y) : of_x;
        }
        if (are_beyond(ruler, of_x, of_y)) {
            if (ruler->most_x != 0) flush_early(work, task, sums, ruler, shared);
            const extent_t all_x = measure_warp(of_x), all_y = measure_warp(of_y);
            const int32_t has = has_levels(ruler, all_x, all_y);
            begin_levels(sums, ruler);
            if (!has && all_x.most != 0 && all_y.most != 0) {
                const share_t kept_x = *x, kept_y = *y;
                const task_t of_task = *task;
                found->others |=
                    scatter_share(work, &of_task, k, &kept_x, TALLY_KERNEL_INPUTS == 2 ? &kept_y : &kept_x, shared);
                found->there |= there;
                return;
            }
        }
    }
    found->there |= there;
    note_others(work, task, k, x, y, of_x, found);
    if (is_usual(ruler))
        add_share(sums, x, y, stripes, values_usual, products_usual);
    else
        add_share(sums, x, y, stripes, values_held, products_held);
}

#if TALLY_HAS_KEYS
/* NaNs are noted elsewhere. */
TALLY_FN void widen_keys_of(const work_t *work, const task_t *task, int64_t k, level_sums_t *a, const share_t *x) {
    TALLY_UNROLL
    for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++) {
        const int32_t there = there_of(work, task, k, s);
        TALLY_UNROLL
        for (int32_t v = 0; v < TALLY_PART; v++) {
            const TALLY_T value = x->part[s].v[v];
            const TALLY_K key = order_key(value);
            if (!(there >> v & 1) || value_is_nan(value)) continue;
            a->low[v % sums_held] = key < a->low[v % sums_held] ? key : a->low[v % sums_held];
            a->high[v % sums_held] = key > a->high[v % sums_held] ? key : a->high[v % sums_held];
        }
    }
}
#endif

#endif
