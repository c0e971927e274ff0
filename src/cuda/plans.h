/* Plans on a GPU, as tally__backend has them; the platform is that of the spec's options. */
#ifndef TALLY_CUDA_PLANS_H
#define TALLY_CUDA_PLANS_H

#include "internal.h"

tally_status tally__open_plan(const tally__spec *spec, int64_t values, const tally_segments *segments, void **made);
void tally__close_plan(void *made);

#endif
