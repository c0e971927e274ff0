/* What the core of the library sees of the cuda backend, beside its table of functions. */
#ifndef TALLY_CUDA_CUDA_H
#define TALLY_CUDA_CUDA_H

#include "cuda/platform.h"

/* The translation unit that reduces whole arrays for a spec. */
tally_status tally__unit_of(const tally__spec *spec, tally__unit *unit);

#endif
