/* The vector loops of tiles.h for one instruction set: the body of units that CMake writes. Vectors are
 * GCC's vector types.
 *
 * A level is the first half of Dekker's and Knuth's two-sum with an accumulator that is known to be the larger operand,
 * anchored so that it never leaves its binade (the pre-rounding of Demmel and Nguyen, "Fast reproducible floating-point
 * summation", 2013; there the last rest is dropped, here it is known to be 0). */
#include <stddef.h>
#include <string.h>

#include "cpu/target.h"
#include "cpu/tiles.h"
#include "types/half.h"
#include "sums/limbs.h"
#include "sums/parts.h"
#include "sums/plan.h"
#if TALLY_HAS_F16C
#include <immintrin.h>
#endif

#define TALLY_INLINE static inline __attribute__((always_inline, unused))
#ifdef __clang__
#define TALLY_FREE_LANES _Pragma("clang loop vectorize(assume_safety)")
#else
#define TALLY_FREE_LANES _Pragma("GCC ivdep")
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
#define TALLY_LEAST_SIZES(a, b) (sizes) _mm512_min_epi32((__m512i)(a), (__m512i)(b))
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
#define TALLY_LEAST_SIZES(a, b) (sizes) _mm256_min_epi32((__m256i)(a), (__m256i)(b))
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

/* ---- measuring ---- */

TALLY_INLINE tally__extent extent_of(int64_t top, int64_t bottom, const int digits, const int bias, const int least) {
    tally__extent extent;
    extent.zeros = top == 0;
    extent.special = top >> digits == 2 * bias + 1;
    extent.high = (int32_t)(top >> digits) - bias + 1;
    bottom >>= digits;
    extent.unit = (int32_t)(bottom != 0 ? bottom : 1) + least - 1;
    return extent;
}

/* Loops of integers that compilers make vectors of. Magnitudes order like their bits; where the least that is not zero
 * is looked for, each is lessened by 1, so that a zero becomes the largest. */
#define TALLY_MEASURE_ALL(type, word, most, digits, bias)                                        \
    static TALLY_TARGET tally__extent measure_all_##type(const void *x, int64_t n) {             \
        const word##_anywhere *bits = x;                                                         \
        word top = 0, bottom = most;                                                             \
        for (int64_t i = 0; i < n; i++) {                                                        \
            word magnitude = bits[i] & most;                                                     \
            word lessened = (magnitude - 1) & most;                                              \
            top = magnitude > top ? magnitude : top;                                             \
            bottom = lessened < bottom ? lessened : bottom;                                      \
        }                                                                                        \
        return extent_of(top, bottom == most ? 0 : bottom + 1, digits, bias, 1 - bias - digits); \
    }
TALLY_MEASURE_ALL(f32, int32_t, INT32_MAX, 23, 127)
TALLY_MEASURE_ALL(f64, int64_t, INT64_MAX, 52, 1023)

/* Where no value is zero or subnormal, half of the bits of an f64 are enough, and nothing need be lessened: what most
 * tiles are measured by. The last vector may take values again. */
#ifdef TALLY_SIZES
TALLY_INLINE TALLY_TARGET sizes sizes_at(const int is_f64, const void *x, int64_t i) {
    if (is_f64) return TALLY_UPPER_HALVES((const double *)x + i, (const double *)x + i + WIDTH) & INT32_MAX;
    return *(const sizes_anywhere *)((const float *)x + i) & INT32_MAX;
}
#define TALLY_MEASURE(type, is_f64, digits, bias, least)                                                        \
    static TALLY_TARGET tally__extent measure_##type(const void *x, int64_t n) {                                \
        union {                                                                                                 \
            sizes all;                                                                                          \
            int32_t each[2 * WIDTH];                                                                            \
        } top, bottom;                                                                                          \
        int32_t most = 0, fewest = INT32_MAX;                                                                   \
        if (n < 2 * WIDTH) return measure_all_##type(x, n);                                                     \
        sizes high = sizes_at(is_f64, x, n - 2 * WIDTH), low = high;                                            \
        _Pragma("GCC unroll 4") for (int64_t i = 0; i + 2 * WIDTH < n; i += 2 * WIDTH) {                        \
            sizes size = sizes_at(is_f64, x, i);                                                                \
            high = TALLY_MOST_SIZES(high, size);                                                                \
            low = TALLY_LEAST_SIZES(low, size);                                                                 \
        }                                                                                                       \
        top.all = high;                                                                                         \
        bottom.all = low;                                                                                       \
        for (int j = 0; j < 2 * WIDTH; j++) {                                                                   \
            most = top.each[j] > most ? top.each[j] : most;                                                     \
            fewest = bottom.each[j] < fewest ? bottom.each[j] : fewest;                                         \
        }                                                                                                       \
        return fewest >> digits == 0 ? measure_all_##type(x, n) : extent_of(most, fewest, digits, bias, least); \
    }
TALLY_MEASURE(f32, 0, 23, 127, -149)
TALLY_MEASURE(f64, 1, 20, 1023, -1074)
#else
#define measure_f32 measure_all_f32
#define measure_f64 measure_all_f64
#endif

/* Keys order like the numbers, -0 below 0 (types/types.h). No value is NaN. */
#define TALLY_RANGE_ALL(type, word, most)                                                                    \
    static TALLY_TARGET void range_all_##type(const void *x, int64_t n, int64_t *least, int64_t *greatest) { \
        const word##_anywhere *bits = x;                                                                     \
        word low = most, high = -most - 1;                                                                   \
        for (int64_t i = 0; i < n; i++) {                                                                    \
            word key = bits[i] ^ ((bits[i] < 0 ? -1 : 0) & most);                                            \
            low = key < low ? key : low;                                                                     \
            high = key > high ? key : high;                                                                  \
        }                                                                                                    \
        *least = low;                                                                                        \
        *greatest = high;                                                                                    \
    }
TALLY_RANGE_ALL(f32, int32_t, INT32_MAX)
TALLY_RANGE_ALL(f64, int64_t, INT64_MAX)

/* The machine's minima and maxima do, where neither comes out as a zero, whose sign they do not see. The last vector
 * may take values again. */
#ifdef TALLY_SIZES
#define TALLY_RANGE(type, number, most, vector, count)                                                   \
    static TALLY_TARGET void range_##type(const void *x, int64_t n, int64_t *least, int64_t *greatest) { \
        const number##_anywhere *v = x;                                                                  \
        union {                                                                                          \
            vector all;                                                                                  \
            number each[count];                                                                          \
        } lows, highs;                                                                                   \
        number low, high;                                                                                \
        if (n < (count)) {                                                                               \
            range_all_##type(x, n, least, greatest);                                                     \
            return;                                                                                      \
        }                                                                                                \
        vector below = TALLY_READ_##type(v + n - (count)), above = below;                                \
        _Pragma("GCC unroll 4") for (int64_t i = 0; i + (count) < n; i += (count)) {                     \
            vector more = TALLY_READ_##type(v + i);                                                      \
            below = TALLY_LEAST_##type(below, more);                                                     \
            above = TALLY_MOST_##type(above, more);                                                      \
        }                                                                                                \
        lows.all = below;                                                                                \
        highs.all = above;                                                                               \
        low = lows.each[0], high = highs.each[0];                                                        \
        for (int j = 1; j < (count); j++) {                                                              \
            low = lows.each[j] < low ? lows.each[j] : low;                                               \
            high = highs.each[j] > high ? highs.each[j] : high;                                          \
        }                                                                                                \
        if (low == 0 || high == 0) {                                                                     \
            range_all_##type(x, n, least, greatest);                                                     \
            return;                                                                                      \
        }                                                                                                \
        *least = tally_bits_##type(low) ^ (low < 0 ? most : 0);                                          \
        *greatest = tally_bits_##type(high) ^ (high < 0 ? most : 0);                                     \
    }
TALLY_RANGE(f32, float, INT32_MAX, TALLY_FLOATS, 2 * WIDTH)
TALLY_RANGE(f64, double, INT64_MAX, TALLY_DOUBLES, WIDTH)
#else
#define range_f32 range_all_f32
#define range_f64 range_all_f64
#endif

/* ---- terms ---- */

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

/* ---- levels ---- */

_Static_assert(TALLY_TILE_BYTES / 4 / WIDTH / CHAINS <= 1 << TALLY_TILE_ADDITIONS, "too many terms meet in one lane");

/* Cuts one vector of terms into levels. Products of f64 come in two parts, the rounded product and its rest, which is
 * so small that it joins at level 1. `ends`: the level that leaves nothing of the term. */
TALLY_INLINE TALLY_TARGET void split_term(wide *s, const int levels, const int step, wide term, const int ends,
                                          wide rest, const int has_rest) {
#pragma GCC unroll 16
    for (int k = 0; k + 1 < levels; k++) {
        if (k < ends) {
            wide t = s[k * step] + term;
            if (k == 0 && !has_rest)
                term = less(term, less(t, s[k * step]));
            else
                term -= less(t, s[k * step]);
            s[k * step] = t;
        } else if (k == ends)
            s[k * step] += term;
        if (has_rest && k > 0) {
            wide t = s[k * step] + rest;
            rest = less(rest, less(t, s[k * step]));
            s[k * step] = t;
        }
    }
    if (has_rest && ends == levels - 1) term += rest;
    s[(levels - 1) * step] += has_rest && ends < levels - 1 ? rest : term;
}
TALLY_INLINE TALLY_TARGET void take(wide *s, const int levels, const int step, const int is_f64, const int kind, wide x,
                                    wide y) {
    wide none = {0};
#ifdef TALLY_VECTOR_FMA
    if (kind == TALLY_TERM_PRODUCT && !is_f64 &&
        levels > 1) { /* the product is exact: fused it needs no step of its own */
        wide t = TALLY_VECTOR_FMA(x, y, s[0]), h = t - s[0];
        s[0] = t;
        split_term(s + step, levels - 1, step, TALLY_VECTOR_FMA(x, y, -h), levels - 2, none, 0);
        return;
    }
#endif
    if (kind == TALLY_TERM_PRODUCT) {
        const int ends = is_f64 && levels == TALLY_SHORT_PRODUCTS ? 1 : levels - 1; /* docs/exact.md */
        wide p = x * y;
        split_term(s, levels, step, p, ends, is_f64 ? product_rest(x, y, p) : none, is_f64);
    } else
        split_term(s, levels, step, kind == TALLY_TERM_MAGNITUDE ? magnitude_of(x) : x, levels - 1, none, 0);
}

/* Where there is much to compute, memory is asked for what comes later, as hardware forgets to at the end of a page. */
TALLY_INLINE void ask_for(const int is_f64, const int values, const void *x, int64_t i) {
    const char *at = (const char *)x + i * (is_f64 ? 8 : 4);
    const int bytes = values * (is_f64 ? 8 : 4);
    for (int byte = 0; byte < bytes; byte += 64) __builtin_prefetch(at + byte, 0, 2);
}
TALLY_INLINE void fetch_ahead(const int is_f64, const int values, const void *x, int64_t i) {
    ask_for(is_f64, values, x, i + 2 * TALLY_TILE_BYTES / (is_f64 ? 8 : 4));
}

TALLY_INLINE TALLY_TARGET void begin_levels(wide *s, const int levels, const int chains, const double *anchor) {
#pragma GCC unroll 16
    for (int k = 0; k < levels; k++)
#pragma GCC unroll 8
        for (int c = 0; c < chains; c++) s[k * chains + c] = (wide){0} + anchor[k];
}
/* Within its binade an accumulator's bits count units. */
TALLY_INLINE TALLY_TARGET void end_levels(const wide *s, const int levels, const int chains, const double *anchor,
                                          tally__units *counts) {
#pragma GCC unroll 16
    for (int k = 0; k < levels; k++) {
        words sum = *(const words *)counts[k] - (uint64_t)chains * (uint64_t)tally_bits_f64(anchor[k]);
#pragma GCC unroll 8
        for (int c = 0; c < chains; c++) sum += (words)s[k * chains + c];
        *(words *)counts[k] = sum;
    }
}

/* A tile's vectors go to the chains in turn, what is left over to the first and the last. `two`: y is another array. */
TALLY_INLINE TALLY_TARGET void sum_tile(const int is_f64, const int kind, const int levels, const void *x,
                                        const void *y, const int two, int64_t n, const double *anchor,
                                        tally__units *counts) {
    wide s[TALLY_MOST_LEVELS * CHAINS];
    int64_t i = 0;
    begin_levels(s, levels, CHAINS, anchor);
    for (; i + WIDTH * CHAINS <= n; i += WIDTH * CHAINS) {
        if (two) /* first all of one, then all of the other: memory has pages too */
            2 * i < n ? fetch_ahead(is_f64, 2 * WIDTH * CHAINS, x, 2 * i)
                      : fetch_ahead(is_f64, 2 * WIDTH * CHAINS, y, 2 * i - n);
        else if (kind == TALLY_TERM_PRODUCT)
            fetch_ahead(is_f64, WIDTH * CHAINS, x, i);
#pragma GCC unroll 8
        for (int c = 0; c < CHAINS; c++) {
            wide a = load(is_f64, x, i + WIDTH * c);
            take(s + c, levels, CHAINS, is_f64, kind, a, two ? load(is_f64, y, i + WIDTH * c) : a);
        }
    }
    for (; i + WIDTH <= n; i += WIDTH) {
        wide a = load(is_f64, x, i);
        take(s, levels, CHAINS, is_f64, kind, a, two ? load(is_f64, y, i) : a);
    }
    if (i < n) {
        wide a = load_part(is_f64, x, i, n - i);
        take(s + CHAINS - 1, levels, CHAINS, is_f64, kind, a, two ? load_part(is_f64, y, i, n - i) : a);
    }
    end_levels(s, levels, CHAINS, anchor, counts);
}

#define TALLY_SUM(type, is_f64, name, kind, levels)                                                       \
    static TALLY_TARGET void sum_##type##_##name##_##levels(const void *x, const void *y, int64_t n,      \
                                                            const double *anchor, tally__units *counts) { \
        if (kind == TALLY_TERM_PRODUCT && x != y)                                                         \
            sum_tile(is_f64, kind, levels, x, y, 1, n, anchor, counts);                                   \
        else /* squares are loaded once */                                                                \
            sum_tile(is_f64, kind, levels, x, x, 0, n, anchor, counts);                                   \
    }
#define TALLY_SUMS(type, is_f64, name, kind, a, b, c, d) \
    TALLY_SUM(type, is_f64, name, kind, a)               \
    TALLY_SUM(type, is_f64, name, kind, b) TALLY_SUM(type, is_f64, name, kind, c) TALLY_SUM(type, is_f64, name, kind, d)

/* Levels by need; what needs more goes to bins. */
#define TALLY_TILE_SUMS(X)                                 \
    X(f32, 0, value, TALLY_TERM_VALUE, 1, 2, 4, 7)         \
    X(f32, 0, magnitude, TALLY_TERM_MAGNITUDE, 1, 2, 4, 7) \
    X(f32, 0, product, TALLY_TERM_PRODUCT, 2, 3, 4, 7)     \
    X(f64, 1, value, TALLY_TERM_VALUE, 2, 3, 4, 7)         \
    X(f64, 1, magnitude, TALLY_TERM_MAGNITUDE, 2, 3, 4, 7) \
    X(f64, 1, product, TALLY_TERM_PRODUCT, 3, 4, 5, 7)
TALLY_TILE_SUMS(TALLY_SUMS)

/* ---- values and squares together ---- */

#ifdef TALLY_VECTOR_FMA
/* Values are read once for both. */
TALLY_INLINE TALLY_TARGET void sum_both(const int is_f64, const int chains, const void *x, int64_t n,
                                        const double *anchor, tally__units *counts) {
    const int values = is_f64 ? 2 : 1, levels = is_f64 ? 5 : 3;
    wide s[5 * CHAINS], *const products = s + values * chains;
    int64_t i = 0;
    begin_levels(s, levels, chains, anchor);
#define TALLY_TAKE_BOTH(c, a)                                      \
    take(s + (c), values, chains, is_f64, TALLY_TERM_VALUE, a, a); \
    take(products + (c), levels - values, chains, is_f64, TALLY_TERM_PRODUCT, a, a)
    for (; i + WIDTH * chains <= n; i += WIDTH * chains) {
        fetch_ahead(is_f64, WIDTH * chains, x, i);
#pragma GCC unroll 8
        for (int c = 0; c < chains; c++) {
            wide a = load(is_f64, x, i + WIDTH * c);
            TALLY_TAKE_BOTH(c, a);
        }
    }
    for (; i + WIDTH <= n; i += WIDTH) {
        wide a = load(is_f64, x, i);
        TALLY_TAKE_BOTH(0, a);
    }
    if (i < n) {
        wide a = load_part(is_f64, x, i, n - i);
        TALLY_TAKE_BOTH(chains - 1, a);
    }
    end_levels(s, levels, chains, anchor, counts);
}
static TALLY_TARGET void both_f32(const void *x, const void *y, int64_t n, const double *anchor, tally__units *counts) {
    (void)y;
    sum_both(0, CHAINS, x, n, anchor, counts);
}
static TALLY_TARGET void both_f64(const void *x, const void *y, int64_t n, const double *anchor, tally__units *counts) {
    (void)y;
    sum_both(1, 2, x, n, anchor, counts);
}
#endif

/* ---- the rest ---- */

#include "cpu/bins_template.h"
#include "cpu/specials_template.h"
#include "cpu/batch_template.h"
#include "cpu/columns_template.h"
#include "cpu/expansions_template.h"
#include "cpu/results_template.h"
#include "cpu/plain_template.h"
#include "cpu/index_template.h"

static TALLY_TARGET void widen_f16(const void *at, int64_t n, float *to) {
    const half_word *x = at;
    int64_t i = 0;
#if defined(TALLY_ISA_AVX512)
    for (; i + 16 <= n; i += 16) _mm512_storeu_ps(to + i, _mm512_cvtph_ps(_mm256_loadu_si256((const void *)(x + i))));
#endif
#if TALLY_HAS_F16C
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(x + i))));
#endif
    for (; i < n; i++) to[i] = tally_f16_to_f32(x[i]);
}
static TALLY_TARGET void widen_bf16(const void *at, int64_t n, float *to) {
    const half_word *x = at;
    int64_t i = 0;
#if defined(TALLY_ISA_AVX512)
    for (; i + 16 <= n; i += 16) {
        const __m512i halves = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)(x + i)));
        _mm512_storeu_si512(to + i, _mm512_slli_epi32(halves, 16));
    }
#endif
    for (; i < n; i++) to[i] = tally_bf16_to_f32(x[i]);
}

#define TALLY_ENTRY(type, is_f64, name, kind, a, b, c, d)                                                  \
    .sum[is_f64][kind] = {sum_##type##_##name##_##a, sum_##type##_##name##_##b, sum_##type##_##name##_##c, \
                          sum_##type##_##name##_##d},                                                      \
    .level_counts[is_f64][kind] = {a, b, c, d},
#define TALLY_BATCH_ENTRY(type, is_f64, name, kind, levels) \
    .batch_sum[is_f64][kind][levels] = batch_##type##_##name##_##levels,
#define TALLY_EXPANSION_ENTRY(type, is_f64, name, kind, products)                                       \
    .batch_expand[is_f64][(products) ? (kind) == NO_TERM ? TALLY_TERM_PRODUCT : TALLY_TERMS : (kind)] = \
        expand_##type##_##name,
#define TALLY_COLUMN_ENTRY(type, is_f64, name, kind, levels) \
    .column_sum[is_f64][kind][levels] = columns_##type##_##name##_##levels,
#define TALLY_PLAIN_ENTRY(type, is_f64, name, kind) .plain[is_f64][kind] = plain_##type##_##name,
extern const tally__tiles TALLY_TILES;
const tally__tiles TALLY_TILES = {
    .measure = {measure_f32, measure_f64},
    .range = {range_f32, range_f64},
    .ranges = {ranges_f32, ranges_f64},
    .put_stats = {put_stats_f32, put_stats_f64},
    .scatter = {scatter_f32, scatter_f64},
    .take_out = {take_out_f32, take_out_f64},
    .copy_finite = {copy_finite_f32, copy_finite_f64},
    .find_special = {find_special_f32, find_special_f64},
    .others = {others_f32, others_f64},
    .widen_f16 = widen_f16,
    .widen_bf16 = widen_bf16,
    TALLY_TILE_SUMS(TALLY_ENTRY) TALLY_BATCHES(TALLY_BATCH_ENTRY) TALLY_EXPANSIONS(TALLY_EXPANSION_ENTRY)
        TALLY_COLUMN_SUMS(TALLY_COLUMN_ENTRY)
            .column_range = {column_range_f32, column_range_f64},
#ifdef TALLY_VECTOR_FMA
    .both = {both_f32, both_f64},
#endif
#ifdef TALLY_PLAIN_PRODUCTS
    .plain_both = {plain_both_f32, plain_both_f64},
#endif
    .begin_batch = begin_batch,
    .results = finalize,
    TALLY_PLAIN_SUMS(TALLY_PLAIN_ENTRY).round_sums = round_sums,
    .read_offsets = {read_offsets_i32, read_offsets_i64},
    .count_filled = count_filled,
    .list_filled = list_filled,
    .spread = {spread_4, spread_8, spread_stats},
    .sum_lengths = {sum_lengths_i32, sum_lengths_i64},
    .add_lengths = {add_lengths_i32, add_lengths_i64},
    .heads = {heads_i32, heads_i64},
};
