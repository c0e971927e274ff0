/* Nodes in GPU memory, as they travel: what src/nodes.c has a backend of GPUs do, on options.stream, without waiting.
 * Nodes of exact sums lie at multiples of 8. */
#ifndef TALLY_GPU_NODES_H
#define TALLY_GPU_NODES_H

#include "parts.h"

/* What nodes are made of; both NULL: the whole array. */
typedef struct tally__node_parts {
    int64_t results;
    const tally__parts *parts;      /* segments that the host knows, in order: their index is copied */
    const tally_segments *segments; /* others: an index in GPU memory, a plan for a GPU, or unsorted ids */
} tally__node_parts;

/* Nodes of exact sums, as windows are made of them: their numbers, behind a count of values, and the limbs of each. */
typedef struct tally__node_windows {
    int64_t count;
    int numbers;
    int32_t limbs[2];
    size_t bytes; /* of a node */
} tally__node_windows;

/* Errors are those of tally_nodes.h. What kernels see in data alone (segments that are none, damaged nodes) is told if
 * options.checked, or if results go to the host; for that the call waits. */
struct tally__gpu_nodes {
    /* Windows; extents lie in reach of the GPU. */
    tally_status (*find_extents)(const tally__spec *, const tally__node_windows *, void *nodes, int16_t *extents);
    tally_status (*shrink)(const tally__spec *, const tally__node_windows *, void *nodes, const int16_t *extents,
                           size_t *bytes);
    tally_status (*restore)(const tally__spec *, const tally__node_windows *, void *nodes, const int16_t *extents);
    tally_status (*reduce)(const tally__spec *, const tally__input *, const tally__node_parts *, void *nodes);
    /* into[i] = into[i] and from[i] */
    tally_status (*merge)(const tally__spec *, int64_t count, void *into, const void *from);
    /* Indices of node i move by by[i]. */
    tally_status (*shift)(const tally__spec *, int64_t count, void *nodes, const int64_t *by);
    tally_status (*finish)(const tally__spec *, int64_t count, const void *nodes, const tally__sink *, tally__report *);
    /* Nodes to host memory; that is awaited. */
    tally_status (*fetch)(const tally__spec *, void *to, const void *nodes, size_t bytes);
    /* Memory of the GPU that `beside` belongs to; all that is in the stream is done; and such memory given back, when
     * what uses it is done. */
    tally_status (*allocate)(const tally__spec *, const void *beside, size_t bytes, void **memory);
    tally_status (*wait)(const tally__spec *, const void *there);
    tally_status (*release)(const tally__spec *, void *memory);
};

#endif
