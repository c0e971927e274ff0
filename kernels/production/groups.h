/* Kernels that arrange vectors of features by segment, for any operator. They sort ids, make offsets of begins and
 * ends, and copy the values so that those of one feature of a segment are consecutive. The copies are reduced as
 * consecutive segments (production/segments.h). The index is not trusted: one that does not fit leaves
 * TALLY_FLAG_BAD_SEGMENTS in *flags and an offset of -1.
 *
 * The sort is a stable radix sort, 8 bits a pass from the least significant digit on (Satish, Harris and Garland,
 * "Designing efficient sorting algorithms for manycore GPUs", 2009). A block counts the digits of a tile; a scan finds
 * where each tile's keys of each digit go; a block moves its tile there through shared memory. */
#define TALLY_BLOCK 256
#include "segments/partition.h"
#define TALLY_OFFSETS_ANYWHERE 1
#include "features/feature_tiles.h"
#include "features/groups.h"

enum { TALLY_GROUP_WARPS = TALLY_BLOCK / TALLY_WARP };

/* ---- keys ---- */

TALLY_FN int64_t tally_global_thread(void) { return (int64_t)tally_block() * TALLY_BLOCK + tally_thread(); }
TALLY_FN int64_t tally_all_threads(void) { return (int64_t)tally_blocks() * TALLY_BLOCK; }

/* A vector's key is its segment. A vector whose id is out of range has a key behind all segments. */
TALLY_ENTRY(tally_group_keys, tally_groups_work, 4) {
    const tally_group_work *group = &work.group;
    int32_t is_bad = 0;
    for (int64_t i = tally_global_thread(); i < group->vectors; i += tally_all_threads()) {
        const int64_t id = tally_entry(group->index, group->index_bytes, i);
        const int32_t is_inside = id >= 0 && id < group->segments;
        is_bad |= !is_inside;
        group->keys_to[i] = (uint32_t)(is_inside ? id : group->segments);
    }
    if (is_bad && group->refuses) tally_or32(work.flags, TALLY_FLAG_BAD_SEGMENTS);
}

/* ---- one pass of the sort ---- */

TALLY_FN int32_t tally_digit(const tally_group_work *group, uint32_t key) {
    return (int32_t)(key >> group->shift) & (TALLY_SORT_DIGITS - 1);
}
/* A bit for each lane that has a key with this lane's digit. */
TALLY_FN uint32_t tally_peers(int32_t digit, int32_t is_there) {
    uint32_t peers = tally_ballot(is_there);
    TALLY_ROLLED
    for (int32_t bit = 0; bit < TALLY_SORT_BITS; bit++) {
        const uint32_t with = tally_ballot(digit >> bit & 1);
        peers &= digit >> bit & 1 ? with : ~with;
    }
    return peers;
}
TALLY_FN int32_t tally_peers_before(uint32_t peers) {
    return __builtin_popcount(peers & (((uint32_t)1 << tally_lane()) - 1));
}
/* The warp's part of the tile: its first key, and the key of a lane in an iteration. */
TALLY_FN int64_t tally_first_key(void) {
    return (int64_t)tally_block() * TALLY_SORT_TILE + tally_warp() * (TALLY_SORT_TILE / TALLY_GROUP_WARPS) +
           tally_lane();
}
/* Counts this lane's digit for the warp; gives how often the digit came before. */
TALLY_FN int32_t tally_count_digit(int32_t *counts, int32_t digit, int32_t is_there) {
    const uint32_t peers = tally_peers(digit, is_there);
    const int32_t before = is_there ? counts[digit] : 0, among = tally_peers_before(peers);
    tally_warp_barrier();
    if (is_there && among == 0) counts[digit] = before + __builtin_popcount(peers);
    tally_warp_barrier();
    return before + among;
}

typedef struct tally_digit_counts {
    int32_t of[TALLY_GROUP_WARPS][TALLY_SORT_DIGITS];
} tally_digit_counts;
TALLY_FN void tally_clear_digits(tally_digit_counts *counts) {
    for (int32_t w = 0; w < TALLY_GROUP_WARPS; w++) counts->of[w][tally_thread()] = 0;
    tally_barrier();
}
/* Scans the counts of the thread's digit over the warps: each count becomes the sum of those of the warps before. Gives
 * the sum of all. */
TALLY_FN int32_t tally_sum_warps(tally_digit_counts *counts) {
    int32_t sum = 0;
    for (int32_t w = 0; w < TALLY_GROUP_WARPS; w++) {
        const int32_t here = counts->of[w][tally_thread()];
        counts->of[w][tally_thread()] = sum;
        sum += here;
    }
    return sum;
}

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

typedef struct tally_sort_shared {
    tally_digit_counts counts;
    int32_t begins[TALLY_SORT_DIGITS]; /* where each digit begins in the sorted tile */
    int32_t sums[TALLY_GROUP_WARPS];
    uint32_t keys[TALLY_SORT_TILE], order[TALLY_SORT_TILE];
} tally_sort_shared;

/* Computes begins[]: each thread has one digit, which occurs `mine` times. */
TALLY_FN void tally_place_digits(tally_sort_shared *shared, int32_t mine) {
    int32_t sum = mine, before = 0;
    for (int32_t apart = 1; apart < TALLY_WARP; apart *= 2) {
        const int32_t earlier = (int32_t)tally_shuffle((uint32_t)sum, (tally_lane() - apart) & (TALLY_WARP - 1));
        if (tally_lane() >= apart) sum += earlier;
    }
    if (tally_lane() == TALLY_WARP - 1) shared->sums[tally_warp()] = sum;
    tally_barrier();
    for (int32_t w = 0; w < tally_warp(); w++) before += shared->sums[w];
    shared->begins[tally_thread()] = before + sum - mine;
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
    for (int32_t q = tally_thread(); q < n; q += TALLY_BLOCK) {
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
    for (int64_t s = tally_global_thread(); s < group->segments; s += tally_all_threads()) {
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
    for (int64_t j = tally_global_thread(); j <= results; j += tally_all_threads()) {
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

/* For each place of a tile: where its first feature goes, how far apart its features are there, and its vector; -1: the
 * place belongs to no segment. */
typedef struct tally_gather_shared {
    char values[TALLY_GATHER_BYTES];
    int64_t to[TALLY_GATHER_PLACES], apart[TALLY_GATHER_PLACES], vector[TALLY_GATHER_PLACES];
    int64_t segments[2]; /* the segments of the block's first and last place */
} tally_gather_shared;

TALLY_FN int64_t tally_vector_at(const tally_group_work *group, int64_t s, int64_t begin, int64_t place) {
    const int64_t vector = group->order != 0    ? (int64_t)group->order[place]
                           : group->begins != 0 ? group->begins[s] + (place - begin)
                                                : place;
    return vector >= 0 && vector < group->vectors ? vector : -1;
}
TALLY_FN void tally_locate_places(const tally_group_work *group, int64_t first, tally_gather_shared *shared) {
    for (int32_t v = tally_thread(); v < 1 << group->log_places; v += TALLY_BLOCK) {
        const int64_t place = first + v,
                      s = tally_segment_between(group, 0, place, shared->segments[0], shared->segments[1]);
        int64_t begin, end;
        shared->vector[v] = -1;
        if (!tally_find_places(group, s, &begin, &end) || place < begin || place >= end) continue;
        shared->to[v] = begin * group->inner + (place - begin);
        shared->apart[v] = end - begin;
        shared->vector[v] = tally_vector_at(group, s, begin, place);
    }
}

/* Copies a value of `bytes` bytes, a constant; 0: of group->bytes, `unit` bytes at a time. */
TALLY_FN void tally_copy_value(char *to, const char *from, const int32_t bytes, const tally_group_work *group) {
    if (bytes == 1) *(uint8_t *)to = *(const uint8_t *)from;
    if (bytes == 2) *(uint16_t *)(void *)to = *(const uint16_t *)(const void *)from;
    if (bytes == 4) *(uint32_t *)(void *)to = *(const uint32_t *)(const void *)from;
    if (bytes == 8) *(uint64_t *)(void *)to = *(const uint64_t *)(const void *)from;
    if (bytes != 0) return;
    TALLY_ROLLED
    for (int32_t b = 0; b < group->bytes; b += group->unit) {
        if (group->unit == 1) *(uint8_t *)(to + b) = *(const uint8_t *)(from + b);
        if (group->unit == 2) *(uint16_t *)(void *)(to + b) = *(const uint16_t *)(const void *)(from + b);
        if (group->unit == 4) *(uint32_t *)(void *)(to + b) = *(const uint32_t *)(const void *)(from + b);
        if (group->unit == 8) *(uint64_t *)(void *)(to + b) = *(const uint64_t *)(const void *)(from + b);
    }
}

/* Copies features feature ... feature + features - 1 of the tile's places. Neighbouring threads read neighbouring
 * features and write neighbouring places. In between, values are in shared memory, with an odd number of values from
 * one place to the next, so that threads meet different banks. Where the number of bytes is not a constant (0), values
 * are copied without shared memory. */
TALLY_FN void tally_gather_tile(const tally_group_work *group, const char *values, int64_t stride, char *copies,
                                int64_t feature, int32_t features, tally_gather_shared *shared, const int32_t bytes) {
    const int32_t places = 1 << group->log_places, across = 1 << group->log_across, pitch = group->across | 1;
    const int32_t size = bytes != 0 ? bytes : group->bytes;
    const int32_t f = tally_thread() & (across - 1);
    if (bytes != 0 && f < features)
        for (int32_t v = tally_thread() >> group->log_across; v < places; v += TALLY_BLOCK >> group->log_across)
            if (shared->vector[v] >= 0)
                tally_copy_value(shared->values + (v * pitch + f) * size,
                                 values + (shared->vector[v] * group->inner + feature + f) * size, bytes, group);
    if (bytes != 0) tally_barrier();
    for (int32_t k = tally_thread(); k < features << group->log_places; k += TALLY_BLOCK) {
        const int32_t v = k & (places - 1), g = k >> group->log_places;
        if (shared->vector[v] < 0) continue;
        char *const to = copies + (shared->to[v] + (feature + g) * shared->apart[v]) * size;
        if (bytes != 0)
            tally_copy_value(to, shared->values + (v * pitch + g) * size, bytes, group);
        else
            tally_copy_value(to, values + (shared->vector[v] * group->inner + feature + g) * stride, 0, group);
    }
}
TALLY_LONG void tally_gather_input(const tally_group_work *group, const char *values, int64_t stride, char *copies,
                                   int64_t feature, tally_gather_shared *shared) {
    const int64_t left = group->inner - feature;
    const int32_t features = left < group->across ? (int32_t)left : group->across;
    const int32_t bytes = stride == group->bytes && group->unit == group->bytes ? group->bytes : 0;
#define TALLY_GATHER(size) tally_gather_tile(group, values, stride, copies, feature, features, shared, size)
    if (bytes == 0) TALLY_GATHER(0);
    if (bytes == 1) TALLY_GATHER(1);
    if (bytes == 2) TALLY_GATHER(2);
    if (bytes == 4) TALLY_GATHER(4);
    if (bytes == 8) TALLY_GATHER(8);
#undef TALLY_GATHER
}

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
