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
TALLY_INLINE bool are_in_tree(int64_t present, int64_t stride, int64_t width) {
    (void)present, (void)stride, (void)width;
    return false;
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
                                         int64_t width, int64_t columns, bool in_tree) {
    int64_t r = columns;
    (void)in_tree;
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
/* Whether columns are read one by one, whose tree needs few lanes at a time. Else all have lanes: of rows that follow
 * one another each stripe is one loop then. */
TALLY_INLINE bool are_in_tree(int64_t present, int64_t stride, int64_t width) {
    return present * width > kernel_least_lanes || (TALLY_PASSES == 1 && stride != width);
}
/* The joined columns of every result. */
TALLY_INLINE TALLY_TARGET void fill_rows(lanes_t lanes, const raw_t *x, const raw_t *y, int64_t rows, int64_t stride,
                                         int64_t width, int64_t columns, bool in_tree) {
    if (in_tree) {
        fold_columns(lanes, x, y, rows, stride, width, columns, 0, 1);
        return;
    }
    fill_columns(lanes, x, y, rows, stride, width, columns);
    halve_present(lanes, columns, rows < columns ? rows : columns, width);
}
#endif

/* Copies rows, with zeros behind each up to `wide` values, and asks for memory, as hardware does not for many short
 * pieces. */
TALLY_APART TALLY_TARGET void pack_rows(raw_t *copy, const raw_t *x, int64_t rows, int64_t stride, int64_t width,
                                        int64_t wide) {
    enum { AHEAD = 12 };
    for (int64_t r = 0; r < rows; r++, copy += wide, x += stride) {
        for (int64_t p = 0; p < width && r + AHEAD < rows; p += 64 / TALLY_BYTES)
            __builtin_prefetch(x + AHEAD * stride + p);
        TALLY_FREE_LANES
        for (int64_t p = 0; p < width; p++) copy[p] = x[p];
        for (int64_t p = width; p < wide; p++) copy[p] = (raw_t){0};
    }
}

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
TALLY_INLINE TALLY_TARGET void fill_row2(lanes2_t lanes, lanes_aim_t aims, const raw_t *x, int64_t width, int64_t r,
                                         bool is_first) {
    for (int64_t p = 0, some; p < width; p += some) {
        some = TALLY_WIDENS && width - p > TALLY_LEAF ? TALLY_LEAF : width - p;
        fill_some2(shifted2(lanes, p), shifted_aim(aims, p), x + p, some, (int32_t)r, is_first);
    }
}
/* Column c of every result, in registers where that is not too much code. */
TALLY_INLINE TALLY_TARGET void fill_column2(lanes2_t lanes, lanes_aim_t aims, const raw_t *x, int64_t rows,
                                            int64_t stride, int64_t width, int64_t columns, int64_t c) {
    const int64_t step = columns * stride;
    if (TALLY_IS_LONG || TALLY_WIDENS || c + (TALLY_STRIPES - 1) * columns >= rows) {
        for (int64_t r = c; r < rows; r += columns) fill_row2(lanes, aims, x + r * stride, width, r, r < columns);
        return;
    }
    x += c * stride;
    TALLY_FREE_LANES
    for (int64_t p = 0; p < width; p++) {
        const aim_t aim = get_aim(aims, p);
        second_t a = lift2(item_of(x[p]), (int32_t)c, aim);
#pragma GCC unroll 8
        for (int k = 1; k < TALLY_STRIPES; k++)
            a = combine2(a, lift2(item_of(x[k * step + p]), (int32_t)(c + k * columns), aim));
        put2(lanes, p, a);
    }
}
static TALLY_TARGET void fold_columns2(lanes2_t lanes, lanes_aim_t aims, const raw_t *x, int64_t rows, int64_t stride,
                                       int64_t width, int64_t columns, int64_t c, int64_t apart) {
    if (apart == columns) {
        fill_column2(lanes, aims, x, rows, stride, width, columns, c);
        return;
    }
    fold_columns2(lanes, aims, x, rows, stride, width, columns, c, 2 * apart);
    if (c + apart >= rows) return;
    fold_columns2(shifted2(lanes, width), aims, x, rows, stride, width, columns, c + apart, 2 * apart);
    fold2(lanes, width, width);
}
TALLY_INLINE TALLY_TARGET void fill_rows2(lanes2_t lanes, lanes_aim_t aims, const raw_t *x, int64_t rows,
                                          int64_t stride, int64_t width, int64_t columns, bool in_tree) {
    if (in_tree) {
        fold_columns2(lanes, aims, x, rows, stride, width, columns, 0, 1);
        return;
    }
    for (int64_t r = 0; r < rows; r++)
        fill_row2(shifted2(lanes, r % columns * width), aims, x + r * stride, width, r, r < columns);
    halve_present2(lanes, columns, rows < columns ? rows : columns, width);
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
#if TALLY_PASSES == 2 && !TALLY_IS_FREE
    if (width < 16 && rows > 1) return narrow_rows(kernel, x, rows, stride, width, first, final, nodes, results);
#endif
    /* The second pass finds a copy in the cache; rows 2^14 bytes apart lie in the same few lines of it. */
    const bool is_copied = kernel_copies_rows && stride != width && rows > TALLY_ROWS_IN_PLACE;
    const int64_t each = 64 / TALLY_BYTES, wide = is_copied ? (width + each - 1) / each * each : width;
    if (is_copied) {
        raw_t *const copy = (raw_t *)(void *)scratch;
        scratch += rows * wide * TALLY_BYTES;
        pack_rows(copy, x, rows, stride, width, wide);
        x = y = copy;
        stride = wide;
    }
    const int64_t columns = lane_columns(rows, stride, wide), present = rows < columns ? rows : columns;
    const bool in_tree = is_copied || are_in_tree(present, stride, wide);
    const int64_t count = (in_tree && present > kernel_lanes ? kernel_lanes : present) * wide;
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
    lanes_aim_t aims = carve_aim(&scratch, wide);
#endif
#else
    (void)first;
#endif
#if TALLY_FLOAT && TALLY_NAN == 1
    counts = (int32_t *)scratch;
    count_rows(counts, x, y, rows, stride, wide);
#endif
    fill_rows(lanes, x, y, rows, stride, wide, columns, in_tree);
#if TALLY_PASSES == 2
    for (int64_t p = 0; p < wide; p++) put_aim(aims, p, take_aim(get(lanes, p), TALLY_COUNT_OF(p)));
#if TALLY_IS_FREE
    fill_rows2(lanes2, aims, within, x, rows, stride, wide, columns);
#else
    fill_rows2(lanes2, aims, x, rows, stride, wide, columns, in_tree);
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
