/* What the core of the library sees of the cuda backend, beside its table of functions. */
#ifndef TALLY_CUDA_CUDA_H
#define TALLY_CUDA_CUDA_H

#include "cuda/platform.h"

/* The NaN policy of a spec's kernel: integers have no NaN, and every policy is the same kernel. */
tally_nan tally__nan_of(const tally__spec *spec);
/* Whether there is a kernel of that form for a spec. */
bool tally__has_form(const tally__spec *spec, tally__form form);
/* Whether the kernels of that form are of no operator, and their spec is NULL. */
bool tally__is_general(tally__form form);
/* The translation unit of that form for a spec, or that of a general form for none; WHOLE for none: the one that
 * converts results. Operators of the caller's own have WHOLE and SEGMENTS, which take rows too. */
tally_status tally__unit_of(const tally__spec *spec, tally__form form, tally__unit *unit);

#endif
