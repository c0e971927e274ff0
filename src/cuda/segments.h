/* Segments on a GPU; of rows those that cuda/rows.h leaves to it. */
#ifndef TALLY_CUDA_SEGMENTS_H
#define TALLY_CUDA_SEGMENTS_H

#include "cuda/call.h"

/* What a GPU has of a plan: offsets, checked, and their boundaries for values of one size; and of begins and ends or
 * ids in any order where their vectors are, of which these are the offsets. */
typedef struct tally__gpu_plan {
    tally__gpu *gpu;
    tally__cu_address memory, copy; /* its own; copy: of offsets that lie in host memory, or 0 */
    tally__cu_address groups_memory;
    tally_partition partition;
    bool is_grouped;
    tally_group_work group;
} tally__gpu_plan;

/* work->partition.offsets of lengths or of sorted ids, by the kernels of production/partition.h; they clear
 * *work->flags. */
tally_status tally__offsets_of_lengths(const tally__call *call, const tally_offsets_work *work);
tally_status tally__offsets_of_ids(const tally__call *call, const tally_offsets_work *work);

/* TALLY_BAD_SEGMENTS: what of such segments is wrong, of an array of so many "values" or "vectors". */
tally_status tally__refuse_segments(tally_segmentation kind, int64_t count, int64_t values, const char *name);

tally_status tally__reduce_ragged(tally__call *call, const tally_segments *segments, tally__report *report);

/* Checks segments that follow one another, and keeps what they need in the plan. Waits. (Others: cuda/groups.h.) */
tally_status tally__prepare_plan(tally__call *call, const tally_segments *segments, tally__gpu_plan *plan);

#endif
