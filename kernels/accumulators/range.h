/* The smallest and largest value side by side, as minmax and stats keep them: in columns as they compare best
 * (types/extremes.h), in nodes as keys. */
#include "types/extremes.h"

#ifndef TALLY_RANGE_H
#define TALLY_RANGE_H
#define TALLY_RANGE_FIELDS(X) X(TALLY_COMPARED, low) X(TALLY_COMPARED, high)
#define TALLY_RANGE_START(a) (a).low = TALLY_MOST, (a).high = TALLY_LEAST
#define TALLY_RANGE_JOIN(a, b) (a).low = lesser((a).low, (b).low), (a).high = greater((a).high, (b).high)
#define TALLY_RANGE_LIFT(a, x) (a).low = low_compared((x).raw), (a).high = high_compared((x).raw)

#define TALLY_RANGE_NODE_FIELDS(X) X(TALLY_K, low) X(TALLY_K, high)
#define TALLY_RANGE_NODE_START(a) (a).low = TALLY_K_HIGH, (a).high = TALLY_K_LOW
#define TALLY_RANGE_NODE_JOIN(a, b) \
    (a).low = (b).low < (a).low ? (b).low : (a).low, (a).high = (b).high > (a).high ? (b).high : (a).high
#define TALLY_RANGE_TO_NODE(a, column) (a).low = low_key_of((column).low), (a).high = high_key_of((column).high)
#endif
