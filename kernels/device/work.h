/* What kernels are launched with: each takes one struct by value (kernels/forms.h says which). The host fills it in; it
 * is laid out as C lays it out, the same on both sides. And sizes that both sides know. */
#ifndef TALLY_WORK_H
#define TALLY_WORK_H

#include "device/dialect.h"
#include "features/groups.h"

enum { TALLY_LOG_FAN = 6, TALLY_FAN = 1 << TALLY_LOG_FAN }; /* nodes that one warp combines: two for each lane */
/* Places for nodes (or counters) of a level, from those of the level below; and of all levels (order/nodes.h). */
TALLY_FN int64_t tally_next_pitch(int64_t pitch) { return pitch / TALLY_FAN + 2; }
TALLY_FN int64_t tally_all_pitches(int64_t pitch) {
    int64_t all = pitch;
    while (pitch > 2) all += pitch = tally_next_pitch(pitch);
    return all;
}

enum { TALLY_EXPANSION_NODE_BYTES = 96 }; /* a node of exact_sums/expansions.h, at most */
/* The scratch memory of exact sums, in bytes: a node, mailboxes of the blocks of a small array, and two keys for each
 * block of a large one. */
enum {
    TALLY_SMALL_ITERATION_BYTES = 4096, /* of each input, that a block of a small array reads at once */
    TALLY_SMALL_ITERATIONS = 4,         /* of them for each of several blocks, at most */
    TALLY_SMALL_BLOCKS = TALLY_FAN,
    TALLY_BOXES_AT = 2048,
    TALLY_KEYS_AT = TALLY_BOXES_AT + TALLY_SMALL_BLOCKS * 2 * TALLY_EXPANSION_NODE_BYTES
};

/* How many numbers of limbs of so many bytes a block of production/flat.h finishes at once, in 24 KB. */
#define TALLY_FINISHED_OF(node_bytes) ((24 << 10) / ((node_bytes) + 16))
/* How many results of rows along another axis a thread takes side by side: 16 bytes of values of all inputs, or fewer
 * where nodes are large; with `order_shows`, where several partial results of each are kept. A constant for constants.
 */
#define TALLY_ACROSS_MOST(node_bytes, order_shows) \
    ((order_shows) ? ((node_bytes) <= 16 ? 4 : (node_bytes) <= 32 ? 2 : 1) : ((node_bytes) <= 48 ? 4 : 2))
#define TALLY_ACROSS_LEAST(value_bytes) ((value_bytes) < 4 ? 4 / (value_bytes) : 1) /* a word */
#define TALLY_ACROSS_OF(node_bytes, value_bytes, inputs, order_shows)                                               \
    (16 / ((value_bytes) * (inputs)) < TALLY_ACROSS_MOST(node_bytes, order_shows) ? 16 / ((value_bytes) * (inputs)) \
     : TALLY_ACROSS_LEAST(value_bytes) < TALLY_ACROSS_MOST(node_bytes, order_shows)                                 \
         ? TALLY_ACROSS_MOST(node_bytes, order_shows)                                                               \
         : TALLY_ACROSS_LEAST(value_bytes))
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
#define TALLY_SHORT_EXACT_ACROSS_OF(value_bytes, inputs, has_spread) \
    (((value_bytes) == 8 ? 2 : 4) / ((inputs) == 2 || (has_spread) ? 2 : 1)) /* and of short exact ones */
/* Rows side by side of more than TALLY_SHORT_APART values go through such a tile in shared memory, with log2 of so many
 * threads for each row. */
enum { TALLY_SHORT_APART = 16, TALLY_SHORT_TILE = 32 << 10 };
TALLY_FN int32_t tally_log_sharers(int64_t row_bytes, int32_t threads) {
    int32_t log = 0;
    while (row_bytes * (threads >> log) > TALLY_SHORT_TILE) log++;
    return log;
}
/* Lanes side by side in production/exact_columns.h, at most: as many as have digits in 48 KB of shared memory. */
#define TALLY_EXACT_COLUMNS_ACROSS_OF(value_bytes, has_sum, has_products) \
    (!(has_products) ? 32 : (value_bytes) == 8 ? 16 >> (has_sum) : (value_bytes) == 4 ? 32 : 32 >> (has_sum))
/* Rows of a block of production/exact_rows.h, at most: as many as have digits there; what a lane reads of one before
 * its sums are full, in shares of 8 parts; and the warps that make results of so many rows. */
#define TALLY_EXACT_ROWS_OF(value_bytes, has_sum, has_products) \
    (!(has_products) ? ((value_bytes) == 8 ? 64 : 256) : (value_bytes) == 8 ? 32 >> (has_sum) : 128)
#define TALLY_EXACT_ROWS_SHARES(value_bytes) (4 * (value_bytes))
#define TALLY_SLOT_WARPS(rows) (((rows) + 31) / 32)
enum {
    TALLY_CHUNK_FAN = 16,
    TALLY_CHUNK_LEAVES = 16 /* at most, of a power of two */
};
/* Of production/prefix.h: bytes of a tile's values and ends, at most, and of positions from one diagonal to the
 * next; for values of so many bytes, threads of a block; the levels of a value, half as many as those of a product;
 * bytes of an end; and of a tile's buffer in shared memory. With more levels, an end's sums take more space, and more
 * threads have shorter chunks. */
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
/* Where a tile of segments begins (segments/partition.h): the first segment that is its own, the first value that it
 * reads; of the segment before, which may cross the boundary, the end, the number of the leaf that begins at the
 * boundary, and where its nodes lie (order/nodes.h), or -1 of what is no segmentation. */
typedef struct tally_boundary {
    int64_t segment, value, end, leaf, place;
} tally_boundary;

/* Where results go. */
typedef struct tally_results {
    void *result;          /* the first */
    int64_t result_stride; /* bytes from one to the next */
    int32_t *flags;        /* their status flags (TALLY_FLAG_...) are or'ed to this word; NULL: nobody asks */
    tally_final final;
} tally_results;

/* Segments: the segmentation as offsets, and what is made of it. */
typedef struct tally_partition {
    const char *index; /* offsets, of 4 or 8 bytes; for some kernels of production/partition.h lengths or segment ids */
    char *offsets; /* what these make of them; NULL: of rows, which need none, and of segment ids that tiles look at */
    const char *segment_ids; /* these: the index, at a multiple of index_bytes; or NULL */
    int64_t row;             /* values of each row */
    int64_t inner;           /* how far apart these lie */
    int64_t groups; /* numbers of limbs of each row of production/exact_columns.h; 0: numbers are those of tiles */
    int32_t index_bytes, offset_bytes;
    int64_t values, count; /* of the array; segments */
    int64_t tiles;
    tally_boundary *boundaries; /* tiles + 1 */
    int64_t *sums;              /* of blocks of lengths */
    int32_t weight; /* bytes of a value, of both where there are two, and of its segment id where tiles look at it */
    int32_t end_weight;   /* bytes of a segment's end, in positions */
    int32_t tile_bytes;   /* of positions, from one tile's diagonal to the next */
    int32_t leaf;         /* values in a leaf */
    int64_t cells;        /* leaves that there can be, and one */
    int32_t are_packed;   /* results lie side by side, each at a multiple of what its size is one of */
    int32_t log_buffers;  /* of the tiles that a block has in shared memory: 0 or 1 */
    uint32_t *next;       /* the first tile that no block has taken, behind the counters */
    uint32_t *unsure;     /* a bit for each segment whose exact result takes another kernel, behind the counters */
    uint32_t *left, *far; /* behind these: a bit for each tile that is left to more levels, if there are any, and to
                             production/flat.h; NULL where production/prefix.h does not come first */
    int64_t cleared; /* words of counters and of such bits, 0 before tiles are read; 0: these are the boundaries for
                        what is unsure */
} tally_partition;

/* In each: x and y, the inputs, y equal to x where there is one; x_stride and y_stride, the bytes from one value to the
 * next. wanted: NULL, or a word on the device; while it is 0 the kernel has nothing to do (device/idle.h). */

/* A whole array: production/reduce.h, reduce_exact.h, small_exact.h. Scratch memory is 0 before and after a launch. */
typedef struct tally_array_work {
    const char *x, *y;
    int64_t x_stride, y_stride;
    int64_t count;      /* values */
    int64_t first;      /* index of the first, for arg operators */
    int32_t run;        /* in canonical order a warp reads 2^run leaves, at most 32 */
    int32_t iterations; /* of a small exact array, that a block has */
    char *nodes;        /* scratch: mailboxes of tiles, then of groups of tiles; or exact sums */
    uint32_t *arrivals; /* scratch: counters */
    void *node;         /* the node of the whole goes here; NULL: nobody wants it */
    tally_results out;  /* of one result; out.result NULL: nobody wants it */
} tally_array_work;

/* How threads of a panel read: vectors of values side by side, at multiples of their bytes; or values as far apart as
 * there are threads side by side, at multiples of their bytes or at any address. */
enum { TALLY_READS_WHOLE, TALLY_READS_APART, TALLY_READS_ANYWHERE };
/* Rows, of outer * length * inner values: production/rows.h, columns.h, short.h. */
typedef struct tally_rows_work {
    const char *x, *y;
    int64_t x_stride, y_stride;
    int64_t outer, length, inner;
    int32_t run;                   /* a warp, or a chunk of a panel, reads 2^run leaves */
    int32_t log_across, log_subs;  /* threads side by side, and threads that share a column of values */
    int32_t log_joined;            /* so many rows of memory are read as one (rows/panel.h) */
    int32_t reads;                 /* how threads read a panel: TALLY_READS_... */
    int32_t log_columns;           /* of a panel's leaves, where no order shows */
    int64_t tiles;                 /* blocks for each row, or chunks of each panel; 0: a warp has a row */
    int64_t row_nodes, row_groups; /* nodes and counters of each row, or of each panel */
    char *nodes;                   /* scratch as of a whole array, */
    uint32_t *arrivals;            /* and counters */
    tally_results out;
} tally_rows_work;

/* What becomes of the sums of exact rows. */
typedef struct tally_row_sums {
    int32_t are_whole; /* a block has all values of its rows, and makes results */
    int64_t groups;    /* if not: of each row so many numbers of limbs, to which its chunks are added in turn, */
    char *nodes;       /* here; or room for one for each warp that makes results: TALLY_SLOT_WARPS of a block */
    tally_results out; /* out.flags is NULL where a block makes results and nobody asks for flags */
} tally_row_sums;

/* Exact rows that lie across others, of outer * length * inner values: production/exact_columns.h. A block has a chunk
 * of the rows of memory, and a panel of the values side by side in each. */
typedef struct tally_columns_work {
    const char *x, *y;
    int64_t x_stride, y_stride;
    int64_t outer, length, inner;
    int64_t width, rows; /* values of a row of memory: inner, or as many in several rows; rows of each outer index */
    int64_t panels, chunks;
    int32_t is_even;    /* all rows begin where 16 bytes can be read at once */
    int32_t log_across; /* lanes side by side */
    int32_t panel;      /* values side by side that a block has, at most */
    int32_t chunk_rows; /* rows that a block has, at most: 256 for each lane */
    tally_row_sums sums;
    const int32_t *wanted;
} tally_columns_work;

/* Exact rows of values side by side: production/exact_rows.h. A block has several rows, or a chunk of one or several.
 * Parts are those of 16 bytes. */
typedef struct tally_exact_rows_work {
    const char *x, *y; /* at a multiple of 16 bytes: the array begins `before` values later, */
    int32_t before;
    int32_t is_even; /* and no part has values of two rows, or some beside the array */
    int64_t rows, length;
    int32_t rows_each;           /* TALLY_EXACT_ROWS_OF, at most */
    int32_t log_lanes;           /* of a row; a warp has as many rows at once as it has lanes for */
    int32_t log_copies;          /* log2 of the columns of digits of a row: so many times rows_each have room */
    int32_t pieces;              /* of a chunk of a row, each by one warp: */
    int32_t piece_parts;         /* TALLY_EXACT_ROWS_SHARES of 8 for each lane at most */
    int64_t chunks, chunk_parts; /* of a row */
    tally_row_sums sums;
    const int32_t *wanted;
} tally_exact_rows_work;

/* Offsets and boundaries of tiles: production/partition.h. */
typedef struct tally_offsets_work {
    tally_partition partition;
    uint32_t *arrivals; /* partition.cleared words that are set to 0 */
    int32_t *flags;
    const int32_t *wanted;
} tally_offsets_work;

/* Segments: production/segments.h, prefix.h, flat.h. */
typedef struct tally_segments_work {
    const char *x, *y;
    int64_t x_stride, y_stride;
    int64_t length, inner; /* of rows: values, and how far apart they lie; else 0 */
    int32_t digits;        /* of exact results that are sums, side by side; else 0 */
    char *nodes;           /* scratch: nodes of leaves, or of tiles */
    uint32_t *arrivals;    /* scratch: counters, 0 before the launch */
    tally_results out;     /* out.flags is never NULL */
    tally_partition partition;
    const int32_t *wanted;
} tally_segments_work;

/* What arranges vectors by segment: production/groups.h. */
typedef struct tally_groups_work {
    const char *x, *y;
    int64_t x_stride, y_stride;
    int32_t *flags;
    tally_group_work group;
    const int32_t *wanted;
} tally_groups_work;

/* Segments of vectors of features, where they lie: production/features.h. */
typedef struct tally_features_work {
    const char *x, *y;
    int64_t x_stride, y_stride;
    tally_results out; /* out.flags is never NULL */
    tally_group_work group;
} tally_features_work;

/* Nodes of segments (segments/node_parts.h): production/part_nodes.h, exact_part_nodes.h. */
typedef struct tally_part_nodes_work {
    const char *x, *y;
    int64_t x_stride, y_stride;
    int64_t count;          /* nodes */
    int64_t length;         /* vectors of each segment, without an index */
    int64_t left_length;    /* segments of so many vectors or more are left to launches of their own */
    char *nodes;            /* where they go, */
    int64_t node_stride;    /* so many bytes apart */
    int32_t count_at;       /* the number of a segment's vectors goes so many bytes behind its node; 0: nowhere */
    int32_t pieces;         /* of each segment: where there are several they have nodes at `piece_nodes`, as kernels */
    char *piece_nodes;      /* have them, side by side, */
    int64_t piece_bytes;    /* of so many bytes */
    uint32_t *arrivals;     /* of the pieces of each exact segment: counters, 0 before and after */
    int32_t *flags;         /* never NULL */
    tally_group_work group; /* the vectors of the array, their numbers, the segments; its index has begins where there
                               are ends, else offsets; no index: rows of `length` vectors */
} tally_part_nodes_work;

/* Nodes of several parties for each result: production/nodes.h, exact_nodes.h. */
typedef struct tally_nodes_work {
    const char *nodes; /* party p's of result i is at nodes + p * party_stride + i * node_stride, */
    int64_t party_stride, node_stride;
    int32_t parties;
    int32_t are_packed;    /* as it travels; 0: as kernels have it */
    int64_t count;         /* results */
    int64_t most;          /* a node of more values is damaged */
    const int64_t *shifts; /* indices of result i move by shifts[i]; NULL: they do not, */
    int64_t count_at;      /* and by the values of the parties before, which stand so many bytes behind nodes; 0: not */
    void *merged;          /* the nodes of all go here, as they travel; NULL: results go to `out`, */
    int64_t merged_stride; /* so many bytes apart */
    char *copies;          /* of exact nodes: room for two for each thread */
    tally_results out;
} tally_nodes_work;

/* Windows of exact nodes (sums/windows.h): production/windows.h. */
typedef struct tally_windows_work {
    int64_t *nodes; /* `count` of them, each of `words` words: a count, and `numbers` numbers behind it */
    int64_t count, words;
    int32_t numbers, limbs[2]; /* limbs of each number */
    int16_t *extents;
    int64_t *lengths;       /* of windows, in words, */
    const int64_t *offsets; /* and where each begins among `windows`, side by side */
    int64_t *windows;
    int32_t to_nodes; /* windows move to where the nodes are; 0: back */
    int32_t *flags;
} tally_windows_work;

/* Results to another type: production/convert.h. */
typedef struct tally_convert_work {
    const char *from; /* results in their natural type, */
    int64_t from_stride, count;
    int32_t from_type, to_type, components; /* TALLY_NUMBER_...; of each result so many numbers */
    void *to;
    int64_t to_stride;
    int32_t *flags; /* or NULL */
    const int32_t *wanted;
} tally_convert_work;

#endif
