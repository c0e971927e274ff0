/* Leaves and short segments that lie in shared memory, side by side: by one thread, by 8 lanes, by a warp. The order
 * is that of docs/order.md; lanes have other columns than where a warp reads a leaf from memory (order/leaf.h):
 * neighbours, so that they use all banks. */
#ifndef TALLY_SHARED_LEAVES_H
#define TALLY_SHARED_LEAVES_H

#define TALLY_ACROSS 1 /* a thread has one segment */
#include "order/across.h"
#include "order/pairs.h"
#include "shared/parts.h"
#include "shared/quarters.h"
#include "shared/search.h"
#include "shared/values.h"
#if TALLY_IS_USER
#include "user/fold.h"
#endif

#if !TALLY_HAS_INDEX
/* ---- up to 8 values, by one thread: each is a column of its own; or, where order is kept, seven are folded and one
 * comes behind them ---- */

#define TALLY_EACH(k) ((k) < n ? column_of(x, y, k) : identity())
#define TALLY_HALF(k) (most > 4 ? combine(TALLY_EACH(k), TALLY_EACH(k + 4)) : TALLY_EACH(k))
#define TALLY_EACH2(k) ((k) < n ? lift2(item_of(x[k]), k, aim) : identity2())
#define TALLY_HALF2(k) (most > 4 ? combine2(TALLY_EACH2(k), TALLY_EACH2(k + 4)) : TALLY_EACH2(k))
/* The node of n values, at most `most`, which is 4 or 8. */
TALLY_FN node_t thread_node(const TALLY_T *x, const TALLY_T *y, int32_t n, const int32_t most) {
    column_t column;
    if (TALLY_IS_FREE || TALLY_IS_NONCOMMUTATIVE) {
        column = TALLY_EACH(0);
        TALLY_UNROLL
        for (int32_t k = 1; k < most; k++)
            if (k < n) column = combine(column, column_of(x, y, k));
    } else {
        column_t even = combine(TALLY_HALF(0), TALLY_HALF(2)), odd = combine(TALLY_HALF(1), TALLY_HALF(3));
        column = combine(even, odd);
    }
    int32_t present = TALLY_MAY_SKIP ? count_from(x, y, n, 0, 1) : n;
    if (!TALLY_NODES_ARE_COLUMNS && n == 0) return nothing();
#if TALLY_PASSES == 2
    aim_t aim = take_aim(column, present);
    second_t even2 = combine2(TALLY_HALF2(0), TALLY_HALF2(2)), odd2 = combine2(TALLY_HALF2(1), TALLY_HALF2(3));
    return to_node(column, aim, combine2(even2, odd2), present, 0);
#else
    return to_node(column, present);
#endif
}
#undef TALLY_EACH
#undef TALLY_HALF
#undef TALLY_EACH2
#undef TALLY_HALF2

/* ---- up to 64 values, by one thread, 16 bytes, a part, at a time ---- */

#if TALLY_IS_NONCOMMUTATIVE
TALLY_FN node_t columns_node(const TALLY_T *x, const TALLY_T *y, int32_t n) {
    const tally_source from = source_here(x);
    const column_t column = fold_groups(&from, n, (int32_t)tally_warp_max((uint32_t)n));
    (void)y;
    return n == 0 ? nothing() : to_node(column, n);
}
#elif TALLY_COLUMN_MOST > 0
enum {
    small_columns = TALLY_DEVICE_SMALL_COLUMNS,
    row_parts = TALLY_PART < small_columns ? small_columns / TALLY_PART : 1 /* else a part has two rows */
};
#include "order/first_pass.h"
#include "shared/thread_columns.h"
#if TALLY_PASSES == 2
#include "order/second_pass.h"
#include "shared/thread_columns.h"
#endif
TALLY_FN node_t columns_node(const TALLY_T *x, const TALLY_T *y, int32_t n) {
    const column_t column = thread_columns(x, y, n, 0);
    const int32_t present = TALLY_MAY_SKIP ? count_from(x, y, n, 0, 1) : n;
#if TALLY_PASSES == 2
    aims_t aims;
    aims.v[0] = take_aim(column, present);
    const second_t second = thread_columns2(x, y, n, &aims);
    return n == 0 ? nothing() : to_node(column, aims.v[0], second, present, 0);
#else
    return n == 0 ? nothing() : to_node(column, present);
#endif
}
#endif

#if TALLY_COLUMN_MOST > 0
/* The same by a call, with addresses in shared memory: where it is rare, its code is in nobody's way. */
TALLY_LONG node_t called_columns(tally_shared_address x, tally_shared_address y, int32_t n) {
    return columns_node((const TALLY_T *)tally_at_address(x), (const TALLY_T *)tally_at_address(y), n);
}
#endif

/* ---- 1 to 64 values, by 8 lanes: lane l has column l % 8; the same node in each ---- */

/* If columns take few registers, all rows are loaded at once; else only those that exist. */
#define TALLY_ROWS_ROLLED (sizeof(column_t) > 8 || TALLY_IS_LONG)
#define TALLY_UNROLL_LANES TALLY_UNROLL_BY(TALLY_ROWS_ROLLED ? 1 : 8)
#if TALLY_IS_NONCOMMUTATIVE
TALLY_FN node_t lanes_node(const TALLY_T *x, const TALLY_T *y, int32_t n, int64_t first) {
    const tally_source from = source_here(x);
    (void)y, (void)first;
    return to_node(fold_few(&from, n), n);
}
#else
TALLY_FN node_t lanes_node(const TALLY_T *x, const TALLY_T *y, int32_t n, int64_t first) {
    const int32_t most = TALLY_ROWS_ROLLED ? (int32_t)tally_warp_max((uint32_t)n) : TALLY_DEVICE_SMALL;
    int32_t c = tally_lane() % TALLY_DEVICE_SMALL_COLUMNS, present = n;
    column_t column = identity();
    TALLY_UNROLL_LANES
    for (int32_t row = 0; row < most; row += TALLY_DEVICE_SMALL_COLUMNS)
        if (row + c < n) column = combine(column, column_of(x, y, row + c));
    column = fold_small(column);
    if (TALLY_MAY_SKIP) {
        present = count_from(x, y, n, c, TALLY_DEVICE_SMALL_COLUMNS);
        for (int32_t mask = 4; mask > 0; mask /= 2) present += (int32_t)tally_shuffle_xor((uint32_t)present, mask);
    }
#if TALLY_PASSES == 2
    aim_t aim = take_aim(column, present);
    second_t second = identity2();
    TALLY_UNROLL_LANES
    for (int32_t row = 0; row < most; row += TALLY_DEVICE_SMALL_COLUMNS)
        if (row + c < n) second = combine2(second, lift2(item_of(x[row + c]), row + c, aim));
    return to_node(column, aim, fold_small2(second), present, first);
#else
    (void)first;
    return to_node(column, present);
#endif
}
#endif
#undef TALLY_UNROLL_LANES
#undef TALLY_ROWS_ROLLED

/* ---- a leaf, by a warp; the same node in each lane ---- */

#if TALLY_IS_USER
TALLY_FN node_t wide_leaf(const TALLY_T *x, const TALLY_T *y, int32_t n, int64_t first) {
    const tally_source from = source_here(x);
    (void)y, (void)first;
    return to_node(fold_values(&from, n), n);
}
#else

#define TALLY_UNROLL_ROWS TALLY_UNROLL_BY(sizeof(column_t) > 8 ? 1 : TALLY_PART <= 4 ? 4 : TALLY_PART == 8 ? 2 : 1)

TALLY_FN node_t wide_leaf(const TALLY_T *x, const TALLY_T *y, int32_t n, int64_t first) {
    column_t columns[TALLY_HELD], column;
    int32_t present = n;
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_HELD; v++) columns[v] = identity();
    int32_t row = tally_lane();
    TALLY_UNROLL_ROWS
    for (; row - tally_lane() + TALLY_DEVICE_COLUMNS <= n; row += TALLY_DEVICE_COLUMNS) {
        TALLY_UNROLL
        for (int32_t v = 0; v < TALLY_PART; v++)
            columns[v % TALLY_HELD] = combine(columns[v % TALLY_HELD], column_of(x, y, row + v * TALLY_WARP));
    }
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_PART; v++) {
        int32_t i = row + v * TALLY_WARP;
        if (i < n) columns[v % TALLY_HELD] = combine(columns[v % TALLY_HELD], column_of(x, y, i));
    }
    column = fold_apart(columns);
    if (TALLY_MAY_SKIP) {
        present = count_from(x, y, n, tally_lane(), TALLY_WARP);
        for (int32_t mask = TALLY_WARP / 2; mask > 0; mask /= 2)
            present += (int32_t)tally_shuffle_xor((uint32_t)present, mask);
    }
#if TALLY_PASSES == 2
    second_t columns2[TALLY_HELD];
    aim_t aim = take_aim(column, present);
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_HELD; v++) columns2[v] = identity2();
    for (row = tally_lane(); row < n; row += TALLY_DEVICE_COLUMNS) {
        TALLY_UNROLL
        for (int32_t v = 0; v < TALLY_PART; v++) {
            int32_t i = row + v * TALLY_WARP;
            if (i < n) columns2[v % TALLY_HELD] = combine2(columns2[v % TALLY_HELD], lift2(item_of(x[i]), i, aim));
        }
    }
    return to_node(column, aim, fold_apart2(columns2), present, first);
#else
    (void)first;
    return to_node(column, present);
#endif
}
#endif
#endif /* !TALLY_HAS_INDEX */

/* ---- any leaf, by a warp ---- */

TALLY_FN node_t leaf_here(const TALLY_T *x, const TALLY_T *y, int32_t n, int64_t first) {
#if TALLY_BY_LANES
    return parts_node(x, y, 0, n, TALLY_WARP, first);
#elif TALLY_IS_NONCOMMUTATIVE
    return wide_leaf(x, y, n, first); /* it is the same tree */
#else
    return n <= TALLY_DEVICE_SMALL ? lanes_node(x, y, n, first) : wide_leaf(x, y, n, first);
#endif
}

/* The same; by a call for values that are read twice, whose code would not fit the instruction cache twice. */
TALLY_LONG node_t called_leaf(tally_shared_address x, tally_shared_address y, int32_t n, int64_t first) {
    return leaf_here((const TALLY_T *)tally_at_address(x), (const TALLY_T *)tally_at_address(y), n, first);
}
TALLY_FN node_t shared_leaf(const TALLY_T *x, const TALLY_T *y, int32_t n, int64_t first) {
    return TALLY_READS_TWICE ? called_leaf(tally_address_of(x), tally_address_of(y), n, first)
                             : leaf_here(x, y, n, first);
}

/* The node of a segment of fewer leaves than a warp has lanes. Each lane gets it. */
TALLY_FN node_t shared_run(const TALLY_T *x, const TALLY_T *y, int32_t n) {
    node_t node = nothing();
    int32_t leaf = 0;
    for (int32_t at = 0; at < n; at += TALLY_DEVICE_LEAF, leaf++) {
        node_t one = shared_leaf(x + at, y + at, n - at < TALLY_DEVICE_LEAF ? n - at : TALLY_DEVICE_LEAF, at);
        if (n <= TALLY_DEVICE_LEAF) return one;
        if (TALLY_IS_FREE)
            node = merge(node, one);
        else if (leaf == tally_lane())
            node = one;
    }
    return TALLY_IS_FREE ? node : node_of_lane(pair_lanes(node, leaf), 0);
}

#endif
