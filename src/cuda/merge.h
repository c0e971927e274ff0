/* Merges on a GPU. */
#ifndef TALLY_CUDA_MERGE_H
#define TALLY_CUDA_MERGE_H

#include "cuda/platform.h"
#include "gpu_merge.h"

/* The `merge` of a backend's table, on a platform. */
tally_status tally__merge_arrays(const tally__platform *platform, const tally_context *context,
                                 const tally__gpu_merge *merge, int64_t *misplaced);

#endif
