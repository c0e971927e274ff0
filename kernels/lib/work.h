/* The one parameter that every kernel is launched with. The host fills it in; it lies in memory as C lays it out on both sides. */
#ifndef TALLY_WORK_H
#define TALLY_WORK_H

#include "lib/dialect.h"

enum { TALLY_KEYS_AT = 2048 }; /* bytes into the scratch memory of exact sums: two keys for each block, behind any node */

/* How many results of rows along another axis a thread takes side by side: 16 bytes of values of all inputs, or fewer where nodes are large;
 * with `order_shows`, where several partial results of each are kept. A constant for constants. */
#define TALLY_ACROSS_MOST(node_bytes, order_shows) \
    ((order_shows) ? ((node_bytes) <= 16 ? 4 : (node_bytes) <= 32 ? 2 : 1) : ((node_bytes) <= 32 ? 8 : (node_bytes) <= 48 ? 4 : 2))
#define TALLY_ACROSS_OF(node_bytes, value_bytes, inputs, order_shows)   \
    (16 / ((value_bytes) * (inputs)) < TALLY_ACROSS_MOST(node_bytes, order_shows) \
         ? 16 / ((value_bytes) * (inputs))                              \
         : TALLY_ACROSS_MOST(node_bytes, order_shows))
#define TALLY_EXACT_ACROSS_OF(value_bytes, inputs) (((value_bytes) == 8 ? 2 : 4) / (inputs)) /* the same of exact sums */
enum {
    TALLY_CHUNK_FAN = 16,
    TALLY_CHUNK_LEAVES = 16, /* at most, of a power of two */
    TALLY_PARTIAL_BYTES = 96 /* what blocks leave for one another of an exact sum, at most */
};

typedef struct tally_work {
    const char *x, *y;           /* the inputs; y equals x where there is one */
    int64_t x_stride, y_stride;  /* bytes from one value to the next */
    int64_t count;               /* values */
    int64_t first;               /* index of the first, for arg operators */
    int32_t run;                 /* a warp reads 2^run leaves, at most 32 */
    int32_t user;                /* free for kernels of other kinds */
    char *nodes;                 /* scratch: nodes of tiles, then of groups of tiles */
    uint32_t *arrivals;          /* scratch: counters, 0 before and after each launch */
    void *node;                  /* the node of the whole goes here; NULL: nobody wants it */
    void *result;                /* its result goes here, and what is to be told of it is or'ed to *saw; NULL likewise */
    int32_t *saw;
    tally_final final;
    /* Of rows (TALLY_ROWS): the array's extents, where results go, and how threads share the work; count is outer * length * inner. */
    int64_t outer, length, inner;
    int64_t result_stride;       /* bytes from one result to the next */
    int64_t tiles;               /* blocks for each row, or chunks of each panel; 0: a warp has a row */
    int64_t row_nodes, row_groups; /* nodes and counters of each row, or of each panel */
    int32_t lanes;               /* for each short row; 0: rows are long */
    int32_t log_across, log_subs; /* threads side by side, and threads that share a column of values */
} tally_work;

#endif
