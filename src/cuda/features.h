/* Groups of vectors reduced where they lie (kernels/production/segments/features.h). */
#ifndef TALLY_CUDA_FEATURES_H
#define TALLY_CUDA_FEATURES_H

#include "cuda/call.h"

/* Whether there is a kernel for the call, and its values and offsets are aligned. */
bool tally__reads_in_place(const tally__call *call, const tally_group_work *group);

/* Reduces groups whose offsets, order and begins are ready. flags: their status flags, on the device. *is_done: the
 * results are written. Otherwise they must be made another way: exact results were not certain, or only the device
 * knows whether they were. Then call->wanted is set, and kernels launched afterwards have work only if it is needed. */
tally_status tally__reduce_features(tally__call *call, const tally_group_work *groups, int32_t *flags,
                                    tally__report *report, bool *is_done);

#endif
