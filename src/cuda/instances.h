/* The geometry of one operator for every type: the body of the units that CMake writes. They export
 * `const tally__geometry_set tally__geometry_<operator>`. */
#include "cuda/geometry.h"

#define TALLY_TEMPLATE "cuda/geometry_template.h"
#define TALLY_SET_TYPE tally__geometry_set
#define TALLY_SET TALLY_PASTE(tally__geometry_, TALLY_KERNEL)
#include "foreach_type.h"
