/* The geometry of one operator, type and NaN policy. Included by foreach_type.h. */
#include "types/types.h"

#include TALLY_KERNEL_FILE

#ifndef TALLY_GEOMETRY_TEMPLATE
#define TALLY_GEOMETRY_TEMPLATE
#define TALLY_MEMBERS(type, nan)                                                                                      \
    {                                                                                                                 \
        .value_bytes = sizeof(TALLY_N2(input_t, type, nan)),                                                          \
        .leaf = TALLY_LEAF_BYTES / (int64_t)sizeof(TALLY_N2(input_t, type, nan)),                                     \
        .node_size = (TALLY_GEOMETRY_SIZE(type, nan) + 15) / 16 * 16,                                                 \
        .node_bytes = TALLY_N2(kernel_node_bytes, type, nan), .adds_values = TALLY_N2(kernel_adds_values, type, nan), \
        .adds_products = TALLY_N2(kernel_adds_products, type, nan),                                                   \
        .keeps_keys = TALLY_N2(kernel_keeps_keys, type, nan), .reads_twice = TALLY_N2(kernel_reads_twice, type, nan), \
        .rows_go_on = TALLY_N2(kernel_rows_go_on, type, nan), .stripe_rows = TALLY_N2(kernel_stripe_rows, type, nan), \
    }
#endif

typedef TALLY_T input_t;
#ifdef TALLY_NODE
#define TALLY_GEOMETRY_SIZE(type, nan) sizeof(TALLY_N2(node_t, type, nan))
#define TALLY_SIZE_OF(type, name) +sizeof(type)
enum { kernel_node_bytes = sizeof(int64_t) TALLY_NODE(TALLY_SIZE_OF), kernel_stripe_rows = TALLY_STRIPES_ACROSS };
#undef TALLY_SIZE_OF
#else /* an exact one, whose nodes travel as they are */
#define TALLY_GEOMETRY_SIZE(type, nan) sizeof(TALLY_N2(accumulator_t, type, nan))
enum { kernel_node_bytes = sizeof(accumulator_t), kernel_stripe_rows = 0 };
#endif
#include "kernel_sums.h"
