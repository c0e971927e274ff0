/* Exact sums one value at a time: every term is deposited in the limbs by itself. Included by foreach_type.h. */
#include "types/types.h"

#include TALLY_KERNEL_FILE

#ifndef TALLY_REF_EXACT_TEMPLATE
#define TALLY_REF_EXACT_TEMPLATE
#define TALLY_MEMBERS(type, nan)                                                                                  \
    {                                                                                                             \
        .leaf = TALLY_LEAF_BYTES / (int64_t)sizeof(TALLY_N2(input_t, type, 0)), .lanes = 1,                       \
        .value_bytes = sizeof(TALLY_N2(input_t, type, 0)), TALLY_NODE_MEMBERS(type, 0), .skips_nans = (nan) == 1, \
        .run = TALLY_N2(reduce_leaves, type, 0),                                                                  \
    }
#endif

typedef TALLY_T input_t;

static double read_value(const char *values, int64_t i) {
    TALLY_T value;
    __builtin_memcpy(&value, values + i * TALLY_BYTES, TALLY_BYTES);
    return (double)value_of(value);
}

static void add(accumulator_t *node, double x, double y) {
    (void)x, (void)y;
    node->n++;
#if TALLY_HAS_KEYS
    int64_t key = TALLY_IS_F64 ? tally_bits_f64(x) : tally_bits_f32((float)x);
    key ^= key < 0 ? (TALLY_IS_F64 ? INT64_MAX : INT32_MAX) : 0;
    if (x != x || key < node->low) node->low = x != x ? INT64_MIN : key;
    if (x != x || key > node->high) node->high = x != x ? INT64_MAX : key;
#endif
#if TALLY_HAS_SUM
    tally_add_value(node->sum, TALLY_ORIGIN, TALLY_SUM_TERM == TALLY_TERM_MAGNITUDE ? __builtin_fabs(x) : x);
#endif
#if TALLY_HAS_PRODUCTS
    tally_add_product(node->products, 2 * TALLY_ORIGIN, x, y);
#endif
}

static void reduce_leaves(const tally__kernel *kernel, const void *x, const void *y, int64_t n, int64_t first,
                          tally__node *out) {
    accumulator_t *node = (void *)out;
    (void)first;
    clear_accumulator(node);
    for (int64_t i = 0; i < n; i++) {
        double a = read_value(x, i), b = read_value(y, i);
        if (kernel->skips_nans && (a != a || b != b)) continue;
        add(node, a, b);
        if (i % (1 << 20) == 0) settle_accumulator(node);
    }
    settle_accumulator(node);
}

#include "exact_functions.h"
