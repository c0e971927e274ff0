/* What the core of the library sees of the cuda backend, beside its table of functions. */
#ifndef TALLY_CUDA_CUDA_H
#define TALLY_CUDA_CUDA_H

#include "cuda/platform.h"

/* The NaN policy of a spec's kernel: integers have no NaN, and every policy is the same kernel. */
tally_nan tally__nan_of(const tally__spec *spec);
/* The translation unit that does this for a spec (for TALLY_UNIT_CUT any, or NULL). */
tally_status tally__unit_of(tally__unit_kind kind, const tally__spec *spec, tally__unit *unit);

/* What the driver knows of an address; without a driver it is the host's. */
typedef enum tally__memory_kind { TALLY_IN_HOST, TALLY_IN_DEVICE, TALLY_IN_PINNED, TALLY_IN_MANAGED } tally__memory_kind;
typedef struct tally__memory {
    tally__memory_kind kind;
    int ordinal;
} tally__memory;
tally__memory tally__memory_of(const tally__driver *driver, const void *address);

/* Segments on a platform (segments.c). */
tally_status tally__gpu_segments(const tally__platform *platform, const tally__spec *spec, const tally__input *in, const tally_segments *cut,
                                 const tally__sink *sink, tally__report *report);

#endif
