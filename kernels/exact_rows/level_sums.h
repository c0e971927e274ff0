/* Exact sums of a lane, in levels (sums/levels.h), one for each of its rows, for production/exact_columns.h. The warp
 * measures a share before it adds it, as for whole arrays (exact_sums/exact_block.h). Values beyond the levels choose
 * new levels; those that no levels hold go to digits (exact_rows/block_sums.h). */
#ifndef TALLY_LEVEL_SUMS_H
#define TALLY_LEVEL_SUMS_H

#include "sums/levels.h"
#include "exact_sums/ruler.h"
#include "exact_rows/block_sums.h"

/* Values of f64 are scaled where levels cannot hold their products otherwise. */
#define TALLY_SCALES (TALLY_IS_F64 && TALLY_HAS_PRODUCTS)

enum {
    sums_held = TALLY_PART, /* one for each of a lane's values */
    log_additions = 8,      /* log2 of the rows that a lane reads, at most */
    /* the most levels of a value and of a product (held), and those that are usual */
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

/* Products of f64 may overflow, or have bits that no double has. Then levels count values times 2^600 or 2^-600. */
enum { scaling_power = 600 };
typedef struct level_sums_t {
    double at[sums_held][levels_held];
#if TALLY_SCALES
    int32_t power; /* values are counted times 2^power */
#endif
    TALLY_IF_KEYS(TALLY_K low[sums_held], high[sums_held];)
} level_sums_t;

#if TALLY_SCALES
TALLY_FN int32_t power_of(const level_sums_t *a) { return a->power; }
TALLY_FN void set_power(level_sums_t *a, int32_t power) { a->power = power; }
#else
TALLY_FN int32_t power_of(const level_sums_t *a) {
    (void)a;
    return 0;
}
TALLY_FN void set_power(level_sums_t *a, int32_t power) { (void)a, (void)power; }
#endif

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
/* What sum v has counted at level k, in units of the level. */
TALLY_FN int64_t counted(const level_sums_t *a, const ruler_t *ruler, const int32_t v, const int32_t k) {
    return tally_moved(a->at[v][k], unit_of_level(ruler, k));
}
/* Adds the count of a level to the digits of a slot. */
TALLY_FN void scatter_level(shared_t *shared, int32_t slot, int32_t is_product, int32_t unit, int32_t power,
                            int64_t count) {
    scatter_count(digits_of(shared, slot, is_product), count, unit - (is_product ? 2 : 1) * (TALLY_ORIGIN + power));
}
/* Adds the counts of levels to digits, before levels change. */
TALLY_RARE void flush_values(int32_t high, const level_sums_t *a, const ruler_t *ruler, shared_t *shared) {
    TALLY_ROLLED
    for (int32_t v = 0; v < high; v++) {
        TALLY_UNROLL
        for (int32_t k = 0; k < levels_held; k++)
            scatter_level(shared, slot_of_value(v), k >= values_held, unit_of_level(ruler, k), power_of(a),
                          counted(a, ruler, v, k));
    }
}
TALLY_FN void flush_levels(const task_t *task, const level_sums_t *a, const ruler_t *ruler, shared_t *shared) {
    const level_sums_t done = *a;
    const ruler_t of_done = *ruler;
    flush_values(task->high, &done, &of_done, shared);
}
/* Notes which of the lane's values in a share are not -0. Usually only the lane's first share is looked at. */
TALLY_FN void note_others(const work_t *work, const task_t *task, int64_t k, const share_t *x, const share_t *y,
                          found_t *found) {
    const int32_t all = all_of(task);
    if (!tally_any((found->others & all) != all)) return;
    TALLY_UNROLL
    for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++) {
        const int32_t there = there_of(work, task, k, s);
        TALLY_UNROLL
        for (int32_t v = 0; v < TALLY_PART; v++)
            found->others |= (there >> v & 1 && value_is_other(x->part[s].v[v], y->part[s].v[v])) << v;
    }
}

/* Adds a share to the levels; `values` and `products` say how many levels are in use. */
TALLY_FN void add_share(level_sums_t *a, const share_t *x, const share_t *y, const int32_t values,
                        const int32_t products, const int32_t is_scaled) {
    const double factor = is_scaled ? tally_power_of_two(power_of(a)) : 1;
    (void)y;
    TALLY_UNROLL
    for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++) {
        TALLY_UNROLL
        for (int32_t v = 0; v < TALLY_PART; v++) {
            double *const at = a->at[v];
            double term = term_in_double(x->part[s].v[v]), p = (double)value_of(x->part[s].v[v]),
                   q = (double)value_of(y->part[s].v[v]);
            if (is_scaled) term *= factor, p *= factor, q *= factor;
            if (values > 0) tally_put_term(at, term, 0, values);
            if (products == 0) continue;
            const double product = p * q;
            tally_put_term(at + values_held, product, 0, products);
            if (TALLY_IS_F64) tally_put_term(at + values_held, __builtin_fma(p, q, -product), 1, products);
        }
    }
}
TALLY_FN int32_t is_usual(const level_sums_t *a, const ruler_t *ruler) {
    int32_t is = power_of(a) == 0;
    TALLY_IF_SUM(is = is && ruler->sum.count <= values_usual;)
    TALLY_IF_PRODUCTS(is = is && ruler->products.count <= products_usual;)
    return is;
}
TALLY_FN int32_t are_held(const ruler_t *ruler) {
    int32_t are = 1;
    (void)ruler;
    TALLY_IF_SUM(are = are && ruler->sum.count <= values_held;)
    TALLY_IF_PRODUCTS(are = are && ruler->products.count <= products_held;)
    return are;
}
#if TALLY_SCALES
/* Changes an extent (exact_sums/extent.h) to that of the values times 2^power. False: it is out of range. */
TALLY_FN int32_t scale_extent(extent_t *e, int32_t power) {
    const int32_t by = power * (1 << TALLY_SIZE_FRACTION), least = (int32_t)e->least;
    int32_t most = (int32_t)e->most;
    if (most < 1 << TALLY_SIZE_FRACTION) most = 1 << TALLY_SIZE_FRACTION; /* the exponent of subnormals */
    if (by > 0 ? most >= (int32_t)TALLY_SIZE_INFINITY - by : least < -by) return 0;
    e->most = (uint32_t)(most + by);
    e->least = (uint32_t)(least + by);
    return 1;
}
/* Changes the sizes that levels hold from those of scaled values to those of the values themselves. */
TALLY_FN void unscale_bounds(uint32_t *most, uint32_t *least, int32_t power) {
    const int64_t by = (int64_t)power * (1 << TALLY_SIZE_FRACTION), its_most = *most - by, /* past 2^31 */
        its_least = *least - by;
    *most = its_most < (int64_t)TALLY_SIZE_INFINITY ? (uint32_t)its_most : TALLY_SIZE_INFINITY - 1;
    *least = its_least > 0 ? (uint32_t)its_least : 0;
}
/* Chooses levels for scaled values, where no levels hold the values themselves. */
TALLY_FN int32_t has_scaled_levels(ruler_t *ruler, extent_t x, extent_t y, int32_t *power) {
    enum { ONE = 0x3ff00000 };
    if (x.most == 0 || y.most == 0 || x.most >= TALLY_SIZE_INFINITY || y.most >= TALLY_SIZE_INFINITY) return 0;
    const int32_t by = x.most / 2 + y.most / 2 > ONE ? -scaling_power : scaling_power;
    if (!scale_extent(&x, by) || !scale_extent(&y, by) || !choose_ruler(ruler, x, y, log_additions)) return 0;
    unscale_bounds(&ruler->most_x, &ruler->least_x, by);
    unscale_bounds(&ruler->most_y, &ruler->least_y, by);
    *power = by;
    return 1;
}
#endif
/* Chooses levels for values of these extents and clears their counts. False: no levels hold them. */
TALLY_FN int32_t has_levels(level_sums_t *a, ruler_t *ruler, extent_t x, extent_t y) {
    int32_t power = 0;
    forget_levels(ruler);
    int32_t has = choose_ruler(ruler, x, y, log_additions);
#if TALLY_SCALES
    if (!has) {
        forget_levels(ruler);
        has = has_scaled_levels(ruler, x, y, &power);
    }
#endif
    set_power(a, power);
    has = has && are_held(ruler);
    if (!has) forget_levels(ruler);
    begin_levels(a, ruler);
    return has;
}
#if TALLY_HAS_KEYS
/* Widens the range of keys by those of a share. NaNs are noted elsewhere. */
TALLY_FN void widen_keys_of(const work_t *work, const task_t *task, int64_t k, level_sums_t *a, const share_t *x) {
    TALLY_UNROLL
    for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++) {
        const int32_t there = there_of(work, task, k, s);
        TALLY_UNROLL
        for (int32_t v = 0; v < TALLY_PART; v++) {
            const TALLY_T value = x->part[s].v[v];
            const TALLY_K key = order_key(value);
            if (!(there >> v & 1) || value_is_nan(value)) continue;
            a->low[v] = key < a->low[v] ? key : a->low[v];
            a->high[v] = key > a->high[v] ? key : a->high[v];
        }
    }
}
#endif
/* Adds the values of a share to digits. The function is out of line and is given a copy, so that the original stays in
 * registers; likewise below. */
TALLY_FN void scatter_copy(const work_t *work, const task_t *task, int64_t k, const share_t *x, const share_t *y,
                           int32_t there, found_t *found, shared_t *shared) {
    const share_t kept_x = *x, kept_y = *y;
    const task_t of_task = *task;
    found->others |= scatter_share(work, &of_task, k, &kept_x, TALLY_KERNEL_INPUTS == 2 ? &kept_y : &kept_x, shared);
    found->there |= there;
}
/* Adds a share. */
TALLY_FN void take_share(const work_t *work, const task_t *task, int64_t k, share_t *x, share_t *y, level_sums_t *sums,
                         ruler_t *ruler, found_t *found, shared_t *shared) {
    TALLY_IF_KEYS(widen_keys_of(work, task, k, sums, x);)
    extent_t of_x, of_y;
    int32_t there = all_of(task), is_beyond;
    TALLY_ROLLED
    while (1) {
        of_x = measure(x), of_y = TALLY_KERNEL_INPUTS == 2 ? measure(y) : of_x;
        is_beyond = are_beyond(ruler, of_x, of_y);
        if (!is_beyond || !are_special(of_x, of_y)) break;
        forget_share(x); /* or registers spill */
        if (TALLY_KERNEL_INPUTS == 2) forget_share(y);
        there = clear_specials(work, task, k, x, y, of_x, shared); /* and measure what is left */
        if (TALLY_IS_F64 && TALLY_HAS_KEYS) { /* no registers are left for its finite values' levels */
            scatter_copy(work, task, k, x, y, there, found, shared);
            return;
        }
    }
    if (is_beyond) {
        if (ruler->most_x != 0) flush_levels(task, sums, ruler, shared);
        const extent_t all_x = measure_warp(of_x), all_y = measure_warp(of_y);
        const int32_t has = has_levels(sums, ruler, all_x, all_y);
        if (!has && all_x.most != 0 && all_y.most != 0) {
            scatter_copy(work, task, k, x, y, there, found, shared);
            return;
        }
    }
    found->there |= there;
    note_others(work, task, k, x, y, found);
    if (is_usual(sums, ruler))
        add_share(sums, x, y, values_usual, products_usual, 0);
    else
        add_share(sums, x, y, values_held, products_held, TALLY_SCALES);
}

#endif
