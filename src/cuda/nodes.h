/* Nodes on a GPU. */
#ifndef TALLY_CUDA_NODES_H
#define TALLY_CUDA_NODES_H

#include "cuda/call.h"
#include "gpu_nodes.h"

/* The `nodes` of the tables of GPU backends. */
extern const tally__gpu_nodes tally__cuda_nodes;

/* Bytes of status flags, with which scratch memory for nodes begins. */
enum { TALLY_NODES_FLAGS = 64 };

/* Where nodes go: the first to `at`, and each `apart` bytes behind the one before. count_at: how many bytes behind its
 * node the count of values goes; 0 for nodes of exact sums, which contain it. */
typedef struct tally__nodes_to {
    tally__cu_address at;
    size_t apart, count_at;
} tally__nodes_to;

/* Makes packed nodes of the call's input. *flags is set to status flags on the device, which kernels set. Scratch
 * memory: TALLY_FOR_COPIES, TALLY_FOR_FEATURES and TALLY_FOR_GROUPS. (make_nodes.c) */
tally_status tally__launch_nodes(tally__call *call, const tally__node_parts *what, const tally__nodes_to *to,
                                 tally__cu_address *flags);

/* The loaded kernel of production/ranks/nodes.h, and scratch memory (TALLY_FOR_NODES) for a launch of it with a number
 * of results. `more` has `bytes` bytes for the caller. */
typedef struct tally__nodes_memory {
    tally__cu_address flags, copies, more;
    int64_t blocks;
    tally__loaded kernel;
} tally__nodes_memory;
tally_status tally__open_nodes_memory(tally__call *call, int64_t results, size_t bytes, tally__nodes_memory *memory);
/* Launches that kernel on *work, after filling in work's flags, copies and greatest count. */
tally_status tally__launch_on_nodes(tally__call *call, const tally__nodes_memory *memory, const tally_nodes_work *work);

#endif
