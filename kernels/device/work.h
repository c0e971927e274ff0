/* The parameters of kernels: each takes one struct by value (kernels/forms.h says which), which the host fills in. Its
 * layout is that of C, the same on both sides. Also the sizes that host and kernels share. */
#ifndef TALLY_WORK_H
#define TALLY_WORK_H

#include "device/block.h"
#include "device/dialect.h"
#include "features/groups.h"

#ifndef TALLY_LOG_FAN /* a build for tests may have less (CONTRIBUTING.md) */
#define TALLY_LOG_FAN 6
#endif
enum { TALLY_FAN = 1 << TALLY_LOG_FAN }; /* nodes that one warp combines: two for each lane */
/* How many places a level of the tree has for nodes or counters, from the number on the level below; and how many all
 * levels have together (order/nodes.h). */
TALLY_FN int64_t tally_next_pitch(int64_t pitch) { return pitch / TALLY_FAN + 2; }
TALLY_FN int64_t tally_all_pitches(int64_t pitch) {
    int64_t all = pitch;
    while (pitch > 2) all += pitch = tally_next_pitch(pitch);
    return all;
}
/* How many counters the groups of a tree over n nodes have. */
TALLY_FN int64_t tally_all_counters(int64_t n) { return tally_all_pitches(tally_next_pitch(n)); }

enum { TALLY_EXPANSION_NODE_BYTES = 96 }; /* a node of compensated/expansions.h, at most */
enum { TALLY_LANE_VALUES = 448 };         /* that a lane adds up at most: so errors are bounded (compensated/nodes.h) */
/* The scratch memory of exact sums, in bytes: a node, mailboxes of the blocks of a small array, and two keys for each
 * block of a large one. */
enum {
    TALLY_SMALL_ITERATION_BYTES = 4096, /* bytes of each input that a block of a small array reads at once */
    TALLY_SMALL_ITERATIONS = 4,         /* how often at most, where there are several blocks */
    TALLY_SMALL_BLOCKS = TALLY_FAN,
    TALLY_BOXES_AT = 2048,
    TALLY_KEYS_AT = TALLY_BOXES_AT + TALLY_SMALL_BLOCKS * 2 * TALLY_EXPANSION_NODE_BYTES
};

/* How many numbers of limbs a block of production/segments/flat.h finishes at once, in 24 KB, where each has
 * node_bytes. */
#define TALLY_FINISHED_OF(node_bytes) ((24 << 10) / ((node_bytes) + 16))
/* How many neighbouring results a thread takes where rows are along another axis: 16 bytes of values of all inputs
 * together, or fewer where nodes are large. With `order_shows` a thread keeps several partial results for each, so it
 * takes fewer. Constant arguments give a constant. */
#define TALLY_ACROSS_MOST(node_bytes, order_shows) \
    ((order_shows) ? ((node_bytes) <= 16 ? 4 : (node_bytes) <= 32 ? 2 : 1) : ((node_bytes) <= 48 ? 4 : 2))
#define TALLY_ACROSS_LEAST(value_bytes) ((value_bytes) < 4 ? 4 / (value_bytes) : 1) /* a word */
#define TALLY_ACROSS_OF(node_bytes, value_bytes, inputs, order_shows)                                               \
    (16 / ((value_bytes) * (inputs)) < TALLY_ACROSS_MOST(node_bytes, order_shows) ? 16 / ((value_bytes) * (inputs)) \
     : TALLY_ACROSS_LEAST(value_bytes) < TALLY_ACROSS_MOST(node_bytes, order_shows)                                 \
         ? TALLY_ACROSS_MOST(node_bytes, order_shows)                                                               \
         : TALLY_ACROSS_LEAST(value_bytes))
/* The same for exact rows (production/rows/columns.h): as many as shared memory holds for each thread of a block. */
#define TALLY_EXACT_ACROSS_OF(value_bytes, inputs, has_sum, has_products) \
    ((value_bytes) == 8 ? 2 / (inputs) : ((has_sum) && (has_products)) || (inputs) * (value_bytes) == 8 ? 2 : 4)
/* The same for production/segments/features.h, measured (docs/design/015). In canonical order each feature takes
 * registers for 8 columns. */
enum { TALLY_FEATURES_ORDERED, TALLY_FEATURES_FREE, TALLY_FEATURES_EXACT };
#define TALLY_FEATURES_ACROSS_OF(value_bytes, inputs, how)                   \
    ((how) == TALLY_FEATURES_ORDERED       ? 1                               \
     : (how) == TALLY_FEATURES_EXACT       ? ((value_bytes) == 8 ? 1 : 2)    \
     : 16 / ((value_bytes) * (inputs)) < 4 ? 16 / ((value_bytes) * (inputs)) \
                                           : 4)
/* The rows that a thread of production/rows/short.h takes. */
#define TALLY_SHORT_ACROSS_OF(value_bytes) ((value_bytes) <= 4 ? 4 : (value_bytes) <= 8 ? 2 : 1)
#define TALLY_SHORT_EXACT_ACROSS_OF(value_bytes, inputs, has_spread) \
    (((value_bytes) == 8 ? 2 : 4) / ((inputs) == 2 || (has_spread) ? 2 : 1)) /* and for short exact rows */
/* Exact rows of up to so many values that lie side by side have a thread each (production/rows/short_exact.h). */
enum { TALLY_SHORT_APART = 16 };

#ifndef TALLY_LOG_CHUNK_FAN /* likewise */
#define TALLY_LOG_CHUNK_FAN 6
#endif
enum {
    TALLY_CHUNK_FAN = 1 << TALLY_LOG_CHUNK_FAN, /* nodes of chunks that are combined at a time */
    TALLY_CHUNK_LEAVES = 16                     /* the most leaves of a chunk; a power of two */
};

/* Where a tile of segments begins (partition/partition.h): its first own segment and the first value that it reads. The
 * segment before may cross the boundary: `end` is its end, `leaf` the number of its leaf that begins at the boundary,
 * and `place` where its nodes are (order/nodes.h); -1 where the offsets are bad. */
typedef struct tally_boundary {
    int64_t segment, value, end, leaf, place;
} tally_boundary;

/* Where results go. */
typedef struct tally_results {
    void *result;          /* the first */
    int64_t result_stride; /* bytes from one to the next */
    int32_t are_packed;    /* results lie side by side, each aligned as its size allows; */
    int32_t digits;        /* if so, of exact sums, means and norm1, how many significant ones they have; else 0 */
    int32_t *flags;        /* their status flags (TALLY_FLAG_...) are or'ed to this word; or NULL */
    tally_final final;
} tally_results;

/* The segmentation, as offsets, and its division into tiles. */
typedef struct tally_partition {
    const char *index; /* offsets, of 4 or 8 bytes; for some kernels that make such, lengths or segment ids */
    char *offsets;     /* the offsets made of these; NULL for rows, and for segment ids that tiles read themselves */
    const char *segment_ids; /* such segment ids: the index, aligned to index_bytes; or NULL */
    int64_t row;             /* values of each row */
    int64_t inner;           /* the distance between the values of a row */
    int32_t index_bytes, offset_bytes;
    int64_t values, count; /* values of the array; segments */
    int64_t tiles;
    tally_boundary *boundaries; /* tiles + 1 */
    int64_t *sums;              /* sums of blocks of lengths */
    int32_t weight;             /* bytes of a value (of both inputs), and of its segment id where tiles read ids */
    int32_t end_weight;         /* bytes that a segment's end counts for in positions */
    int32_t tile_bytes;         /* bytes of positions from one tile's diagonal to the next */
    int32_t leaf;               /* values in a leaf */
    int64_t cells;              /* the most leaves that there can be, plus 1 */
    int32_t log_buffers;        /* log2 of the tiles that a block has in shared memory: 0 or 1 */
    uint32_t *next;             /* behind the counters: the first tile that no block has taken */
    uint32_t *unsure; /* behind the counters: a bit for each segment whose exact result takes another kernel */
    int64_t cleared;  /* words of counters and bits that are set to 0 before tiles are read */
} tally_partition;

/* Fields that have the same meaning in each struct:
 *   x, y                 the inputs; y is x where there is one input
 *   x_stride, y_stride   bytes from one value to the next
 *   wanted               NULL, or a word on the device: if it is 0, the kernel has nothing to do (device/idle.h) */

/* A whole array: the kernels of production/arrays. Scratch memory is 0 before and after a launch. */
typedef struct tally_array_work {
    const char *x, *y;
    int64_t x_stride, y_stride;
    int64_t count;      /* values */
    int64_t first;      /* index of the first value, for arg operators */
    int32_t run;        /* in canonical order a warp reads 2^run leaves, at most 32 */
    int32_t iterations; /* iterations of a block, for a small exact array */
    char *nodes;        /* scratch: mailboxes of tiles, then of groups of tiles; or exact sums */
    uint32_t *arrivals; /* scratch: counters */
    void *node;         /* where the node of the whole array goes; or NULL */
    tally_results out;  /* where the result goes; out.result may be NULL */
} tally_array_work;

/* How threads of a panel read. WHOLE: aligned vectors of neighbouring values. APART: aligned values, whose distance is
 * the number of threads side by side. ANYWHERE: the same values at any address. */
enum { TALLY_READS_WHOLE, TALLY_READS_APART, TALLY_READS_ANYWHERE };
/* Exact rows whose results a kernel leaves to another: scratch memory of both. */
typedef struct tally_left_rows {
    int32_t *unsure;    /* for each row, whether its result is left */
    char *limbs;        /* a number of limbs for each row, which is 0 if the row is left; NULL: rows are many */
    uint32_t *arrivals; /* counters, `counters` for each row: 0 before and after a launch */
    int64_t counters;
} tally_left_rows;

/* Rows, of outer * length * inner values: production/rows/rows.h, columns.h, short.h, stripes.h. */
typedef struct tally_rows_work {
    const char *x, *y;
    int64_t x_stride, y_stride;
    int64_t outer, length, inner;
    int32_t run;                   /* a warp reads 2^run leaves */
    int32_t chunk_length;          /* values of each row that a chunk of a panel has, at most */
    int32_t across, log_subs;      /* threads side by side, and log2 of those that share the same results */
    int32_t log_joined;            /* log2 of the rows of memory that are read as one (rows/panel.h) */
    int32_t reads;                 /* how threads read a panel: TALLY_READS_... */
    int32_t log_columns;           /* log2 of the columns of a panel's leaves, where order does not show */
    int64_t tiles;                 /* blocks for each row, or chunks of each panel; 0: a warp has a row */
    int64_t row_nodes, row_groups; /* nodes and counters of each row, or of each panel */
    char *nodes;                   /* scratch, as for a whole array */
    uint32_t *arrivals;            /* scratch: counters */
    tally_left_rows left;          /* exact rows */
    tally_results out;             /* out.flags of exact rows is never NULL */
} tally_rows_work;

/* Exact rows of values side by side: production/rows/exact_lanes.h. */
typedef struct tally_lanes_work {
    const char *x, *y;
    int64_t rows, length;
    int32_t log_lanes; /* log2 of the lanes of a row, */
    int32_t log_rows;  /* and of the rows of a warp, several for each group of lanes */
    tally_results out; /* out.flags may be NULL */
    const int32_t *wanted;
} tally_lanes_work;

/* Long rows of values side by side: production/rows/exact_parts.h. A block has a part of a row. */
typedef struct tally_parts_work {
    const char *x, *y;
    int64_t rows, length;
    int32_t parts;                    /* of each row */
    int32_t part_values, last_values; /* values of each part but the last, and of the last */
    tally_results out;                /* out.flags may be NULL */
    /* Where a row has several parts: */
    char *nodes;       /* scratch memory: nodes of parts and of the tree above, whose counters are left.arrivals; */
    int64_t row_nodes; /* so many for each row */
    tally_left_rows left;
    const int32_t *wanted;
} tally_parts_work;

/* The rows that are left: production/rows/left_rows.h. */
typedef struct tally_left_work {
    const char *x, *y;
    int64_t x_stride, y_stride;
    int64_t rows, length, inner; /* inner: the distance between values of a row */
    tally_left_rows left;
    tally_results out; /* out.flags: NULL, or rows are left if TALLY_FLAG_UNSURE is in it */
    const int32_t *wanted;
} tally_left_work;

/* Offsets and boundaries of tiles: production/segments/partition.h. */
typedef struct tally_offsets_work {
    tally_partition partition;
    uint32_t *arrivals; /* partition.cleared words, which the kernel sets to 0 */
    int32_t *flags;
    const int32_t *wanted;
} tally_offsets_work;

/* Segments: production/segments/segments.h, exact_tiles.h, spans.h, flat.h, production/rows/short_exact.h. */
typedef struct tally_segments_work {
    const char *x, *y;
    int64_t x_stride, y_stride;
    int64_t length, inner; /* for rows: how many values, and the distance between them; otherwise 0 */
    char *nodes;           /* scratch: nodes of leaves, or of tiles */
    uint32_t *arrivals;    /* scratch: counters, 0 before the launch */
    tally_results out;     /* out.flags is never NULL */
    tally_partition partition;
    const int32_t *wanted;
} tally_segments_work;

/* Arranging vectors by segment: production/segments/groups.h. */
typedef struct tally_groups_work {
    const char *x, *y;
    int64_t x_stride, y_stride;
    int32_t *flags;
    tally_group_work group;
    const int32_t *wanted;
} tally_groups_work;

/* Segments of vectors of features, where they lie: production/segments/features.h. */
typedef struct tally_features_work {
    const char *x, *y;
    int64_t x_stride, y_stride;
    tally_results out; /* out.flags is never NULL */
    tally_group_work group;
} tally_features_work;

/* Nodes of segments (partition/node_parts.h): production/ranks/part_nodes.h, exact_part_nodes.h. */
typedef struct tally_part_nodes_work {
    const char *x, *y;
    int64_t x_stride, y_stride;
    int64_t count;          /* nodes */
    int64_t length;         /* without an index: vectors of each segment */
    int64_t left_length;    /* segments of at least this many vectors are left to launches of their own */
    char *nodes;            /* where the nodes go */
    int64_t node_stride;    /* bytes from one to the next */
    int32_t count_at;       /* how many bytes behind its node the count of a segment's vectors goes; 0: nowhere */
    int32_t pieces;         /* pieces of each segment */
    char *piece_nodes;      /* for several pieces: their nodes side by side, in the form that kernels use */
    int64_t piece_bytes;    /* bytes of such a node */
    uint32_t *arrivals;     /* a counter for the pieces of each exact segment; 0 before and after */
    int32_t *flags;         /* never NULL */
    tally_group_work group; /* the vectors of the array, their numbers, the segments. Its index has begins if there are
                               ends, and offsets otherwise; without an index, segments are rows of `length` vectors */
} tally_part_nodes_work;

/* Nodes of several parties for each result: production/ranks/nodes.h, exact_nodes.h. */
typedef struct tally_nodes_work {
    const char *nodes; /* the node of party p for result i is at nodes + p * party_stride + i * node_stride */
    int64_t party_stride, node_stride;
    int32_t parties;
    int32_t are_packed;    /* nodes have the form in which they travel; 0: the form that kernels use */
    int64_t count;         /* results */
    int64_t most;          /* a node of more values is damaged */
    const int64_t *shifts; /* indices of result i are increased by shifts[i]; or NULL */
    int64_t count_at;      /* bytes from a node to its party's count; indices are also increased by the counts of the
                              parties before. 0: they are not */
    void *merged;          /* where merged nodes go, in the form in which they travel; NULL: results go to `out` */
    int64_t merged_stride; /* bytes from one merged node to the next */
    char *copies;          /* for exact nodes: memory for two nodes for each thread */
    tally_results out;
} tally_nodes_work;

/* Windows of exact nodes (sums/windows.h): production/ranks/windows.h. */
typedef struct tally_windows_work {
    int64_t *nodes; /* `count` nodes of `words` words each: a count, then `numbers` numbers */
    int64_t count, words;
    int32_t numbers, limbs[2]; /* limbs of each number */
    int16_t *extents;
    int64_t *lengths;       /* the length of each window, in words */
    const int64_t *offsets; /* where each window begins in `windows` */
    int64_t *windows;       /* side by side */
    int32_t to_nodes;       /* windows are copied to the place of the nodes; 0: back */
    int32_t *flags;
} tally_windows_work;

/* Results to another type: production/convert.h. */
typedef struct tally_convert_work {
    const char *from; /* results in their natural type */
    int64_t from_stride, count;
    int32_t from_type, to_type, components; /* TALLY_NUMBER_...; numbers in each result */
    void *to;
    int64_t to_stride;
    int32_t *flags; /* or NULL */
    const int32_t *wanted;
} tally_convert_work;

#endif
