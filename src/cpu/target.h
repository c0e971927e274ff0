/* The instruction set a unit is compiled for: TALLY_TARGET, from TALLY_ISA_<LEVEL>, which CMake's units define. */
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

#endif
