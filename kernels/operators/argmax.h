/* argmax: the index of the largest value, the lowest index on a tie. First pass: the best key of the leaf; second:
 * where. */
#ifndef TALLY_OPERATOR_ARGMAX_H
#define TALLY_OPERATOR_ARGMAX_H

#define TALLY_BETTER(a, b) ((a) > (b))
#define TALLY_WORST_KEY TALLY_K_LOW
#define TALLY_ARG_KEY(x) high_key((x).raw)
#include "accumulators/arg.h"

#endif
