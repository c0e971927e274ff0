/* Values of results that lie side by side, TALLY_ACROSS of them. */
#ifndef TALLY_STRIP_H
#define TALLY_STRIP_H

#include "order/leaf.h"

typedef struct strip_t {
    TALLY_T v[TALLY_ACROSS];
} strip_t;

/* From an address that is a multiple of their bytes, of which there are up to 16. */
TALLY_FN strip_t read_whole_strip(const char *p) {
    strip_t strip;
    tally_quad quad;
    if (sizeof strip == 16)
        quad = tally_load16(p);
    else if (sizeof strip % 4 == 0) {
        TALLY_UNROLL
        for (uint32_t j = 0; j < sizeof strip / 4; j++) quad.w[j] = ((const uint32_t *)(const void *)p)[j];
    } else
        quad.w[0] = sizeof strip == 2 ? *(const uint16_t *)(const void *)p : *(const uint8_t *)p;
    __builtin_memcpy(&strip, &quad, sizeof strip);
    return strip;
}

#endif
