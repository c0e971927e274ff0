/* and: the bitwise and. Booleans count as 0 and 1. */
#ifndef TALLY_OPERATOR_AND_H
#define TALLY_OPERATOR_AND_H

#define TALLY_START(a) (a).bits = (TALLY_B) ~(TALLY_B)0
#define TALLY_JOIN(a, b) (a).bits = (TALLY_B)((a).bits & (b).bits)
#include "accumulators/bits.h"

#endif
