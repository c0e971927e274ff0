/* The functions of a kernel that move nodes in and out of their opaque form: the same in every backend.
 * No include guard; TALLY_NODE_MEMBERS is their part of TALLY_MEMBERS. */
#include "lib/conclude.h"

static void TALLY_N(give_nothing)(const tally__kernel *kernel, tally__node *out) {
    TALLY_N(node) node = TALLY_N(nothing)();
    (void)kernel;
    __builtin_memcpy((void *)out, &node, sizeof node);
}
static void TALLY_N(merge_nodes)(const tally__kernel *kernel, tally__node *into, const tally__node *later) {
    TALLY_N(node) a, b;
    (void)kernel;
    __builtin_memcpy(&a, (void *)into, sizeof a);
    __builtin_memcpy(&b, (const void *)later, sizeof b);
    a = TALLY_N(merge)(a, b);
    __builtin_memcpy((void *)into, &a, sizeof a);
}
static int TALLY_N(finish_node)(const tally__kernel *kernel, const tally__node *node, const tally_final *final,
                                void *result) {
    TALLY_N(node) a;
    TALLY_N(result) r;
    int saw;
    (void)kernel;
    __builtin_memcpy(&a, (const void *)node, sizeof a);
    saw = TALLY_N(conclude)(a, final, &r);
    __builtin_memcpy(result, &r, sizeof r);
    return saw;
}
static void TALLY_N(shift_node)(const tally__kernel *kernel, tally__node *node, int64_t by) {
    (void)kernel, (void)node, (void)by;
#ifdef TALLY_HAS_INDEX
    TALLY_N(node) a;
    __builtin_memcpy(&a, (const void *)node, sizeof a);
    a = TALLY_N(shift)(a, by);
    __builtin_memcpy((void *)node, &a, sizeof a);
#endif
}

#define TALLY_SIZE_OF(type, name) +sizeof(type)
#define TALLY_PACK(type, name)                                            \
    __builtin_memcpy(bytes, &a.name, sizeof(type));                       \
    tally__clean_packed(bytes, _Generic(a.name, float: 4, double: 8, default: 0)); \
    bytes += sizeof(type);
#define TALLY_UNPACK(type, name)                  \
    __builtin_memcpy(&a.name, bytes, sizeof(type)); \
    bytes += sizeof(type);
enum { TALLY_N(node_bytes) = sizeof(int64_t) TALLY_NODE(TALLY_SIZE_OF) };
static void TALLY_N(pack_node)(const tally__kernel *kernel, const tally__node *node, unsigned char *bytes) {
    TALLY_N(node) a;
    (void)kernel;
    __builtin_memcpy(&a, (const void *)node, sizeof a);
    TALLY_PACK(int64_t, n)
    TALLY_NODE(TALLY_PACK)
}
static void TALLY_N(unpack_node)(const tally__kernel *kernel, const unsigned char *bytes, tally__node *node) {
    TALLY_N(node) a;
    (void)kernel;
    TALLY_UNPACK(int64_t, n)
    TALLY_NODE(TALLY_UNPACK)
    __builtin_memcpy((void *)node, &a, sizeof a);
}
#undef TALLY_SIZE_OF
#undef TALLY_PACK
#undef TALLY_UNPACK

#ifndef TALLY_NODE_MEMBERS
#define TALLY_NODE_MEMBERS(type, nan)                                                                       \
    .node_size = (sizeof(TALLY_N2(node, type, nan)) + 15) / 16 * 16, .node_bytes = TALLY_N2(node_bytes, type, nan),  \
    .result_bytes = sizeof(TALLY_N2(result, type, nan)),     \
    .nothing = TALLY_N2(give_nothing, type, nan), .merge = TALLY_N2(merge_nodes, type, nan),                \
    .shift = TALLY_N2(shift_node, type, nan), .pack = TALLY_N2(pack_node, type, nan),                       \
    .unpack = TALLY_N2(unpack_node, type, nan), .finish = TALLY_N2(finish_node, type, nan)
#endif
