/* The smallest and largest key side by side, as minmax and stats keep them. */
#include "types/types.h"

#ifndef TALLY_RANGE_H
#define TALLY_RANGE_H
#define TALLY_RANGE_FIELDS(X) X(TALLY_K, low) X(TALLY_K, high)
#define TALLY_RANGE_START(a) (a).low = TALLY_K_HIGH, (a).high = TALLY_K_LOW
#define TALLY_RANGE_JOIN(a, b) \
    (a).low = (b).low < (a).low ? (b).low : (a).low, (a).high = (b).high > (a).high ? (b).high : (a).high
#define TALLY_RANGE_LIFT(a, x) (a).low = low_key((x).raw), (a).high = high_key((x).raw)
#endif
