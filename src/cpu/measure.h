/* What a tile's values are: how large the largest and how small the smallest is, and the keys of the least and the
 * greatest. measure_f32, measure_f64, range_f32 and range_f64. */
#ifndef TALLY_CPU_MEASURE_H
#define TALLY_CPU_MEASURE_H

#include "cpu/vectors.h"

/* Values are summed after they are measured: meanwhile memory goes on with what comes four KB later. */
#define TALLY_MEASURE_AHEAD(is_f64) (4096 / ((is_f64) ? 8 : 4))

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

/* The same by vectors, the last of which may take values again. Where no value is zero or subnormal, half of the bits
 * of an f64 are enough, and nothing need be lessened: what most tiles are measured by. */
#ifdef TALLY_SIZES
TALLY_INLINE TALLY_TARGET sizes sizes_at(const int is_f64, const void *x, int64_t i) {
    if (is_f64) return TALLY_UPPER_HALVES((const double *)x + i, (const double *)x + i + WIDTH) & INT32_MAX;
    return *(const sizes_anywhere *)((const float *)x + i) & INT32_MAX;
}
/* Of tiny values the least possible unit will do: they are measured again when they are enlarged. */
#define TALLY_ARE_TINY(most, digits, bias) ((most) != 0 && (int32_t)((most) >> (digits)) < (bias) + TALLY_ENLARGED_MOST)
#define TALLY_MEASURE(type, is_f64, digits, bias, least)                                                             \
    static TALLY_TARGET tally__extent measure_##type(const void *x, int64_t n) {                                     \
        union {                                                                                                      \
            sizes all;                                                                                               \
            uint32_t each[2 * WIDTH];                                                                                \
        } top, bottom;                                                                                               \
        const int lessened = !(is_f64);                                                                              \
        uint32_t most = 0, fewest = UINT32_MAX;                                                                      \
        if (n < 2 * WIDTH) return measure_all_##type(x, n);                                                          \
        sizes high = sizes_at(is_f64, x, n - 2 * WIDTH), low = high - lessened;                                      \
        _Pragma("GCC unroll 4") for (int64_t i = 0; i + 2 * WIDTH < n; i += 2 * WIDTH) {                             \
            sizes size = sizes_at(is_f64, x, i);                                                                     \
            ask_for(is_f64, 2 * WIDTH, x, i + TALLY_MEASURE_AHEAD(is_f64));                                          \
            high = TALLY_MOST_SIZES(high, size);                                                                     \
            low = TALLY_LEAST_SIZES(low, size - lessened);                                                           \
        }                                                                                                            \
        top.all = high;                                                                                              \
        bottom.all = low;                                                                                            \
        for (int j = 0; j < 2 * WIDTH; j++) {                                                                        \
            most = top.each[j] > most ? top.each[j] : most;                                                          \
            fewest = bottom.each[j] < fewest ? bottom.each[j] : fewest;                                              \
        }                                                                                                            \
        fewest += (uint32_t)lessened;                                                                                \
        if (is_f64 && fewest >> digits == 0 && !TALLY_ARE_TINY(most, digits, bias)) return measure_all_##type(x, n); \
        return extent_of(most, fewest, digits, bias, least);                                                         \
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
#define TALLY_RANGE_OF_FLOATS(type, number, most, vector, count)                                         \
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
TALLY_RANGE_OF_FLOATS(f32, float, INT32_MAX, TALLY_FLOATS, 2 * WIDTH)
TALLY_RANGE_OF_FLOATS(f64, double, INT64_MAX, TALLY_DOUBLES, WIDTH)
#else
#define range_f32 range_all_f32
#define range_f64 range_all_f64
#endif

#endif
