/* One operator for every type, slow and obvious: the body of the units that CMake writes for the reference backend.
 * They export `const tally__kernel_set tally__ref_<kernel>`. */
#include <stdlib.h>

#include "internal.h"

#define TALLY_TEMPLATE "ref/template.h"
#define TALLY_SET TALLY_PASTE(tally__ref_, TALLY_KERNEL)
#include "foreach_type.h"
