/* Values one by one, for exact sums on a device: what a lane notes of them beside their sum, and what they are made
 * of. */
#ifndef TALLY_TERMS_H
#define TALLY_TERMS_H

#include "exact_sums/extent.h"

/* What a lane has seen. */
typedef struct notes_t {
    int32_t seen_sum, seen_products; /* evidence, a bit for each kind */
    int64_t absent;
    TALLY_IF_KEYS(int64_t low, high;)
} notes_t;

TALLY_FN notes_t no_notes(void) {
    notes_t notes;
    __builtin_memset(&notes, 0, sizeof notes);
    TALLY_IF_KEYS(notes.low = INT64_MAX; notes.high = INT64_MIN;)
    return notes;
}

TALLY_FN double term_in_double(TALLY_T t) {
    double x = (double)value_of(t);
    return TALLY_ADDS_MAGNITUDES ? tally_from_bits_f64(tally_bits_f64(x) & INT64_MAX) : x;
}

TALLY_FN void widen_keys(notes_t *notes, TALLY_T t) {
#if TALLY_HAS_KEYS
    int64_t key = TALLY_IS_F64 ? tally_bits_f64((double)value_of(t)) : tally_bits_f32((float)value_of(t));
    int32_t is_nan = value_is_nan(t);
    key ^= key < 0 ? (TALLY_IS_F64 ? INT64_MAX : INT32_MAX) : 0;
    notes->low = is_nan ? INT64_MIN : key < notes->low ? key : notes->low;
    notes->high = is_nan ? INT64_MAX : key > notes->high ? key : notes->high;
#else
    (void)notes, (void)t;
#endif
}

#if TALLY_HAS_KEYS
/* The same by all values between two, given by the keys of their own type. */
TALLY_FN void widen_range(notes_t *notes, TALLY_K low, TALLY_K high) {
    widen_keys(notes, from_key(low));
    widen_keys(notes, from_key(high));
}
#endif

/* A finite value is significand * 2^offset, in units of 2^TALLY_ORIGIN. */
typedef struct taken_t {
    uint64_t significand;
    int32_t offset, is_negative, is_special;
} taken_t;
TALLY_FN taken_t take(TALLY_T t) {
    const int32_t fraction = TALLY_DIGITS_OF_TYPE - 1;
    TALLY_B bits = (TALLY_B)value_bits(t), rest = (TALLY_B)(bits & (((uint64_t)1 << fraction) - 1));
    int32_t e = (int32_t)((bits & (TALLY_B)TALLY_K_HIGH) >> fraction);
    taken_t a;
    a.significand = e != 0 ? rest | (uint64_t)1 << fraction : rest;
    a.offset = (e != 0 ? e : 1) + TALLY_SIZE_LEAST - 1 - TALLY_ORIGIN;
    a.is_negative = (int32_t)(bits >> (8 * TALLY_BYTES - 1));
    a.is_special = (bits & (TALLY_B)TALLY_K_HIGH) >= TALLY_INFINITY_BITS;
    return a;
}

TALLY_FN int64_t with_sign(uint64_t significand, int32_t is_negative) {
    return is_negative ? -(int64_t)significand : (int64_t)significand;
}

#endif
