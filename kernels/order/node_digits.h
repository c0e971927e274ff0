/* Consecutive nodes, kept as the digits of a binary counter: digit `bit` stands for 2^bit of them, and the counter's
 * number says which digits there are. So the canonical tree over any number of nodes takes one place for each bit. */
#ifndef TALLY_NODE_DIGITS_H
#define TALLY_NODE_DIGITS_H

#include "order/pairs.h"

/* Adds a node behind `count` others. Digits are `pitch` nodes apart. Where order does not show, one digit is enough. */
TALLY_FN void push_node(node_t *digits, const int32_t pitch, int64_t count, node_t node) {
    int32_t bit = 0;
    if (TALLY_IS_FREE)
        node = count > 0 ? merge(digits[0], node) : node;
    else
        for (; count >> bit & 1; bit++) node = merge(digits[bit * pitch], node);
    digits[bit * pitch] = node;
}
/* The node of all `count` nodes. */
TALLY_FN node_t collect_nodes(const node_t *digits, const int32_t pitch, int64_t count) {
    node_t all = nothing();
    int32_t is_first = 1;
    if (TALLY_IS_FREE && count > 0) return digits[0];
    for (int32_t bit = 0; count >> bit != 0; bit++) {
        if (!(count >> bit & 1)) continue;
        all = is_first ? digits[bit * pitch] : merge(digits[bit * pitch], all);
        is_first = 0;
    }
    return all;
}

#endif
