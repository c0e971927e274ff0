/* The boundaries of tiles, found in offsets. A block narrows a bracket of segments for all its boundaries, and each
 * thread searches there for one of them. segment_id_boundaries.h does the same in segment ids. */
#ifndef TALLY_BOUNDARIES_H
#define TALLY_BOUNDARIES_H

#include "partition/partition.h"

/* A bracket for the first segment at some position or behind it: it is `high`, or one from `low` on. With the positions
 * of these two. */
typedef struct tally_bracket {
    int64_t low, high, low_position, high_position;
} tally_bracket;

/* Narrows a bracket until it is no wider than `width`; by a warp, which reads 32 segments at once. */
TALLY_FN void tally_narrow_bracket(const tally_partition *partition, int64_t origin, int64_t position, int64_t width,
                                   tally_bracket *b) {
    while (b->high - b->low > width) {
        int64_t step = (b->high - b->low + TALLY_WARP - 1) / TALLY_WARP, at = b->low + (tally_lane() + 1) * step;
        int64_t here =
            at >= b->high ? b->high_position : tally_position(partition, origin, at, tally_offset(partition, at));
        uint32_t behind = tally_ballot(at >= b->high || here >= position);
        int32_t first = __builtin_ffs((int32_t)behind) - 1;
        int64_t low = b->low + first * step, high = low + step;
        b->high_position = tally_of_lane64(here, first);
        if (first > 0) b->low_position = tally_of_lane64(here, first - 1);
        b->high = high < b->high ? high : b->high;
        b->low = low;
    }
}

/* Finds the boundary at a position (*segment and *value) by one thread: an interpolation search. True: a segment begins
 * there or a little before, and that is the boundary. False: *segment is the first one at the position or behind it,
 * and the boundary is inside the segment before it. The search looks near both ends first, for a segment longer than
 * all others together, and every other step bisects, so that no segmentation takes long. */
TALLY_FN int32_t tally_find_boundary(const tally_partition *partition, int64_t origin, tally_bracket b,
                                     int64_t position, int64_t *segment, int64_t *value) {
    for (int32_t step = 0; b.low < b.high; step++) {
        const int64_t width = b.high - b.low;
        int64_t at = b.low + width / 2, apart;
        if (step < 2 || (step > 4 && step % 2 != 0)) {
            const double rise = (double)tally_apart(b.high_position, b.low_position);
            const double part = ((double)tally_apart(position, b.low_position) - TALLY_BOUNDARY_SLACK / 2) / rise;
            at = part > 0 && part < 1 ? b.low + (int64_t)(part * (double)width) : part > 0 ? b.high - 1 : b.low;
        } else if (step < 4)
            at = b.low;
        else if (step == 4)
            at = b.high - 1;
        *value = tally_offset(partition, at);
        const int64_t here = tally_position(partition, origin, at, *value);
        apart = tally_apart(position, here);
        if (apart >= 0 && apart < TALLY_BOUNDARY_SLACK) {
            *segment = at;
            return 1;
        }
        if (apart <= 0)
            b.high = at, b.high_position = here;
        else
            b.low = at + 1, b.low_position = here;
    }
    *segment = b.low;
    return 0;
}

TALLY_FN tally_boundary tally_boundary_at(const tally_offsets_work *work, int64_t origin, int64_t segment,
                                          int64_t position) {
    const tally_partition *partition = &work->partition;
    const int32_t shift = tally_leaf_shift(partition);
    tally_boundary boundary = {segment, origin, origin, 0, -1};
    if (segment > 0) {
        int64_t begin = tally_offset(partition, segment - 1),
                length = tally_apart(tally_offset(partition, segment), begin);
        int64_t at = tally_position(partition, origin, segment - 1, begin);
        uint64_t into = (uint64_t)tally_apart(position, at), leaves = (into + ((uint64_t)1 << shift) - 1) >> shift;
        int64_t whole = (int64_t)(leaves * (uint64_t)partition->leaf);
        boundary.leaf = (int64_t)leaves;
        boundary.end = tally_further(begin, length);
        boundary.value = tally_further(begin, whole < length ? whole : length);
        if (origin >= 0 && begin >= origin && begin <= work->partition.values && boundary.value >= begin &&
            boundary.value <= work->partition.values)
            boundary.place = 2 * (at >> shift);
    }
    return boundary;
}

enum { TALLY_BOUNDARY_SAMPLES = 4 * TALLY_BOUNDARIES_BLOCK };
typedef struct tally_boundaries_shared {
    tally_bracket ends[2];                   /* for the block's first boundary, and for the first one behind it */
    int64_t sampled[TALLY_BOUNDARY_SAMPLES]; /* positions of equally spaced segments between these two */
} tally_boundaries_shared;

/* The block's threads read samples of the segments between its boundaries, all at once. Then each thread's boundary
 * lies between two consecutive samples. */
TALLY_FN tally_bracket tally_sample_bracket(const tally_partition *partition, int64_t origin, int64_t position,
                                            tally_bracket all, int64_t *sampled) {
    const int64_t width = all.high > all.low ? all.high - all.low : 0, step = width / TALLY_BOUNDARY_SAMPLES + 1;
    const int32_t count = (int32_t)(width / step);
    int32_t low = 0, high = count;
    TALLY_UNROLL
    for (int32_t k = 0; k < TALLY_BOUNDARY_SAMPLES / TALLY_BOUNDARIES_BLOCK; k++) {
        const int32_t i = k * TALLY_BOUNDARIES_BLOCK + tally_thread();
        const int64_t at = all.low + i * step;
        if (i < count) sampled[i] = tally_position(partition, origin, at, tally_offset(partition, at));
    }
    tally_barrier();
    while (low < high) { /* samples below `low` are before the position; those from `high` on are not */
        const int32_t middle = (low + high) / 2;
        if (sampled[middle] < position)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < count) all.high = all.low + low * step, all.high_position = sampled[low];
    if (low > 0) all.low += (low - 1) * step + 1, all.low_position = sampled[low - 1];
    return all;
}

#endif
