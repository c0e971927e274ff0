/* Messages from one block to another, without fences or flags: each word says itself that it is there. A slot has 64
 * bits: 32 bits of the message, and above them a 1 if the slot is full. The receiver leaves the slots empty again. */
#ifndef TALLY_MAILBOX_H
#define TALLY_MAILBOX_H

#include "device/device.h"

TALLY_FN void tally_post(uint64_t *slots, const uint32_t *words, const int32_t count) {
    TALLY_UNROLL
    for (int32_t k = 0; k < count; k++) tally_store_fresh(slots + k, (uint64_t)1 << 32 | words[k]);
}
/* Waits for a message that has been posted, or that a running warp is posting, and takes it. */
TALLY_FN void tally_take(uint64_t *slots, uint32_t *words, const int32_t count) {
    uint64_t is_full;
    do {
        is_full = 1;
        TALLY_UNROLL
        for (int32_t k = 0; k < count; k++) {
            uint64_t slot = tally_load_fresh(slots + k);
            words[k] = (uint32_t)slot;
            is_full &= slot >> 32;
        }
    } while (!is_full);
    TALLY_UNROLL
    for (int32_t k = 0; k < count; k++) tally_store_fresh(slots + k, 0);
}

#endif
