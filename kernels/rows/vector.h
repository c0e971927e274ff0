/* A vector: TALLY_ACROSS values that lie side by side, each of another result, 4 to 16 bytes. It is kept in the words
 * that were read, as a compiler would give each value of a narrow type a register. */
#ifndef TALLY_VECTOR_H
#define TALLY_VECTOR_H

#include "accumulators/operator.h"
#include "order/leaf.h"

#ifndef TALLY_ACROSS
#error "define TALLY_ACROSS, the results that a thread takes side by side"
#endif

enum {
    vector_bytes = TALLY_ACROSS * TALLY_BYTES, /* 4, 8 or 16 */
    vector_words = vector_bytes / 4
};
typedef struct vector_t {
    uint32_t w[vector_words];
} vector_t;

TALLY_FN TALLY_T value_in(const vector_t *vector, int32_t v) {
    TALLY_T value;
#if TALLY_BYTES <= 2
    const TALLY_B bits = (TALLY_B)(vector->w[v * TALLY_BYTES / 4] >> 8 * (v * TALLY_BYTES % 4));
    __builtin_memcpy(&value, &bits, sizeof value);
#else
    __builtin_memcpy(&value, vector->w + v * TALLY_BYTES / 4, sizeof value);
#endif
    return value;
}
/* Sets value v, which has been 0. */
TALLY_FN void set_value(vector_t *vector, int32_t v, TALLY_T value) {
#if TALLY_BYTES <= 2
    TALLY_B bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    vector->w[v * TALLY_BYTES / 4] |= (uint32_t)bits << 8 * (v * TALLY_BYTES % 4);
#else
    __builtin_memcpy(vector->w + v * TALLY_BYTES / 4, &value, sizeof value);
#endif
}
/* Sets value v, whatever it has been. */
TALLY_FN void replace_value(vector_t *vector, int32_t v, TALLY_T value) {
#if TALLY_BYTES <= 2
    vector->w[v * TALLY_BYTES / 4] &= ~((uint32_t)(TALLY_B)-1 << 8 * (v * TALLY_BYTES % 4));
#endif
    set_value(vector, v, value);
}
TALLY_FN vector_t no_values(void) {
    vector_t vector;
    for (int32_t j = 0; j < vector_words; j++) vector.w[j] = 0;
    return vector;
}
TALLY_FN vector_t vector_of(TALLY_T value) {
    vector_t vector = no_values();
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_ACROSS; v++) set_value(&vector, v, value);
    return vector;
}

/* Reads a vector from an address that is a multiple of its bytes; one of 16 bytes is in shared memory. */
TALLY_FN vector_t take_vector(const char *p) {
    vector_t vector;
    if (vector_bytes == 16) {
        const tally_quad quad = tally_take16(p);
        __builtin_memcpy(&vector, &quad, sizeof vector);
    } else if (vector_bytes == 8) {
        const uint64_t pair = *(const uint64_t *)(const void *)p;
        __builtin_memcpy(&vector, &pair, sizeof vector);
    } else
        vector.w[0] = *(const uint32_t *)(const void *)p;
    return vector;
}
/* The same, from global memory. */
TALLY_FN vector_t read_whole_vector(const char *p) {
    vector_t vector;
    if (vector_bytes < 16) return take_vector(p);
    const tally_quad quad = TALLY_READS_TWICE ? tally_load16_again(p) : tally_load16(p);
    __builtin_memcpy(&vector, &quad, sizeof vector);
    return vector;
}

#endif
