/* Nodes in mailboxes, for the last warp to arrive. For the operator of accumulators/records.h. */
#ifndef TALLY_NODE_BOXES_H
#define TALLY_NODE_BOXES_H

#include "order/pairs.h"
#include "device/mailbox.h"

enum { node_words = sizeof(node_t) / 4 };

/* Puts lane 0's node into box `index`, and arrives. most: how many others arrive. True: this warp is the last. */
TALLY_FN int32_t post_node(uint64_t *boxes, int64_t index, node_t node, uint32_t *counter, uint32_t most) {
    uint32_t before = 0;
    words_t words;
    __builtin_memcpy(&words, &node, sizeof node);
    if (tally_lane() == 0) {
        tally_post(boxes + index * node_words, words.w, node_words);
        before = tally_arrive(counter, most);
    }
    return tally_shuffle(before, 0) == most;
}

TALLY_FN node_t take_node(uint64_t *boxes, int64_t index) {
    node_t node;
    words_t words;
    tally_take(boxes + index * node_words, words.w, node_words);
    __builtin_memcpy(&node, &words, sizeof node);
    return node;
}

#endif
