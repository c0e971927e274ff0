/* Windows of nodes on a GPU (kernels/production/ranks/windows.h). */
#ifndef TALLY_CUDA_WINDOWS_H
#define TALLY_CUDA_WINDOWS_H

#include "cuda/call.h"
#include "gpu_nodes.h"

/* As in tally_nodes.h. Shrinking waits for the number of words; restoring waits only with options.checked. */
tally_status tally__launch_extents(tally__call *call, const tally__node_windows *w, void *nodes, int16_t *extents);
tally_status tally__launch_shrink(tally__call *call, const tally__node_windows *w, void *nodes, const int16_t *extents,
                                  size_t *bytes);
tally_status tally__launch_restore(tally__call *call, const tally__node_windows *w, void *nodes,
                                   const int16_t *extents);

#endif
