/* How kernels write offsets, and the prefix sums of a block that they are made with. */
#ifndef TALLY_OFFSETS_H
#define TALLY_OFFSETS_H

#include "partition/partition.h"

TALLY_FN void tally_put_offset(const tally_partition *partition, int64_t s, int64_t offset) {
    if (partition->offset_bytes == 4)
        ((int32_t *)(void *)partition->offsets)[s] = (int32_t)offset;
    else
        ((int64_t *)(void *)partition->offsets)[s] = offset;
}

typedef struct tally_scan_shared {
    int64_t sums[TALLY_WARPS];
    int64_t total;
} tally_scan_shared;

/* The exclusive prefix sum of the threads' values, and the sum of all. */
TALLY_FN int64_t tally_sum_before(int64_t mine, tally_scan_shared *shared, int64_t *total) {
    const int64_t sum = tally_sum_until64(mine);
    int64_t before = 0;
    tally_barrier();
    if (tally_lane() == TALLY_WARP - 1) shared->sums[tally_warp()] = sum;
    tally_barrier();
    *total = 0;
    for (int32_t w = 0; w < TALLY_WARPS; w++) {
        if (w == tally_warp()) before = *total;
        *total += shared->sums[w];
    }
    return before + sum - mine;
}

#endif
