/* The last-block guard: finds the block that arrives last, when the others have written their results (NVIDIA's sample
 * threadFenceReduction). */
#ifndef TALLY_ARRIVAL_H
#define TALLY_ARRIVAL_H

#include "device/device.h"

/* Whether this warp is the last of `members` to arrive. If so, it sees what lane 0 of each wrote before. */
TALLY_FN int32_t tally_is_last(uint32_t *counter, int32_t members) {
    uint32_t before = 0;
    if (tally_lane() == 0) {
        tally_fence();
        before = tally_arrive(counter, (uint32_t)members - 1);
    }
    before = tally_shuffle(before, 0);
    if (before != (uint32_t)members - 1) return 0;
    tally_fence();
    return 1;
}

#endif
