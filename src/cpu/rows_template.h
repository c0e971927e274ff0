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

/* Result p has the values x[r * stride + p] of `rows` rows r, and `columns` columns; lanes for those that are filled at
 * a time. Of two passes, the second pass' lanes and what each measures from. */
typedef struct leaf_rows_t {
    const raw_t *x, *y;
    int64_t rows, stride, width, columns;
    lanes_t lanes;
#if TALLY_PASSES == 2
    lanes2_t lanes2;
    lanes_aim_t aims;
#if TALLY_IS_FREE
    int32_t *within; /* the column of each lane */
#endif
#endif
#if TALLY_FLOAT && TALLY_NAN == 1
    int32_t *counts; /* of each result's values that are no NaN */
#endif
} leaf_rows_t;

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
TALLY_INLINE TALLY_TARGET void fill_rows(const leaf_rows_t *all, bool in_tree) {
    const raw_t *const x = all->x, *const y = all->y;
    const int64_t rows = all->rows, stride = all->stride, width = all->width, columns = all->columns;
    int64_t r = columns;
    (void)in_tree;
    take_rows(all->lanes, x, y, columns * width, 0, 1, true);
    for (; r + 4 * columns <= rows && are_apart(stride, columns); r += 4 * columns)
        take_rows(all->lanes, x + r * stride, y + r * stride, columns * width, columns * stride, 4, false);
    for (int64_t some; r < rows; r += some) {
        some = rows - r < columns ? rows - r : columns;
        take_rows(all->lanes, x + r * stride, y + r * stride, some * width, 0, 1, false);
    }
    halve_present(all->lanes, columns, columns, width);
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
/* All columns of every result: stretches of memory that are one row each, or a whole stripe of rows. */
TALLY_INLINE TALLY_TARGET void fill_columns(const leaf_rows_t *all) {
    const int64_t rows = all->rows, stride = all->stride, width = all->width, columns = all->columns;
    const int64_t together = stride == width ? columns : 1;
    for (int64_t r = 0; r < rows; r += together) {
        const int64_t count = (rows - r < together ? rows - r : together) * width;
        fill_row(shifted(all->lanes, r % columns * width), all->x + r * stride, all->y + r * stride, count,
                 r < columns);
    }
    halve_present(all->lanes, columns, rows < columns ? rows : columns, width);
}
/* Column c of every result, to the lanes from `at` on: the rows c, c + columns, ... */
TALLY_INLINE TALLY_TARGET void fill_column(const leaf_rows_t *all, int64_t c, int64_t at) {
    const raw_t *const x = all->x, *const y = all->y;
    const int64_t rows = all->rows, stride = all->stride, width = all->width, columns = all->columns;
    const lanes_t lanes = shifted(all->lanes, at);
    if (!TALLY_WIDENS && c + (TALLY_STRIPES - 1) * columns < rows) {
        stack(lanes, x + c * stride, y + c * stride, NULL, NULL, width, columns * stride, TALLY_STRIPES);
        return;
    }
    for (int64_t r = c; r < rows; r += columns) fill_row(lanes, x + r * stride, y + r * stride, width, r < columns);
}
/* Whether columns are read one by one, whose tree needs few lanes at a time. Else all have lanes: of rows that follow
 * one another each stripe is one loop then. */
TALLY_INLINE bool are_in_tree(int64_t present, int64_t stride, int64_t width) {
    return present * width > kernel_least_lanes || (TALLY_PASSES == 1 && stride != width);
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
#endif
/* How many values result p has. */
TALLY_INLINE int64_t values_of(leaf_rows_t all, int64_t p) {
#if TALLY_FLOAT && TALLY_NAN == 1
    return all.counts[p];
#else
    (void)p;
    return all.rows;
#endif
}

#if TALLY_PASSES == 2 && TALLY_IS_FREE
/* The same of the second pass, of values that are in the cache by then. */
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
TALLY_INLINE TALLY_TARGET void fill_rows2(const leaf_rows_t *all, bool in_tree) {
    const raw_t *const x = all->x;
    const int64_t rows = all->rows, stride = all->stride, width = all->width;
    const lanes2_t lanes = all->lanes2;
    const lanes_aim_t aims = all->aims;
    int32_t *const within = all->within;
    int64_t r = 0, columns = all->columns;
    (void)in_tree;
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
    TALLY_WIDE_PART(wide, x, TALLY_LEAF, count)
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
TALLY_INLINE TALLY_TARGET void fill_columns2(const leaf_rows_t *all) {
    const int64_t rows = all->rows, stride = all->stride, width = all->width, columns = all->columns;
    for (int64_t r = 0; r < rows; r++)
        fill_row2(shifted2(all->lanes2, r % columns * width), all->aims, all->x + r * stride, width, r, r < columns);
    halve_present2(all->lanes2, columns, rows < columns ? rows : columns, width);
}
/* Column c of every result, in registers where that is not too much code. */
TALLY_INLINE TALLY_TARGET void fill_column2(const leaf_rows_t *all, int64_t c, int64_t at) {
    const int64_t rows = all->rows, stride = all->stride, width = all->width, columns = all->columns;
    const int64_t step = columns * stride;
    const raw_t *const x = all->x + c * stride;
    const lanes2_t lanes = shifted2(all->lanes2, at);
    const lanes_aim_t aims = all->aims;
    if (TALLY_IS_LONG || TALLY_WIDENS || c + (TALLY_STRIPES - 1) * columns >= rows) {
        for (int64_t r = c; r < rows; r += columns) fill_row2(lanes, aims, all->x + r * stride, width, r, r < columns);
        return;
    }
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

/* Few results side by side leave vector loops over them too short: each is copied out and reduced as a leaf of its own.
 */
static TALLY_TARGET int narrow_rows(const tally__kernel *kernel, const raw_t *x, int64_t rows, int64_t stride,
                                    int64_t width, int64_t first, const tally_final *final, tally__node *nodes,
                                    void *results) {
    enum { SOME = 1024 / TALLY_BYTES };
    const char *later = (const char *)(x + rows * stride); /* the next rows: asked for all the while */
    TALLY_T leaf[TALLY_LEAF];
    int flags = 0;
    for (int64_t p = 0; p < width; p++) {
        node_t node;
        result_t result;
        for (int64_t from = 0; from < rows; from += SOME) {
            const int64_t to = rows - from < SOME ? rows : from + SOME;
            for (int64_t r = from; r < to; r++) leaf[r] = x[r * stride + p];
            for (int64_t r = from; r < to; r += 64 / TALLY_BYTES, later += 64) __builtin_prefetch(later);
        }
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

#if !TALLY_IS_FREE
/* What one pass does, and what the other: both walk the same tree. */
#if TALLY_PASSES == 2
#define TALLY_BY_PASS(pass, one, two) ((pass) == 1 ? (one) : (two))
#else
#define TALLY_BY_PASS(pass, one, two) ((void)(pass), (one))
#endif
/* The tree over the columns c, c + apart, ... of every result, in the lanes from `at` on: the later half waits behind
 * the earlier one. */
static TALLY_TARGET void fold_columns(const leaf_rows_t *all, const int pass, int64_t c, int64_t apart, int64_t at) {
    const int64_t width = all->width;
    if (apart == all->columns) {
        TALLY_BY_PASS(pass, fill_column(all, c, at), fill_column2(all, c, at));
        return;
    }
    fold_columns(all, pass, c, 2 * apart, at);
    if (c + apart >= all->rows) return;
    fold_columns(all, pass, c + apart, 2 * apart, at + width);
    TALLY_BY_PASS(pass, fold(shifted(all->lanes, at), width, width), fold2(shifted2(all->lanes2, at), width, width));
}
/* The joined columns of every result. */
TALLY_INLINE TALLY_TARGET void fill_rows(const leaf_rows_t *all, bool in_tree) {
    if (in_tree)
        fold_columns(all, 1, 0, 1, 0);
    else
        fill_columns(all);
}
#if TALLY_PASSES == 2
TALLY_INLINE TALLY_TARGET void fill_rows2(const leaf_rows_t *all, bool in_tree) {
    if (in_tree)
        fold_columns(all, 2, 0, 1, 0);
    else
        fill_columns2(all);
}
#endif
#undef TALLY_BY_PASS
#endif

#if TALLY_PASSES == 2
/* What the second pass measures from. */
TALLY_INLINE TALLY_TARGET void aim_rows(leaf_rows_t all) {
    for (int64_t p = 0; p < all.width; p++) put_aim(all.aims, p, take_aim(get(all.lanes, p), values_of(all, p)));
}
#endif
/* The node of result p, when its columns are joined. */
TALLY_INLINE TALLY_TARGET node_t node_of_rows(leaf_rows_t all, int64_t p, int64_t first) {
#if TALLY_PASSES == 2
    return to_node(get(all.lanes, p), get_aim(all.aims, p), get2(all.lanes2, p), values_of(all, p), first);
#else
    (void)first;
    return to_node(get(all.lanes, p), values_of(all, p));
#endif
}
/* The results of `width` nodes, and their flags: first as all are finished in vector lanes, then those that need care.
 */
TALLY_INLINE TALLY_TARGET int finish_rows(leaf_rows_t all, int64_t width, int64_t first, const tally_final *final,
                                          void *results) {
    int empty = 0, care = 0, flags;
    TALLY_FREE_LANES
    for (int64_t p = 0; p < width; p++) {
        node_t node = node_of_rows(all, p, first);
        write(results, p, finish(node, final));
        empty |= node.n == 0;
        care |= TALLY_NEEDS_WIDE(node, final);
    }
    flags = empty ? TALLY_FLAG_EMPTY : 0;
    for (int64_t p = 0; p < width && care; p++) {
        node_t node = node_of_rows(all, p, first);
        result_t result;
        if (!TALLY_NEEDS_WIDE(node, final)) continue;
        flags |= finalize(node, final, &result);
        write(results, p, result);
    }
    return flags;
}

/* Lanes and the like from scratch memory, `count` of each kind that columns have. */
TALLY_INLINE void carve_rows(leaf_rows_t *all, char *scratch, int64_t count) {
    all->lanes = carve(&scratch, count);
#if TALLY_PASSES == 2
    all->lanes2 = carve2(&scratch, count);
    all->aims = carve_aim(&scratch, TALLY_IS_FREE ? count : all->width);
#if TALLY_IS_FREE
    all->within = (int32_t *)(void *)scratch;
    scratch += ((size_t)count * sizeof *all->within + 63) & ~(size_t)63;
#endif
#endif
#if TALLY_FLOAT && TALLY_NAN == 1
    all->counts = (int32_t *)(void *)scratch;
#endif
}
static TALLY_TARGET int reduce_rows(const tally__kernel *kernel, const void *x, const void *y, int64_t rows,
                                    int64_t stride, int64_t width, int64_t first, const tally_final *final,
                                    void *vscratch, tally__node *nodes, void *results) {
    leaf_rows_t all = {.x = x, .y = y, .rows = rows, .stride = stride, .width = width};
    char *scratch = vscratch;
#if TALLY_PASSES == 2 && !TALLY_IS_FREE
    if (width < 16 && rows > 1) return narrow_rows(kernel, x, rows, stride, width, first, final, nodes, results);
#endif
    /* The second pass finds a copy in the cache; rows 2^14 bytes apart lie in the same few lines of it. */
    const bool is_copied = kernel_copies_rows && stride != width && rows > TALLY_ROWS_IN_PLACE;
    if (is_copied) {
        const int64_t each = 64 / TALLY_BYTES;
        raw_t *const copy = (raw_t *)(void *)scratch;
        all.width = all.stride = (width + each - 1) / each * each;
        scratch += rows * all.width * TALLY_BYTES;
        pack_rows(copy, x, rows, stride, width, all.width);
        all.x = all.y = copy;
    }
    all.columns = lane_columns(rows, all.stride, all.width);
    const int64_t present = rows < all.columns ? rows : all.columns;
    const bool in_tree = is_copied || are_in_tree(present, all.stride, all.width);
    carve_rows(&all, scratch, (in_tree && present > kernel_lanes ? kernel_lanes : present) * all.width);
#if TALLY_FLOAT && TALLY_NAN == 1
    count_rows(all.counts, all.x, all.y, rows, all.stride, all.width);
#endif
    fill_rows(&all, in_tree);
#if TALLY_PASSES == 2
    aim_rows(all);
    fill_rows2(&all, in_tree);
#endif
    if (!nodes) return finish_rows(all, width, first, final, results);
    for (int64_t p = 0; p < width; p++) {
        node_t node = node_of_rows(all, p, first);
        __builtin_memcpy((void *)tally__node_at(kernel, nodes, p), &node, sizeof node);
    }
    return 0;
}

#endif
