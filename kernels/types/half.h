/* f16 and bf16 as bits: to f32 (exact) and from f64 (to nearest even), without compiler support. */
#ifndef TALLY_HALF_H
#define TALLY_HALF_H

#include "device/dialect.h"

/* Shift the fraction into place, then multiply by 2^112, which puts the exponent right and makes subnormals normal;
 * what was infinite or NaN gets all exponent bits (F. Giesen, "half to float done quick", 2012). Without branches, so
 * that compilers vectorise it. The shift of the sign-extended half leaves copies of the sign above the exponent; the
 * mask keeps the topmost. */
TALLY_FN float tally_f16_by_bits(uint16_t half) {
    uint32_t shifted = ((uint32_t)(int32_t)(int16_t)half << 13) & 0x8fffe000u;
    uint32_t bits = (uint32_t)tally_bits_f32(tally_from_bits_f32((int32_t)shifted) * 0x1p112f);
    uint32_t infinite = (shifted & 0x0f800000u) == 0x0f800000u ? 0x7f800000u : 0;
    return tally_from_bits_f32((int32_t)(bits | infinite));
}

/* A GPU's instruction makes one NaN of all. */
#if TALLY_IS_CUDA
TALLY_FN float tally_f16_to_f32(uint16_t half) {
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(half));
    return x;
}
#else
TALLY_FN float tally_f16_to_f32(uint16_t half) { return tally_f16_by_bits(half); }
#endif

TALLY_FN float tally_bf16_to_f32(uint16_t half) { return tally_from_bits_f32((int32_t)((uint32_t)half << 16)); }

/* x to a float of `fraction` explicit bits and the given bias, from the bits of an f64; one rounding. */
TALLY_FN uint16_t tally_narrow(double x, int32_t fraction, int32_t bias) {
    uint64_t bits = (uint64_t)tally_bits_f64(x);
    uint16_t sign = (uint16_t)(bits >> 63 << 15);
    uint16_t infinity = (uint16_t)((2 * bias + 1) << fraction);
    int32_t exponent = (int32_t)(bits >> 52 & 0x7ff) - 1023;
    uint64_t significand = (bits & 0xfffffffffffff) | (uint64_t)1 << 52;
    int32_t drop = 52 - fraction;
    uint64_t kept, half;
    if (x != x) return (uint16_t)(infinity | 1u << (fraction - 1));
    if (exponent > bias) return (uint16_t)(sign | infinity);
    if (exponent < 1 - bias) drop += 1 - bias - exponent;
    if (drop > 63) return sign;
    kept = significand >> drop;
    half = (uint64_t)1 << (drop - 1);
    if ((significand & half) != 0 && ((significand & (half - 1)) != 0 || (kept & 1) != 0)) kept += 1;
    /* A normal result still carries its leading one, which adds 1 to the exponent field below it. */
    if (exponent >= 1 - bias) kept += (uint64_t)(exponent + bias - 1) << fraction;
    return (uint16_t)(sign | kept);
}
TALLY_FN uint16_t tally_f64_to_f16(double x) { return tally_narrow(x, 10, 15); }
TALLY_FN uint16_t tally_f64_to_bf16(double x) { return tally_narrow(x, 7, 127); }
#if TALLY_IS_CUDA
TALLY_FN uint16_t tally_f32_to_f16(float x) {
    uint16_t half;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(x));
    return half;
}
#else
TALLY_FN uint16_t tally_f32_to_f16(float x) { return tally_f64_to_f16(x); }
#endif

#endif
