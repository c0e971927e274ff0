/* Exact sums one value at a time: every term is deposited in the limbs by itself. Included by foreach_type.h. */
#include "lib/types.h"

#include TALLY_KERNEL_FILE

#ifndef TALLY_REF_EXACT_TEMPLATE
#define TALLY_REF_EXACT_TEMPLATE
#define TALLY_MEMBERS(type, nan)                                                                                \
    {                                                                                                           \
        .leaf = TALLY_LEAF_BYTES / (int64_t)sizeof(TALLY_N2(input, type, nan)), .columns = 1,                   \
        .value_bytes = sizeof(TALLY_N2(input, type, nan)), TALLY_NODE_MEMBERS(type, nan),                       \
        .run = TALLY_N2(run, type, nan),                                                                        \
    }
#endif

typedef TALLY_T TALLY_N(input);

static double TALLY_N(read)(const char *values, int64_t i) {
    TALLY_T value;
    __builtin_memcpy(&value, values + i * TALLY_BYTES, TALLY_BYTES);
    return (double)TALLY_N(value)(value);
}

static void TALLY_N(add)(TALLY_N(node) *node, double x, double y) {
    (void)x, (void)y;
    node->n++;
#ifdef TALLY_KEYS
    int64_t key = TALLY_IS_F64 ? tally_bits_f64(x) : tally_bits_f32((float)x);
    key ^= key < 0 ? (TALLY_IS_F64 ? INT64_MAX : INT32_MAX) : 0;
    if (x != x || key < node->low) node->low = x != x ? INT64_MIN : key;
    if (x != x || key > node->high) node->high = x != x ? INT64_MAX : key;
#endif
#ifdef TALLY_SUM_TERM
    tally_add_value(node->sum, TALLY_ORIGIN, TALLY_SUM_TERM == TALLY_TERM_MAGNITUDE ? __builtin_fabs(x) : x);
#endif
#ifdef TALLY_PRODUCTS
    tally_add_product(node->products, 2 * TALLY_ORIGIN, x, y);
#endif
}

static void TALLY_N(run)(const tally__kernel *kernel, const void *x, const void *y, int64_t n, int64_t first,
                         tally__node *out) {
    TALLY_N(node) *node = (void *)out;
    (void)kernel, (void)first;
    TALLY_N(clear)(node);
    for (int64_t i = 0; i < n; i++) {
        double a = TALLY_N(read)(x, i), b = TALLY_N(read)(y, i);
        if (TALLY_NAN == 1 && (a != a || b != b)) continue;
        TALLY_N(add)(node, a, b);
        if (i % (1 << 20) == 0) TALLY_N(settle)(node);
    }
    TALLY_N(settle)(node);
}

#include "exact_functions.h"

#include "lib/exact_end.h"
#include "lib/types_end.h"
