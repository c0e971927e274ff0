/* Vectors of one instruction set, TALLY_ISA_<LEVEL> (target.h): `wide`, WIDTH doubles, and `units`, WIDTH integers of
 * 64 bits, as GCC's vector types; what loads them from values at any address; and arithmetic that the machine has an
 * instruction for. For the loops of exact sums (tiles_template.h). */
#ifndef TALLY_CPU_VECTORS_H
#define TALLY_CPU_VECTORS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cpu/target.h"
#include "cpu/tiles.h"
#include "sums/plan.h" /* before `units` and `half` are types: these two have variables of those names */
#include "types/half.h"
#if TALLY_HAS_F16C
#include <immintrin.h>
#endif

/* Registers, and how many accumulators keep the adders busy without spilling: WIDTH * CHAINS lanes. */
#if defined(TALLY_ISA_AVX512)
enum { WIDTH = 8, CHAINS = 4 };
#elif defined(TALLY_ISA_AVX2)
enum { WIDTH = 4, CHAINS = 4 };
#else
enum { WIDTH = 2, CHAINS = 8 };
#endif
typedef double wide __attribute__((vector_size(8 * WIDTH)));
typedef int64_t units __attribute__((vector_size(8 * WIDTH)));
typedef uint64_t words __attribute__((vector_size(8 * WIDTH))); /* for sums that wrap */
typedef float half __attribute__((vector_size(4 * WIDTH)));
typedef wide wide_anywhere __attribute__((aligned(1), may_alias));
typedef half half_anywhere __attribute__((aligned(1), may_alias));
typedef int32_t sizes __attribute__((vector_size(8 * WIDTH)));
typedef sizes sizes_anywhere __attribute__((aligned(1), may_alias));
typedef int32_t int32_t_anywhere __attribute__((aligned(1), may_alias));
typedef int64_t int64_t_anywhere __attribute__((aligned(1), may_alias));
#if defined(TALLY_ISA_AVX512)
#define TALLY_SIZES
#define TALLY_UPPER_HALVES(a, b) (sizes) _mm512_shuffle_ps(_mm512_loadu_ps(a), _mm512_loadu_ps(b), 0xdd)
#define TALLY_MOST_SIZES(a, b) (sizes) _mm512_max_epi32((__m512i)(a), (__m512i)(b))
#define TALLY_LEAST_SIZES(a, b) (sizes) _mm512_min_epu32((__m512i)(a), (__m512i)(b))
#define TALLY_FLOATS __m512
#define TALLY_READ_f32(at) _mm512_loadu_ps(at)
#define TALLY_LEAST_f32(a, b) _mm512_min_ps(a, b)
#define TALLY_MOST_f32(a, b) _mm512_max_ps(a, b)
#define TALLY_DOUBLES __m512d
#define TALLY_READ_f64(at) _mm512_loadu_pd(at)
#define TALLY_LEAST_f64(a, b) _mm512_min_pd(a, b)
#define TALLY_MOST_f64(a, b) _mm512_max_pd(a, b)
#elif defined(TALLY_ISA_AVX2)
#define TALLY_SIZES
#define TALLY_UPPER_HALVES(a, b) \
    (sizes) _mm256_shuffle_ps(_mm256_loadu_ps((const float *)(a)), _mm256_loadu_ps((const float *)(b)), 0xdd)
#define TALLY_MOST_SIZES(a, b) (sizes) _mm256_max_epi32((__m256i)(a), (__m256i)(b))
#define TALLY_LEAST_SIZES(a, b) (sizes) _mm256_min_epu32((__m256i)(a), (__m256i)(b))
#define TALLY_FLOATS __m256
#define TALLY_READ_f32(at) _mm256_loadu_ps((const float *)(at))
#define TALLY_LEAST_f32(a, b) _mm256_min_ps(a, b)
#define TALLY_MOST_f32(a, b) _mm256_max_ps(a, b)
#define TALLY_DOUBLES __m256d
#define TALLY_READ_f64(at) _mm256_loadu_pd((const double *)(at))
#define TALLY_LEAST_f64(a, b) _mm256_min_pd(a, b)
#define TALLY_MOST_f64(a, b) _mm256_max_pd(a, b)
#endif
typedef uint16_t half_word __attribute__((aligned(1), may_alias));
typedef float float_anywhere __attribute__((aligned(1), may_alias));
typedef double double_anywhere __attribute__((aligned(1), may_alias));

/* ---- loading ---- */

TALLY_INLINE TALLY_TARGET wide load_f64(const void *x, int64_t i) {
    return *(const wide_anywhere *)((const double *)x + i);
}
TALLY_INLINE TALLY_TARGET wide load_f32(const void *x, int64_t i) {
#if defined(TALLY_ISA_AVX512) /* GCC 12 makes two instructions of the vector conversion */
    return (wide)_mm512_cvtps_pd(_mm256_loadu_ps((const float *)x + i));
#elif defined(TALLY_ISA_AVX2)
    return (wide)_mm256_cvtps_pd(_mm_loadu_ps((const float *)x + i));
#else
    return __builtin_convertvector(*(const half_anywhere *)((const float *)x + i), wide);
#endif
}
TALLY_INLINE TALLY_TARGET wide load(const int is_f64, const void *x, int64_t i) {
    return is_f64 ? load_f64(x, i) : load_f32(x, i);
}
/* The first `count` < WIDTH values of a vector, then zeros. */
TALLY_INLINE TALLY_TARGET wide load_part(const int is_f64, const void *x, int64_t i, int64_t count) {
#if defined(TALLY_ISA_AVX512)
    const __mmask8 there = (__mmask8)_bzhi_u32(0xff, (uint32_t)count);
    return is_f64 ? (wide)_mm512_maskz_loadu_pd(there, (const double *)x + i)
                  : (wide)_mm512_cvtps_pd(_mm256_maskz_loadu_ps(there, (const float *)x + i));
#else
    double few[WIDTH] = {0};
    for (int64_t k = 0; k < count; k++)
        few[k] = is_f64 ? ((const double_anywhere *)x)[i + k] : (double)((const float_anywhere *)x)[i + k];
    return *(const wide_anywhere *)few;
#endif
}
TALLY_INLINE TALLY_TARGET wide magnitude_of(wide x) { return (wide)((units)x & INT64_MAX); }

#if defined(TALLY_ISA_AVX512)
#define TALLY_VECTOR_FMA(x, y, z) (wide) _mm512_fmadd_pd((__m512d)(x), (__m512d)(y), (__m512d)(z))
#elif defined(TALLY_ISA_AVX2)
#define TALLY_VECTOR_FMA(x, y, z) (wide) _mm256_fmadd_pd((__m256d)(x), (__m256d)(y), (__m256d)(z))
#endif

/* t - s by the multipliers, which leaves the adders to other additions: machines have as many of either, and busy with
 * one kind they would be half idle. */
TALLY_INLINE TALLY_TARGET wide less(wide t, wide s) {
#ifdef TALLY_VECTOR_FMA
    return TALLY_VECTOR_FMA(s, (wide){0} - 1.0, t);
#else
    return t - s;
#endif
}

/* x * y - p, exactly, where p is their rounded product and neither over- nor underflows. Without an instruction for it:
 * Dekker, "A floating-point technique for extending the available precision", 1971, with Veltkamp's splitting. */
TALLY_INLINE TALLY_TARGET wide product_rest(wide x, wide y, wide p) {
#ifdef TALLY_VECTOR_FMA
    return TALLY_VECTOR_FMA(x, y, -p);
#elif defined(__aarch64__)
    wide rest = {0};
    for (int k = 0; k < WIDTH; k++) rest[k] = __builtin_fma(x[k], y[k], -p[k]);
    return rest;
#else
    const double split = 134217729.0; /* 2^27 + 1 */
    wide tx = x * split, ty = y * split;
    wide xh = tx - (tx - x), yh = ty - (ty - y);
    wide xl = x - xh, yl = y - yh;
    return ((xh * yh - p) + xh * yl + xl * yh) + xl * yl;
#endif
}

/* Whether any lane is not 0. */
#if defined(TALLY_ISA_AVX512)
#define TALLY_ANY(v) (_mm512_test_epi64_mask((__m512i)(v), (__m512i)(v)) != 0)
#elif defined(TALLY_ISA_AVX2)
#define TALLY_ANY(v) (!_mm256_testz_si256((__m256i)(v), (__m256i)(v)))
#else
#define TALLY_ANY(v) ((((units)(v))[0] | ((units)(v))[1]) != 0)
#endif

/* Where there is much to compute, memory is asked for what comes later, as hardware forgets to at the end of a page. */
TALLY_INLINE void ask_for(const int is_f64, const int values, const void *x, int64_t i) {
    tally__ask_for((const char *)x + i * (is_f64 ? 8 : 4), values * (is_f64 ? 8 : 4));
}
TALLY_INLINE void fetch_ahead(const int is_f64, const int values, const void *x, int64_t i) {
    ask_for(is_f64, values, x, i + 2 * TALLY_TILE_BYTES / (is_f64 ? 8 : 4));
}

#endif
