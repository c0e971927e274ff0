/* How a thread combines nodes that lie apart in memory, in the order of the canonical tree: those of consecutive chunks
 * of production/rows/columns.h. */
#ifndef TALLY_NODE_TREES_H
#define TALLY_NODE_TREES_H

#include "order/pairs.h"

/* How many nodes of a result are on their way to a thread at once. */
enum { fetched = sizeof(node_t) <= 16 ? 8 : sizeof(node_t) <= 32 ? 4 : 2 };

/* Up to `fetched` nodes, `pitch` nodes apart, as a tree. */
TALLY_FN node_t fetch_tree(const char *nodes, int64_t at, int64_t pitch, int32_t members) {
    node_t some[fetched];
    TALLY_UNROLL
    for (int32_t m = 0; m < fetched; m++) some[m] = m < members ? fetch_node(nodes, at + m * pitch) : nothing();
    TALLY_UNROLL
    for (int32_t step = 1; step < fetched; step *= 2) {
        TALLY_UNROLL
        for (int32_t m = 0; m + step < fetched; m += 2 * step)
            if (m + step < members) some[m] = merge(some[m], some[m + step]);
    }
    return some[0];
}
/* The same of any number of them, up to TALLY_CHUNK_FAN. Its digits are not those of push and collect of columns.h: one
 * function for both took registers from the columns of integer stats, which then had one block on a multiprocessor. */
TALLY_FN node_t fetch_trees(const char *nodes, int64_t at, int64_t pitch, int32_t members) {
    node_t digits[TALLY_LOG_CHUNK_FAN + 1], all = nothing();
    int32_t count = 0, is_first = 1;
    TALLY_ROLLED
    for (int32_t m = 0; m < members; m += fetched, count++) {
        int32_t bit = 0;
        all = fetch_tree(nodes, at + m * pitch, pitch, members - m);
        for (; count >> bit & 1; bit++) all = merge(digits[bit], all);
        digits[bit] = all;
    }
    TALLY_ROLLED
    for (int32_t bit = 0; count >> bit != 0; bit++) {
        if (!(count >> bit & 1)) continue;
        all = is_first ? digits[bit] : merge(digits[bit], all);
        is_first = 0;
    }
    return all;
}

#endif
