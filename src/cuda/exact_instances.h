/* The geometry of one exact operator for every float type: the body of the units that CMake writes. */
#include "cuda/geometry.h"

#define TALLY_TEMPLATE "cuda/geometry_template.h"
#define TALLY_SET_TYPE tally__geometry_set
#define TALLY_SET TALLY_PASTE(tally__geometry_exact_, TALLY_KERNEL)
#include "foreach_type.h"
