/* Parameters of the kernels of production/groups.h. Groups are segments of vectors: segment s is at places offsets[s]
 * to offsets[s + 1] - 1, and `order` or `begins` says which vector is at a place. */
#ifndef TALLY_GROUPS_H
#define TALLY_GROUPS_H

#include <stdint.h>

enum {
    TALLY_SORT_BITS = 8, /* of a key that a pass sorts by */
    TALLY_SORT_DIGITS = 1 << TALLY_SORT_BITS,
    TALLY_SORT_EACH = 16, /* keys of a thread */
    TALLY_SORT_TILE = 256 * TALLY_SORT_EACH,
    TALLY_GATHER_VALUES = 8192,                             /* that a block copies, about */
    TALLY_GATHER_ACROSS = 64,                               /* features of them, at most */
    TALLY_GATHER_PLACES = 512,                              /* places of a tile, at most */
    TALLY_GATHER_BYTES = (TALLY_GATHER_ACROSS | 1) * 64 * 4 /* of a tile's values */
};

typedef struct tally_group_work {
    const char *index, *ends; /* ids; or begins and ends; of index_bytes each */
    int64_t vectors, inner;   /* of the array, and the numbers of each */
    int64_t segments, places; /* places: vectors of all segments */
    int32_t index_bytes;
    int32_t refuses; /* ids that are none of a segment */
    /* The sort: keys are segments. A pass takes keys and order (NULL: as they lie) and writes those of the next. */
    const uint32_t *keys;
    uint32_t *keys_to, *order_to;
    int32_t *counts; /* of each digit in each tile */
    int64_t tiles;
    int32_t shift; /* of the digit in a key */
    /* Groups. */
    int32_t offset_bytes;
    const char *offsets; /* or NULL: each segment has `length` vectors */
    int64_t length;
    const uint32_t *order; /* the vector at each place, or NULL */
    const int64_t *begins; /* the first vector of each segment, or NULL; both NULL: places are vectors */
    int64_t *begins_to, *lengths_to;
    /* Copies: values of `bytes` bytes, at multiples of `unit`; and the offset of each feature of each segment. */
    char *x_to, *y_to, *spread; /* y_to: or NULL */
    int32_t bytes, unit, spread_bytes;
    int32_t across, log_across; /* features that a block copies, and log2 of the threads that read them */
    int32_t log_places, tiles_of_block;
    /* Without copies (production/features.h): teams of 2^log_across threads take tiles of `each` positions, and leaves
     * of 2^log_leaf vectors. Segments of several leave a node for each: of all but the last of a segment there are
     * `slots_from`, and as many of the last ones (features/feature_tiles.h). */
    int64_t each, slots_from, slots_to;
    int64_t share;  /* offsets that a block checks */
    int32_t chunks; /* of the features */
    int32_t log_leaf;
    char *nodes_from, *nodes_to;
    int32_t *has_nodes; /* not 0: there are such segments */
    int32_t *is_unsure; /* not 0: an exact result takes another kernel */
} tally_group_work;

#endif
