/* The loops of merges, for one instruction set each. Keys are signed integers of 2, 4 or 8 bytes at any address: values
 * whose order is that of their bits, up or down (parts.h says which are). Equal keys have equal bits. */
#ifndef TALLY_MERGE_KERNELS_H
#define TALLY_MERGE_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct tally__merge_kernel {
    /* Whether no key has to stand before the one in front of it. */
    bool (*in_order)(const void *keys, int64_t n);
    /* Merges two sorted runs, na and nb > 0, into `out`, which overlaps neither. `ahead`: how many bytes ahead
     * each is prefetched. */
    void (*two)(const void *a, int64_t na, const void *b, int64_t nb, void *out, int64_t ahead);
    /* The same with a number beside each key, stable: of equal keys those of `a` come first. */
    void (*two_with)(const void *a, const int64_t *with_a, int64_t na, const void *b, const int64_t *with_b, int64_t nb,
                     void *out, int64_t *with_out);
} tally__merge_kernel;

typedef struct tally__merge_kernels {
    tally__merge_kernel up[3], down[3];
    /* By width: whether all bits & mask, as unsigned integers, lie in low .. high. */
    bool (*within[4])(const void *bits, int64_t n, uint64_t mask, uint64_t low, uint64_t high);
} tally__merge_kernels;

extern const tally__merge_kernels tally__merge_baseline;
#if defined(__x86_64__)
extern const tally__merge_kernels tally__merge_avx2, tally__merge_avx512;
#endif

/* Those of the instruction set in use. */
const tally__merge_kernels *tally__merge_kernels_in_use(void);

#endif
