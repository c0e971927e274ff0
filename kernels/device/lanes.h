/* 64 bits of other lanes of the warp; all lanes take part. */
#ifndef TALLY_LANES64_H
#define TALLY_LANES64_H

#include "device/device.h"

/* Of that lane, and of the one whose number differs by the bits of `mask`. */
TALLY_FN int64_t tally_of_lane64(int64_t v, int32_t lane) {
    uint64_t low = tally_shuffle((uint32_t)v, lane), high = tally_shuffle((uint32_t)((uint64_t)v >> 32), lane);
    return (int64_t)(high << 32 | low);
}
TALLY_FN int64_t tally_shuffle64(int64_t v, int32_t mask) {
    uint64_t low = tally_shuffle_xor((uint32_t)v, mask), high = tally_shuffle_xor((uint32_t)((uint64_t)v >> 32), mask);
    return (int64_t)(high << 32 | low);
}

#endif
