/* Segments other than rows, on a platform. */
#ifndef TALLY_CUDA_SEGMENTS_H
#define TALLY_CUDA_SEGMENTS_H

#include "cuda/platform.h"

tally_status tally__gpu_segments(const tally__platform *platform, const tally__spec *spec, const tally__input *in, const tally_segments *cut,
                                 const tally__sink *sink, tally__report *report);

#endif
