/* How values compare, for the smallest or the largest to win: as floats, where a GPU has an instruction for the better
 * of two (PTX ISA, min and max with .NaN); elsewhere as keys (types/types.h). */
#ifndef TALLY_EXTREMES_H
#define TALLY_EXTREMES_H

#include "types/types.h"

#if TALLY_ON_GPU
#include "device/device.h"
#define TALLY_COMPARES_FLOATS (TALLY_FLOAT && TALLY_BYTES <= 4 && TALLY_NAN != 2)
#else
#define TALLY_COMPARES_FLOATS 0
#endif

/* TALLY_COMPARED: what is compared. TALLY_LEAST and TALLY_MOST: no value; nothing is below, or above. Where NaNs are
 * skipped that is one of them, as the key of no value is theirs, and not that of an infinity. */
#if TALLY_COMPARES_FLOATS
#define TALLY_COMPARED float
#define TALLY_LEAST tally_from_bits_f32(TALLY_NAN == 1 ? 0x7fffffff : (int32_t)0xff800000)
#define TALLY_MOST tally_from_bits_f32(TALLY_NAN == 1 ? 0x7fffffff : 0x7f800000)
TALLY_FN float low_compared(TALLY_T t) { return value_of(t); }
TALLY_FN float high_compared(TALLY_T t) { return value_of(t); }
TALLY_FN float lesser(float a, float b) { return tally_lesser(a, b, TALLY_NAN == 0); }
TALLY_FN float greater(float a, float b) { return tally_greater(a, b, TALLY_NAN == 0); }
TALLY_FN TALLY_T of_compared(float a) {
#if TALLY_NUMBER == TALLY_NUMBER_f16
    return tally_f32_to_f16(a);
#elif TALLY_NUMBER == TALLY_NUMBER_bf16
    return (TALLY_T)((uint32_t)tally_bits_f32(a) >> 16);
#else
    return a;
#endif
}
TALLY_FN TALLY_K low_key_of(float a) { return low_key(of_compared(a)); }
TALLY_FN TALLY_K high_key_of(float a) { return high_key(of_compared(a)); }
#else
#define TALLY_COMPARED TALLY_K
#define TALLY_LEAST TALLY_K_LOW
#define TALLY_MOST TALLY_K_HIGH
TALLY_FN TALLY_K low_compared(TALLY_T t) { return low_key(t); }
TALLY_FN TALLY_K high_compared(TALLY_T t) { return high_key(t); }
TALLY_FN TALLY_K lesser(TALLY_K a, TALLY_K b) { return b < a ? b : a; }
TALLY_FN TALLY_K greater(TALLY_K a, TALLY_K b) { return b > a ? b : a; }
TALLY_FN TALLY_K low_key_of(TALLY_K a) { return a; }
TALLY_FN TALLY_K high_key_of(TALLY_K a) { return a; }
#endif

#endif
