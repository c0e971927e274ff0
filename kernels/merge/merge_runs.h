/* The runs of a merge that a place belongs to. */
#ifndef TALLY_MERGE_RUNS_H
#define TALLY_MERGE_RUNS_H

#include "device/device.h"
#include "merge/merge.h"

typedef struct tally_run {
    const char *data;
    int64_t stride, count, place; /* place: that of its first value */
} tally_run;

/* The array that the value at that place is in. */
TALLY_FN int64_t tally_merge_array_at(const tally_merge_work *merge, int64_t place) {
    int64_t low = 0, high = merge->count - 1; /* among these: the last array that begins there or before */
    while (low < high) {
        const int64_t middle = high - (high - low) / 2;
        if (merge->before[middle] <= place)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}
/* The value at that place is in one of 2^levels runs that are merged into one: the first array of these. */
TALLY_FN int64_t tally_merge_first_at(const tally_merge_work *merge, int64_t place, int32_t levels) {
    return tally_merge_array_at(merge, place) & -((int64_t)1 << (merge->log_run + levels));
}

/* Run `number` of those that begin with array `first`. Behind the last array there are empty runs. */
TALLY_FN tally_run tally_run_of(const tally_merge_work *merge, int64_t first, int32_t number) {
    const int64_t arrays = (int64_t)1 << merge->log_run, all = merge->count, begins = first + number * arrays,
                  begin = begins < all ? begins : all, end = begin + arrays < all ? begin + arrays : all,
                  place = merge->before[begin];
    tally_run run = {merge->from, merge->from_stride, merge->before[end] - place, place};
    if (run.count == 0) return run;
    if (run.data != 0) {
        run.data += place * run.stride;
    } else { /* the first pass: a run is an array */
        run.data = merge->arrays[begin].data;
        run.stride = merge->arrays[begin].stride;
    }
    return run;
}

/* Origins have 8 bytes, at any address. */
TALLY_FN int64_t tally_origin_of(const tally_merge_work *merge, int64_t place) {
    uint64_t bits = 0;
    if (merge->origins_from == 0) return place;
    const char *p = merge->origins_from + place * merge->origins_from_stride;
    if ((uint64_t)p % 8 == 0) return *(const int64_t *)(const void *)p;
    TALLY_ROLLED
    for (int32_t b = 7; b >= 0; b--) bits = bits << 8 | *(const volatile uint8_t *)(p + b);
    return (int64_t)bits;
}
TALLY_FN void tally_put_origin(const tally_merge_work *merge, int64_t place, int64_t origin) {
    char *p = merge->origins_to + place * merge->origins_to_stride;
    if ((uint64_t)p % 8 == 0) {
        *(int64_t *)(void *)p = origin;
        return;
    }
    TALLY_ROLLED
    for (int32_t b = 0; b < 8; b++) *(volatile uint8_t *)(p + b) = (uint8_t)((uint64_t)origin >> 8 * b);
}

#endif
