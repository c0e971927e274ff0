/* Segments on the host as places of vectors, whatever the caller named them by: what begins and ends, unsorted ids and
 * features have in common. */
#ifndef TALLY_GROUPING_H
#define TALLY_GROUPING_H

#include "internal.h"

struct tally__grouping {
    tally_allocator allocator;
    int64_t count;                /* segments */
    const int64_t *begins, *ends; /* segment s is at places begins[s] .. ends[s] - 1 */
    const int64_t *order;         /* the vector at each place; NULL: places are vectors */
    int64_t *own;                 /* memory of these, or NULL */
};

/* Whether segments are reduced by a grouping: neither numbers nor rows, or named by begins and ends or unsorted ids. */
static inline bool tally__is_grouped(const tally_segments *segments) {
    return segments->kind == TALLY_BEGIN_END || segments->kind == TALLY_UNSORTED_IDS ||
           (segments->kind != TALLY_ROWS && segments->inner > 1);
}
/* Numbers in a vector. */
static inline int64_t tally__features(const tally_segments *segments) {
    return segments->inner > 1 ? segments->inner : 1;
}

/* Entries of the index, and of the ends. */
static inline int64_t tally__index_entries(const tally_segments *segments, int64_t values) {
    const bool has_ids = segments->kind == TALLY_SEGMENT_IDS || segments->kind == TALLY_UNSORTED_IDS;
    return has_ids ? values / tally__features(segments) : segments->count + (segments->kind == TALLY_OFFSETS);
}

/* Offsets of lengths or sorted ids: count + 1 of them. TALLY_BAD_SEGMENTS. (offsets.c) */
tally_status tally__find_offsets(const tally_segments *segments, int64_t vectors, int64_t *offsets);
tally_status tally__check_offsets(const tally_segments *segments, int64_t vectors);

/* Groups an array of so many vectors. The index is borrowed where it is 64-bit offsets or begins and ends. On failure
 * (TALLY_BAD_SEGMENTS, TALLY_NO_MEMORY) nothing is left to release. */
tally_status tally__group(const tally_allocator *allocator, int threads, const tally_segments *segments,
                          int64_t vectors, tally__grouping *g);
void tally__ungroup(tally__grouping *g);

/* Ids in any order (unsorted_ids.c), by so many threads at most, 0 for the system's. */
tally_status tally__sort_ids(const tally_segments *segments, int64_t vectors, int threads, tally__grouping *g);
/* For one reduction, small vectors are sorted themselves, into memory of the grouping that `in` has then; places are
 * vectors. tally__can_sort_vectors: whether they are small enough for it. */
bool tally__can_sort_vectors(const tally__spec *spec, const tally__input *in, const tally_segments *segments);
tally_status tally__sort_vectors(const tally__spec *spec, const tally_segments *segments, tally__input *in,
                                 tally__grouping *g);
/* Memory for so many numbers of the grouping's own. (offsets.c) */
tally_status tally__own_places(tally__grouping *g, int64_t numbers);
/* TALLY_BAD_SEGMENTS: what is wrong (an offset, a length, an id), and where. */
tally_status tally__refuse_place(const tally_segments *segments, int64_t vectors, const char *what, int64_t where);

/* Copies features f .. f + features - 1, out of `inner`, of the n vectors from place `at` on, one feature after the
 * other, to x (and y for two inputs): each begins `apart` values behind the one before. (features.c) */
void tally__gather_features(const tally__spec *spec, const tally__input *in, const tally__grouping *g, int64_t inner,
                            int64_t at, int64_t n, int64_t f, int64_t features, void *x, void *y, int64_t apart);

/* For backends that have no way of their own: copies all values in their new order, and reduces them as segments that
 * follow one another. */
tally_status tally__reduce_copies(const tally__backend *backend, const tally__spec *spec, const tally__input *in,
                                  const tally__grouping *g, int64_t inner, const tally__sink *sink,
                                  tally__report *report);

#endif
