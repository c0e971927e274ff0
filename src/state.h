/* The inside of a state, shared by state.c (what it does) and state_file.c (how it is written down). */
#ifndef TALLY_STATE_H
#define TALLY_STATE_H

#include "internal.h"

/* Raw values, side by side: less than a leaf of them. */
typedef struct tally__raw {
    int64_t count;
    _Alignas(64) char x[TALLY_LEAF_BYTES];
    _Alignas(64) char y[TALLY_LEAF_BYTES];
} tally__raw;

/* A node over leaves leaf ... leaf + 2^rank - 1 of the whole; leaf is a multiple of 2^rank. */
typedef struct tally__rung {
    int32_t rank;
    int64_t leaf;
    tally__ordered_storage storage;
} tally__rung;

enum { TALLY_RUNGS = 128 };                /* two for each of at most 63 ranks */
#define TALLY_MOST_VALUES (INT64_MAX / 64) /* a state ends before this value, so that no sum of places overflows */

struct tally_state {
    tally__spec spec;
    int64_t first, end;           /* the values covered */
    int64_t head_first;           /* where the head begins; before it, if after first, everything is in `extra` */
    int64_t leaf_begin, leaf_end; /* the leaves of the ladder */
    int32_t rung_count;
    tally__node_storage extra;
    tally__raw head, tail;
    tally__rung rungs[TALLY_RUNGS];
};

tally_status tally__state_make(const tally__spec *spec, int64_t first, tally_state **state);

#endif
