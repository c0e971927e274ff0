/* How a thread of production/segments/features.h reads the vectors of a leaf. Needs
 *
 *     TALLY_ACROSS         features of a thread
 *     TALLY_ROWS_ABREAST   the most vectors in flight at once */
#ifndef TALLY_READER_H
#define TALLY_READER_H

#include "types/types.h"
#include "features/feature_tiles.h"
#include "order/leaf.h"

#if !defined(TALLY_ACROSS) || !defined(TALLY_ROWS_ABREAST)
#error "define what the first comment lists"
#endif

/* Values of neighbouring features of one vector, read together. */
typedef struct features_t {
    TALLY_T v[TALLY_ACROSS];
} features_t __attribute__((aligned(TALLY_BYTES * TALLY_ACROSS)));

/* One input as a thread reads it: the address of its first feature in vector 0 (or in a leaf's first vector), and the
 * bytes from one vector to the next and from one feature to the next. */
typedef struct features_of {
    const char *first;
    uint32_t vector, apart;
} features_of;

/* What a thread reads: `mine` features from `feature` on. Values are aligned to their size. */
typedef struct reader_t {
    features_of x, y;
    int64_t feature;
    int32_t mine;
    int32_t is_whole;      /* its features are side by side and aligned to their bytes together */
    const uint32_t *order; /* the vector at each place of a leaf; NULL: consecutive vectors */
} reader_t;

TALLY_FN features_of features_from(const tally_source *from, int64_t inner, int64_t feature) {
    features_of features = {from->values + feature * from->stride, (uint32_t)(inner * from->stride),
                            (uint32_t)from->stride};
    return features;
}
TALLY_FN reader_t open_reader(const tally_features_work *work, int64_t feature) {
    const tally_source x = tally_source_of(work->x, work->x_stride, TALLY_BYTES),
                       y = tally_source_of(work->y, work->y_stride, TALLY_BYTES);
    const int64_t inner = work->group.inner, left = inner - feature;
    reader_t reader;
    reader.feature = feature;
    reader.mine = (int32_t)(left < 0 ? 0 : left < TALLY_ACROSS ? left : TALLY_ACROSS);
    reader.is_whole = x.is_packed && y.is_packed && inner % TALLY_ACROSS == 0;
    reader.x = features_from(&x, inner, feature);
    reader.y = TALLY_KERNEL_INPUTS == 1 ? reader.x : features_from(&y, inner, feature);
    reader.order = 0;
    return reader;
}
/* The reader for a leaf that begins at vector `first` of its segment. */
TALLY_FN reader_t reader_of_leaf(const reader_t *all, const tally_group_work *group, const tally_leaf_at *at,
                                 int64_t first) {
    reader_t reader = *all;
    if (group->order != 0)
        reader.order = group->order + at->begin + first;
    else {
        const int64_t vector = (group->begins != 0 ? group->begins[at->segment] : at->begin) + first;
        reader.x.first += vector * reader.x.vector;
        reader.y.first += vector * reader.y.vector;
    }
    return reader;
}

/* Vectors that are in flight at once: first, first + apart, ... of the leaf's n, or in bit-reversed order. Beyond the
 * last vector the last one is read again: a load without a condition starts with the others. */
typedef struct abreast_t {
    features_t v[TALLY_ROWS_ABREAST];
} abreast_t;
TALLY_FN abreast_t read_abreast(const reader_t *reader, const features_of *from, int32_t first, int32_t apart,
                                int32_t n, const int32_t count, const int32_t is_tree) {
    uint32_t vectors[TALLY_ROWS_ABREAST];
    abreast_t x;
    TALLY_UNROLL
    for (int32_t b = 0; b < count; b++) {
        const int32_t k = first + tally_place_abreast(b, is_tree) * apart;
        vectors[b] = (uint32_t)(k < n ? k : n - 1);
    }
    if (reader->order != 0) {
        TALLY_UNROLL
        for (int32_t b = 0; b < count; b++) vectors[b] = reader->order[vectors[b]];
    }
    TALLY_UNROLL
    for (int32_t b = 0; b < count; b++) {
        const char *at = from->first + (uint64_t)vectors[b] * from->vector;
        if (TALLY_ACROSS == 1 || reader->is_whole)
            x.v[b] = *(const features_t *)(const void *)at;
        else {
            TALLY_UNROLL
            for (int32_t v = 0; v < TALLY_ACROSS; v++)
                x.v[b].v[v] = *(const TALLY_T *)(const void *)(at + (uint32_t)(v < reader->mine ? v : 0) * from->apart);
        }
    }
    return x;
}

#endif
