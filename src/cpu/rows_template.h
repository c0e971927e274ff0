/* Results side by side, each over values `stride` apart (rows of an N-d array along an axis that is not the last):
 * lanes are columns times results, so that neighbouring results share vector registers. Gives reduce_rows. Once for
 * each type, as leaves_template.h.
 *
 * Lane c * width + p is column c of result p. Where rows follow one another without a gap (stride == width), a whole
 * stripe of rows is one stretch of memory and one loop. */
#ifndef TALLY_CPU_ROWS_TEMPLATE_H
#define TALLY_CPU_ROWS_TEMPLATE_H

#include "accumulators/finalize.h"
#include "cpu/leaves_template.h"

#if TALLY_IS_FREE
/* Any order will do: a result has one column, so that lanes stay in the first cache, or as many as make rows of a page.
 */
TALLY_INLINE int64_t lane_columns(int64_t rows, int64_t stride, int64_t width) {
    int64_t columns = 1;
    if (stride != width) return 1;
    while (2 * columns * width * TALLY_BYTES <= TALLY_FREE_ROW_BYTES && 2 * columns * TALLY_STRIPES <= rows)
        columns *= 2;
    return columns;
}
TALLY_INLINE int64_t count_lanes(int64_t present, int64_t stride, int64_t width) {
    (void)stride;
    return present * width;
}
/* Whether four rows can be read together: within a page hardware prefetches for one stream alone. */
TALLY_INLINE bool are_apart(int64_t stride, int64_t columns) {
    return columns == 1 || columns * stride * TALLY_BYTES >= TALLY_FREE_ROW_BYTES;
}
/* Rows of all columns, `step` values apart, as the first or below the lanes: one, or four in a tree (so gcc adds up
 * values of 8 bits in 16). */
TALLY_INLINE TALLY_TARGET void take_rows(lanes_t lanes, const raw_t *x, const raw_t *y, int64_t count, int64_t step,
                                         const int rows, const bool is_first) {
    TALLY_FREE_LANES
    for (int64_t j = 0; j < count; j++) {
        column_t row[4];
#pragma GCC unroll 4
        for (int k = 0; k < rows; k++) row[k] = lift(item_of(x[k * step + j]), item_of(y[k * step + j]));
        if (rows == 4) row[0] = combine(combine(row[0], row[2]), combine(row[1], row[3]));
        put(lanes, j, is_first ? row[0] : combine(get(lanes, j), row[0]));
    }
}
TALLY_INLINE TALLY_TARGET void fill_rows(lanes_t lanes, const raw_t *x, const raw_t *y, int64_t rows, int64_t stride,
                                         int64_t width, int64_t columns) {
    int64_t r = columns;
    take_rows(lanes, x, y, columns * width, 0, 1, true);
    for (; r + 4 * columns <= rows && are_apart(stride, columns); r += 4 * columns)
        take_rows(lanes, x + r * stride, y + r * stride, columns * width, columns * stride, 4, false);
    for (int64_t some; r < rows; r += some) {
        some = rows - r < columns ? rows - r : columns;
        take_rows(lanes, x + r * stride, y + r * stride, some * width, 0, 1, false);
    }
    halve_present(lanes, columns, columns, width);
}
#else
TALLY_INLINE int64_t lane_columns(int64_t rows, int64_t stride, int64_t width) {
    (void)stride, (void)width;
    return TALLY_COLUMNS_OF(rows);
}
/* Of f16 no more than a leaf. */
TALLY_INLINE TALLY_TARGET void fill_some(lanes_t lanes, const raw_t *x, const raw_t *y, int64_t count, bool is_first) {
    TALLY_WIDE_TWO(TALLY_LEAF, count)
    if (is_first)
        stack(lanes, x, y, wide_x, wide_y, count, 0, 1);
    else
        extend(lanes, x, y, wide_x, wide_y, count);
}
/* The same of as many values as there are. */
TALLY_INLINE TALLY_TARGET void fill_row(lanes_t lanes, const raw_t *x, const raw_t *y, int64_t count, bool is_first) {
    for (int64_t p = 0, some; p < count; p += some) {
        some = TALLY_WIDENS && count - p > TALLY_LEAF ? TALLY_LEAF : count - p;
        fill_some(shifted(lanes, p), x + p, y + p, some, is_first);
    }
}
/* The columns of every result from `rows` rows: stretches of memory that are one row each, or a whole stripe of rows.
 */
TALLY_INLINE TALLY_TARGET void fill_columns(lanes_t lanes, const raw_t *x, const raw_t *y, int64_t rows, int64_t stride,
                                            int64_t width, int64_t columns) {
    int64_t together = stride == width ? columns : 1;
    for (int64_t r = 0; r < rows; r += together) {
        const int64_t count = (rows - r < together ? rows - r : together) * width;
        fill_row(shifted(lanes, r % columns * width), x + r * stride, y + r * stride, count, r < columns);
    }
}
#if TALLY_PASSES == 1
/* Column c of every result: the rows c, c + columns, ... */
TALLY_INLINE TALLY_TARGET void fill_column(lanes_t lanes, const raw_t *x, const raw_t *y, int64_t rows, int64_t stride,
                                           int64_t width, int64_t columns, int64_t c) {
    if (!TALLY_WIDENS && c + (TALLY_STRIPES - 1) * columns < rows) {
        stack(lanes, x + c * stride, y + c * stride, NULL, NULL, width, columns * stride, TALLY_STRIPES);
        return;
    }
    for (int64_t r = c; r < rows; r += columns) fill_row(lanes, x + r * stride, y + r * stride, width, r < columns);
}
/* The tree over the columns c, c + apart, ... of every result: the later half waits behind the earlier one. */
static TALLY_TARGET void fold_columns(lanes_t lanes, const raw_t *x, const raw_t *y, int64_t rows, int64_t stride,
                                      int64_t width, int64_t columns, int64_t c, int64_t apart) {
    if (apart == columns) {
        fill_column(lanes, x, y, rows, stride, width, columns, c);
        return;
    }
    fold_columns(lanes, x, y, rows, stride, width, columns, c, 2 * apart);
    if (c + apart >= rows) return;
    fold_columns(shifted(lanes, width), x, y, rows, stride, width, columns, c + apart, 2 * apart);
    fold(lanes, width, width);
}
#endif
/* Whether all columns have lanes: of rows that follow one another each stripe is one loop then. Values that are read
 * twice are read as they lie, so that the second pass finds them in the cache. Other rows are read column by column,
 * whose tree needs few lanes at a time. */
TALLY_INLINE bool all_have_lanes(int64_t present, int64_t stride, int64_t width) {
    return TALLY_PASSES == 2 || (stride == width && present * width <= kernel_least_lanes);
}
TALLY_INLINE int64_t count_lanes(int64_t present, int64_t stride, int64_t width) {
    return (all_have_lanes(present, stride, width) || present < kernel_lanes ? present : kernel_lanes) * width;
}
/* The joined columns of every result. */
TALLY_INLINE TALLY_TARGET void fill_rows(lanes_t lanes, const raw_t *x, const raw_t *y, int64_t rows, int64_t stride,
                                         int64_t width, int64_t columns) {
    const int64_t present = rows < columns ? rows : columns;
    if (all_have_lanes(present, stride, width)) {
        fill_columns(lanes, x, y, rows, stride, width, columns);
        halve_present(lanes, columns, present, width);
        return;
    }
#if TALLY_PASSES == 1
    fold_columns(lanes, x, y, rows, stride, width, columns, 0, 1);
#endif
}
#endif

#if TALLY_FLOAT && TALLY_NAN == 1
TALLY_INLINE TALLY_TARGET void count_rows(int32_t *counts, const raw_t *x, const raw_t *y, int64_t rows, int64_t stride,
                                          int64_t width) {
    for (int64_t p = 0; p < width; p++) counts[p] = 0;
    for (int64_t r = 0; r < rows; r++) {
        TALLY_FREE_LANES
        for (int64_t p = 0; p < width; p++) counts[p] += is_present(x[r * stride + p]) & is_present(y[r * stride + p]);
    }
}
#define TALLY_COUNT_OF(p) counts[p]
#else
#define TALLY_COUNT_OF(p) rows
#endif

#if TALLY_PASSES == 2 && TALLY_IS_FREE
/* The same of the second pass, of values that are in the cache by then; `within`: the column of each lane. */
TALLY_INLINE TALLY_TARGET void take_rows2(lanes2_t lanes, lanes_aim_t aims, const int32_t *within, const raw_t *x,
                                          int64_t count, int64_t step, int32_t r, int32_t columns, const int rows) {
    TALLY_FREE_LANES
    for (int64_t j = 0; j < count; j++) {
        const aim_t aim = get_aim(aims, j);
        second_t row[4];
#pragma GCC unroll 4
        for (int k = 0; k < rows; k++) row[k] = lift2(item_of(x[k * step + j]), r + k * columns + within[j], aim);
        if (rows == 4) row[0] = combine2(combine2(row[0], row[1]), combine2(row[2], row[3]));
        put2(lanes, j, combine2(get2(lanes, j), row[0]));
    }
}
TALLY_INLINE TALLY_TARGET void fill_rows2(lanes2_t lanes, lanes_aim_t aims, int32_t *within, const raw_t *x,
                                          int64_t rows, int64_t stride, int64_t width, int64_t columns) {
    int64_t r = 0;
    while (columns > 1 && columns * width > 1024) columns /= 2; /* each is filled first */
    for (int64_t c = 1; c < columns; c++)
        for (int64_t p = 0; p < width; p++) put_aim(aims, c * width + p, get_aim(aims, p));
    for (int64_t c = 0; c < columns; c++)
        for (int64_t p = 0; p < width; p++) within[c * width + p] = (int32_t)c;
    for (int64_t j = 0; j < columns * width; j++) put2(lanes, j, identity2());
    for (; r + 4 * columns <= rows; r += 4 * columns)
        take_rows2(lanes, aims, within, x + r * stride, columns * width, columns * stride, (int32_t)r, (int32_t)columns,
                   4);
    for (int64_t some; r < rows; r += some) {
        some = rows - r < columns ? rows - r : columns;
        take_rows2(lanes, aims, within, x + r * stride, some * width, 0, (int32_t)r, 0, 1);
    }
    halve_present2(lanes, columns, columns, width);
}
#elif TALLY_PASSES == 2
TALLY_INLINE TALLY_TARGET void fill_some2(lanes2_t lanes, lanes_aim_t aims, const raw_t *x, int64_t count, int32_t r,
                                          bool is_first) {
    TALLY_WIDE(wide, x, TALLY_LEAF, count)
    if (is_first) {
        TALLY_FREE_LANES
        for (int64_t p = 0; p < count; p++) put2(lanes, p, lift2(item_at(x, wide, p), r, get_aim(aims, p)));
    } else {
        TALLY_FREE_LANES
        for (int64_t p = 0; p < count; p++)
            put2(lanes, p, combine2(get2(lanes, p), lift2(item_at(x, wide, p), r, get_aim(aims, p))));
    }
}
TALLY_INLINE TALLY_TARGET void fill_rows2(lanes2_t lanes, lanes_aim_t aims, const raw_t *x, int64_t rows,
                                          int64_t stride, int64_t width, int64_t columns) {
    for (int64_t r = 0; r < rows; r++) {
        lanes2_t here = shifted2(lanes, r % columns * width);
        lanes_aim_t towards = aims;
        for (int64_t p = 0, some; p < width; p += some) {
            some = TALLY_WIDENS && width - p > TALLY_LEAF ? TALLY_LEAF : width - p;
            fill_some2(here, towards, x + r * stride + p, some, (int32_t)r, r < columns);
            here = shifted2(here, some);
            towards = shifted_aim(towards, some);
        }
    }
}

/* Few results side by side leave vector loops over them too short: each is copied out and reduced as a leaf of its own.
 */
static TALLY_TARGET int narrow_rows(const tally__kernel *kernel, const raw_t *x, int64_t rows, int64_t stride,
                                    int64_t width, int64_t first, const tally_final *final, tally__node *nodes,
                                    void *results) {
    TALLY_T leaf[TALLY_LEAF];
    int flags = 0;
    for (int64_t p = 0; p < width; p++) {
        node_t node;
        result_t result;
        for (int64_t r = 0; r < rows; r++) leaf[r] = x[r * stride + p];
        node = tree(leaf, leaf, rows, rows, first);
        if (nodes) {
            __builtin_memcpy((void *)tally__node_at(kernel, nodes, p), &node, sizeof node);
            continue;
        }
        flags |= finalize(node, final, &result);
        write(results, p, result);
    }
    return flags;
}
#endif

static TALLY_TARGET int reduce_rows(const tally__kernel *kernel, const void *vx, const void *vy, int64_t rows,
                                    int64_t stride, int64_t width, int64_t first, const tally_final *final,
                                    void *vscratch, tally__node *nodes, void *results) {
    const raw_t *x = vx, *y = vy;
    char *scratch = vscratch;
    (void)kernel;
    const int64_t columns = lane_columns(rows, stride, width);
    const int64_t present = rows < columns ? rows : columns, count = count_lanes(present, stride, width);
    lanes_t lanes = carve(&scratch, count);
    int empty = 0, care = 0, flags;
#if TALLY_FLOAT && TALLY_NAN == 1
    int32_t *counts;
#endif
#if TALLY_PASSES == 2
    lanes2_t lanes2 = carve2(&scratch, count);
#if TALLY_IS_FREE
    lanes_aim_t aims = carve_aim(&scratch, count);
    int32_t *const within = (int32_t *)(void *)scratch;
    scratch += ((size_t)count * sizeof *within + 63) & ~(size_t)63;
#else
    lanes_aim_t aims = carve_aim(&scratch, width);
    if (width < 16 && rows > 1) return narrow_rows(kernel, x, rows, stride, width, first, final, nodes, results);
#endif
#else
    (void)first;
#endif
#if TALLY_FLOAT && TALLY_NAN == 1
    counts = (int32_t *)scratch;
    count_rows(counts, x, y, rows, stride, width);
#endif
    fill_rows(lanes, x, y, rows, stride, width, columns);
#if TALLY_PASSES == 2
    for (int64_t p = 0; p < width; p++) put_aim(aims, p, take_aim(get(lanes, p), TALLY_COUNT_OF(p)));
#if TALLY_IS_FREE
    fill_rows2(lanes2, aims, within, x, rows, stride, width, columns);
#else
    fill_rows2(lanes2, aims, x, rows, stride, width, columns);
    halve_present2(lanes2, columns, present, width);
#endif
#define TALLY_LEAF_NODE(p) to_node(get(lanes, p), get_aim(aims, p), get2(lanes2, p), TALLY_COUNT_OF(p), first)
#else
#define TALLY_LEAF_NODE(p) to_node(get(lanes, p), TALLY_COUNT_OF(p))
#endif
    if (nodes) {
        for (int64_t p = 0; p < width; p++) {
            node_t node = TALLY_LEAF_NODE(p);
            __builtin_memcpy((void *)tally__node_at(kernel, nodes, p), &node, sizeof node);
        }
        return 0;
    }
    TALLY_FREE_LANES
    for (int64_t p = 0; p < width; p++) {
        node_t node = TALLY_LEAF_NODE(p);
        write(results, p, finish(node, final));
        empty |= node.n == 0;
        care |= TALLY_NEEDS_WIDE(node, final);
    }
    flags = empty ? TALLY_FLAG_EMPTY : 0;
    for (int64_t p = 0; p < width && care; p++) {
        node_t node = TALLY_LEAF_NODE(p);
        result_t result;
        if (!TALLY_NEEDS_WIDE(node, final)) continue;
        flags |= finalize(node, final, &result);
        write(results, p, result);
    }
    return flags;
}
#undef TALLY_COUNT_OF
#undef TALLY_LEAF_NODE

#endif
