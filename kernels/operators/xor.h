/* xor: the bitwise xor. Booleans count as 0 and 1. */
#ifndef TALLY_OPERATOR_XOR_H
#define TALLY_OPERATOR_XOR_H

#define TALLY_START(a) (a).bits = 0
#define TALLY_JOIN(a, b) (a).bits = (TALLY_B)((a).bits ^ (b).bits)
#include "accumulators/bits.h"

#endif
