/* The functions of a kernel that move nodes in and out of their opaque form: the same in every backend.
 * TALLY_NODE_MEMBERS is their part of TALLY_MEMBERS. Once for each type: instance.h forgets the include guard. */
#ifndef TALLY_NODE_FUNCTIONS_H
#define TALLY_NODE_FUNCTIONS_H

#include TALLY_KERNEL_FILE

#include "accumulators/finalize.h"
#include "internal.h"

static void kernel_nothing(const tally__kernel *kernel, tally__node *out) {
    node_t node = nothing();
    (void)kernel;
    __builtin_memcpy((void *)out, &node, sizeof node);
}
static void kernel_merge(const tally__kernel *kernel, tally__node *into, const tally__node *later) {
    node_t a, b;
    (void)kernel;
    __builtin_memcpy(&a, (void *)into, sizeof a);
    __builtin_memcpy(&b, (const void *)later, sizeof b);
    a = merge(a, b);
    __builtin_memcpy((void *)into, &a, sizeof a);
}
static int kernel_finish(const tally__kernel *kernel, const tally__node *node, const tally_final *final, void *result) {
    node_t a;
    result_t r;
    int flags;
    (void)kernel;
    __builtin_memcpy(&a, (const void *)node, sizeof a);
    flags = finalize(a, final, &r);
    __builtin_memcpy(result, &r, sizeof r);
    return flags;
}
static void kernel_shift(const tally__kernel *kernel, tally__node *node, int64_t by) {
    (void)kernel, (void)node, (void)by;
#if TALLY_HAS_INDEX
    node_t a;
    __builtin_memcpy(&a, (const void *)node, sizeof a);
    a = shift(a, by);
    __builtin_memcpy((void *)node, &a, sizeof a);
#endif
}

#define TALLY_SIZE_OF(type, name) +sizeof(type)
#define TALLY_PACK(type, name)                                                        \
    __builtin_memcpy(bytes, &a.name, sizeof(type));                                   \
    tally__clean_packed(bytes, _Generic(a.name, float : 4, double : 8, default : 0)); \
    bytes += sizeof(type);
#define TALLY_UNPACK(type, name)                    \
    __builtin_memcpy(&a.name, bytes, sizeof(type)); \
    bytes += sizeof(type);
enum { kernel_node_bytes = sizeof(int64_t) TALLY_NODE(TALLY_SIZE_OF) };
static void kernel_pack(const tally__kernel *kernel, const tally__node *node, unsigned char *bytes) {
    node_t a;
    (void)kernel;
    __builtin_memcpy(&a, (const void *)node, sizeof a);
    TALLY_PACK(int64_t, n)
    TALLY_NODE(TALLY_PACK)
}
static void kernel_unpack(const tally__kernel *kernel, const unsigned char *bytes, tally__node *node) {
    node_t a;
    (void)kernel;
    TALLY_UNPACK(int64_t, n)
    TALLY_NODE(TALLY_UNPACK)
    __builtin_memcpy((void *)node, &a, sizeof a);
}
#undef TALLY_SIZE_OF
#undef TALLY_PACK
#undef TALLY_UNPACK

#ifndef TALLY_NODE_MEMBERS
#define TALLY_NODE_MEMBERS(type, nan)                                                                            \
    .node_size = (sizeof(TALLY_N2(node_t, type, nan)) + 15) / 16 * 16,                                           \
    .node_bytes = TALLY_N2(kernel_node_bytes, type, nan), .result_bytes = sizeof(TALLY_N2(result_t, type, nan)), \
    .give_nothing = TALLY_N2(kernel_nothing, type, nan), .merge_nodes = TALLY_N2(kernel_merge, type, nan),       \
    .shift_node = TALLY_N2(kernel_shift, type, nan), .pack_node = TALLY_N2(kernel_pack, type, nan),              \
    .unpack_node = TALLY_N2(kernel_unpack, type, nan), .finish_node = TALLY_N2(kernel_finish, type, nan)
#endif

#endif
