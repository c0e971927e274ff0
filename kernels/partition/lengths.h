/* Offsets from lengths. A block takes TALLY_LENGTHS_BLOCK of them in several iterations. Lengths are not trusted. */
#ifndef TALLY_LENGTHS_H
#define TALLY_LENGTHS_H

#include "partition/offsets.h"

enum { TALLY_PARTITION_EACH = 16 }; /* lengths that a thread has at once */

/* Length i; 0 beyond the end; -1 for a length that no array can have. */
TALLY_FN int64_t tally_length(const tally_partition *partition, int64_t i) {
    int64_t length = i < partition->count ? tally_entry(partition->index, partition->index_bytes, i) : 0;
    return length < 0 || length >> 48 != 0 ? -1 : length;
}

/* An iteration of a block: each thread has rows of 4 neighbouring lengths. In a row, the lanes of a warp are
 * neighbours, too; the rows of a warp are consecutive. */
enum {
    TALLY_PARTITION_FOUR = 4,
    TALLY_PARTITION_ROW = TALLY_PARTITION_FOUR * TALLY_WARP,
    TALLY_PARTITION_ROWS = TALLY_PARTITION_EACH / TALLY_PARTITION_FOUR,
    TALLY_PARTITION_ITERATION = TALLY_THREADS * TALLY_PARTITION_EACH
};
TALLY_FN int64_t tally_first_of_iteration(int32_t iteration) {
    return (int64_t)tally_block() * TALLY_LENGTHS_BLOCK + iteration * TALLY_PARTITION_ITERATION;
}
TALLY_FN int64_t tally_first_of_row(int32_t iteration, int32_t row) {
    return tally_first_of_iteration(iteration) + (tally_warp() * TALLY_PARTITION_ROWS + row) * TALLY_PARTITION_ROW +
           TALLY_PARTITION_FOUR * tally_lane();
}
/* Lengths i ... i + 3. A length that does not fit 31 bits (an odd one) gives a word that does not fit either. */
TALLY_FN tally_quad tally_four_lengths(const tally_partition *partition, int64_t i) {
    tally_quad four;
    if (partition->index_bytes == 4 && (uint64_t)partition->index % 16 == 0 &&
        i + TALLY_PARTITION_FOUR <= partition->count)
        four = tally_load16(partition->index + 4 * i);
    else {
        TALLY_UNROLL
        for (int32_t e = 0; e < TALLY_PARTITION_FOUR; e++) {
            const int64_t length = tally_length(partition, i + e);
            four.w[e] = length >> 31 == 0 ? (uint32_t)length : UINT32_MAX;
        }
    }
    return four;
}

/* Stores offsets i ... i + 3, where i is a multiple of 4 and `at` is offset i; at the end also the offset behind the
 * last length. */
TALLY_FN void tally_put_four(const tally_partition *partition, int64_t i, int64_t at, const tally_quad *lengths) {
    tally_quad from;
    from.w[0] = 0;
    TALLY_UNROLL
    for (int32_t e = 1; e < TALLY_PARTITION_FOUR; e++) from.w[e] = from.w[e - 1] + lengths->w[e - 1];
    if (partition->offset_bytes == 4 && i + TALLY_PARTITION_FOUR < partition->count) {
        TALLY_UNROLL
        for (int32_t e = 0; e < TALLY_PARTITION_FOUR; e++) from.w[e] += (uint32_t)at;
        tally_put16(partition->offsets + 4 * i, &from);
        return;
    }
    TALLY_UNROLL
    for (int32_t e = 0; e < TALLY_PARTITION_FOUR; e++) {
        if (i + e < partition->count) tally_put_offset(partition, i + e, at + from.w[e]);
        if (i + e == partition->count - 1)
            tally_put_offset(partition, partition->count, at + from.w[e] + lengths->w[e]);
    }
}
/* An iteration over lengths of any size, where a thread takes one length at a time. Gives the offset behind it. */
TALLY_FN int64_t tally_put_iteration(const tally_partition *partition, int32_t iteration, int64_t before,
                                     tally_scan_shared *shared) {
    for (int32_t k = 0; k < TALLY_PARTITION_EACH; k++) {
        const int64_t i = tally_first_of_iteration(iteration) + k * TALLY_THREADS + tally_thread(),
                      length = tally_length(partition, i);
        int64_t total, at = before + tally_sum_before(length < 0 ? 0 : length, shared, &total);
        if (i < partition->count) tally_put_offset(partition, i, at);
        if (i == partition->count - 1) tally_put_offset(partition, i + 1, at + length);
        before += total;
    }
    return before;
}

#endif
