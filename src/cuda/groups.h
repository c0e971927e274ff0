/* Vectors of features, begins and ends, and ids in any order, on a GPU. */
#ifndef TALLY_CUDA_GROUPS_H
#define TALLY_CUDA_GROUPS_H

#include "cuda/segments.h"

/* Reduces the segments of the call or of its plan: where their vectors lie, or as copies, which are arranged segment by
 * segment and feature by feature and so are consecutive segments. */
tally_status tally__reduce_groups(tally__call *call, const tally_segments *segments, tally__report *report);

/* For kernels of nodes: makes offsets of lengths, ids or a plan. Scattered vectors are copied, feature by feature, and
 * the copies become the call's input, so that all segments are consecutive. *flags: status flags on the device. Does
 * not wait. */
tally_status tally__find_places(tally__call *call, const tally_segments *segments, tally_group_work *group,
                                tally__cu_address *flags);

/* Makes a plan of begins and ends or of ids in any order. Checks them, and waits for that. */
tally_status tally__plan_groups(tally__call *call, const tally_segments *segments, tally__gpu_plan *plan);

#endif
