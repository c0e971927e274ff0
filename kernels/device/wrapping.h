/* Differences and sums that wrap around, for numbers that have not been checked. */
#ifndef TALLY_WRAPPING_H
#define TALLY_WRAPPING_H

#include "device/dialect.h"

TALLY_FN int64_t tally_apart(int64_t a, int64_t b) { return (int64_t)((uint64_t)a - (uint64_t)b); }
TALLY_FN int64_t tally_further(int64_t a, int64_t by) { return (int64_t)((uint64_t)a + (uint64_t)by); }

#endif
