/* Groupings: begins and ends, unsorted ids and segments of vectors in one form. Segment s is the vectors at places
 * begins[s] .. ends[s] - 1 of an order. */
#ifndef TALLY_GROUPING_H
#define TALLY_GROUPING_H

#include "internal.h"

struct tally__grouping {
    tally_allocator allocator;
    int64_t count; /* segments */
    const int64_t *begins, *ends;
    const int64_t *order; /* the vector at each place; NULL: place i has vector i */
    int64_t *own;         /* the memory of begins, ends and order, or NULL if it is borrowed */
};

/* Whether segments need a grouping: begins and ends, unsorted ids, and segments of vectors but rows. */
static inline bool tally__is_grouped(const tally_segments *segments) {
    return segments->kind == TALLY_BEGIN_END || segments->kind == TALLY_UNSORTED_IDS ||
           (segments->kind != TALLY_ROWS && segments->inner > 1);
}
/* The numbers in a vector. */
static inline int64_t tally__features(const tally_segments *segments) {
    return segments->inner > 1 ? segments->inner : 1;
}

/* The number of entries of the index. Ends have as many. */
static inline int64_t tally__index_entries(const tally_segments *segments, int64_t values) {
    const bool has_ids = segments->kind == TALLY_SEGMENT_IDS || segments->kind == TALLY_UNSORTED_IDS;
    return has_ids ? values / tally__features(segments) : segments->count + (segments->kind == TALLY_OFFSETS);
}

/* Computes the count + 1 offsets of lengths or sorted ids; checks given offsets. TALLY_BAD_SEGMENTS. (offsets.c) */
tally_status tally__find_offsets(const tally_segments *segments, int64_t vectors, int64_t *offsets);
tally_status tally__check_offsets(const tally_segments *segments, int64_t vectors);

/* Makes the grouping of an array of `vectors` vectors. It borrows an index of 64-bit offsets or begins and ends. After
 * a failure (TALLY_BAD_SEGMENTS, TALLY_NO_MEMORY) there is nothing to release. */
tally_status tally__group(const tally_allocator *allocator, int threads, const tally_segments *segments,
                          int64_t vectors, tally__grouping *g);
void tally__ungroup(tally__grouping *g);

/* Sorts unsorted ids (unsorted_ids.c) on at most `threads` threads; 0: as many as the system has. */
tally_status tally__sort_ids(const tally_segments *segments, int64_t vectors, int threads, tally__grouping *g);
/* For one reduction small vectors are sorted themselves: they are copied to memory of the grouping, `in` becomes the
 * copy, and place i has vector i. tally__can_sort_vectors: whether they are small enough. */
bool tally__can_sort_vectors(const tally__spec *spec, const tally__input *in, const tally_segments *segments);
tally_status tally__sort_vectors(const tally__spec *spec, const tally_segments *segments, tally__input *in,
                                 tally__grouping *g);
/* Allocates g->own for `numbers` numbers. (offsets.c) */
tally_status tally__own_places(tally__grouping *g, int64_t numbers);
/* Returns TALLY_BAD_SEGMENTS with a sentence: what is wrong (an offset, a length, an id), and where. */
tally_status tally__refuse_place(const tally_segments *segments, int64_t vectors, const char *what, int64_t where);

/* Copies features f .. f + features - 1, out of `inner`, of the n vectors from place `at` on, one feature after the
 * other, to x (and y for two inputs): each begins `apart` values behind the one before. (features.c) */
void tally__gather_features(const tally__spec *spec, const tally__input *in, const tally__grouping *g, int64_t inner,
                            int64_t at, int64_t n, int64_t f, int64_t features, void *x, void *y, int64_t apart);

/* For backends without `grouped`: copies all values in the order of their segments, and reduces these as segments that
 * follow one another. */
tally_status tally__reduce_copies(const tally__backend *backend, const tally__spec *spec, const tally__input *in,
                                  const tally__grouping *g, int64_t inner, const tally__sink *sink,
                                  tally__report *report);

#endif
