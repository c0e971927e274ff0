/* What the core of the library sees of the cuda backend, beside its table of functions. */
#ifndef TALLY_CUDA_CUDA_H
#define TALLY_CUDA_CUDA_H

#include "cuda/platform.h"

/* The NaN policy of a spec's kernel: integers have no NaN, and every policy is the same kernel. */
tally_nan tally__nan_of(const tally__spec *spec);
/* The translation unit of that form for a spec; of no spec the one that converts results. Operators of the caller's own have whole arrays only. */
tally_status tally__unit_of(const tally__spec *spec, tally__form form, tally__unit *unit);

#endif
