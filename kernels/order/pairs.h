/* The tree over the nodes of the lanes of a warp. For the operator of accumulators/records.h. */
#ifndef TALLY_PAIRS_H
#define TALLY_PAIRS_H

#include "order/leaf.h"
#include "accumulators/operator.h"

typedef struct words_t {
    uint32_t w[sizeof(node_t) / 4];
} words_t;

/* The node of lane `lane`. All lanes of the warp call this. */
TALLY_FN node_t node_of_lane(node_t node, int32_t lane) {
    words_t words;
    __builtin_memcpy(&words, &node, sizeof words);
    TALLY_UNROLL
    for (uint32_t k = 0; k < sizeof words / 4; k++) words.w[k] = tally_shuffle(words.w[k], lane);
    __builtin_memcpy(&node, &words, sizeof words);
    return node;
}

/* The adjacent-pair tree over the nodes of lanes 0 ... count - 1. Lane 0 gets the result. */
TALLY_FN node_t pair_lanes(node_t mine, int32_t count) {
    for (int32_t apart = 1; apart < count; apart *= 2) {
        const int32_t from = tally_lane() + apart;
        const node_t later = node_of_lane(mine, from % TALLY_WARP);
        if (from < count && tally_lane() % (2 * apart) == 0) mine = merge(mine, later);
    }
    return mine;
}

/* Reads a node that another block wrote. */
TALLY_FN node_t fetch_node(const char *nodes, int64_t i) {
    const uint64_t *from = (const uint64_t *)(const void *)(nodes + i * (int64_t)sizeof(node_t));
    uint64_t w[sizeof(node_t) / 8];
    node_t node;
    TALLY_UNROLL
    for (uint32_t k = 0; k < sizeof w / 8; k++) w[k] = tally_load_fresh(from + k);
    __builtin_memcpy(&node, w, sizeof node);
    return node;
}

#endif
