/* The loops of kernels.h for one instruction set: the body of merge_<isa>.c, which defines TALLY_ISA_<LEVEL> and
 * TALLY_MERGE_KERNELS, the name of the table. */
#include <string.h>

#include "cpu/target.h"
#include "merge/kernels.h"

#define TALLY_PASTE_(a, b) a##b
#define TALLY_PASTE(a, b) TALLY_PASTE_(a, b)
#define TALLY_PASTE3(a, b, c) TALLY_PASTE(a, TALLY_PASTE(b, c))
#define TALLY_PASTE4(a, b, c, d) TALLY_PASTE(TALLY_PASTE(a, b), TALLY_PASTE(c, d))

/* As many as hide the latency of a step and have room in the registers: 2 take 1.5 times as long, 8 no less time. */
enum { STREAMS = 4 }; /* the loops are written out for four */

typedef int64_t int64_anywhere __attribute__((aligned(1), may_alias));

TALLY_INLINE TALLY_TARGET int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* ---- vectors: none in the baseline, whose two or four lanes are slower than one key at a time ---- */

#if defined(TALLY_ISA_AVX512)
#include <immintrin.h>
#define TALLY_VECTOR_BYTES 64
#define TALLY_LANES_OF_64 8
#define TALLY_LANES_OF_32 16
#define TALLY_LANES_OF_16 32
#elif defined(TALLY_ISA_AVX2)
#define TALLY_VECTOR_BYTES 32
#define TALLY_LANES_OF_64 4
#define TALLY_LANES_OF_32 8
#define TALLY_LANES_OF_16 16
#endif

/* Numbers of lanes with the bits of d changed, for shuffles. */
#define TALLY_XOR_4(d) 0 ^ (d), 1 ^ (d), 2 ^ (d), 3 ^ (d)
#define TALLY_XOR_8(d) TALLY_XOR_4(d), 4 ^ (d), 5 ^ (d), 6 ^ (d), 7 ^ (d)
#define TALLY_XOR_16(d) TALLY_XOR_8(d), 8 ^ (d), 9 ^ (d), 10 ^ (d), 11 ^ (d), 12 ^ (d), 13 ^ (d), 14 ^ (d), 15 ^ (d)
#define TALLY_XOR_32(d)                                                                                        \
    TALLY_XOR_16(d), 16 ^ (d), 17 ^ (d), 18 ^ (d), 19 ^ (d), 20 ^ (d), 21 ^ (d), 22 ^ (d), 23 ^ (d), 24 ^ (d), \
        25 ^ (d), 26 ^ (d), 27 ^ (d), 28 ^ (d), 29 ^ (d), 30 ^ (d), 31 ^ (d)
#define TALLY_LANES_WITH_BIT_1 (TALLY_PASTE(__mmask, TALLY_LANES))0xaaaaaaaa
#define TALLY_LANES_WITH_BIT_2 (TALLY_PASTE(__mmask, TALLY_LANES))0xcccccccc
#define TALLY_LANES_WITH_BIT_4 (TALLY_PASTE(__mmask, TALLY_LANES))0xf0f0f0f0
#define TALLY_LANES_WITH_BIT_8 (TALLY_PASTE(__mmask, TALLY_LANES))0xff00ff00
#define TALLY_LANES_WITH_BIT_16 (TALLY_PASTE(__mmask, TALLY_LANES))0xffff0000

/* ---- six kinds of keys ---- */

#define TALLY_BITS 16
#define TALLY_DOWN 0
#include "merge/two_template.h"
#define TALLY_DOWN 1
#include "merge/two_template.h"
#undef TALLY_BITS
#define TALLY_BITS 32
#define TALLY_DOWN 0
#include "merge/two_template.h"
#define TALLY_DOWN 1
#include "merge/two_template.h"
#undef TALLY_BITS
#define TALLY_BITS 64
#define TALLY_DOWN 0
#include "merge/two_template.h"
#define TALLY_DOWN 1
#include "merge/two_template.h"
#undef TALLY_BITS

/* ---- bits within bounds ---- */

#define TALLY_WITHIN(bits)                                                                                          \
    typedef uint##bits##_t bits_##bits __attribute__((aligned(1), may_alias));                                      \
    TALLY_TARGET static bool within_##bits(const void *at, int64_t n, uint64_t mask, uint64_t low, uint64_t high) { \
        const bits_##bits *const x = at;                                                                            \
        const uint##bits##_t m = (uint##bits##_t)mask, l = (uint##bits##_t)low, h = (uint##bits##_t)high;           \
        uint##bits##_t bad = 0;                                                                                     \
        for (int64_t i = 0; i < n; i++)                                                                             \
            bad = (uint##bits##_t)(bad | ((x[i] & m) < l ? 1 : 0) | ((x[i] & m) > h ? 1 : 0));                      \
        return bad == 0;                                                                                            \
    }
TALLY_WITHIN(8)
TALLY_WITHIN(16)
TALLY_WITHIN(32)
TALLY_WITHIN(64)

const tally__merge_kernels TALLY_MERGE_KERNELS = {.up = {{in_order16_0, two16_0, two_with16_0},
                                                         {in_order32_0, two32_0, two_with32_0},
                                                         {in_order64_0, two64_0, two_with64_0}},
                                                  .down = {{in_order16_1, two16_1, two_with16_1},
                                                           {in_order32_1, two32_1, two_with32_1},
                                                           {in_order64_1, two64_1, two_with64_1}},
                                                  .within = {within_8, within_16, within_32, within_64}};
