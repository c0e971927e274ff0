/* The functions of an exact kernel that move nodes, the same in every backend: a node is packed as it is.
 * TALLY_NODE_MEMBERS is their part of TALLY_MEMBERS. Once for each type: instance.h forgets the include guard. */
#ifndef TALLY_EXACT_FUNCTIONS_H
#define TALLY_EXACT_FUNCTIONS_H

#include TALLY_KERNEL_FILE

#include "internal.h"
#include "kernel_sums.h"

#if TALLY_HAS_KEYS
enum { kernel_result_bytes = sizeof(tally_stats) };
#else
enum { kernel_result_bytes = 0 /* as the format says */ };
#endif

static void kernel_nothing(const tally__kernel *kernel, tally__node *out) {
    (void)kernel;
    clear_accumulator((void *)out);
}
static void kernel_merge(const tally__kernel *kernel, tally__node *into, const tally__node *later) {
    (void)kernel;
    join_accumulators((void *)into, (const void *)later);
}
static int kernel_finish(const tally__kernel *kernel, const tally__node *node, const tally_final *final, void *result) {
    total_t total = total_of((const void *)node);
    (void)kernel;
    round_total(&total, final, result);
    return total.n == 0 ? TALLY_FLAG_EMPTY : 0;
}
static void kernel_shift(const tally__kernel *kernel, tally__node *node, int64_t by) {
    (void)kernel, (void)node, (void)by; /* there are no indices in it */
}
static void kernel_pack(const tally__kernel *kernel, const tally__node *node, unsigned char *bytes) {
    __builtin_memcpy(bytes, (const void *)node, kernel->node_bytes);
}
static void kernel_unpack(const tally__kernel *kernel, const unsigned char *bytes, tally__node *node) {
    __builtin_memcpy((void *)node, bytes, kernel->node_bytes);
    settle_accumulator((void *)node); /* whatever the bytes were */
}

#ifndef TALLY_NODE_MEMBERS
#define TALLY_NODE_MEMBERS(type, nan)                                                                                 \
    .node_size = (sizeof(TALLY_N2(accumulator_t, type, nan)) + 15) / 16 * 16,                                         \
    .node_bytes = sizeof(TALLY_N2(accumulator_t, type, nan)),                                                         \
    .result_bytes = TALLY_N2(kernel_result_bytes, type, nan), .adds_values = TALLY_N2(kernel_adds_values, type, nan), \
    .adds_products = TALLY_N2(kernel_adds_products, type, nan), .keeps_keys = TALLY_N2(kernel_keeps_keys, type, nan), \
    .give_nothing = TALLY_N2(kernel_nothing, type, nan), .merge_nodes = TALLY_N2(kernel_merge, type, nan),            \
    .shift_node = TALLY_N2(kernel_shift, type, nan), .pack_node = TALLY_N2(kernel_pack, type, nan),                   \
    .unpack_node = TALLY_N2(kernel_unpack, type, nan), .finish_node = TALLY_N2(kernel_finish, type, nan)
#endif

#endif
