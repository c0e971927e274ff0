/* What a kernel needs to know of one input type. Needs
 *
 *     TALLY_TYPE   boolean i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64, or structure (types/structure.h)
 *     TALLY_NAN    0 propagate, 1 skip, 2 total
 *
 * and gives, for that type:
 *
 *     TALLY_T        the type in memory          TALLY_BYTES   its size
 *     TALLY_V        its value in arithmetic     value_of(t)
 *     TALLY_FLOAT, TALLY_SIGNED, TALLY_BOOLEAN, TALLY_IS_F64, TALLY_IS_STRUCTURE   0 or 1
 *     TALLY_W        the wide type of products: u64 (two's complement) for integers, f32 or f64
 *     TALLY_R        f32 for f16, bf16, f32; f64 for everything else
 *     TALLY_K        an integer whose order is the value's order    TALLY_K_LOW, TALLY_K_HIGH
 *     TALLY_B        the unsigned integer of the same size
 *     TALLY_M        the type of a magnitude */
#ifndef TALLY_TYPES_H
#define TALLY_TYPES_H

#include "device/dialect.h"
#include "device/entry.h"
#include "types/half.h"
#include "types/type_numbers.h"

#if !defined(TALLY_TYPE) || !defined(TALLY_NAN)
#error "define TALLY_TYPE and TALLY_NAN"
#endif

#define TALLY_NUMBER TALLY_PASTE(TALLY_NUMBER_, TALLY_TYPE)

#define TALLY_BOOLEAN (TALLY_NUMBER == TALLY_NUMBER_boolean)
#define TALLY_FLOAT (TALLY_NUMBER >= TALLY_NUMBER_f16 && TALLY_NUMBER <= TALLY_NUMBER_f64)
#define TALLY_IS_F64 (TALLY_NUMBER == TALLY_NUMBER_f64)
#define TALLY_IS_STRUCTURE (TALLY_NUMBER == TALLY_NUMBER_structure)
#define TALLY_SIGNED (TALLY_NUMBER >= TALLY_NUMBER_i8 && TALLY_NUMBER <= TALLY_NUMBER_i64)

#if TALLY_IS_STRUCTURE
#include "types/structure.h"
#else
#if TALLY_NUMBER == TALLY_NUMBER_boolean || TALLY_NUMBER == TALLY_NUMBER_u8
#define TALLY_T uint8_t
#define TALLY_K_LOW 0
#define TALLY_K_HIGH UINT8_MAX
#elif TALLY_NUMBER == TALLY_NUMBER_i8
#define TALLY_T int8_t
#define TALLY_K_LOW INT8_MIN
#define TALLY_K_HIGH INT8_MAX
#elif TALLY_NUMBER == TALLY_NUMBER_i16
#define TALLY_T int16_t
#define TALLY_K_LOW INT16_MIN
#define TALLY_K_HIGH INT16_MAX
#elif TALLY_NUMBER == TALLY_NUMBER_i32
#define TALLY_T int32_t
#define TALLY_K_LOW INT32_MIN
#define TALLY_K_HIGH INT32_MAX
#elif TALLY_NUMBER == TALLY_NUMBER_i64
#define TALLY_T int64_t
#define TALLY_K_LOW INT64_MIN
#define TALLY_K_HIGH INT64_MAX
#elif TALLY_NUMBER == TALLY_NUMBER_u16
#define TALLY_T uint16_t
#define TALLY_K_LOW 0
#define TALLY_K_HIGH UINT16_MAX
#elif TALLY_NUMBER == TALLY_NUMBER_u32
#define TALLY_T uint32_t
#define TALLY_K_LOW 0
#define TALLY_K_HIGH UINT32_MAX
#elif TALLY_NUMBER == TALLY_NUMBER_u64
#define TALLY_T uint64_t
#define TALLY_K_LOW 0
#define TALLY_K_HIGH UINT64_MAX
#elif TALLY_NUMBER == TALLY_NUMBER_f16 || TALLY_NUMBER == TALLY_NUMBER_bf16
#define TALLY_T uint16_t
#define TALLY_K int16_t
#define TALLY_K_LOW INT16_MIN
#define TALLY_K_HIGH INT16_MAX
#elif TALLY_NUMBER == TALLY_NUMBER_f32
#define TALLY_T float
#define TALLY_K int32_t
#define TALLY_K_LOW INT32_MIN
#define TALLY_K_HIGH INT32_MAX
#elif TALLY_IS_F64
#define TALLY_T double
#define TALLY_K int64_t
#define TALLY_K_LOW INT64_MIN
#define TALLY_K_HIGH INT64_MAX
#else
#error "TALLY_TYPE is not a type"
#endif

#if TALLY_NUMBER == TALLY_NUMBER_boolean || TALLY_NUMBER == TALLY_NUMBER_i8 || TALLY_NUMBER == TALLY_NUMBER_u8
#define TALLY_BYTES 1
#define TALLY_B uint8_t
#elif TALLY_NUMBER == TALLY_NUMBER_i16 || TALLY_NUMBER == TALLY_NUMBER_u16 || TALLY_NUMBER == TALLY_NUMBER_f16 || \
    TALLY_NUMBER == TALLY_NUMBER_bf16
#define TALLY_BYTES 2
#define TALLY_B uint16_t
#elif TALLY_NUMBER == TALLY_NUMBER_i32 || TALLY_NUMBER == TALLY_NUMBER_u32 || TALLY_NUMBER == TALLY_NUMBER_f32
#define TALLY_BYTES 4
#define TALLY_B uint32_t
#else
#define TALLY_BYTES 8
#define TALLY_B uint64_t
#endif

#if TALLY_FLOAT
#if TALLY_IS_F64
#define TALLY_V double
#define TALLY_ZERO (-0.0)
#define TALLY_REAL(name) tally_##name##_f64
#else
#define TALLY_V float
#define TALLY_ZERO (-0.0f)
#define TALLY_REAL(name) tally_##name##_f32
#endif
#define TALLY_W TALLY_V
#define TALLY_R TALLY_V
#else
#define TALLY_V TALLY_T
#define TALLY_K TALLY_T
#define TALLY_W uint64_t
#define TALLY_R double
#define TALLY_REAL(name) tally_##name##_f64
#define TALLY_ZERO 0
#endif

TALLY_FN TALLY_V value_of(TALLY_T t) {
#if TALLY_BOOLEAN
    return t != 0;
#elif TALLY_NUMBER == TALLY_NUMBER_f16
    return tally_f16_to_f32(t);
#elif TALLY_NUMBER == TALLY_NUMBER_bf16
    return tally_bf16_to_f32(t);
#else
    return t;
#endif
}

/* A value as lifts take it: its bits, and what they mean in arithmetic. Loops that can convert many values at once fill
 * in both. */
typedef struct item_t {
    TALLY_T raw;
    TALLY_V value;
} item_t;
TALLY_FN item_t item_of(TALLY_T t) {
    item_t item;
    item.raw = t;
    item.value = value_of(t);
    return item;
}

/* |v|, as an unsigned integer or a float; the most negative integer has a magnitude too. */
#if TALLY_FLOAT
#define TALLY_M TALLY_V
#else
#define TALLY_M TALLY_B
#endif
TALLY_FN TALLY_M magnitude_of(TALLY_V v) {
#if TALLY_IS_F64
    return tally_from_bits_f64(tally_bits_f64(v) & INT64_MAX);
#elif TALLY_FLOAT
    return tally_from_bits_f32(tally_bits_f32(v) & INT32_MAX);
#elif TALLY_SIGNED
    return (TALLY_B)(v < 0 ? (TALLY_B)(0u - (TALLY_B)v) : (TALLY_B)v);
#else
    return v;
#endif
}

/* Bits as a signed integer (floats), and whether they are a NaN. */
#if TALLY_FLOAT
TALLY_FN TALLY_K value_bits(TALLY_T t) {
#if TALLY_IS_F64
    return tally_bits_f64(t);
#elif TALLY_NUMBER == TALLY_NUMBER_f32
    return tally_bits_f32(t);
#else
    return (int16_t)t;
#endif
}
TALLY_FN TALLY_T from_bits(TALLY_K bits) {
#if TALLY_IS_F64
    return tally_from_bits_f64(bits);
#elif TALLY_NUMBER == TALLY_NUMBER_f32
    return tally_from_bits_f32(bits);
#else
    return (uint16_t)bits;
#endif
}
#if TALLY_IS_F64
#define TALLY_INFINITY_BITS 0x7ff0000000000000
#define TALLY_NAN_BITS 0x7ff8000000000000
#elif TALLY_NUMBER == TALLY_NUMBER_f32
#define TALLY_INFINITY_BITS 0x7f800000
#define TALLY_NAN_BITS 0x7fc00000
#elif TALLY_NUMBER == TALLY_NUMBER_f16
#define TALLY_INFINITY_BITS 0x7c00
#define TALLY_NAN_BITS 0x7e00
#else
#define TALLY_INFINITY_BITS 0x7f80
#define TALLY_NAN_BITS 0x7fc0
#endif
TALLY_FN int value_is_nan(TALLY_T t) { return (TALLY_K)(value_bits(t) & TALLY_K_HIGH) > TALLY_INFINITY_BITS; }
#endif

/* Whether the policy counts this value as there. */
TALLY_FN int is_present(TALLY_T t) {
#if TALLY_FLOAT && TALLY_NAN == 1
    return !value_is_nan(t);
#else
    (void)t;
    return 1;
#endif
}

/* Whether the value is not zero; a value that is skipped counts as `absent` says. */
TALLY_FN int value_counts(TALLY_T t, int absent) {
#if TALLY_FLOAT
    int nonzero = (TALLY_K)(value_bits(t) & TALLY_K_HIGH) != 0;
    return is_present(t) ? nonzero : absent;
#else
    (void)absent;
    return t != 0;
#endif
}

/* The integer that orders like the value: negative floats have their magnitude bits flipped, so that the order of keys
 * is IEEE 754 totalOrder. */
TALLY_FN TALLY_K order_key(TALLY_T t) {
#if TALLY_FLOAT
    TALLY_K bits = value_bits(t);
    return (TALLY_K)(bits ^ ((TALLY_K)(bits >> (8 * TALLY_BYTES - 1)) & TALLY_K_HIGH));
#else
    return value_of(t);
#endif
}
TALLY_FN TALLY_T from_key(TALLY_K key) {
#if TALLY_FLOAT
    return from_bits((TALLY_K)(key ^ ((TALLY_K)(key >> (8 * TALLY_BYTES - 1)) & TALLY_K_HIGH)));
#else
    return key;
#endif
}

/* Keys under the NaN policy, for the smallest (low) or the largest (high) to win. A NaN that propagates gets the key
 * beyond every number's in that direction; a NaN that is skipped gets the identity's. */
TALLY_FN TALLY_K low_key(TALLY_T t) {
    TALLY_K key = order_key(t);
#if TALLY_FLOAT && TALLY_NAN == 0
    key = value_is_nan(t) ? TALLY_K_LOW : key;
#elif TALLY_FLOAT && TALLY_NAN == 1
    key = value_is_nan(t) ? TALLY_K_HIGH : key;
#endif
    return key;
}
TALLY_FN TALLY_K high_key(TALLY_T t) {
    TALLY_K key = order_key(t);
#if TALLY_FLOAT && TALLY_NAN == 0
    key = value_is_nan(t) ? TALLY_K_HIGH : key;
#elif TALLY_FLOAT && TALLY_NAN == 1
    key = value_is_nan(t) ? TALLY_K_LOW : key;
#endif
    return key;
}
/* The value of the winning key; of no values: NaN, or the integer furthest from winning. */
TALLY_FN TALLY_T winner(TALLY_K key, int64_t n) {
#if TALLY_FLOAT
    TALLY_T value = from_key(key);
    return n == 0 || (TALLY_NAN != 2 && value_is_nan(value)) ? from_bits(TALLY_NAN_BITS) : value;
#else
    (void)n;
#if TALLY_BOOLEAN
    return key != 0;
#else
    return key;
#endif
#endif
}
#endif

#endif
