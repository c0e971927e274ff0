/* How a block copies the values of a tile of places, for production/segments/groups.h: it reads vectors, and writes the
 * values of each feature side by side. Needs TALLY_OFFSETS_ANYWHERE (features/feature_tiles.h). */
#ifndef TALLY_GATHER_H
#define TALLY_GATHER_H

#include "features/feature_tiles.h"

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
    for (int32_t v = tally_thread(); v < 1 << group->log_places; v += TALLY_THREADS) {
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
        for (int32_t v = tally_thread() >> group->log_across; v < places; v += TALLY_THREADS >> group->log_across)
            if (shared->vector[v] >= 0)
                tally_copy_value(shared->values + (v * pitch + f) * size,
                                 values + (shared->vector[v] * group->inner + feature + f) * size, bytes, group);
    if (bytes != 0) tally_barrier();
    for (int32_t k = tally_thread(); k < features << group->log_places; k += TALLY_THREADS) {
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

#endif
