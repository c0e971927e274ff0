/* Segments on a GPU, and rows that cuda/rows.h leaves to these kernels. */
#ifndef TALLY_CUDA_SEGMENTS_H
#define TALLY_CUDA_SEGMENTS_H

#include "cuda/call.h"

/* A plan for a GPU: offsets that were checked, and the boundaries of tiles for values of one size. For begins and ends,
 * and ids in any order, the offsets are those of their groups: then `group` says where the vectors are. */
typedef struct tally__gpu_plan {
    tally__gpu *gpu;
    tally__cu_address memory, copy; /* memory: the plan's own; copy: offsets from host memory, or 0 */
    tally__cu_address groups_memory;
    tally_partition partition;
    bool is_grouped;
    tally_group_work group;
} tally__gpu_plan;

/* Launch kernels of production/segments/partition.h that make work->partition.offsets of lengths or of sorted ids. They
 * clear *work->flags first. */
tally_status tally__offsets_of_lengths(const tally__call *call, const tally_offsets_work *work);
tally_status tally__offsets_of_ids(const tally__call *call, const tally_offsets_work *work);

/* Returns TALLY_BAD_SEGMENTS with a sentence that says why `count` segments of `values` values do not fit. name:
 * "values" or "vectors". */
tally_status tally__refuse_segments(tally_segmentation kind, int64_t count, int64_t values, const char *name);

tally_status tally__reduce_ragged(tally__call *call, const tally_segments *segments, tally__report *report);

/* Makes a plan of segments that follow one another (others: cuda/groups.h). Checks them, and waits for that. */
tally_status tally__prepare_plan(tally__call *call, const tally_segments *segments, tally__gpu_plan *plan);

#endif
