/* The boundaries of tiles that read segment ids, not offsets (segments/tile_ends.h). Where a segment begins and ends is
 * searched for in the segment ids. The position of a value (partition/partition.h) is the bytes of all values and
 * segment ids before it, plus an end marker for each segment before its own. Of production/segments/partition.h. */
#ifndef TALLY_SEGMENT_ID_BOUNDARIES_H
#define TALLY_SEGMENT_ID_BOUNDARIES_H

#include "partition/partition.h"

/* The position of segment s that begins at value i; and of value i of segment s. */
TALLY_FN int64_t tally_segment_id_position(const tally_partition *partition, int64_t i, int64_t s) {
    return tally_position(partition, 0, s, i);
}

/* What is sought: the first value at a position or behind it, or the first with such a segment id or a larger one. */
typedef struct tally_sought {
    int64_t position, segment_id; /* one of the two; the other is INT64_MAX */
} tally_sought;
TALLY_FN int32_t tally_is_found(const tally_partition *partition, const tally_sought *sought, int64_t i,
                                int64_t segment_id) {
    return segment_id >= sought->segment_id || tally_segment_id_position(partition, i, segment_id) >= sought->position;
}
/* Where that value is: from `low` to `high`. */
typedef struct tally_between {
    int64_t low, high;
} tally_between;
/* Narrows the range to `width`. A warp looks at 32 values at once. */
TALLY_FN tally_between tally_narrow_segment_ids(const tally_partition *partition, tally_sought sought, tally_between b,
                                                int64_t width) {
    while (b.high - b.low > width) {
        const int64_t step = (b.high - b.low + TALLY_WARP - 1) / TALLY_WARP, at = b.low + (tally_lane() + 1) * step - 1;
        const uint32_t found =
            tally_ballot(at >= b.high || tally_is_found(partition, &sought, at, tally_segment_id(partition, at)));
        const int32_t first = found == 0 ? TALLY_WARP : __builtin_ffs((int32_t)found) - 1;
        const int64_t end = b.low + (first + 1) * step - 1, low = b.low + first * step;
        b.high = end < b.high ? end : b.high;
        b.low = low < b.high ? low : b.high;
    }
    return b;
}
/* Finds a range in which the segment of the value before `at` begins or, if `behind`, a constant, ends. The lanes look
 * at distances that are powers of two. */
TALLY_FN tally_between tally_reach_segment_ids(const tally_partition *partition, tally_sought boundary, int64_t at,
                                               int64_t values, const int32_t behind) {
    const int64_t far = (int64_t)1 << tally_lane(), here = behind ? at + far - 1 : at - far;
    const int32_t is_there = here >= 0 && here < values,
                  is_found =
                      is_there ? tally_is_found(partition, &boundary, here, tally_segment_id(partition, here)) : behind;
    const uint32_t out = tally_ballot(behind ? is_found : !is_found); /* no longer of that segment */
    const int32_t reached = out == 0 ? TALLY_WARP : __builtin_ffs((int32_t)out) - 1;
    const int64_t within = ((int64_t)1 << reached) / 2, beyond = out == 0 ? INT64_MAX / 2 : (int64_t)1 << reached;
    tally_between b = {at - beyond + 1, at - within};
    if (behind) b.low = at + within, b.high = at + beyond - 1;
    if (b.low < 0) b.low = 0;
    if (b.high > values) b.high = values;
    if (b.low > b.high) b.low = b.high;
    return b;
}

enum { TALLY_SEGMENT_ID_SAMPLES = 4 * TALLY_BOUNDARIES_BLOCK };
/* The values among which a block's boundaries are, and the segments that cross the first and the last boundary. */
typedef struct tally_segment_ids_shared {
    int64_t at[2];      /* the first value at the block's first boundary, and at the first boundary of the next block */
    int64_t before[2];  /* the segment ids of the values before these */
    int64_t begin, end; /* where the segment of the first of these values begins, and where that of the other ends */
    int64_t sampled[TALLY_SEGMENT_ID_SAMPLES]; /* segment ids, equally far apart */
} tally_segment_ids_shared;
typedef struct tally_segment_ids_view {
    const tally_segment_ids_shared *shared;
    int64_t step; /* values from one sample to the next */
    int32_t count;
} tally_segment_ids_view;

/* The range between two consecutive samples in which the sought value lies; `behind` is the number of the second
 * sample. For one thread. */
typedef struct tally_near {
    tally_between values;
    int32_t behind;
} tally_near;
TALLY_FN tally_near tally_between_samples(const tally_partition *partition, const tally_segment_ids_view *view,
                                          tally_sought sought) {
    const tally_segment_ids_shared *shared = view->shared;
    int32_t before = 0, behind = view->count;
    while (before < behind) {
        const int32_t middle = (before + behind) / 2;
        if (tally_is_found(partition, &sought, shared->at[0] + middle * view->step, shared->sampled[middle]))
            behind = middle;
        else
            before = middle + 1;
    }
    const tally_near near = {{before == 0 ? shared->at[0] : shared->at[0] + (before - 1) * view->step + 1,
                              before == view->count ? shared->at[1] : shared->at[0] + before * view->step},
                             before};
    return near;
}
/* Finds the sought value: steps grow from a guess until it lies between two of them, then by bisection. */
TALLY_FN int64_t tally_search_from(const tally_partition *partition, tally_sought sought, tally_between b,
                                   int64_t guess) {
    for (int64_t by = 1, next = guess, was = -1; b.low < b.high; by *= 2) {
        const int64_t at = next >= b.low && next < b.high ? next : b.low + (b.high - b.low) / 2;
        const int32_t found = tally_is_found(partition, &sought, at, tally_segment_id(partition, at));
        if (found)
            b.high = at;
        else
            b.low = at + 1;
        if (was >= 0 && was != found) next = -1; /* it lies between the last two */
        if (next >= 0) next = found ? at - by : at + by;
        was = found;
    }
    return b.low;
}
/* Finds the first value with this segment id or a larger one, probably near `guess`. */
TALLY_FN int64_t tally_seek_segment_id(const tally_partition *partition, const tally_segment_ids_view *view,
                                       int64_t segment_id, int64_t guess) {
    const tally_sought sought = {INT64_MAX, segment_id};
    return tally_search_from(partition, sought, tally_between_samples(partition, view, sought).values, guess);
}
/* Finds the first value at a position or behind it. The positions of samples say where to begin. */
TALLY_FN int64_t tally_seek_position(const tally_partition *partition, const tally_segment_ids_view *view,
                                     int64_t position) {
    const tally_segment_ids_shared *shared = view->shared;
    const tally_sought sought = {position, INT64_MAX};
    const tally_near near = tally_between_samples(partition, view, sought);
    const tally_between b = near.values;
    int64_t guess = -1;
    if (near.behind > 0) {
        const double from = (double)tally_segment_id_position(partition, b.low - 1, shared->sampled[near.behind - 1]);
        const double to = (double)tally_segment_id_position(
            partition, b.high, near.behind == view->count ? shared->before[1] : shared->sampled[near.behind]);
        const double part = ((double)position - from) / (to - from);
        guess = part > 0 && part < 1 ? b.low + (int64_t)(part * (double)(b.high - b.low)) : b.low;
    }
    return tally_search_from(partition, sought, b, guess);
}

/* The boundary of tiles at a position: where a segment begins there or a little before, or else within the segment that
 * crosses it. */
TALLY_FN tally_boundary tally_segment_id_boundary(const tally_partition *partition, const tally_segment_ids_view *view,
                                                  int64_t position) {
    const tally_segment_ids_shared *shared = view->shared;
    const int64_t i = tally_seek_position(partition, view, position),
                  segment_id = i < partition->values ? tally_segment_id(partition, i) : partition->count;
    const int64_t before = i > 0 ? tally_segment_id(partition, i - 1) : -1; /* the segment id of the value before */
    const int64_t next = tally_further(before, 1),
                  into_gap = tally_apart(position, tally_segment_id_position(partition, i, next));
    if (segment_id > before && into_gap >= 0) { /* empty segments, and `segment_id`, begin at value i */
        const int64_t last = tally_further(next, into_gap / partition->end_weight),
                      s = last < segment_id ? last : segment_id;
        const tally_boundary boundary = {s, i, i, 0, -1};
        return boundary;
    }
    const int64_t begin =
        before == shared->before[0] ? shared->begin : tally_seek_segment_id(partition, view, before, i - 2);
    if (tally_apart(position, tally_segment_id_position(partition, begin, before)) < TALLY_BOUNDARY_SLACK) {
        const tally_boundary boundary = {before, begin, begin, 0, -1};
        return boundary;
    }
    const int64_t end = segment_id > before           ? i
                        : before == shared->before[1] ? shared->end
                                                      : tally_seek_segment_id(partition, view, next, i + 1);
    const int64_t leaves = i > begin ? (i - begin + partition->leaf - 1) / partition->leaf : 0,
                  whole = begin + leaves * partition->leaf;
    const tally_boundary boundary = {next, whole < end ? whole : end, end, leaves, 2 * (begin / partition->leaf)};
    return boundary;
}

/* The first two warps find, for all boundaries of the block, what tally_segment_ids_shared has but the samples. */
TALLY_FN void tally_view_segment_ids(const tally_partition *partition, tally_segment_ids_shared *shared,
                                     int64_t position) {
    const int32_t which = tally_warp();
    const tally_sought here = {position, INT64_MAX};
    const tally_between all = {0, partition->values},
                        first = tally_narrow_segment_ids(partition, here, all, partition->values / tally_blocks() / 64);
    const int64_t at = which == 0 ? first.low : first.high, before = at > 0 ? tally_segment_id(partition, at - 1) : -1;
    const tally_sought boundary = {INT64_MAX, tally_further(before, which)};
    const tally_between near = which == 0 ? tally_reach_segment_ids(partition, boundary, at, partition->values, 0)
                                          : tally_reach_segment_ids(partition, boundary, at, partition->values, 1);
    const int64_t found = tally_narrow_segment_ids(partition, boundary, near, 0).high;
    if (tally_lane() != 0) return;
    shared->at[which] = at;
    shared->before[which] = before;
    *(which == 0 ? &shared->begin : &shared->end) = found;
}
/* Takes samples of the segment ids in between, by all threads. */
TALLY_FN tally_segment_ids_view tally_sample_segment_ids(const tally_partition *partition,
                                                         tally_segment_ids_shared *shared) {
    const int64_t width = shared->at[1] > shared->at[0] ? shared->at[1] - shared->at[0] : 0,
                  step = width / TALLY_SEGMENT_ID_SAMPLES + 1;
    const tally_segment_ids_view view = {shared, step, (int32_t)(width / step)};
    TALLY_UNROLL
    for (int32_t k = 0; k < TALLY_SEGMENT_ID_SAMPLES / TALLY_BOUNDARIES_BLOCK; k++) {
        const int32_t i = k * TALLY_BOUNDARIES_BLOCK + tally_thread();
        if (i < view.count) shared->sampled[i] = tally_segment_id(partition, shared->at[0] + i * step);
    }
    tally_barrier();
    return view;
}

#endif
