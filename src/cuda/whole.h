/* Whole arrays, by one launch of a kernel of kernels/production. */
#ifndef TALLY_CUDA_WHOLE_H
#define TALLY_CUDA_WHOLE_H

#include "cuda/call.h"

/* What a launch writes: the node, or the natural result. */
typedef enum tally__gives { TALLY_GIVES_NODE, TALLY_GIVES_RESULT } tally__gives;

/* Launches the reduction of n values from `begin` on, the first of which has index `first`. to: device memory for the
 * node or result; 0: scratch.node of the call. */
tally_status tally__launch_whole(tally__call *call, int64_t begin, int64_t n, int64_t first, tally__gives what,
                                 tally__cu_address to);

/* Launches the reduction of the call's input to a node at `to`, in the form that kernels use: spec->kernel->node_size
 * bytes, at a multiple of 16. Not for user operators, which finish on the device. */
tally_status tally__launch_node(tally__call *call, tally__cu_address to);

#endif
