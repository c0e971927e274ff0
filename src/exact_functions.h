/* The functions of an exact kernel that move nodes, the same in every backend: a node is packed as it is. No include guard;
 * TALLY_NODE_MEMBERS is their part of TALLY_MEMBERS. */
#ifdef TALLY_KEYS
enum { TALLY_N(result_bytes) = sizeof(tally_stats), TALLY_N(keeps_keys) = 1 };
#else
enum { TALLY_N(result_bytes) = 0 /* as the format says */, TALLY_N(keeps_keys) = 0 };
#endif
#ifdef TALLY_SUM_TERM
enum { TALLY_N(adds_values) = 1 };
#else
enum { TALLY_N(adds_values) = 0 };
#endif
#ifdef TALLY_PRODUCTS
enum { TALLY_N(adds_products) = 1 };
#else
enum { TALLY_N(adds_products) = 0 };
#endif

static void TALLY_N(give_nothing)(const tally__kernel *kernel, tally__node *out) {
    (void)kernel;
    TALLY_N(clear)((void *)out);
}
static void TALLY_N(merge_nodes)(const tally__kernel *kernel, tally__node *into, const tally__node *later) {
    (void)kernel;
    TALLY_N(join)((void *)into, (const void *)later);
}
static int TALLY_N(finish_node)(const tally__kernel *kernel, const tally__node *node, const tally_final *final,
                                void *result) {
    TALLY_N(total) total = TALLY_N(total_of)((const void *)node);
    (void)kernel;
    TALLY_N(conclude)(&total, final, result);
    return total.n == 0 ? TALLY_SAW_EMPTY : 0;
}
static void TALLY_N(shift_node)(const tally__kernel *kernel, tally__node *node, int64_t by) {
    (void)kernel, (void)node, (void)by; /* there are no indices in it */
}
static void TALLY_N(pack_node)(const tally__kernel *kernel, const tally__node *node, unsigned char *bytes) {
    __builtin_memcpy(bytes, (const void *)node, kernel->node_bytes);
}
static void TALLY_N(unpack_node)(const tally__kernel *kernel, const unsigned char *bytes, tally__node *node) {
    __builtin_memcpy((void *)node, bytes, kernel->node_bytes);
    TALLY_N(settle)((void *)node); /* whatever the bytes were */
}

#ifndef TALLY_NODE_MEMBERS
#define TALLY_NODE_MEMBERS(type, nan)                                                                                \
    .node_size = (sizeof(TALLY_N2(node, type, nan)) + 15) / 16 * 16, .node_bytes = sizeof(TALLY_N2(node, type, nan)), \
    .result_bytes = TALLY_N2(result_bytes, type, nan), .adds_values = TALLY_N2(adds_values, type, nan), \
    .adds_products = TALLY_N2(adds_products, type, nan), .keeps_keys = TALLY_N2(keeps_keys, type, nan), .nothing = TALLY_N2(give_nothing, type, nan), .merge = TALLY_N2(merge_nodes, type, nan),                         \
    .shift = TALLY_N2(shift_node, type, nan), .pack = TALLY_N2(pack_node, type, nan),                                \
    .unpack = TALLY_N2(unpack_node, type, nan), .finish = TALLY_N2(finish_node, type, nan)
#endif
