/* The limbs of a superaccumulator that are not 0, as a number of their own: then one thread rounds some ten words
 * instead of up to 138. For a warp; the limbs need not be settled. */
#ifndef TALLY_TRIM_H
#define TALLY_TRIM_H

#include "device/device.h"
#include "sums/limbs.h"

/* The first limb that is not 0, and the limb behind the last; both 0: all limbs are 0. */
typedef struct tally_used_limbs {
    int32_t first, end;
} tally_used_limbs;
TALLY_FN tally_used_limbs tally_find_limbs(const int64_t *limbs, int32_t count) {
    tally_used_limbs used = {0, 0};
    for (int32_t i = 0; i < count; i += TALLY_WARP) {
        uint32_t here = tally_ballot(i + tally_lane() < count && limbs[i + tally_lane()] != 0);
        if (here == 0) continue;
        if (used.end == 0) used.first = i + 31 - __builtin_clz(here & (0 - here));
        used.end = i + 32 - __builtin_clz(here);
    }
    tally_warp_barrier(); /* next, one lane writes the limbs, and votes do not order memory */
    return used;
}

/* Keeps limbs `first` to `end`, and limbs for carries, in place: the evidence moves in front of them. For one thread.
 */
TALLY_FN void tally_trim(tally_number *number, int64_t *words, int32_t first, int32_t end) {
    int32_t capacity = number->count - first, used = end > first ? end - first : 0;
    for (int32_t k = TALLY_EVIDENCE - 1; k >= 0; k--) words[first + k] = words[k];
    number->words = words + first;
    number->count = used + 2 < capacity ? used + 2 : capacity;
    number->origin += 32 * first;
}

#endif
