/* Values of segments whose exact sums are at the boundary of what one f64 holds, or of f64 what two hold, or three
 * (kernels/chunks/chunks.h, compensated/ranged.h). */
#ifndef TALLY_FLOAT_RANGES_H
#define TALLY_FLOAT_RANGES_H

#include <stdint.h>

#include "tally/tally.h"

/* Segments of f32 or f64 side by side, to be filled. Values of f64 are multiplied by a power of two that depends on
 * `trial` and may be near the smallest or the largest. */
typedef struct float_segments {
    tally_type type;
    const int64_t *lengths;
    int64_t count;
    int trial;
    char *values;
} float_segments;

/* In each segment numbers near 1 that cancel, in long ones also near 2^-50, and others smaller by many binades, another
 * number of them in each, with bits to their last: what a sum in f64 may lose, or one in two parts, of f64 in two or
 * three. */
void fill_wide(const float_segments *f);

/* In each segment numbers near 1 that cancel, but not before all of the first half are added up, zeros, and one smaller
 * by `binades`, with bits to its last, which is the sum; and segments of zeros. */
void fill_narrow(const float_segments *f, int64_t binades);

/* Of f64, in each segment a number with bits to its last, `beyond` bits beyond what the second of two sums holds, and
 * others near 1 that cancel, of each of which nearly half of the first sum's last bit is left, as much as there can be:
 * first those above 0, or 16 bytes of those, and 16 of the others, so that one lane adds up all of either where two
 * share the segment. */
void fill_full(const float_segments *f, int beyond);

#endif
