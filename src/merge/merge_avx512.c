/* The loops of merges for processors with AVX-512. */
#if defined(__x86_64__)
#define TALLY_ISA_AVX512 1
#define TALLY_MERGE_KERNELS tally__merge_avx512
#include "merge/kernels_template.h"
#endif
