/* One number from type to type, at run time: what converts a result to the type asked for, on the host (src/convert.c)
 * and on a GPU (production/convert.h). Types are TALLY_NUMBER_... of types/types.h. */
#ifndef TALLY_SCALAR_H
#define TALLY_SCALAR_H

#include "types/half.h"
#include "types/type_numbers.h"

/* Exactly one of the three is meant. */
enum { TALLY_IS_SIGNED, TALLY_IS_UNSIGNED, TALLY_IS_REAL };
typedef struct tally_scalar {
    int32_t kind;
    int64_t i;
    uint64_t u;
    double f;
} tally_scalar;

/* Between f32 and f64; a NaN keeps its sign and the payload that fits, as on CPUs, where a GPU has one of its own. */
TALLY_FN double tally_widen(float x) {
    int64_t bits = tally_bits_f32(x);
    if (x == x) return (double)x;
    return tally_from_bits_f64(
        (int64_t)((uint64_t)(bits & 0x80000000) << 32 | 0x7ff8000000000000u | (uint64_t)(bits & 0x3fffff) << 29));
}
TALLY_FN float tally_shorten(double x) {
    uint64_t bits = (uint64_t)tally_bits_f64(x);
    if (x == x) return (float)x;
    return tally_from_bits_f32((int32_t)(uint32_t)((bits >> 32 & 0x80000000u) | 0x7fc00000u | (bits >> 29 & 0x3fffff)));
}

TALLY_ONCE tally_scalar tally_read_scalar(int32_t type, const char *from) {
    tally_scalar n;
    uint16_t half;
    float single;
    n.kind = TALLY_IS_SIGNED;
    n.i = 0;
    n.u = 0;
    n.f = 0;
    switch (type) {
#define TALLY_READ_SCALAR(name, ctype, member, what)  \
    case TALLY_NUMBER_##name: {                       \
        ctype value;                                  \
        __builtin_memcpy(&value, from, sizeof value); \
        n.kind = what;                                \
        n.member = value;                             \
        return n;                                     \
    }
        TALLY_READ_SCALAR(boolean, uint8_t, u, TALLY_IS_UNSIGNED)
        TALLY_READ_SCALAR(i8, int8_t, i, TALLY_IS_SIGNED)
        TALLY_READ_SCALAR(i16, int16_t, i, TALLY_IS_SIGNED)
        TALLY_READ_SCALAR(i32, int32_t, i, TALLY_IS_SIGNED)
        TALLY_READ_SCALAR(i64, int64_t, i, TALLY_IS_SIGNED)
        TALLY_READ_SCALAR(u8, uint8_t, u, TALLY_IS_UNSIGNED)
        TALLY_READ_SCALAR(u16, uint16_t, u, TALLY_IS_UNSIGNED)
        TALLY_READ_SCALAR(u32, uint32_t, u, TALLY_IS_UNSIGNED)
        TALLY_READ_SCALAR(u64, uint64_t, u, TALLY_IS_UNSIGNED)
        TALLY_READ_SCALAR(f64, double, f, TALLY_IS_REAL)
#undef TALLY_READ_SCALAR
    case TALLY_NUMBER_f32:
        __builtin_memcpy(&single, from, sizeof single);
        n.f = tally_widen(single);
        break;
    case TALLY_NUMBER_f16:
        __builtin_memcpy(&half, from, sizeof half);
        n.f = tally_widen(tally_f16_by_bits(half));
        break;
    default:
        __builtin_memcpy(&half, from, sizeof half);
        n.f = tally_widen(tally_bf16_to_f32(half));
        break;
    }
    n.kind = TALLY_IS_REAL;
    return n;
}

/* An integer as an f64 that rounds to any narrower float as the integer itself would: bits that do not fit are kept as
 * one sticky bit at the end. */
TALLY_ONCE double tally_sticky_real(uint64_t magnitude, int32_t negative) {
    double scale = 1;
    if (magnitude >> 53 != 0) {
        magnitude = magnitude >> 11 | ((magnitude & 0x7ff) != 0);
        scale = 2048;
    }
    return (negative ? -(double)magnitude : (double)magnitude) * scale;
}

/* The number clamped to low .. high, as *i and *u; returns whether it had to be changed. */
TALLY_ONCE int32_t tally_clamp(tally_scalar n, int64_t low, uint64_t high, int64_t *i, uint64_t *u) {
    int32_t negative = 0, changed = 0;
    uint64_t magnitude = n.u;
    if (n.kind == TALLY_IS_SIGNED) {
        negative = n.i < 0;
        magnitude = negative ? 0 - (uint64_t)n.i : (uint64_t)n.i;
    } else if (n.kind == TALLY_IS_REAL) {
        double whole = __builtin_rint(n.f);
        negative = whole < 0;
        changed = !(whole == n.f);
        if (n.f != n.f)
            magnitude = 0;
        else if (whole >= 0x1p64 || whole <= -0x1p64) {
            magnitude = UINT64_MAX;
            changed = 1;
        } else
            magnitude = (uint64_t)(negative ? -whole : whole);
    }
    if (!negative && magnitude > high) {
        magnitude = high;
        changed = 1;
    }
    if (negative && magnitude > 0 - (uint64_t)low) {
        magnitude = 0 - (uint64_t)low;
        changed = 1;
    }
    *u = magnitude;
    *i = (int64_t)(negative ? 0 - magnitude : magnitude);
    return changed;
}

/* Writes the number, or the nearest value of the type; returns whether it did not fit. */
TALLY_ONCE int32_t tally_write_scalar(int32_t type, tally_scalar n, char *to) {
    int32_t changed;
    int64_t i = 0;
    uint64_t u = 0;
    double real = n.f;
    float single;
    uint16_t half;
    if (n.kind == TALLY_IS_SIGNED) real = tally_sticky_real(n.i < 0 ? 0 - (uint64_t)n.i : (uint64_t)n.i, n.i < 0);
    if (n.kind == TALLY_IS_UNSIGNED) real = tally_sticky_real(n.u, 0);
    switch (type) {
#define TALLY_WRITE_SCALAR(name, ctype, low, high, member) \
    case TALLY_NUMBER_##name: {                            \
        ctype value;                                       \
        changed = tally_clamp(n, low, high, &i, &u);       \
        value = (ctype)member;                             \
        __builtin_memcpy(to, &value, sizeof value);        \
        return changed;                                    \
    }
        TALLY_WRITE_SCALAR(boolean, uint8_t, 0, 1, u)
        TALLY_WRITE_SCALAR(i8, int8_t, INT8_MIN, INT8_MAX, i)
        TALLY_WRITE_SCALAR(i16, int16_t, INT16_MIN, INT16_MAX, i)
        TALLY_WRITE_SCALAR(i32, int32_t, INT32_MIN, INT32_MAX, i)
        TALLY_WRITE_SCALAR(i64, int64_t, INT64_MIN, INT64_MAX, i)
        TALLY_WRITE_SCALAR(u8, uint8_t, 0, UINT8_MAX, u)
        TALLY_WRITE_SCALAR(u16, uint16_t, 0, UINT16_MAX, u)
        TALLY_WRITE_SCALAR(u32, uint32_t, 0, UINT32_MAX, u)
        TALLY_WRITE_SCALAR(u64, uint64_t, 0, UINT64_MAX, u)
#undef TALLY_WRITE_SCALAR
    case TALLY_NUMBER_f64:
        /* The sticky bit is below an f64's last: the integer itself is rounded. */
        if (n.kind == TALLY_IS_SIGNED) real = (double)n.i;
        if (n.kind == TALLY_IS_UNSIGNED) real = (double)n.u;
        __builtin_memcpy(to, &real, sizeof real);
        return 0;
    case TALLY_NUMBER_f32:
        single = tally_shorten(real);
        __builtin_memcpy(to, &single, sizeof single);
        return 0;
    case TALLY_NUMBER_f16: half = tally_f64_to_f16(real); break;
    default: half = tally_f64_to_bf16(real); break;
    }
    __builtin_memcpy(to, &half, sizeof half);
    return 0;
}

#endif
