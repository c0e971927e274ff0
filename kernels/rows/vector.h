/* Values of results that lie side by side, TALLY_ACROSS of them. */
#ifndef TALLY_VECTOR_H
#define TALLY_VECTOR_H

#include "order/leaf.h"

typedef struct vector_t {
    TALLY_T v[TALLY_ACROSS];
} vector_t;

/* From an address that is a multiple of their bytes, of which there are up to 16. */
TALLY_FN vector_t read_whole_vector(const char *p) {
    vector_t vector;
    tally_quad quad;
    if (sizeof vector == 16)
        quad = tally_load16(p);
    else if (sizeof vector % 4 == 0) {
        TALLY_UNROLL
        for (uint32_t j = 0; j < sizeof vector / 4; j++) quad.w[j] = ((const uint32_t *)(const void *)p)[j];
    } else
        quad.w[0] = sizeof vector == 2 ? *(const uint16_t *)(const void *)p : *(const uint8_t *)p;
    __builtin_memcpy(&vector, &quad, sizeof vector);
    return vector;
}

#endif
