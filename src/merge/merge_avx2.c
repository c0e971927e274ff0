/* The loops of merges for processors with AVX2. */
#if defined(__x86_64__)
#define TALLY_ISA_AVX2 1
#define TALLY_MERGE_KERNELS tally__merge_avx2
#include "merge/kernels_template.h"
#endif
