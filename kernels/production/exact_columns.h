/* Exact sums of rows that lie across others: an array of extents outer, length and inner, reduced along the middle one.
 *
 * A lane has as many values side by side as are 16 bytes, each of a row of its own, and goes down the rows of memory.
 * It adds them to levels (sums/levels.h), of which each row has its own. The warp measures what it has read before it
 * adds it, as for whole arrays (exact_sums/exact_block.h): values beyond the levels choose new ones. What no levels
 * hold, and infinities and NaNs, go to 16-bit digits in shared memory value by value, and so do in the end the counts
 * of levels. Each lane has a column of digits for each of its values, so that nobody waits.
 *
 * If the block has all values of its rows, a thread makes a row's result of its digits, and leaves what pairs of
 * doubles do not decide to production/flat.h, as a number of limbs in memory. If not, the digits go to the row's
 * number, to which other blocks add at the same time; production/flat.h empties these numbers first, and makes results
 * of them.
 *
 * Short rows of memory are read several as one (`width`). Where rows of memory begin anywhere, values are read one by
 * one, and those of a lane are as far apart as lanes are many. */
#ifndef TALLY_FORM_EXACT_COLUMNS_H
#define TALLY_FORM_EXACT_COLUMNS_H

#include "types/types.h"

#include TALLY_KERNEL_FILE

#include "segments/partition.h"
#include "order/leaf.h"
#include "sums/levels.h"
#include "exact_sums/extent.h"
#include "exact_sums/terms.h"
#include "exact_sums/ruler.h"
#include "exact_sums/pair_results.h"
#include "exact_segments/flat_nodes.h"
#include "rows/column_sums.h"

/* Blocks that a multiprocessor holds: two, or one where two would have registers spill (tests/unit/test_compile.c). */
#define TALLY_RESIDENT                                                                   \
    ((TALLY_BYTES == 2 && TALLY_HAS_PRODUCTS) || (TALLY_BYTES == 4 && TALLY_HAS_KEYS) || \
             (TALLY_BYTES == 8 && TALLY_KERNEL_INPUTS == 2)                              \
         ? 1                                                                             \
         : 2)

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
    levels_held = values_held + products_held,
    log_additions = 8 /* log2 of the rows that a lane reads, at most */
};

/* Notes which of the lane's values in a share are not -0. As a rule its first share is the only one that is asked. */
TALLY_FN void look_for_others(const tally_columns_work *work, const task_t *task, int64_t k, const share_t *x,
                              const share_t *y, found_t *found) {
    TALLY_UNROLL
    for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++) {
        const int32_t high = high_of_row(work, task, k + task->sub + s * task->subs);
        TALLY_UNROLL
        for (int32_t v = 0; v < TALLY_PART; v++)
            if (v < high) found->others |= value_is_other(x->part[s].v[v], y->part[s].v[v]) << v;
    }
}

/* ---- levels ---- */

/* Of each of the lane's values. */
typedef struct columns_t {
    double at[TALLY_PART][levels_held];
    TALLY_IF_KEYS(TALLY_K low[TALLY_PART], high[TALLY_PART];)
} columns_t;

TALLY_FN int32_t unit_of_level(const ruler_t *ruler, const int32_t k) {
    TALLY_IF_SUM(if (k < values_held) return ruler->sum.unit[k];)
    TALLY_IF_PRODUCTS(return ruler->products.unit[k - values_held];)
    return 0;
}
TALLY_FN void begin_columns(columns_t *a, const ruler_t *ruler) {
    TALLY_UNROLL
    for (int32_t k = 0; k < levels_held; k++) {
        TALLY_UNROLL
        for (int32_t v = 0; v < TALLY_PART; v++) a->at[v][k] = tally_anchor(unit_of_level(ruler, k));
    }
}
/* What has been counted goes to digits. */
TALLY_RARE void flush_columns(int32_t high, const columns_t *a, const ruler_t *ruler, shared_t *shared) {
    TALLY_ROLLED
    for (int32_t v = 0; v < high; v++) {
        TALLY_UNROLL
        for (int32_t k = 0; k < levels_held; k++) {
            const int32_t unit = unit_of_level(ruler, k), is_product = k >= values_held;
            const int64_t d = tally_apart(tally_bits_f64(a->at[v][k]), tally_bits_f64(tally_anchor(unit)));
            scatter_count(shared->digits + is_product * sum_digits * slots + slot_of(v), d,
                          unit - (is_product ? 2 : 1) * TALLY_ORIGIN);
        }
    }
}
/* Adds a share that the levels hold, of which so many are in use. */
TALLY_FN void add_share(columns_t *a, const share_t *x, const share_t *y, const int32_t values,
                        const int32_t products) {
    (void)y;
    TALLY_UNROLL
    for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++) {
        TALLY_UNROLL
        for (int32_t v = 0; v < TALLY_PART; v++) {
            if (values > 0) tally_put_term(a->at[v], term_in_double(x->part[s].v[v]), 0, values);
            if (products == 0) continue;
            const double p = (double)value_of(x->part[s].v[v]), q = (double)value_of(y->part[s].v[v]), product = p * q;
            tally_put_term(a->at[v] + values_held, product, 0, products);
            if (TALLY_IS_F64) tally_put_term(a->at[v] + values_held, __builtin_fma(p, q, -product), 1, products);
        }
    }
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
TALLY_FN int32_t is_usual(const ruler_t *ruler) {
    int32_t is = 1;
    TALLY_IF_SUM(is = is && ruler->sum.count <= values_usual;)
    TALLY_IF_PRODUCTS(is = is && ruler->products.count <= products_usual;)
    return is;
}
TALLY_FN int32_t are_beyond(const ruler_t *ruler, extent_t x, extent_t y) {
    return tally_any(x.most > ruler->most_x || x.least < ruler->least_x || y.most > ruler->most_y ||
                     y.least < ruler->least_y);
}
#if TALLY_HAS_KEYS
/* NaNs are noted elsewhere. */
TALLY_FN void widen_columns(const tally_columns_work *work, const task_t *task, int64_t k, columns_t *a,
                            const share_t *x) {
    TALLY_UNROLL
    for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++) {
        const int32_t high = high_of_row(work, task, k + task->sub + s * task->subs);
        TALLY_UNROLL
        for (int32_t v = 0; v < TALLY_PART; v++) {
            const TALLY_T value = x->part[s].v[v];
            const TALLY_K key = order_key(value);
            if (v >= high || value_is_nan(value)) continue;
            a->low[v] = key < a->low[v] ? key : a->low[v];
            a->high[v] = key > a->high[v] ? key : a->high[v];
        }
    }
}
#endif
/* What the lane knows beside its sums, to what the block shares. It has `high` values. */
TALLY_FN void share_notes(int32_t high, const columns_t *a, found_t found, shared_t *shared) {
    (void)a;
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_PART; v++) {
        if (v >= high) continue;
        tally_or32(&shared->seen[slot_of(v)],
                   (found.there >> v & 1 ? is_there : 0) | (found.others >> v & 1 ? TALLY_NOT_MINUS_ZERO : 0));
        TALLY_IF_KEYS(if (a->low[v] > a->high[v]) continue; tally_min64(&shared->low[slot_of(v)], a->low[v]);
                      tally_max64(&shared->high[slot_of(v)], a->high[v]);)
    }
}

/* ---- the kernel ---- */

/* Whether a share goes to levels; if not, it has gone to digits. What functions out of line are given is a copy, so
 * that the rest stays in registers. */
TALLY_FN int32_t takes_levels(const tally_columns_work *work, const task_t *task, int64_t k, const share_t *x,
                              const share_t *y, columns_t *columns, ruler_t *ruler, found_t *found, shared_t *shared) {
    extent_t of_x = measure(x), of_y = TALLY_KERNEL_INPUTS == 2 ? measure(y) : of_x;
    if (!are_beyond(ruler, of_x, of_y)) return 1;
    if (ruler->most_x != 0) {
        const columns_t done = *columns;
        const ruler_t of_done = *ruler;
        flush_columns(task->high, &done, &of_done, shared);
    }
    of_x = measure_warp(of_x);
    of_y = measure_warp(of_y);
    const int32_t has = has_levels(ruler, of_x, of_y);
    begin_columns(columns, ruler);
    if (has || of_x.most == 0 || of_y.most == 0) return 1;
    const share_t kept_x = *x, kept_y = *y;
    const task_t kept = *task;
    *found = scatter_share(work, &kept, k, &kept_x, TALLY_KERNEL_INPUTS == 2 ? &kept_y : &kept_x, shared, *found);
    return 0;
}

TALLY_KERNEL_ENTRY(TALLY_BLOCK, exact_columns, tally_columns_work, TALLY_RESIDENT) {
    TALLY_SHARED(shared_t, shared);
    if (tally_is_idle(work.wanted)) return;
    tally_let_next_start();
    task_t task;
    ruler_t ruler;
    columns_t columns;
    found_t found = {0, 0};
    if (!find_task(&work, &task)) return;
    forget_levels(&ruler);
    begin_columns(&columns, &ruler);
    TALLY_IF_KEYS(TALLY_UNROLL for (int32_t v = 0; v < TALLY_PART; v++) columns.low[v] = TALLY_K_HIGH,
                  columns.high[v] = TALLY_K_LOW;)
    clear_block(shared);
    tally_barrier();
    const int64_t begin = task.begin + tally_warp() * TALLY_DEVICE_STRIPES * task.subs,
                  step = TALLY_WARPS * TALLY_DEVICE_STRIPES * task.subs;
    const int32_t all = (1 << task.high) - 1;
    if (!is_signed_zero_sum) found.others = all;
    TALLY_ROLLED
    for (int64_t k = begin; k < task.end; k += step) {
        share_t x, y;
        read_rows(&work, &task, k, 0, &x);
        if (TALLY_KERNEL_INPUTS == 2)
            read_rows(&work, &task, k, 1, &y);
        else
            y = x;
        TALLY_IF_KEYS(widen_columns(&work, &task, k, &columns, &x);)
        if (!takes_levels(&work, &task, k, &x, &y, &columns, &ruler, &found, shared)) continue;
        found.there = all;
        if (tally_any((found.others & all) != all)) look_for_others(&work, &task, k, &x, &y, &found);
        if (is_usual(&ruler))
            add_share(&columns, &x, &y, values_usual, products_usual);
        else
            add_share(&columns, &x, &y, values_held, products_held);
    }
    const columns_t done = columns;
    const ruler_t of_done = ruler;
    flush_columns(task.high, &done, &of_done, shared);
    share_notes(high_of_row(&work, &task, begin + task.sub), &done, found, shared);
    tally_barrier();
    tally_await_before(); /* numbers were emptied */
    put_block(&work, &task, shared);
}

#endif
