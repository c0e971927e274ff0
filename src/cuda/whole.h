/* Whole arrays, by one launch of a kernel of kernels/production. */
#ifndef TALLY_CUDA_WHOLE_H
#define TALLY_CUDA_WHOLE_H

#include "cuda/call.h"

/* What a launch gives: the node, or the natural result. */
typedef enum tally__gives { TALLY_GIVES_NODE, TALLY_GIVES_RESULT } tally__gives;

/* Launches the reduction of n values from `begin` on, the first of which has index `first`. `to` is device memory for
 * what it gives; 0: the scratch memory for a node. */
tally_status tally__launch_whole(tally__call *call, int64_t begin, int64_t n, int64_t first, tally__gives what,
                                 tally__cu_address to);

/* Starts the reduction of the call's input to a node at `to`, as kernels have it (spec->kernel->node_size bytes at a
 * multiple of 16). Operators of the caller's own finish theirs on the device alone. */
tally_status tally__launch_node(tally__call *call, tally__cu_address to);

#endif
