/* exp and log as our own text, so that every machine gives the same bits: only +, -, *, / and integer steps.
 *
 * exp: x = n ln 2 + r with |r| <= ln 2 / 2 (n by adding 1.5 * 2^52, ln 2 in two parts: Cody and Waite, "Software Manual
 * for the Elementary Functions", 1980), then a polynomial for e^r interpolated at Chebyshev points. The arguments here
 * are differences from a maximum: at most 0, or +inf, or NaN. Results below the smallest normal are 0. Error, measured
 * (docs/order.md; tests/python repeats it): exp below 1.5 ulp, log below 2 ulp, in f32 and f64. */
#ifndef TALLY_ELEMENTARY_H
#define TALLY_ELEMENTARY_H

#include "device/dialect.h"

TALLY_FN float tally_exp_f32(float x) {
    const float magic = 12582912.0f; /* 1.5 * 2^23: the sum's low bits are n */
    float shifted = x * 0x1.715476p+0f + magic;
    float n = shifted - magic;
    float r = (x - n * 0x1.62e400p-1f) - n * 0x1.7f7d1cp-20f;
    float p = 0x1.6d7532p-10f;
    float e;
    p = p * r + 0x1.126fa6p-7f;
    p = p * r + 0x1.5554acp-5f;
    p = p * r + 0x1.555404p-3f;
    p = p * r + 0x1.000000p-1f;
    p = p * r + 1.0f;
    p = p * r + 1.0f;
    e = tally_from_bits_f32((int32_t)((uint32_t)tally_bits_f32(p) + ((uint32_t)tally_bits_f32(shifted) << 23)));
    e = x < -87.0f ? 0.0f : e;
    return x <= 88.0f ? e : x;
}

TALLY_FN double tally_exp_f64(double x) {
    const double magic = 6755399441055744.0; /* 1.5 * 2^52 */
    double shifted = x * 0x1.71547652b82fep+0 + magic;
    double n = shifted - magic;
    double r = (x - n * 0x1.62e42fee00000p-1) - n * 0x1.a39ef35793c76p-33;
    double p = 0x1.af631d0059becp-26;
    double e;
    p = p * r + 0x1.28b4057f44145p-22;
    p = p * r + 0x1.71ddf5749d126p-19;
    p = p * r + 0x1.a01991ac8730ap-16;
    p = p * r + 0x1.a01a01b14378fp-13;
    p = p * r + 0x1.6c16c187fbe02p-10;
    p = p * r + 0x1.111111110f225p-7;
    p = p * r + 0x1.555555554f0cfp-5;
    p = p * r + 0x1.555555555555ap-3;
    p = p * r + 0x1.0000000000011p-1;
    p = p * r + 1.0;
    p = p * r + 1.0;
    e = tally_from_bits_f64((int64_t)((uint64_t)tally_bits_f64(p) + ((uint64_t)tally_bits_f64(shifted) << 52)));
    e = x < -708.0 ? 0.0 : e;
    return x <= 709.0 ? e : x;
}

/* log of 0, of a normal number, of +inf or of NaN: x = 2^n m with m in [sqrt(1/2), sqrt(2)), then
 * log m = 2 atanh((m - 1) / (m + 1)) by its series, whose 11th term is below 2^-58 of the first. Error below 2 ulp. */
TALLY_FN double tally_log_f64(double x) {
    int64_t bits = tally_bits_f64(x);
    int64_t n = (bits - 0x3fe6a09e667f3bcd) >> 52;
    double m = tally_from_bits_f64(bits - n * ((int64_t)1 << 52));
    double s = (m - 1.0) / (m + 1.0);
    double z = s * s;
    double p = 1.0 / 21;
    p = p * z + 1.0 / 19;
    p = p * z + 1.0 / 17;
    p = p * z + 1.0 / 15;
    p = p * z + 1.0 / 13;
    p = p * z + 1.0 / 11;
    p = p * z + 1.0 / 9;
    p = p * z + 1.0 / 7;
    p = p * z + 1.0 / 5;
    p = p * z + 1.0 / 3;
    p = p * z * s + s;
    p = 2.0 * p + (double)n * 0x1.a39ef35793c76p-33 + (double)n * 0x1.62e42fee00000p-1;
    if (x == 0) return -tally_infinity_f64();
    return x - x == 0 ? p : x;
}

#endif
