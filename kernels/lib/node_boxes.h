/* Nodes in mailboxes, for whoever arrives last. For the operator of lib/records.h, behind lib/pairs.h. No include
 * guard. */
#include "lib/mailbox.h"

enum { TALLY_N(node_words) = sizeof(TALLY_N(node)) / 4 };

/* Lane 0's node goes to box `index`, and the warp arrives; `most`: how many others do. True: it is the last. */
TALLY_FN int32_t TALLY_N(post_node)(uint64_t *boxes, int64_t index, TALLY_N(node) node, uint32_t *counter,
                                    uint32_t most) {
    uint32_t before = 0;
    TALLY_N(words) words;
    __builtin_memcpy(&words, &node, sizeof node);
    if (tally_lane() == 0) {
        tally_post(boxes + index * TALLY_N(node_words), words.w, TALLY_N(node_words));
        before = tally_arrive(counter, most);
    }
    return tally_shuffle(before, 0) == most;
}

TALLY_FN TALLY_N(node) TALLY_N(take_node)(uint64_t *boxes, int64_t index) {
    TALLY_N(node) node;
    TALLY_N(words) words;
    tally_take(boxes + index * TALLY_N(node_words), words.w, TALLY_N(node_words));
    __builtin_memcpy(&node, &words, sizeof node);
    return node;
}
