/* The one parameter that every kernel is launched with. The host fills it in; it lies in memory as C lays it out on
 * both sides. */
#ifndef TALLY_WORK_H
#define TALLY_WORK_H

#include "device/dialect.h"
#include "features/groups.h"

enum { TALLY_LOG_FAN = 6, TALLY_FAN = 1 << TALLY_LOG_FAN }; /* nodes that one warp combines: two for each lane */
/* Rooms for nodes (or counters) of a level, from those of the level below; and of all levels (order/nodes.h). */
TALLY_FN int64_t tally_next_pitch(int64_t pitch) { return pitch / TALLY_FAN + 2; }
TALLY_FN int64_t tally_all_pitches(int64_t pitch) {
    int64_t all = pitch;
    while (pitch > 2) all += pitch = tally_next_pitch(pitch);
    return all;
}

enum { TALLY_QUICK_NODE_BYTES = 96 }; /* a node of exact_sums/quick.h, at most */
/* The scratch memory of exact sums, in bytes: a node, mailboxes of the blocks of a small array, and two keys for each
 * block of a large one. */
enum {
    TALLY_SMALL_ROUND_BYTES = 4096, /* of each input, that a block of a small array reads at once */
    TALLY_SMALL_ROUNDS = 4,         /* of them for each of several blocks, at most */
    TALLY_SMALL_BLOCKS = TALLY_FAN,
    TALLY_BOXES_AT = 2048,
    TALLY_KEYS_AT = TALLY_BOXES_AT + TALLY_SMALL_BLOCKS * 2 * TALLY_QUICK_NODE_BYTES
};

/* How many results of rows along another axis a thread takes side by side: 16 bytes of values of all inputs, or fewer
 * where nodes are large; with `order_shows`, where several partial results of each are kept. A constant for constants.
 */
#define TALLY_ACROSS_MOST(node_bytes, order_shows) \
    ((order_shows) ? ((node_bytes) <= 16   ? 4     \
                      : (node_bytes) <= 32 ? 2     \
                                           : 1)    \
                   : ((node_bytes) <= 32   ? 8     \
                      : (node_bytes) <= 48 ? 4     \
                                           : 2))
#define TALLY_ACROSS_OF(node_bytes, value_bytes, inputs, order_shows)             \
    (16 / ((value_bytes) * (inputs)) < TALLY_ACROSS_MOST(node_bytes, order_shows) \
         ? 16 / ((value_bytes) * (inputs))                                        \
         : TALLY_ACROSS_MOST(node_bytes, order_shows))
/* The same of production/features.h: measured (docs/design/015). In canonical order each feature takes registers for 8
 * columns. */
enum { TALLY_FEATURES_ORDERED, TALLY_FEATURES_FREE, TALLY_FEATURES_EXACT };
#define TALLY_FEATURES_ACROSS_OF(value_bytes, inputs, how)                   \
    ((how) == TALLY_FEATURES_ORDERED       ? 1                               \
     : (how) == TALLY_FEATURES_EXACT       ? ((value_bytes) == 8 ? 1 : 2)    \
     : 16 / ((value_bytes) * (inputs)) < 4 ? 16 / ((value_bytes) * (inputs)) \
                                           : 4)
#define TALLY_SHORT_ACROSS_OF(value_bytes) \
    ((value_bytes) <= 4 ? 4 : (value_bytes) <= 8 ? 2 : 1) /* the same of rows of a few values */
enum {
    TALLY_CHUNK_FAN = 16,
    TALLY_CHUNK_LEAVES = 16 /* at most, of a power of two */
};
/* Of production/prefix.h: bytes of a tile's values and ends, at most, and of positions from one border to the
 * next; for values of so many bytes, threads of a block; the levels of a value, half as many as those of a product;
 * bytes of an end; and of a tile's room in shared memory. With more levels, an end's sums take more room, and more
 * threads have shorter strips. */
enum {
    TALLY_PREFIX_TILE_MOST = 14336,
    TALLY_PREFIX_TILE_BYTES = TALLY_PREFIX_TILE_MOST - 1152,
    TALLY_PREFIX_SLACK = 32
};
#define TALLY_PREFIX_THREADS_OF(value_bytes, is_wide) ((is_wide) || (value_bytes) == 2 ? 128 : 64)
#define TALLY_PREFIX_LEVELS_OF(value_bytes, is_wide) ((is_wide) ? 4 : (value_bytes) == 8 ? 2 : 1)
#define TALLY_PREFIX_END_BYTES(value_bytes, has_sum, has_products, has_keys, is_wide)          \
    (4 + 8 * ((has_sum) + 2 * (has_products)) * TALLY_PREFIX_LEVELS_OF(value_bytes, is_wide) + \
     2 * (value_bytes) * (has_keys))
#define TALLY_PREFIX_BUFFER(value_bytes, inputs, has_sum, has_products, has_keys, is_wide)                            \
    ((int64_t)TALLY_PREFIX_TILE_MOST *                                                                                \
         ((value_bytes) * (inputs) + TALLY_PREFIX_END_BYTES(value_bytes, has_sum, has_products, has_keys, is_wide)) / \
         ((value_bytes) * (inputs) + TALLY_PREFIX_END_BYTES(value_bytes, has_sum, has_products, has_keys, 0)) +       \
     8 * 3 * 4 + 160)
/* Where a tile of segments begins (segments/cut.h): the first segment that is its own, the first value that it reads;
 * of the segment before, which may run over the edge, the end, the number of the leaf that begins at the edge, and
 * where its nodes lie (order/nodes.h), or -1 of what is no cut. */
typedef struct tally_edge {
    int64_t segment, value, end, leaf, place;
} tally_edge;

/* What kernels of segments have beside: the cut as offsets, and what is made of it. */
typedef struct tally_cut_work {
    const char *index; /* offsets, of 4 or 8 bytes; for some kernels of production/cut.h lengths or segment ids */
    char *offsets; /* what these make of them; NULL: of rows, which need none, and of segment ids that tiles look at */
    const char *segment_ids; /* these: the index, at a multiple of index_bytes; or NULL */
    int64_t row;             /* values of each row, or of each piece of a row (segments/pieces.h) */
    int64_t length,
        inner; /* of the rows that pieces are of: values, and how far apart these lie; inner 1: there are no pieces */
    int64_t chunks; /* pieces of each row; of several, results are made when all have been added up */
    int64_t groups; /* numbers of limbs that the pieces of a row are added to in turn */
    int32_t index_bytes, offset_bytes;
    int64_t count; /* segments */
    int64_t tiles;
    tally_edge *edges; /* tiles + 1 */
    int64_t *sums;     /* of blocks of lengths */
    int32_t weight;    /* bytes of a value, of both where there are two, and of its segment id where tiles look at it */
    int32_t end_weight;    /* bytes of a segment's end, in positions */
    int32_t tile_bytes;    /* of positions, from one tile's border to the next */
    int32_t leaf;          /* values in a leaf */
    int64_t cells;         /* leaves that there can be, and one */
    int64_t result_stride; /* bytes from one result to the next */
    int32_t are_packed;    /* results lie side by side, each at a multiple of what its size is one of */
    int32_t log_buffers;   /* of the tiles that a block has in shared memory: 0 or 1 */
    uint32_t *next;        /* the first tile that no block has taken, behind the counters */
    uint32_t *unsure;      /* a bit for each segment whose exact result takes another kernel, behind the counters */
    uint32_t *left, *far;  /* behind these: a bit for each tile that is left to more levels, if there are any, and to
                              production/flat.h; NULL where production/prefix.h does not come first */
    int64_t cleared; /* words of counters and of such bits, 0 before tiles are read; 0: these are the edges for what is
                        unsure */
} tally_cut_work;

typedef struct tally_work {
    const char *x, *y;          /* the inputs; y equals x where there is one */
    int64_t x_stride, y_stride; /* bytes from one value to the next */
    int64_t count;              /* values */
    int64_t first;              /* index of the first, for arg operators */
    int32_t run;  /* a warp reads 2^run leaves, at most 32; of a small exact array a block so many rounds */
    int32_t user; /* for kernels of other kinds; of exact segments, the digits of results that are sums, side by side,
                     or 0 */
    char *
        nodes; /* scratch, 0 before and after each launch: mailboxes of tiles, then of groups of tiles; or exact sums */
    uint32_t *arrivals;    /* scratch: counters, 0 before and after each launch */
    void *node;            /* the node of the whole goes here; NULL: nobody wants it */
    void *result;          /* or its result goes here, and what is to be told of it is or'ed to *saw */
    int32_t *saw;          /* of segments never NULL */
    const int32_t *wanted; /* NULL, or a word on the device: while it is 0 the kernel has nothing to do */
    tally_final final;
    /* Of rows (TALLY_ROWS): the array's extents, where results go, and how threads share the work; count is outer *
     * length * inner. */
    int64_t outer, length, inner;
    int64_t result_stride;         /* bytes from one result to the next, of segments too */
    int64_t tiles;                 /* blocks for each row, or chunks of each panel; 0: a warp has a row */
    int64_t row_nodes, row_groups; /* nodes and counters of each row, or of each panel */
    int32_t log_across, log_subs;  /* threads side by side, and threads that share a column of values */
    tally_cut_work cut;            /* of other segments */
    tally_group_work group;        /* of vectors of features, begins and ends and ids in any order */
} tally_work;

#endif
