/* Whole arrays on a GPU. */
#ifndef TALLY_CUDA_WHOLE_H
#define TALLY_CUDA_WHOLE_H

#include "cuda/call.h"

/* What a launch writes: the node, or the natural result. */
typedef enum tally__writes { TALLY_WRITES_NODE, TALLY_WRITES_RESULT } tally__writes;

/* Launches the reduction of n values from `begin` on, the first of which has index `first`. to: device memory for the
 * node or result; 0: scratch.node of the call. */
tally_status tally__launch_whole(tally__call *call, int64_t begin, int64_t n, int64_t first, tally__writes what,
                                 tally__cu_address to);

/* Launches the reduction of the call's input to a node at `to`, in the form that kernels use: node_size
 * bytes (geometry.h), at a multiple of 16. Not for user operators, which finish on the device. */
tally_status tally__launch_node(tally__call *call, tally__cu_address to);

/* Reduces the call's input to its sink. */
tally_status tally__reduce_whole(tally__call *call, tally__report *report);

/* Checks that the caller's scratch memory is on the GPU of the call. */
tally_status tally__check_given(const tally__call *call);

#endif
