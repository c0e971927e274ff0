/* Kernels that arrange vectors of features by segment, for any operator. They sort ids, make offsets of begins and
 * ends, and copy the values so that those of one feature of a segment are consecutive. The copies are reduced as
 * consecutive segments (production/segments/segments.h). The index is not trusted: one that does not fit leaves
 * TALLY_FLAG_BAD_SEGMENTS in *flags and an offset of -1.
 *
 * The sort is a stable radix sort, 8 bits a pass from the least significant digit on (Satish, Harris and Garland,
 * "Designing efficient sorting algorithms for manycore GPUs", 2009). A block counts the digits of a tile; a scan finds
 * where each tile's keys of each digit go; a block moves its tile there through shared memory. */
#include "device/grid.h"
#include "partition/partition.h"
#define TALLY_OFFSETS_ANYWHERE 1
#include "features/gather.h"
#include "features/groups.h"
#include "features/sort.h"

/* ---- keys ---- */

/* A vector's key is its segment. A vector whose id is out of range has a key behind all segments. */
TALLY_ENTRY(tally_group_keys, tally_groups_work, 4) {
    const tally_group_work *group = &work.group;
    int32_t is_bad = 0;
    for (int64_t i = tally_thread_of_all(); i < group->vectors; i += tally_threads_of_all()) {
        const int64_t id = tally_entry(group->index, group->index_bytes, i);
        const int32_t is_inside = id >= 0 && id < group->segments;
        is_bad |= !is_inside;
        group->keys_to[i] = (uint32_t)(is_inside ? id : group->segments);
    }
    if (is_bad && group->refuses) tally_or32(work.flags, TALLY_FLAG_BAD_SEGMENTS);
}

/* ---- one pass of the sort ---- */

TALLY_ENTRY(tally_group_digits, tally_groups_work, 4) {
    TALLY_SHARED(tally_digit_counts, counts);
    const tally_group_work *group = &work.group;
    const int64_t first = tally_first_key();
    tally_clear_digits(counts);
    for (int32_t iteration = 0; iteration < TALLY_SORT_EACH; iteration++) {
        const int64_t i = first + iteration * TALLY_WARP;
        const int32_t is_there = i < group->vectors;
        (void)tally_count_digit(counts->of[tally_warp()], tally_digit(group, is_there ? group->keys[i] : 0), is_there);
    }
    tally_barrier();
    group->counts[tally_thread() * group->tiles + tally_block()] = tally_sum_warps(counts);
}

/* Moves a tile's keys. group->offsets says where the keys of each digit and tile go. */
TALLY_ENTRY(tally_group_move, tally_groups_work, 4) {
    TALLY_SHARED(tally_sort_shared, shared);
    const tally_group_work *group = &work.group;
    const int64_t first = tally_first_key(), left = group->vectors - (int64_t)tally_block() * TALLY_SORT_TILE;
    const int32_t n = left < TALLY_SORT_TILE ? (int32_t)left : TALLY_SORT_TILE;
    uint32_t keys[TALLY_SORT_EACH];
    int32_t places[TALLY_SORT_EACH];
    tally_clear_digits(&shared->counts);
    TALLY_UNROLL
    for (int32_t iteration = 0; iteration < TALLY_SORT_EACH; iteration++) {
        const int64_t i = first + iteration * TALLY_WARP;
        const int32_t is_there = i < group->vectors;
        keys[iteration] = is_there ? group->keys[i] : 0;
        places[iteration] =
            tally_count_digit(shared->counts.of[tally_warp()], tally_digit(group, keys[iteration]), is_there);
    }
    tally_barrier();
    tally_place_digits(shared, tally_sum_warps(&shared->counts));
    tally_barrier();
    TALLY_UNROLL
    for (int32_t iteration = 0; iteration < TALLY_SORT_EACH; iteration++) {
        const int64_t i = first + iteration * TALLY_WARP;
        const int32_t digit = tally_digit(group, keys[iteration]);
        const int32_t at = shared->begins[digit] + shared->counts.of[tally_warp()][digit] + places[iteration];
        if (i >= group->vectors) continue;
        shared->keys[at] = keys[iteration];
        shared->order[at] = group->order != 0 ? group->order[i] : (uint32_t)i;
    }
    tally_barrier();
    for (int32_t q = tally_thread(); q < n; q += TALLY_THREADS) {
        const int32_t digit = tally_digit(group, shared->keys[q]);
        const int64_t begin =
            tally_entry(group->offsets, group->offset_bytes, (int64_t)digit * group->tiles + tally_block());
        group->keys_to[begin + (q - shared->begins[digit])] = shared->keys[q];
        group->order_to[begin + (q - shared->begins[digit])] = shared->order[q];
    }
}

/* ---- begins and ends ---- */

/* Makes begins and lengths of 64 bits; a length of -1 where a segment is not inside the array. */
TALLY_ENTRY(tally_group_lengths, tally_groups_work, 4) {
    const tally_group_work *group = &work.group;
    int32_t is_bad = 0;
    for (int64_t s = tally_thread_of_all(); s < group->segments; s += tally_threads_of_all()) {
        const int64_t begin = tally_entry(group->index, group->index_bytes, s),
                      end = tally_entry(group->ends, group->index_bytes, s);
        const int32_t fits = 0 <= begin && begin <= end && end <= group->vectors;
        is_bad |= !fits;
        group->begins_to[s] = begin;
        group->lengths_to[s] = fits ? end - begin : -1;
    }
    if (is_bad) tally_or32(work.flags, TALLY_FLAG_BAD_SEGMENTS);
}

/* ---- offsets of features ---- */

/* Makes the offset of each feature of each segment, and the end. */
TALLY_ENTRY(tally_group_spread, tally_groups_work, 4) {
    if (tally_is_idle(work.wanted)) return;
    const tally_group_work *group = &work.group;
    const int64_t results = group->segments * group->inner;
    const int32_t is_bad = (tally_look32(work.flags) & TALLY_FLAG_BAD_SEGMENTS) != 0;
    for (int64_t j = tally_thread_of_all(); j <= results; j += tally_threads_of_all()) {
        const int64_t s = j < results ? j / group->inner : group->segments - 1,
                      f = j < results ? j - s * group->inner : group->inner;
        int64_t begin, end, offset = -1;
        if (tally_find_places(group, s, &begin, &end) && !is_bad) offset = begin * group->inner + f * (end - begin);
        if (group->spread_bytes == 4)
            ((int32_t *)(void *)group->spread)[j] = (int32_t)offset;
        else
            ((int64_t *)(void *)group->spread)[j] = offset;
    }
}

/* ---- values ---- */

/* Copies all values, segment by segment and feature by feature: each segment is transposed. A block has some features
 * of some tiles of places. */
TALLY_ENTRY(tally_group_gather, tally_groups_work, 4) {
    TALLY_SHARED(tally_gather_shared, shared);
    if (tally_is_idle(work.wanted)) return;
    const tally_group_work *group = &work.group;
    const int64_t chunks = (group->inner + group->across - 1) / group->across, block = tally_block() / chunks,
                  feature = (tally_block() % chunks) * group->across,
                  each = (int64_t)group->tiles_of_block << group->log_places, first = block * each;
    if (tally_warp() < 2) {
        const int64_t last = first + each < group->places ? first + each : group->places;
        const int64_t s = tally_segment_at(group, 0, tally_warp() == 0 ? first : last - 1);
        if (tally_lane() == 0) shared->segments[tally_warp()] = s;
    }
    for (int64_t at = first; at < first + each && at < group->places; at += (int64_t)1 << group->log_places) {
        tally_barrier();
        tally_locate_places(group, at, shared);
        tally_barrier();
        tally_gather_input(group, work.x, work.x_stride, group->x_to, feature, shared);
        if (group->y_to == 0) continue;
        tally_barrier();
        tally_gather_input(group, work.y, work.y_stride, group->y_to, feature, shared);
    }
}
