/* How many columns of a leaf a lane holds, and how a warp folds the columns of all lanes. */
#ifndef TALLY_FOLD_H
#define TALLY_FOLD_H

#include "order/leaf.h"
#include "accumulators/operator.h"

/* Where order cannot show, a lane first folds its values to TALLY_HELD columns, enough to keep adders busy. */
#define TALLY_HELD (TALLY_IS_FREE && TALLY_PART > 4 ? 4 : TALLY_PART)

#include "order/first_pass.h"
#include "order/halves.h"
#if TALLY_PASSES == 2
#include "order/second_pass.h"
#include "order/halves.h"
#endif

#endif
