/* The node of one leaf by one warp, in the canonical order (docs/order.md), for the operator of TALLY_KERNEL_FILE and
 * the type of types/types.h. */
#ifndef TALLY_LEAF_NODE_H
#define TALLY_LEAF_NODE_H

#include "accumulators/finalize.h"
#include "order/fold.h"
#include "order/leaf.h"
#include "order/pairs.h"

#if TALLY_IS_USER
#include "user/leaf.h"
#else
#define TALLY_IN_REGISTERS 1
#define TALLY_STAGE tally_stage
#endif

#if TALLY_IN_REGISTERS

/* Combines the columns, on the left, with the values of stripe s. Values beyond n are left out. */
TALLY_FN void stack(column_t *columns, const part_t *x, const part_t *y, int32_t s, int64_t n) {
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_PART; v++) {
        column_t lifted = lift(item_of(x->v[v]), item_of(y->v[v]));
        if (n < TALLY_DEVICE_LEAF && place_in_leaf(s, v) >= n) lifted = identity();
        columns[v % TALLY_HELD] = s == 0 && v < TALLY_HELD ? lifted : combine(columns[v % TALLY_HELD], lifted);
    }
}
#if TALLY_PASSES == 2
TALLY_FN void stack2(second_t *columns, const part_t *x, aim_t aim, int32_t s, int64_t n) {
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_PART; v++) {
        second_t lifted = lift2(item_of(x->v[v]), place_in_leaf(s, v), aim);
        if (n < TALLY_DEVICE_LEAF && place_in_leaf(s, v) >= n) lifted = identity2();
        columns[v % TALLY_HELD] = s == 0 && v < TALLY_HELD ? lifted : combine2(columns[v % TALLY_HELD], lifted);
    }
}
#define TALLY_TO_NODE(column, present, first, read_again)             \
    do {                                                              \
        second_t columns2[TALLY_HELD];                                \
        aim_t aim = take_aim(column, present);                        \
        read_again;                                                   \
        return to_node(column, aim, fold2(columns2), present, first); \
    } while (0)
#else
#define TALLY_TO_NODE(column, present, first, read_again) return (void)(first), to_node(column, present)
#endif

/* How many of the lane's values of stripe s exist and are counted by the NaN policy. */
TALLY_FN uint32_t count_part(const part_t *x, const part_t *y, int32_t s, int64_t n) {
    uint32_t present = 0;
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_PART; v++)
        present += place_in_leaf(s, v) < n && is_present(x->v[v]) && is_present(y->v[v]);
    return present;
}
/* How many such values the whole warp has: n, if the policy counts all. */
TALLY_FN int64_t count_values(uint32_t present, int64_t n) {
    if (TALLY_MAY_SKIP) {
        for (int32_t mask = TALLY_WARP / 2; mask > 0; mask /= 2) present += tally_shuffle_xor(present, mask);
        n = (int64_t)present;
    }
    return n;
}

#if TALLY_BYTES == 1
#define TALLY_UNROLL_WIDE TALLY_ROLL
#else
#define TALLY_UNROLL_WIDE TALLY_UNROLL
#endif
/* The node of a whole leaf, from registers. A second pass over many narrow values reads them again, as keeping them
 * would spill registers. Some operators skip the second pass if the leaf cannot change `best`, the node so far: then
 * the leaf's values are only counted in it. */
TALLY_FN node_t plain_node(const char *from_x, const char *from_y, int64_t at, int64_t first, node_t *best,
                           int32_t *is_spared) {
    const int64_t n = TALLY_DEVICE_LEAF;
    share_t x = read_leaf(from_x, at), y = x;
    column_t columns[TALLY_HELD], column;
    uint32_t present = 0;
    if (TALLY_KERNEL_INPUTS == 2) y = read_leaf(from_y, at);
    TALLY_UNROLL
    for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++) {
        stack(columns, &x.part[s], &y.part[s], s, n);
        if (TALLY_MAY_SKIP) present += count_part(&x.part[s], &y.part[s], s, n);
    }
    column = fold(columns);
    (void)best, (void)is_spared;
#if TALLY_CAN_SPARE
    if (spare(*best, column)) {
        best->n += count_values(present, n);
        *is_spared = 1;
        return *best;
    }
#endif
    TALLY_TO_NODE(column, count_values(present, n), first + at, {
        if (TALLY_BYTES == 2) x = read_leaf(from_x, at);
        TALLY_UNROLL_WIDE
        for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++) {
            if (TALLY_BYTES == 1) x.part[0] = read_part(from_x, at, s);
            stack2(columns2, &x.part[TALLY_BYTES == 1 ? 0 : s], aim, s, n);
        }
    });
}

#endif

#if !TALLY_IS_USER
/* The node of a leaf of n values in registers. stripes: a constant, at least the number of stripes that exist; at: the
 * place of the first value in its row. */
TALLY_FN node_t node_of_parts(const part_t *x, const part_t *y, const int32_t stripes, int64_t n, int64_t at) {
    column_t columns[TALLY_HELD], column;
    uint32_t present = 0;
    TALLY_UNROLL
    for (int32_t s = 0; s < stripes; s++) {
        if (s * TALLY_DEVICE_COLUMNS >= n) continue;
        stack(columns, &x[s], &y[s], s, n);
        if (TALLY_MAY_SKIP) present += count_part(&x[s], &y[s], s, n);
    }
    column = fold(columns);
    TALLY_TO_NODE(column, count_values(present, n), at, {
        TALLY_UNROLL
        for (int32_t s = 0; s < stripes; s++)
            if (s * TALLY_DEVICE_COLUMNS < n) stack2(columns2, &x[s], aim, s, n);
    });
}

#if TALLY_PASSES == 1
/* Of 8-byte values and small columns, the whole parts of several stripes are on their way at once: of floats half of
 * all, as a value takes more operations. Larger columns would leave too few registers, and for others it makes no
 * difference. Measured. */
enum {
    are_at_once = TALLY_BYTES == 8 && !TALLY_IS_LONG && sizeof(column_t) <= 16,
    stripes_at_once = TALLY_FLOAT ? TALLY_DEVICE_STRIPES / 2 : TALLY_DEVICE_STRIPES
};
TALLY_FN node_t node_of_whole_parts(const char *from_x, const char *from_y, int64_t at, int32_t n) {
    column_t columns[TALLY_HELD];
    uint32_t present = 0;
    share_t x, y;
    TALLY_UNROLL
    for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++) {
        if (s * TALLY_DEVICE_COLUMNS >= n) continue;
        if (s % stripes_at_once == 0) {
            read_whole_parts(from_x, at, s, stripes_at_once, n, &x.part[s]);
            if (TALLY_KERNEL_INPUTS == 2) read_whole_parts(from_y, at, s, stripes_at_once, n, &y.part[s]);
        }
        const part_t *const other = TALLY_KERNEL_INPUTS == 2 ? &y.part[s] : &x.part[s];
        stack(columns, &x.part[s], other, s, n);
        if (TALLY_MAY_SKIP) present += count_part(&x.part[s], other, s, n);
    }
    return to_node(fold(columns), count_values(present, n));
}
#endif
/* Of others, the compiler orders loads and what follows from them. */
TALLY_FN node_t node_of_any_parts(const tally_source *from_x, const tally_source *from_y, int64_t at, int64_t n,
                                  int64_t first) {
    share_t x, y;
    TALLY_UNROLL
    for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++) {
        if (s * TALLY_DEVICE_COLUMNS < n) x.part[s] = read_part_of(from_x, at, s, n);
        if (TALLY_KERNEL_INPUTS == 2 && s * TALLY_DEVICE_COLUMNS < n) y.part[s] = read_part_of(from_y, at, s, n);
    }
    return node_of_parts(x.part, TALLY_KERNEL_INPUTS == 2 ? y.part : x.part, TALLY_DEVICE_STRIPES, n, first + at);
}
/* The node of a short packed leaf of more than TALLY_DEVICE_SMALL values: reads only the stripes that exist, the last
 * of which may be incomplete. */
TALLY_FN node_t part_node(const tally_source *from_x, const tally_source *from_y, int64_t at, int64_t n,
                          int64_t first) {
#if TALLY_PASSES == 1
    return are_at_once ? node_of_whole_parts(from_x->values, from_y->values, at, (int32_t)n)
                       : node_of_any_parts(from_x, from_y, at, n, first);
#else
    return node_of_any_parts(from_x, from_y, at, n, first);
#endif
}

/* Reads stripe s of n values from value `at` on. */
TALLY_FN part_t read_any_part(const tally_source *from, int64_t at, int32_t s, int64_t n, tally_stage *stage) {
    const int64_t row = s * TALLY_DEVICE_COLUMNS;
    if (from->is_packed) return read_part_of(from, at, s, n);
    return read_stripe(from, at + row, n - row, stage);
}

/* The node of a leaf that is short or whose values are not packed: stripe by stripe. */
TALLY_FN node_t staged_node(const tally_source *from_x, const tally_source *from_y, int64_t at, int64_t n,
                            int64_t first, tally_stage *stage) {
    column_t columns[TALLY_HELD], column;
    uint32_t present = 0;
    TALLY_ROLL
    for (int32_t s = 0; s < TALLY_DEVICE_STRIPES && s * TALLY_DEVICE_COLUMNS < n; s++) {
        part_t x = read_any_part(from_x, at, s, n, stage), y = x;
        if (TALLY_KERNEL_INPUTS == 2) y = read_any_part(from_y, at, s, n, stage);
        stack(columns, &x, &y, s, n);
        if (TALLY_MAY_SKIP) present += count_part(&x, &y, s, n);
    }
    column = fold(columns);
    TALLY_TO_NODE(column, count_values(present, n), first + at, {
        TALLY_ROLL
        for (int32_t s = 0; s < TALLY_DEVICE_STRIPES && s * TALLY_DEVICE_COLUMNS < n; s++) {
            part_t x = read_any_part(from_x, at, s, n, stage);
            stack2(columns2, &x, aim, s, n);
        }
    });
}

/* The node of a leaf of 1 to 64 values, which has rows of 8: lane l has column l % 8. */
TALLY_FN node_t small_node(const tally_source *x, const tally_source *y, int64_t at, int64_t n, int64_t first) {
    column_t column = identity();
    int64_t present = n;
    int32_t c = tally_lane() % 8;
    for (int32_t i = c; i < n; i += 8) {
        column_t lifted = lift(item_of(read_one(x, at + i)), item_of(read_one(y, at + i)));
        column = i == c ? lifted : combine(column, lifted);
    }
    column = fold_small(column);
    if (TALLY_MAY_SKIP) {
        present = 0;
        for (int32_t i = 0; i < n; i++) present += is_present(read_one(x, at + i)) && is_present(read_one(y, at + i));
    }
#if TALLY_PASSES == 2
    aim_t aim = take_aim(column, present);
    second_t second = identity2();
    for (int32_t i = c; i < n; i += 8) {
        second_t lifted = lift2(item_of(read_one(x, at + i)), i, aim);
        second = i == c ? lifted : combine2(second, lifted);
    }
    return to_node(column, aim, fold_small2(second), present, first);
#else
    (void)first;
    return to_node(column, present);
#endif
}

/* The node of a leaf that cannot be read in whole vectors: it begins at value `at` of an input that has n values left.
 * Every lane gets it. Sources are passed by value: for a reference, the fast path would have to write them to the
 * stack, too. */
TALLY_RARE node_t slow_node(tally_source x, tally_source y, int64_t at, int64_t n, int64_t first, tally_stage *stage) {
    if (n <= TALLY_DEVICE_SMALL) return small_node(&x, &y, at, n, first + at);
    return staged_node(&x, &y, at, n < TALLY_DEVICE_LEAF ? n : TALLY_DEVICE_LEAF, first, stage);
}
#endif

#endif
