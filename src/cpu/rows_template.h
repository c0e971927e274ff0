/* Results side by side, each over values `stride` apart (rows of an N-d array along an axis that is not the last):
 * lanes are columns times results, so that neighbouring results share vector registers. Part of template.h; no include
 * guard.
 *
 * Lane c * width + p is column c of result p. Where rows follow one another without a gap (stride == width), a whole
 * stripe of rows is one stretch of memory and one loop. */

/* The columns of every result from `rows` rows: stretches of memory that are one row each, or a whole stripe of rows.
 */
TALLY_INLINE TALLY_TARGET void TALLY_N(fill_rows)(TALLY_N(lanes) lanes, const TALLY_N(raw) *x, const TALLY_N(raw) *y,
                                                  int64_t rows, int64_t stride, int64_t width, int64_t columns) {
    int64_t together = stride == width ? columns : 1;
    for (int64_t r = 0; r < rows; r += together) {
        TALLY_N(lanes) here = TALLY_N(shifted)(lanes, r % columns * width);
        int64_t count = (rows - r < together ? rows - r : together) * width;
        if (r < columns)
            TALLY_N(stack)(here, x + r * stride, y + r * stride, NULL, NULL, count, 0, 1);
        else
            TALLY_N(extend)(here, x + r * stride, y + r * stride, count);
    }
}

#if TALLY_FLOAT && TALLY_NAN == 1
TALLY_INLINE TALLY_TARGET void TALLY_N(count_rows)(int32_t *counts, const TALLY_N(raw) *x, const TALLY_N(raw) *y,
                                                   int64_t rows, int64_t stride, int64_t width) {
    for (int64_t p = 0; p < width; p++) counts[p] = 0;
    for (int64_t r = 0; r < rows; r++) {
        TALLY_FREE_LANES
        for (int64_t p = 0; p < width; p++)
            counts[p] += TALLY_N(present)(x[r * stride + p]) & TALLY_N(present)(y[r * stride + p]);
    }
}
#define TALLY_COUNT_OF(p) counts[p]
#else
#define TALLY_COUNT_OF(p) rows
#endif

#if TALLY_PASSES == 2
TALLY_INLINE TALLY_TARGET void TALLY_N(fill_rows2)(TALLY_N(lanes2) lanes, TALLY_N(lanes_aim) aims,
                                                   const TALLY_N(raw) *x, int64_t rows, int64_t stride, int64_t width,
                                                   int64_t columns) {
    for (int64_t r = 0; r < rows; r++) {
        TALLY_N(lanes2) here = TALLY_N(shifted2)(lanes, r % columns * width);
        const TALLY_N(raw) *at = x + r * stride;
        if (r < columns) {
            TALLY_FREE_LANES
            for (int64_t p = 0; p < width; p++)
                TALLY_N(put2)(here, p, TALLY_N(lift2)(TALLY_N(item_of)(at[p]), (int32_t)r, TALLY_N(get_aim)(aims, p)));
        } else {
            TALLY_FREE_LANES
            for (int64_t p = 0; p < width; p++)
                TALLY_N(put2)(
                    here, p,
                    TALLY_N(combine2)(TALLY_N(get2)(here, p),
                                      TALLY_N(lift2)(TALLY_N(item_of)(at[p]), (int32_t)r, TALLY_N(get_aim)(aims, p))));
        }
    }
}

/* Few results side by side leave vector loops over them too short: each is copied out and reduced as a leaf of its own.
 */
static TALLY_TARGET int TALLY_N(narrow_rows)(const tally__kernel *kernel, const TALLY_N(raw) *x, int64_t rows,
                                             int64_t stride, int64_t width, int64_t first, const tally_final *final,
                                             tally__node *nodes, void *results) {
    TALLY_T leaf[TALLY_LEAF];
    int saw = 0;
    for (int64_t p = 0; p < width; p++) {
        TALLY_N(node) node;
        TALLY_N(result) result;
        for (int64_t r = 0; r < rows; r++) leaf[r] = x[r * stride + p];
        node = TALLY_N(tree)(leaf, leaf, rows, rows, first);
        if (nodes) {
            __builtin_memcpy((void *)tally__node_at(kernel, nodes, p), &node, sizeof node);
            continue;
        }
        saw |= TALLY_N(conclude)(node, final, &result);
        TALLY_N(write)(results, p, result);
    }
    return saw;
}
#endif

static TALLY_TARGET int TALLY_N(rows)(const tally__kernel *kernel, const void *vx, const void *vy, int64_t rows,
                                      int64_t stride, int64_t width, int64_t first, const tally_final *final,
                                      void *vscratch, tally__node *nodes, void *results) {
    const TALLY_N(raw) *x = vx, *y = vy;
    char *scratch = vscratch;
    (void)kernel;
    int64_t columns = TALLY_COLUMNS_OF(rows);
    int64_t present = rows < columns ? rows : columns;
    TALLY_N(lanes) lanes = TALLY_N(carve)(&scratch, present * width);
    int empty = 0, care = 0, saw;
#if TALLY_FLOAT && TALLY_NAN == 1
    int32_t *counts;
#endif
#if TALLY_PASSES == 2
    TALLY_N(lanes2) lanes2 = TALLY_N(carve2)(&scratch, present * width);
    TALLY_N(lanes_aim) aims = TALLY_N(carve_aim)(&scratch, width);
    if (width < 16 && rows > 1)
        return TALLY_N(narrow_rows)(kernel, x, rows, stride, width, first, final, nodes, results);
#else
    (void)first;
#endif
#if TALLY_FLOAT && TALLY_NAN == 1
    counts = (int32_t *)scratch;
    TALLY_N(count_rows)(counts, x, y, rows, stride, width);
#endif
    TALLY_N(fill_rows)(lanes, x, y, rows, stride, width, columns);
    TALLY_N(halve_present)(lanes, columns, present, width);
#if TALLY_PASSES == 2
    for (int64_t p = 0; p < width; p++)
        TALLY_N(put_aim)(aims, p, TALLY_N(take_aim)(TALLY_N(get)(lanes, p), TALLY_COUNT_OF(p)));
    TALLY_N(fill_rows2)(lanes2, aims, x, rows, stride, width, columns);
    TALLY_N(halve_present2)(lanes2, columns, present, width);
#define TALLY_SEALED(p) \
    TALLY_N(seal)(TALLY_N(get)(lanes, p), TALLY_N(get_aim)(aims, p), TALLY_N(get2)(lanes2, p), TALLY_COUNT_OF(p), first)
#else
#define TALLY_SEALED(p) TALLY_N(seal)(TALLY_N(get)(lanes, p), TALLY_COUNT_OF(p))
#endif
    if (nodes) {
        for (int64_t p = 0; p < width; p++) {
            TALLY_N(node) node = TALLY_SEALED(p);
            __builtin_memcpy((void *)tally__node_at(kernel, nodes, p), &node, sizeof node);
        }
        return 0;
    }
    TALLY_FREE_LANES
    for (int64_t p = 0; p < width; p++) {
        TALLY_N(node) node = TALLY_SEALED(p);
        TALLY_N(write)(results, p, TALLY_N(finish)(node, final));
        empty |= node.n == 0;
        care |= TALLY_NEEDS_WIDE(node, final);
    }
    saw = empty ? TALLY_SAW_EMPTY : 0;
    for (int64_t p = 0; p < width && care; p++) {
        TALLY_N(node) node = TALLY_SEALED(p);
        TALLY_N(result) result;
        if (!TALLY_NEEDS_WIDE(node, final)) continue;
        saw |= TALLY_N(conclude)(node, final, &result);
        TALLY_N(write)(results, p, result);
    }
    return saw;
}
#undef TALLY_COUNT_OF
#undef TALLY_SEALED
