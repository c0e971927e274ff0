/* The canonical order (docs/order.md) word by word, one value at a time: what every fast path is compared with.
 * Recursion for trees, arrays of whole accumulators for columns, no vectors, no threads. Included by foreach_type.h. */
#include "types/types.h"

#include TALLY_KERNEL_FILE
#ifndef TALLY_RECORDS_H
#error "an operator's file includes accumulators/plain.h or records.h, as kernels/operators/README.md says"
#endif

#ifndef TALLY_REF_TEMPLATE
#define TALLY_REF_TEMPLATE
#define TALLY_MEMBERS(type, nan)                                                                   \
    {                                                                                              \
        .leaf = TALLY_LEAF_BYTES / (int64_t)sizeof(TALLY_N2(input_t, type, nan)),                  \
        .lanes = TALLY_LEAF_BYTES / TALLY_STRIPES / (int64_t)sizeof(TALLY_N2(input_t, type, nan)), \
        .value_bytes = sizeof(TALLY_N2(input_t, type, nan)), TALLY_NODE_MEMBERS(type, nan),        \
        .run = TALLY_N2(reduce_leaves, type, nan),                                                 \
    }
#endif

typedef TALLY_T input_t;

static item_t read_value(const char *values, int64_t i) {
    TALLY_T value;
    __builtin_memcpy(&value, values + i * TALLY_BYTES, TALLY_BYTES);
    return item_of(value);
}

/* The columns of a leaf of n values: how many, and the place of value i. */
static int64_t columns_of(int64_t n) {
    return n <= TALLY_SMALL_LEAF ? TALLY_SMALL_COLUMNS : TALLY_LEAF_BYTES / TALLY_STRIPES / TALLY_BYTES;
}

static column_t leaf_column(const char *x, const char *y, int64_t n) {
    column_t column[TALLY_LEAF_BYTES / TALLY_STRIPES / TALLY_BYTES];
    int64_t columns = columns_of(n);
    for (int64_t i = 0; i < n; i++) {
        column_t lifted = lift(read_value(x, i), read_value(y, i));
        column[i % columns] = i < columns ? lifted : combine(column[i % columns], lifted);
    }
    for (int64_t half = columns / 2; half >= 1; half /= 2)
        for (int64_t c = 0; c < half; c++)
            if (c + half < n) column[c] = combine(column[c], column[c + half]);
    return column[0];
}

#if TALLY_PASSES == 2
static second_t leaf_second(const char *x, int64_t n, aim_t aim) {
    second_t column[TALLY_LEAF_BYTES / TALLY_STRIPES / TALLY_BYTES];
    int64_t columns = columns_of(n);
    for (int64_t i = 0; i < n; i++) {
        second_t lifted = lift2(read_value(x, i), (int32_t)i, aim);
        column[i % columns] = i < columns ? lifted : combine2(column[i % columns], lifted);
    }
    for (int64_t half = columns / 2; half >= 1; half /= 2)
        for (int64_t c = 0; c < half; c++)
            if (c + half < n) column[c] = combine2(column[c], column[c + half]);
    return column[0];
}
#endif

static node_t leaf_node(const char *x, const char *y, int64_t n, int64_t first) {
    column_t column = leaf_column(x, y, n);
    int64_t present = 0;
    for (int64_t i = 0; i < n; i++) present += is_present(read_value(x, i).raw) && is_present(read_value(y, i).raw);
#if TALLY_PASSES == 2
    aim_t aim = take_aim(column, present);
    return to_node(column, aim, leaf_second(x, n, aim), present, first);
#else
    (void)first;
    return to_node(column, present);
#endif
}

/* The adjacent-pair tree over `leaves` leaves: the left subtree is the largest power of two below. */
static node_t subtree(const char *x, const char *y, int64_t n, int64_t first) {
    const int64_t leaf = TALLY_LEAF_BYTES / TALLY_BYTES;
    int64_t left = leaf;
    if (n <= leaf) return leaf_node(x, y, n, first);
    while (2 * left < n) left *= 2;
    return merge(subtree(x, y, left, first),
                 subtree(x + left * TALLY_BYTES, y + left * TALLY_BYTES, n - left, first + left));
}

static void reduce_leaves(const tally__kernel *kernel, const void *x, const void *y, int64_t n, int64_t first,
                          tally__node *out) {
    node_t node = n == 0 ? nothing() : subtree(x, y, n, first);
    (void)kernel;
    __builtin_memcpy((void *)out, &node, sizeof node);
}
#include "node_functions.h"
