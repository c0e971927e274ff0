/* The node of one leaf by one warp, in the canonical order (docs/order.md), for the operator of TALLY_KERNEL_FILE and
 * the type of lib/types.h. No include guard; undone by lib/leaf_node_end.h. */
#include "lib/conclude.h"
#include "lib/leaf.h"

#include "lib/fold.h"

#ifdef TALLY_USER_TEXT
#include "lib/user_leaf.h"
#else
#define TALLY_IN_REGISTERS 1
#define TALLY_STAGE tally_stage
#endif

#if TALLY_IN_REGISTERS

/* Puts stripe s behind its columns; values beyond n are left out. */
TALLY_FN void TALLY_N(stack)(TALLY_N(column) *columns, const TALLY_N(part) *x, const TALLY_N(part) *y, int32_t s,
                             int64_t n) {
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_PART; v++) {
        TALLY_N(column) lifted = TALLY_N(lift)(TALLY_N(item_of)(x->v[v]), TALLY_N(item_of)(y->v[v]));
        if (n < TALLY_DEVICE_LEAF && TALLY_N(place)(s, v) >= n) lifted = TALLY_N(identity)();
        columns[v % TALLY_HELD] = s == 0 && v < TALLY_HELD ? lifted : TALLY_N(combine)(columns[v % TALLY_HELD], lifted);
    }
}
#if TALLY_PASSES == 2
TALLY_FN void TALLY_N(stack2)(TALLY_N(second) *columns, const TALLY_N(part) *x, TALLY_N(aim) aim, int32_t s,
                              int64_t n) {
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_PART; v++) {
        TALLY_N(second) lifted = TALLY_N(lift2)(TALLY_N(item_of)(x->v[v]), TALLY_N(place)(s, v), aim);
        if (n < TALLY_DEVICE_LEAF && TALLY_N(place)(s, v) >= n) lifted = TALLY_N(identity2)();
        columns[v % TALLY_HELD] =
            s == 0 && v < TALLY_HELD ? lifted : TALLY_N(combine2)(columns[v % TALLY_HELD], lifted);
    }
}
#define TALLY_SEAL(column, present, first, read_again)                               \
    do {                                                                             \
        TALLY_N(second) columns2[TALLY_HELD];                                        \
        TALLY_N(aim) aim = TALLY_N(take_aim)(column, present);                       \
        read_again;                                                                  \
        return TALLY_N(seal)(column, aim, TALLY_N(fold2)(columns2), present, first); \
    } while (0)
#else
#define TALLY_SEAL(column, present, first, read_again) return (void)(first), TALLY_N(seal)(column, present)
#endif

/* How many of the lane's values of stripe s are there, and counted by the NaN policy. */
TALLY_FN uint32_t TALLY_N(count_part)(const TALLY_N(part) *x, const TALLY_N(part) *y, int32_t s, int64_t n) {
    uint32_t present = 0;
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_PART; v++)
        present += TALLY_N(place)(s, v) < n && TALLY_N(present)(x->v[v]) && TALLY_N(present)(y->v[v]);
    return present;
}
/* Their number in the warp; without such a policy it is n. */
#if TALLY_FLOAT && TALLY_NAN == 1
#define TALLY_COUNT(present, x, y, s, n) (present) += TALLY_N(count_part)(x, y, s, n)
TALLY_FN int64_t TALLY_N(count)(uint32_t present, int64_t n) {
    (void)n;
    for (int32_t mask = TALLY_WARP / 2; mask > 0; mask /= 2) present += tally_shuffle_xor(present, mask);
    return (int64_t)present;
}
#else
#define TALLY_COUNT(present, x, y, s, n) (void)(present)
TALLY_FN int64_t TALLY_N(count)(uint32_t present, int64_t n) { return (void)present, n; }
#endif

#if TALLY_BYTES == 1
#define TALLY_UNROLL_WIDE TALLY_ROLL
#else
#define TALLY_UNROLL_WIDE TALLY_UNROLL
#endif
/* A whole leaf, from registers. A second pass over many narrow values reads them again, which keeps registers from
 * spilling. An operator that may spare the second pass does so when the leaf cannot be better than `best`, the node so
 * far; the leaf is then counted in it. */
TALLY_FN TALLY_N(node) TALLY_N(plain_node)(const char *from_x, const char *from_y, int64_t at, int64_t first,
                                           TALLY_N(node) *best, int32_t *is_spared) {
    const int64_t n = TALLY_DEVICE_LEAF;
    TALLY_N(share) x = TALLY_N(read_leaf)(from_x, at), y = x;
    TALLY_N(column) columns[TALLY_HELD], column;
    uint32_t present = 0;
    if (TALLY_KERNEL_INPUTS == 2) y = TALLY_N(read_leaf)(from_y, at);
    TALLY_UNROLL
    for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++) {
        TALLY_N(stack)(columns, &x.part[s], &y.part[s], s, n);
        TALLY_COUNT(present, &x.part[s], &y.part[s], s, n);
    }
    column = TALLY_N(fold)(columns);
    (void)best, (void)is_spared;
#ifdef TALLY_CAN_SPARE
    if (TALLY_N(spare)(*best, column)) {
        best->n += TALLY_N(count)(present, n);
        *is_spared = 1;
        return *best;
    }
#endif
    TALLY_SEAL(column, TALLY_N(count)(present, n), first + at, {
        if (TALLY_BYTES == 2) x = TALLY_N(read_leaf)(from_x, at);
        TALLY_UNROLL_WIDE
        for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++) {
            if (TALLY_BYTES == 1) x.part[0] = TALLY_N(read_part)(from_x, at, s);
            TALLY_N(stack2)(columns2, &x.part[TALLY_BYTES == 1 ? 0 : s], aim, s, n);
        }
    });
}

#endif

#ifndef TALLY_USER_TEXT
/* A leaf of n values in registers, of at most `stripes` stripes, a constant; `at` is the place of the first in its row.
 */
TALLY_FN TALLY_N(node) TALLY_N(node_of_parts)(const TALLY_N(part) *x, const TALLY_N(part) *y, const int32_t stripes,
                                              int64_t n, int64_t at) {
    TALLY_N(column) columns[TALLY_HELD], column;
    uint32_t present = 0;
    TALLY_UNROLL
    for (int32_t s = 0; s < stripes; s++) {
        if (s * TALLY_DEVICE_COLUMNS >= n) continue;
        TALLY_N(stack)(columns, &x[s], &y[s], s, n);
        TALLY_COUNT(present, &x[s], &y[s], s, n);
    }
    column = TALLY_N(fold)(columns);
    TALLY_SEAL(column, TALLY_N(count)(present, n), at, {
        TALLY_UNROLL
        for (int32_t s = 0; s < stripes; s++)
            if (s * TALLY_DEVICE_COLUMNS < n) TALLY_N(stack2)(columns2, &x[s], aim, s, n);
    });
}

/* A packed leaf that is short: as many stripes as there are, of which the last may be a part. */
TALLY_FN TALLY_N(node) TALLY_N(part_node)(const tally_source *from_x, const tally_source *from_y, int64_t at, int64_t n,
                                          int64_t first) {
    TALLY_N(share) x, y;
    TALLY_UNROLL
    for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++) {
        if (s * TALLY_DEVICE_COLUMNS < n) x.part[s] = TALLY_N(read_part_of)(from_x, at, s, n);
        if (TALLY_KERNEL_INPUTS == 2 && s * TALLY_DEVICE_COLUMNS < n)
            y.part[s] = TALLY_N(read_part_of)(from_y, at, s, n);
    }
    return TALLY_N(node_of_parts)(x.part, TALLY_KERNEL_INPUTS == 2 ? y.part : x.part, TALLY_DEVICE_STRIPES, n,
                                  first + at);
}

/* Stripe s of n values from value `at` on. */
TALLY_FN TALLY_N(part) TALLY_N(read_any_part)(const tally_source *from, int64_t at, int32_t s, int64_t n,
                                              tally_stage *stage) {
    const int64_t row = s * TALLY_DEVICE_COLUMNS;
    if (from->is_packed) return TALLY_N(read_part_of)(from, at, s, n);
    return TALLY_N(read_stripe)(from, at + row, n - row, stage);
}

/* A leaf that is short, or whose values lie apart: stripe by stripe. */
TALLY_FN TALLY_N(node) TALLY_N(staged_node)(const tally_source *from_x, const tally_source *from_y, int64_t at,
                                            int64_t n, int64_t first, tally_stage *stage) {
    TALLY_N(column) columns[TALLY_HELD], column;
    uint32_t present = 0;
    TALLY_ROLL
    for (int32_t s = 0; s < TALLY_DEVICE_STRIPES && s * TALLY_DEVICE_COLUMNS < n; s++) {
        TALLY_N(part) x = TALLY_N(read_any_part)(from_x, at, s, n, stage), y = x;
        if (TALLY_KERNEL_INPUTS == 2) y = TALLY_N(read_any_part)(from_y, at, s, n, stage);
        TALLY_N(stack)(columns, &x, &y, s, n);
        TALLY_COUNT(present, &x, &y, s, n);
    }
    column = TALLY_N(fold)(columns);
    TALLY_SEAL(column, TALLY_N(count)(present, n), first + at, {
        TALLY_ROLL
        for (int32_t s = 0; s < TALLY_DEVICE_STRIPES && s * TALLY_DEVICE_COLUMNS < n; s++) {
            TALLY_N(part) x = TALLY_N(read_any_part)(from_x, at, s, n, stage);
            TALLY_N(stack2)(columns2, &x, aim, s, n);
        }
    });
}

/* A leaf of 1 to 64 values has rows of 8: lane l has column l % 8. */
TALLY_FN TALLY_N(node) TALLY_N(small_node)(const tally_source *x, const tally_source *y, int64_t at, int64_t n,
                                           int64_t first) {
    TALLY_N(column) column = TALLY_N(identity)();
    int64_t present = n;
    int32_t c = tally_lane() % 8;
    for (int32_t i = c; i < n; i += 8) {
        TALLY_N(column) lifted = TALLY_N(lift)(TALLY_N(item_of)(TALLY_N(read_one)(x, at + i)),
                                               TALLY_N(item_of)(TALLY_N(read_one)(y, at + i)));
        column = i == c ? lifted : TALLY_N(combine)(column, lifted);
    }
    column = TALLY_N(fold_small)(column);
#if TALLY_FLOAT && TALLY_NAN == 1
    present = 0;
    for (int32_t i = 0; i < n; i++)
        present += TALLY_N(present)(TALLY_N(read_one)(x, at + i)) && TALLY_N(present)(TALLY_N(read_one)(y, at + i));
#endif
#if TALLY_PASSES == 2
    TALLY_N(aim) aim = TALLY_N(take_aim)(column, present);
    TALLY_N(second) second = TALLY_N(identity2)();
    for (int32_t i = c; i < n; i += 8) {
        TALLY_N(second) lifted = TALLY_N(lift2)(TALLY_N(item_of)(TALLY_N(read_one)(x, at + i)), i, aim);
        second = i == c ? lifted : TALLY_N(combine2)(second, lifted);
    }
    return TALLY_N(seal)(column, aim, TALLY_N(fold_small2)(second), present, first);
#else
    (void)first;
    return TALLY_N(seal)(column, present);
#endif
}

/* The leaf that begins at value `at` of an input, of which n values are left; it cannot be read at once. The same node
 * in every lane. Sources by value: a reference would have them written to the stack on the way of every leaf. */
TALLY_RARE TALLY_N(node) TALLY_N(slow_node)(tally_source x, tally_source y, int64_t at, int64_t n, int64_t first,
                                            tally_stage *stage) {
    if (n <= TALLY_DEVICE_SMALL) return TALLY_N(small_node)(&x, &y, at, n, first + at);
    return TALLY_N(staged_node)(&x, &y, at, n < TALLY_DEVICE_LEAF ? n : TALLY_DEVICE_LEAF, first, stage);
}
#endif

#include "lib/pairs.h"
