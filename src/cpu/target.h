/* The instruction set a unit is compiled for, and how functions are: TALLY_TARGET, from TALLY_ISA_<LEVEL>, which
 * CMake's units define, TALLY_INLINE, TALLY_APART and TALLY_FREE_LANES. */
#ifndef TALLY_CPU_TARGET_H
#define TALLY_CPU_TARGET_H

#if defined(TALLY_ISA_AVX512)
#ifdef __clang__
#define TALLY_TARGET \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx2,fma,f16c,bmi,bmi2,popcnt,lzcnt")))
#else
#define TALLY_TARGET                                                                                         \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx2,fma,f16c,bmi,bmi2,popcnt,lzcnt," \
                          "prefer-vector-width=512")))
#endif
#elif defined(TALLY_ISA_AVX2)
#define TALLY_TARGET __attribute__((target("avx2,fma,f16c,bmi,bmi2,popcnt,lzcnt")))
#else
#define TALLY_TARGET
#endif

#if defined(TALLY_ISA_AVX2) || defined(TALLY_ISA_AVX512)
#define TALLY_HAS_F16C 1
#define TALLY_HAS_FMA 1
#else
#define TALLY_HAS_F16C 0
#define TALLY_HAS_FMA 0
#endif

#if TALLY_HAS_F16C /* in place of <immintrin.h>, which takes a third of a second to read */
typedef short tally__eight_f16 __attribute__((vector_size(16), aligned(1), may_alias));
typedef float tally__eight_f32 __attribute__((vector_size(32), may_alias));
typedef short tally__sixteen_f16 __attribute__((vector_size(32), aligned(2), may_alias));
typedef float tally__sixteen_f32 __attribute__((vector_size(64), aligned(4), may_alias));
#ifdef __clang__ /* a mask is an unsigned number, for gcc's conversion a signed one */
#define TALLY_ALL_SIXTEEN 0xffff
#else
#define TALLY_ALL_SIXTEEN -1
#endif
#endif

/* TALLY_INLINE: functions of loops that are made of others. TALLY_APART: functions that are compiled once, whatever
 * calls them: for what is called once for many values. TALLY_FREE_LANES: before a loop whose iterations touch different
 * memory.
 * With TALLY_CALLS (CMakeLists.txt) the first are called too, but for the operators' own functions: where code is
 * tested and not shipped, it takes a third less time to compile, and runs a tenth slower. Then iterations share what
 * calls return by memory, so no compiler may be told that they touch different memory. */
#define TALLY_APART static __attribute__((noinline))
#ifdef TALLY_CALLS
#define TALLY_INLINE static inline __attribute__((unused))
#define TALLY_FREE_LANES
#else
#define TALLY_INLINE static inline __attribute__((always_inline, unused))
#ifdef __clang__
#define TALLY_FREE_LANES _Pragma("clang loop vectorize(assume_safety)")
#else
#define TALLY_FREE_LANES _Pragma("GCC ivdep")
#endif
#endif

/* Asks for memory ahead of its use, by the second-level cache. */
TALLY_INLINE void tally__ask_for(const char *at, const int bytes) {
    for (int byte = 0; byte < bytes; byte += 64) __builtin_prefetch(at + byte, 0, 2);
}

#endif
