/* argmin: the index of the smallest value, the lowest index on a tie. First pass: the best key of the leaf; second:
 * where. */
#ifndef TALLY_OPERATOR_ARGMIN_H
#define TALLY_OPERATOR_ARGMIN_H

#define TALLY_BETTER(a, b) ((a) < (b))
#define TALLY_WORST_KEY TALLY_K_HIGH
#define TALLY_ARG_KEY(x) low_key((x).raw)
#include "accumulators/arg.h"

#endif
