/* Windows of exact sums: most limbs of a number are 0 and need not be sent. The parties first agree on which limbs are
 * not 0 for any of them, and then add only those.
 *
 * In a settled number the sign is in the last limb (sums/limbs.h), so all upper limbs of a negative number are not 0.
 * In a window a negative number has the negated limbs of its magnitude instead, which add up to the same value.
 *
 * The extent of a number: the last limb that is not 0, the negated index of the first, and whether there is evidence of
 * each kind. The entry-wise maximum of several extents is the extent for their sum. */
#ifndef TALLY_WINDOWS_H
#define TALLY_WINDOWS_H

#include "sums/limbs.h"

enum { TALLY_EXTENT_ENTRIES = 2 + TALLY_EVIDENCE, TALLY_NO_LIMB = -32768 };

/* Settles a number with evidence; a negative number then gets the negated limbs of its magnitude. */
TALLY_FN void tally_spread_sign(int64_t *words, int32_t limbs) {
    int64_t *limb = words + TALLY_EVIDENCE;
    tally_settle(words, limbs);
    if (limb[limbs - 1] >= 0) return;
    TALLY_ROLLED
    for (int32_t i = 0; i < limbs; i++) limb[i] = (int64_t)(0 - (uint64_t)limb[i]);
    tally_carry(limb, limbs);
    TALLY_ROLLED
    for (int32_t i = 0; i < limbs; i++) limb[i] = (int64_t)(0 - (uint64_t)limb[i]);
}

TALLY_FN void tally_find_extent(const int64_t *words, int32_t limbs, int16_t *extent) {
    const int64_t *limb = words + TALLY_EVIDENCE;
    int32_t first = TALLY_NO_LIMB, last = TALLY_NO_LIMB;
    TALLY_ROLLED
    for (int32_t i = 0; i < limbs; i++)
        if (limb[i] != 0) {
            last = i;
            if (first == TALLY_NO_LIMB) first = -i;
        }
    extent[0] = (int16_t)last;
    extent[1] = (int16_t)first;
    for (int32_t k = 0; k < TALLY_EVIDENCE; k++) extent[2 + k] = (int16_t)(words[k] != 0);
}

TALLY_FN int32_t tally_is_extent(const int16_t *extent, int32_t limbs) {
    if (extent[0] == TALLY_NO_LIMB || extent[1] == TALLY_NO_LIMB) return extent[0] == extent[1];
    return extent[1] <= 0 && -extent[1] <= extent[0] && extent[0] < limbs;
}
/* The number of limbs of a valid extent. */
TALLY_FN int32_t tally_extent_width(const int16_t *extent) {
    return extent[0] == TALLY_NO_LIMB ? 0 : extent[0] + extent[1] + 1;
}

#endif
