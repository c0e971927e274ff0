/* An exact operator for every float type, slow and obvious: the body of the units that CMake writes for the reference
 * backend. */
#include "internal.h"
#include "sums/limbs.h"

#define TALLY_TEMPLATE "ref/exact_template.h"
#define TALLY_SET TALLY_PASTE(tally__ref_exact_, TALLY_KERNEL)
#define TALLY_NANS_SHARE
#include "foreach_type.h"
