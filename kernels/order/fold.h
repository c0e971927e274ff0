/* How many columns of a leaf a lane holds, and how a warp folds those of all its lanes. */
#ifndef TALLY_FOLD_H
#define TALLY_FOLD_H

#include "order/leaf.h"
#include "accumulators/operator.h"

/* Where order cannot show, a lane folds what it holds as it likes: into TALLY_HELD columns, enough to keep adders busy.
 */
#define TALLY_HELD (TALLY_IS_FREE && TALLY_PART > 4 ? 4 : TALLY_PART)

#define TALLY_NAME(name) name
#define TALLY_TYPE_NAME(name) name##_t
#define TALLY_RECORD column_t
#define TALLY_COMBINE combine
#include "order/halves.h"
#if TALLY_PASSES == 2
#define TALLY_NAME(name) name##2
#define TALLY_TYPE_NAME(name) name##2_t
#define TALLY_RECORD second_t
#define TALLY_COMBINE combine2
#include "order/halves.h"
#endif

#endif
