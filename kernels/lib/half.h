/* f16 and bf16 as bits: to f32 (exact) and from f64 (to nearest even), without compiler or hardware support. */
#ifndef TALLY_HALF_H
#define TALLY_HALF_H

#include "lib/dialect.h"

/* Branch-free so that a compiler vectorises it: shift the exponent into place, re-bias it, then mend the two ends
 * (F. Giesen, "half to float done quick", 2012). Subnormals are made normal by subtracting the bit that was added. */
TALLY_FN float tally_f16_to_f32(uint16_t half) {
    uint32_t magnitude = (uint32_t)(half & 0x7fff) << 13;
    uint32_t sign = (uint32_t)(half & 0x8000) << 16;
    uint32_t rebiased = magnitude + (112u << 23);
    uint32_t special = magnitude >= (0x1fu << 23) ? (112u << 23) : 0;
    float subnormal = tally_from_bits_f32((int32_t)(rebiased + (1u << 23))) - tally_from_bits_f32(113 << 23);
    uint32_t bits = magnitude < (1u << 23) ? (uint32_t)tally_bits_f32(subnormal) : rebiased + special;
    return tally_from_bits_f32((int32_t)(bits | sign));
}

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

#endif
