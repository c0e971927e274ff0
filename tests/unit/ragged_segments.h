/* Segments of every shape and form, for tests of segments on the GPU backend. */
#ifndef TALLY_TEST_RAGGED_SEGMENTS_H
#define TALLY_TEST_RAGGED_SEGMENTS_H

#include "gpu_host.h"

enum { X = 0, Y = 1, OUT = 2, INDEX = 3, WANTED = 4, LENGTHS = 5 }; /* numbers of scratch memory */

typedef enum shape {
    ONE,
    ONES,
    THREES,
    TENS,
    POWER,
    EIGHTY,
    ENDS,
    HUGE_AND_THREES,
    EDGES,
    LEAVES,
    FEW,
    EMPTY,
    SHAPES
} shape;
extern const char *const shape_names[SHAPES], *const segmentation_names[]; /* of offsets, lengths, segment ids */

/* Segments of these lengths; the array has `skip` values before and `slack` behind them (of forms that can have such).
 */
typedef struct ragged {
    int64_t count, skip, slack, values;
    int64_t *lengths;
} ragged;

/* Of about `values` values; other ones each trial. */
ragged make_ragged(shape which, tally_type type, int64_t values, int trial);
void put_index(tally_type type, char *to, int64_t i, int64_t value);
/* The index in memory that is aligned or not; *skip and *count say which values it is about, *bytes how long it is. */
tally_segments make_segments(tally_segmentation form, tally_type type, const ragged *r, int misalign, int64_t *skip,
                             int64_t *count, size_t *bytes);

#endif
