/* Nodes on a GPU. */
#ifndef TALLY_CUDA_NODES_H
#define TALLY_CUDA_NODES_H

#include "cuda/call.h"
#include "gpu_nodes.h"

/* What the tables of backends have as `nodes`. */
extern const tally__gpu_nodes tally__cuda_nodes;

/* Where nodes go: bytes from one to the next; and where behind each the number of its values goes, of nodes that are no
 * exact sums, or 0. */
typedef struct tally__nodes_to {
    tally__cu_address at;
    size_t apart, count_at;
} tally__nodes_to;

/* Puts the nodes of the call's input there, as they travel. Status flags of segments are or'ed to *flags on the device.
 * (TALLY_FOR_COPIES, TALLY_FOR_GROUPS) */
tally_status tally__launch_nodes(tally__call *call, const tally__node_parts *what, const tally__nodes_to *to,
                                 tally__cu_address *flags);

/* Scratch memory for a launch of production/nodes.h for so many results, and `bytes` bytes at `more` (TALLY_FOR_NODES);
 * and its kernel, loaded. */
typedef struct tally__nodes_memory {
    tally__cu_address flags, copies, more;
    int64_t blocks;
    tally__loaded kernel;
} tally__nodes_memory;
tally_status tally__open_nodes_memory(tally__call *call, int64_t results, size_t bytes, tally__nodes_memory *memory);
/* Launches it; *work says what of, and to where. */
tally_status tally__launch_on_nodes(tally__call *call, const tally__nodes_memory *memory, const tally_nodes_work *work);

#endif
