/* Plain sums of f16 and bf16, read where they lie. Two f16 or four bf16 are first added up as f32, whose 24 digits
 * nearly always hold that, then as f64. If one does not, the flag is raised, as by any other sum that is rounded
 * (plain_template.h). Each segment has a loop. Sums of values begin with -0, which only values of -0 leave so. Gives
 * plain_halves_<type>_<name> (tiles.h). */
#ifndef TALLY_CPU_PLAIN_HALVES_TEMPLATE_H
#define TALLY_CPU_PLAIN_HALVES_TEMPLATE_H

#include "cpu/plain_template.h"

#if defined(TALLY_ISA_AVX512)
#define TALLY_PLAIN_HALVES
enum { HALVES = 32, HALVES_AHEAD = 8192 /* bytes */ };

/* 32 values, as two vectors of f32. */
TALLY_INLINE TALLY_TARGET void load_halves(const int from, const int kind, const half_word *x, __mmask32 there,
                                           __m512 *few) {
    const __m512i magnitudes = _mm512_set1_epi16(0x7fff), minus_zeros = _mm512_set1_epi16((int16_t)0x8000);
    __m512i both = _mm512_mask_loadu_epi16(minus_zeros, there, x);
    if (kind == TALLY_TERM_MAGNITUDE) both = _mm512_and_si512(both, magnitudes);
    if (from == TALLY_FROM_F16) {
        few[0] = _mm512_cvtph_ps(_mm512_castsi512_si256(both));
        few[1] = _mm512_cvtph_ps(_mm512_extracti64x4_epi64(both, 1));
    } else { /* the second of two is an f32 whose lower half is another's bits */
        few[0] = _mm512_castsi512_ps(_mm512_slli_epi32(both, 16));
        few[1] = _mm512_castsi512_ps(_mm512_and_si512(both, _mm512_set1_epi32((int32_t)0xffff0000)));
    }
}
TALLY_INLINE TALLY_TARGET __m512d take_halves(__m512d s, const int from, const int kind, const half_word *x,
                                              __mmask32 there) {
    __m512 few[2];
    load_halves(from, kind, x, there, few);
    const __m512 two = _mm512_add_ps(few[0], few[1]);
    const __m256 low = _mm512_castps512_ps256(two), high = _mm512_extractf32x8_ps(two, 1);
    if (from == TALLY_FROM_BF16) return _mm512_add_pd(s, _mm512_cvtps_pd(_mm256_add_ps(low, high)));
    return _mm512_add_pd(_mm512_add_pd(s, _mm512_cvtps_pd(low)), _mm512_cvtps_pd(high));
}
/* The lanes of one segment. */
TALLY_INLINE TALLY_TARGET __m512d halves_of(const int from, const int kind, const half_word *x, int64_t n) {
    __m512d s = _mm512_set1_pd(kind == TALLY_TERM_VALUE ? -0.0 : 0.0);
    int64_t i = 0;
    for (; i + HALVES <= n; i += HALVES) {
        tally__ask_for((const char *)(x + i) + HALVES_AHEAD, 64);
        s = take_halves(s, from, kind, x + i, 0xffffffff);
    }
    if (i == n) return s;
    tally__ask_for((const char *)(x + i) + HALVES_AHEAD, 64); /* processors may not foresee loads under a mask */
    return take_halves(s, from, kind, x + i, _bzhi_u32(0xffffffff, (uint32_t)(n - i)));
}
TALLY_INLINE TALLY_TARGET tally__finite plain_halves(const int from, const int kind, const void *x,
                                                     const int64_t *offsets, int count, tally__plain_sums sums) {
    const half_word *const first = (const half_word *)x - offsets[0];
    for (int s = 0; s < count; s += 8) {
        __m512d lanes[8];
#pragma GCC unroll 8
        for (int k = 0; k < 8; k++) {
            const int here = s + k < count ? s + k : count, next = s + k < count ? s + k + 1 : count;
            lanes[k] = halves_of(from, kind, first + offsets[here], offsets[next] - offsets[here]);
        }
        _mm512_storeu_pd(sums[0] + s, fold_eight(lanes));
    }
    return are_finite(sums, count) ? TALLY_FINITE : TALLY_NOT_FINITE_APART;
}
#define TALLY_HALVES(type, from, name, kind)                                                                         \
    static TALLY_TARGET tally__finite plain_halves_##type##_##name(const void *x, const int64_t *offsets, int count, \
                                                                   tally__plain_sums sums) {                         \
        return plain_halves(from, kind, x, offsets, count, sums);                                                    \
    }
#define TALLY_ALL_HALVES(X)                                 \
    X(f16, TALLY_FROM_F16, value, TALLY_TERM_VALUE)         \
    X(f16, TALLY_FROM_F16, magnitude, TALLY_TERM_MAGNITUDE) \
    X(bf16, TALLY_FROM_BF16, value, TALLY_TERM_VALUE)       \
    X(bf16, TALLY_FROM_BF16, magnitude, TALLY_TERM_MAGNITUDE)
TALLY_ALL_HALVES(TALLY_HALVES)
#endif

#endif
