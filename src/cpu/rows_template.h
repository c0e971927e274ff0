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

/* Of f16 no more than a leaf. */
TALLY_INLINE TALLY_TARGET void fill_some(lanes_t lanes, const raw_t *x, const raw_t *y, int64_t count, bool is_first) {
    TALLY_WIDE_TWO(TALLY_LEAF, count)
    if (is_first)
        stack(lanes, x, y, wide_x, wide_y, count, 0, 1);
    else
        extend(lanes, x, y, wide_x, wide_y, count);
}
/* The columns of every result from `rows` rows: stretches of memory that are one row each, or a whole stripe of rows.
 */
TALLY_INLINE TALLY_TARGET void fill_rows(lanes_t lanes, const raw_t *x, const raw_t *y, int64_t rows, int64_t stride,
                                         int64_t width, int64_t columns) {
    int64_t together = stride == width ? columns : 1;
    for (int64_t r = 0; r < rows; r += together) {
        lanes_t here = shifted(lanes, r % columns * width);
        int64_t count = (rows - r < together ? rows - r : together) * width;
        for (int64_t p = 0, some; p < count; p += some, here = shifted(here, some)) {
            some = TALLY_WIDENS && count - p > TALLY_LEAF ? TALLY_LEAF : count - p;
            fill_some(here, x + r * stride + p, y + r * stride + p, some, r < columns);
        }
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

#if TALLY_PASSES == 2
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
    int64_t columns = TALLY_COLUMNS_OF(rows);
    int64_t present = rows < columns ? rows : columns;
    lanes_t lanes = carve(&scratch, present * width);
    int empty = 0, care = 0, flags;
#if TALLY_FLOAT && TALLY_NAN == 1
    int32_t *counts;
#endif
#if TALLY_PASSES == 2
    lanes2_t lanes2 = carve2(&scratch, present * width);
    lanes_aim_t aims = carve_aim(&scratch, width);
    if (width < 16 && rows > 1) return narrow_rows(kernel, x, rows, stride, width, first, final, nodes, results);
#else
    (void)first;
#endif
#if TALLY_FLOAT && TALLY_NAN == 1
    counts = (int32_t *)scratch;
    count_rows(counts, x, y, rows, stride, width);
#endif
    fill_rows(lanes, x, y, rows, stride, width, columns);
    halve_present(lanes, columns, present, width);
#if TALLY_PASSES == 2
    for (int64_t p = 0; p < width; p++) put_aim(aims, p, take_aim(get(lanes, p), TALLY_COUNT_OF(p)));
    fill_rows2(lanes2, aims, x, rows, stride, width, columns);
    halve_present2(lanes2, columns, present, width);
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
