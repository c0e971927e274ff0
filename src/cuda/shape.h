/* Arithmetic by which launches share out work. */
#ifndef TALLY_CUDA_SHAPE_H
#define TALLY_CUDA_SHAPE_H

#include <stdint.h>

/* a over b, rounded up; both positive, or a 0. */
static inline int64_t tally__over(int64_t a, int64_t b) { return (a + b - 1) / b; }
/* The least power of two that is not below n, as its logarithm; 0 for n below 2. */
static inline int tally__log_above(int64_t n) { return n > 1 ? 64 - __builtin_clzll((uint64_t)(n - 1)) : 0; }

#endif
