/* The common subset of C11 and CUDA that kernel text is written in.
 *
 * Operators use these words and nothing of the standard library, so that gcc, clang and a device compiler read the same
 * text. The promise of equal bits rests on two rules that every build of this text must keep: no contraction of a*b+c,
 * and IEEE 754 arithmetic to nearest even with subnormals.
 */
#ifndef TALLY_DIALECT_H
#define TALLY_DIALECT_H

#include <stdint.h> /* NVRTC has none: it is given device/nvrtc.h by that name */

#ifdef __CUDACC_RTC__
#define TALLY_IS_CUDA 1
#define TALLY_ON_GPU 1
#define TALLY_HAS_FMA 1
#define TALLY_FN static __device__ __forceinline__
#define TALLY_RARE static __device__ __noinline__
#define TALLY_LONG static __device__ __noinline__
#define TALLY_ONCE static __device__ inline
#define TALLY_EXTENSION
#define TALLY_ASSERT(holds, sentence) static_assert(holds, sentence)
/* For a loop that runs seldom: unrolling is not worth the code and the time to compile it. */
#define TALLY_ROLLED _Pragma("unroll 1")
#else
#define TALLY_IS_CUDA 0
#ifndef TALLY_ON_GPU /* the simulator says so: src/simt/kernels/instances.h */
#define TALLY_ON_GPU 0
#endif
#ifndef TALLY_HAS_FMA /* src/cpu/target.h says so of an instruction set */
#define TALLY_HAS_FMA 0
#endif
#ifdef __OPTIMIZE__
#define TALLY_FN static inline __attribute__((always_inline, unused))
#else /* the simulator's kernels: inlining would take time to compile and make nothing faster */
#define TALLY_FN static inline __attribute__((unused))
#endif
#define TALLY_RARE static __attribute__((noinline, cold, unused)) /* not on the way of most results */
#define TALLY_LONG static inline                                  /* too long to stand in every place that uses it */
#define TALLY_ONCE static inline                                  /* done once or so for each result */
#define TALLY_EXTENSION __extension__
#define TALLY_ASSERT(holds, sentence) _Static_assert(holds, sentence)
#define TALLY_ROLLED
#endif

#define TALLY_PASTE_(a, b) a##b
#define TALLY_PASTE(a, b) TALLY_PASTE_(a, b)

/* A binary format: significant digits, the exponent of its lowest bit, the power of two where infinity begins. */
typedef struct tally_format {
    int32_t digits, least, infinite;
} tally_format;
#define TALLY_FORMAT_f16 \
    { 11, -24, 16 }
#define TALLY_FORMAT_bf16 \
    { 8, -133, 128 }
#define TALLY_FORMAT_f32 \
    { 24, -149, 128 }
#define TALLY_FORMAT_f64 \
    { 53, -1074, 1024 }

/* How the result of a sum of integers is given: as its natural 64-bit type, or as the caller asked. */
enum { TALLY_AS_NATURAL, TALLY_AS_U64, TALLY_AS_FLOAT };

/* What finish may need beside the accumulator. */
typedef struct tally_final {
    int32_t ddof;  /* var and std divide by n - ddof */
    int32_t root;  /* give the square root (std, norm2) */
    int32_t mean;  /* divide the sum by the count (mean) */
    int32_t as;    /* TALLY_AS_..., for results made of sums of integers; unless natural, they are rounded to `format`
                      and given as a double */
    int32_t wraps; /* sums of integers wrap around modulo 2^64 */
    tally_format format; /* of the result of an exact sum */
} tally_final;

/* The status flags of a result, or of several together. */
enum {
    TALLY_FLAG_EMPTY = 1,        /* no value present */
    TALLY_FLAG_OVERFLOW = 2,     /* a sum of integers did not fit */
    TALLY_FLAG_UNFIT = 4,        /* a result did not fit the type asked for */
    TALLY_FLAG_UNSURE = 8,       /* an exact sum takes another kernel */
    TALLY_FLAG_BAD_SEGMENTS = 16 /* the index is no segmentation of the array */
};

/* Values as bits and back: the one place that knows how. */
TALLY_FN int32_t tally_bits_f32(float x) {
    int32_t bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits;
}
TALLY_FN float tally_from_bits_f32(int32_t bits) {
    float x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}
TALLY_FN int64_t tally_bits_f64(double x) {
    int64_t bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits;
}
/* The high word of a double without its sign: it grows with the magnitude. */
TALLY_FN uint32_t tally_high_word(double x) { return (uint32_t)(tally_bits_f64(x) >> 32 & 0x7fffffff); }
TALLY_FN double tally_from_bits_f64(int64_t bits) {
    double x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}
/* 2^power, of a normal double: power is -1022 to 1023. 1024 gives infinity. */
TALLY_FN double tally_power_of_two(int32_t power) { return tally_from_bits_f64((int64_t)(power + 1023) << 52); }

/* a * b, of values of 16 bits. NVRTC would make 64 bits of each first, and multiply these. */
TALLY_FN int64_t tally_multiply_shorts(int32_t a, int32_t b) {
#if TALLY_IS_CUDA
    int64_t product;
    asm("mul.wide.s32 %0, %1, %2;" : "=l"(product) : "r"(a), "r"(b));
    return product;
#else
    return a * b;
#endif
}

/* NaNs come out of arithmetic with different signs and payloads on different machines; results carry this one. */
TALLY_FN float tally_clean_f32(float x) { return x != x ? tally_from_bits_f32(0x7fc00000) : x; }
TALLY_FN double tally_clean_f64(double x) { return x != x ? tally_from_bits_f64(0x7ff8000000000000) : x; }

TALLY_FN double tally_sqrt_f64(double x) { return __builtin_sqrt(x); }
TALLY_FN float tally_nan_f32(void) { return tally_from_bits_f32(0x7fc00000); }
TALLY_FN double tally_nan_f64(void) { return tally_from_bits_f64(0x7ff8000000000000); }
TALLY_FN float tally_infinity_f32(void) { return tally_from_bits_f32(0x7f800000); }
TALLY_FN double tally_infinity_f64(void) { return tally_from_bits_f64(0x7ff0000000000000); }

#endif
