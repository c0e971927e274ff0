/* An exact operator for every float type: the body of the units that CMake writes. They export
 * `const tally__kernel_set tally__cpu_exact_<kernel>`. */
#include "cpu/exact.h"

#define TALLY_TEMPLATE "cpu/exact_operator_template.h"
#define TALLY_SET TALLY_PASTE(tally__cpu_exact_, TALLY_KERNEL)
#define TALLY_NANS_SHARE
#include "foreach_type.h"
