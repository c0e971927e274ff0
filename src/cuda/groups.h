/* Vectors of features, begins and ends, and ids in any order, on a GPU. */
#ifndef TALLY_CUDA_GROUPS_H
#define TALLY_CUDA_GROUPS_H

#include "cuda/segments.h"

/* The call's segments, or what its plan has of them: values are copied segment by segment and feature by feature, and
 * the copies are reduced as segments that follow one another. */
tally_status tally__reduce_groups(tally__call *call, const tally_segments *segments, tally__report *report);

/* For kernels of nodes: where the vectors of lengths, ids or a plan lie, as offsets with which kernels take them for
 * segments that follow one another; of scattered ones the call's input becomes copies, feature by feature. *flags, on
 * the device, is what the kernels before have seen. Nothing waits. */
tally_status tally__find_places(tally__call *call, const tally_segments *segments, tally_group_work *group,
                                tally__cu_address *flags);

/* Makes the groups of begins and ends or of ids in any order, in memory that belongs to the plan from then on; waits
 * for them, and checks them. */
tally_status tally__plan_groups(tally__call *call, const tally_segments *segments, tally__gpu_plan *plan);

#endif
