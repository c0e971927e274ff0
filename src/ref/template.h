/* The canonical order (docs/order.md) word by word, one value at a time: what every fast path is compared with.
 * Recursion for trees, arrays of whole accumulators for columns, no vectors, no threads. Included by foreach_type.h. */
#include "lib/types.h"

#include TALLY_KERNEL_FILE

#ifndef TALLY_REF_TEMPLATE
#define TALLY_REF_TEMPLATE
#define TALLY_MEMBERS(type, nan)                                                                   \
    {                                                                                              \
        .leaf = TALLY_LEAF_BYTES / (int64_t)sizeof(TALLY_N2(input, type, nan)),                    \
        .columns = TALLY_LEAF_BYTES / TALLY_STRIPES / (int64_t)sizeof(TALLY_N2(input, type, nan)), \
        .value_bytes = sizeof(TALLY_N2(input, type, nan)), TALLY_NODE_MEMBERS(type, nan),          \
        .run = TALLY_N2(run, type, nan),                                                           \
    }
#endif

typedef TALLY_T TALLY_N(input);

static TALLY_N(item) TALLY_N(read)(const char *values, int64_t i) {
    TALLY_T value;
    __builtin_memcpy(&value, values + i * TALLY_BYTES, TALLY_BYTES);
    return TALLY_N(item_of)(value);
}

/* The columns of a leaf of n values: how many, and the place of value i. */
static int64_t TALLY_N(columns_of)(int64_t n) {
    return n <= TALLY_SMALL_LEAF ? TALLY_SMALL_COLUMNS : TALLY_LEAF_BYTES / TALLY_STRIPES / TALLY_BYTES;
}

static TALLY_N(column) TALLY_N(leaf_column)(const char *x, const char *y, int64_t n) {
    TALLY_N(column) column[TALLY_LEAF_BYTES / TALLY_STRIPES / TALLY_BYTES];
    int64_t columns = TALLY_N(columns_of)(n);
    for (int64_t i = 0; i < n; i++) {
        TALLY_N(column) lifted = TALLY_N(lift)(TALLY_N(read)(x, i), TALLY_N(read)(y, i));
        column[i % columns] = i < columns ? lifted : TALLY_N(combine)(column[i % columns], lifted);
    }
    for (int64_t half = columns / 2; half >= 1; half /= 2)
        for (int64_t c = 0; c < half; c++)
            if (c + half < n) column[c] = TALLY_N(combine)(column[c], column[c + half]);
    return column[0];
}

#if TALLY_PASSES == 2
static TALLY_N(second) TALLY_N(leaf_second)(const char *x, int64_t n, TALLY_N(aim) aim) {
    TALLY_N(second) column[TALLY_LEAF_BYTES / TALLY_STRIPES / TALLY_BYTES];
    int64_t columns = TALLY_N(columns_of)(n);
    for (int64_t i = 0; i < n; i++) {
        TALLY_N(second) lifted = TALLY_N(lift2)(TALLY_N(read)(x, i), (int32_t)i, aim);
        column[i % columns] = i < columns ? lifted : TALLY_N(combine2)(column[i % columns], lifted);
    }
    for (int64_t half = columns / 2; half >= 1; half /= 2)
        for (int64_t c = 0; c < half; c++)
            if (c + half < n) column[c] = TALLY_N(combine2)(column[c], column[c + half]);
    return column[0];
}
#endif

static TALLY_N(node) TALLY_N(leaf_node)(const char *x, const char *y, int64_t n, int64_t first) {
    TALLY_N(column) column = TALLY_N(leaf_column)(x, y, n);
    int64_t present = 0;
    for (int64_t i = 0; i < n; i++)
        present += TALLY_N(present)(TALLY_N(read)(x, i).raw) && TALLY_N(present)(TALLY_N(read)(y, i).raw);
#if TALLY_PASSES == 2
    TALLY_N(aim) aim = TALLY_N(take_aim)(column, present);
    return TALLY_N(seal)(column, aim, TALLY_N(leaf_second)(x, n, aim), present, first);
#else
    (void)first;
    return TALLY_N(seal)(column, present);
#endif
}

/* The adjacent-pair tree over `leaves` leaves: the left subtree is the largest power of two below. */
static TALLY_N(node) TALLY_N(subtree)(const char *x, const char *y, int64_t n, int64_t first) {
    const int64_t leaf = TALLY_LEAF_BYTES / TALLY_BYTES;
    int64_t left = leaf;
    if (n <= leaf) return TALLY_N(leaf_node)(x, y, n, first);
    while (2 * left < n) left *= 2;
    return TALLY_N(merge)(TALLY_N(subtree)(x, y, left, first),
                          TALLY_N(subtree)(x + left * TALLY_BYTES, y + left * TALLY_BYTES, n - left, first + left));
}

static void TALLY_N(run)(const tally__kernel *kernel, const void *x, const void *y, int64_t n, int64_t first,
                         tally__node *out) {
    TALLY_N(node) node = n == 0 ? TALLY_N(nothing)() : TALLY_N(subtree)(x, y, n, first);
    (void)kernel;
    __builtin_memcpy((void *)out, &node, sizeof node);
}
#include "node_functions.h"

#include "lib/operator_end.h"
#include "lib/types_end.h"
