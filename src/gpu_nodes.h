/* Nodes in GPU memory: the functions of a GPU backend that src/nodes.c calls. They put their work on options.stream and
 * do not wait. Nodes of exact sums are aligned to 8 bytes. */
#ifndef TALLY_GPU_NODES_H
#define TALLY_GPU_NODES_H

#include "parts.h"

/* What is reduced to nodes: segments, given by one of the two, or, if both are NULL, the whole array. */
typedef struct tally__node_parts {
    int64_t results;
    const tally__parts *parts;      /* segments whose index the host has read; it is copied to the GPU */
    const tally_segments *segments; /* an index in GPU memory, a plan for a GPU, or unsorted ids */
} tally__node_parts;

/* The layout of nodes of exact sums, for windows: a count of values, then `numbers` numbers of limbs[k] limbs. */
typedef struct tally__node_windows {
    int64_t count;
    int numbers;
    int32_t limbs[2];
    size_t bytes; /* the size of a node */
} tally__node_windows;

/* Errors are those of tally_nodes.h. What only kernels see (invalid segments, damaged nodes) is reported with
 * options.checked, or if results go to the host; then the call waits. */
struct tally__gpu_nodes {
    /* The functions of windows. Extents lie in memory that the GPU can read and write. */
    tally_status (*find_extents)(const tally__spec *, const tally__node_windows *, void *nodes, int16_t *extents);
    tally_status (*shrink)(const tally__spec *, const tally__node_windows *, void *nodes, const int16_t *extents,
                           size_t *bytes);
    tally_status (*restore)(const tally__spec *, const tally__node_windows *, void *nodes, const int16_t *extents);
    tally_status (*reduce)(const tally__spec *, const tally__input *, const tally__node_parts *, void *nodes);
    /* into[i] = into[i] merged with from[i] */
    tally_status (*merge)(const tally__spec *, int64_t count, void *into, const void *from);
    /* Adds by[i] to the index in node i. */
    tally_status (*shift)(const tally__spec *, int64_t count, void *nodes, const int64_t *by);
    tally_status (*finish)(const tally__spec *, int64_t count, const void *nodes, const tally__sink *, tally__report *);
    /* Copies nodes to host memory, and waits. */
    tally_status (*fetch)(const tally__spec *, void *to, const void *nodes, size_t bytes);
    /* allocate: gives memory of the GPU that `beside` belongs to. wait: waits for the work in the stream. release:
     * frees such memory after the work that uses it. */
    tally_status (*allocate)(const tally__spec *, const void *beside, size_t bytes, void **memory);
    tally_status (*wait)(const tally__spec *, const void *there);
    tally_status (*release)(const tally__spec *, void *memory);
};

#endif
