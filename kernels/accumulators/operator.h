/* The operator of the unit: TALLY_KERNEL_FILE, a file of kernels/operators, and the status flags of its results. Or an
 * operator of kernels/exact, with the names of kernels/operators (compensated/nodes.h, expansions.h). */
#ifndef TALLY_OPERATOR_H
#define TALLY_OPERATOR_H

#include "types/types.h"

#include TALLY_KERNEL_FILE
#if TALLY_IS_COMPENSATED
#include "compensated/nodes.h"
#elif TALLY_IS_EXACT
#include "compensated/expansions.h"
#else
#ifndef TALLY_RECORDS_H
#error "an operator's file includes accumulators/plain.h or records.h, as kernels/operators/README.md says"
#endif
#include "accumulators/finalize.h"
#endif

#endif
