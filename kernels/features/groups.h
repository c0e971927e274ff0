/* Parameters of the kernels of production/segments/groups.h. Groups are segments of vectors: segment s is at places
 * offsets[s] to offsets[s + 1] - 1, and `order` or `begins` says which vector is at a place. */
#ifndef TALLY_GROUPS_H
#define TALLY_GROUPS_H

#include <stdint.h>

#include "device/block.h"

enum {
    TALLY_SORT_BITS = 8, /* how many bits of a key a pass sorts by */
    TALLY_SORT_DIGITS = 1 << TALLY_SORT_BITS,
    TALLY_SORT_EACH = 16, /* keys per thread */
    TALLY_SORT_TILE = TALLY_THREADS * TALLY_SORT_EACH,
    TALLY_GATHER_VALUES = 8192,                             /* that a block copies, roughly */
    TALLY_GATHER_ACROSS = 64,                               /* most features of these */
    TALLY_GATHER_PLACES = 512,                              /* most places of a tile */
    TALLY_GATHER_BYTES = (TALLY_GATHER_ACROSS | 1) * 64 * 4 /* bytes of a tile's values */
};

typedef struct tally_group_work {
    const char *index, *ends; /* ids; or begins and ends; index_bytes each */
    int64_t vectors, inner;   /* how many vectors the array has, and numbers a vector */
    int64_t segments, places; /* places: vectors of all segments */
    int32_t index_bytes;
    int32_t refuses; /* not 0: an id that is no segment's is an error */
    /* The sort; keys are segments. A pass reads keys and order (NULL: as they lie) and writes those for the next. */
    const uint32_t *keys;
    uint32_t *keys_to, *order_to;
    int32_t *counts; /* how often each tile has each digit */
    int64_t tiles;
    int32_t shift; /* where the digit is in a key */
    /* Groups. */
    int32_t offset_bytes;
    const char *offsets; /* or NULL: each segment has `length` vectors */
    int64_t length;
    const uint32_t *order; /* the vector at each place, or NULL */
    const int64_t *begins; /* the first vector of each segment, or NULL; both NULL: places are vectors */
    int64_t *begins_to, *lengths_to;
    /* Copies: values of `bytes` bytes, at multiples of `unit`; and the offset of each feature of each segment. */
    char *x_to, *y_to, *spread; /* y_to may be NULL */
    int32_t bytes, unit, spread_bytes;
    int32_t across, log_across; /* features that a block copies, and log2 of the threads that read them */
    int32_t log_places, tiles_of_block;
    /* Without copies (production/segments/features.h): teams of 2^log_across threads take tiles of `each` positions,
     * and leaves of 2^log_leaf vectors. A segment of several leaves has a node for each. A kernel reads nodes from
     * `slots_from` slots for leaves that are not the last of their segments, and as many for those that are, and writes
     * nodes to `slots_to` of each (features/feature_tiles.h). */
    int64_t each, slots_from, slots_to;
    int64_t share;  /* how many offsets a block checks */
    int32_t chunks; /* into which features are divided */
    int32_t log_leaf;
    char *nodes_from, *nodes_to;
    int32_t *has_nodes; /* not 0: a segment has several leaves */
    int32_t *is_unsure; /* not 0: an exact result takes another kernel */
} tally_group_work;

#endif
