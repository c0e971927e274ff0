/* The production kernels of one operator for every type, compiled for the simulator: the body of the units that CMake writes. The
 * unit says TALLY_SIMT_FORM, the word of names, and TALLY_SIMT_FILE (src/cuda/platform.h), and exports
 * `const tally__simt_set tally__simt_<form>_<kernel>`. */
#include "internal.h"
#include "simt/production.h"

#define TALLY_MEMBERS(type, nan) TALLY_N1(TALLY_PASTE(TALLY_PASTE(TALLY_SIMT_FORM, _), TALLY_KERNEL), type, nan)
#define TALLY_SET TALLY_PASTE(TALLY_PASTE(tally__simt_, TALLY_SIMT_FORM), TALLY_PASTE(_, TALLY_KERNEL))
#define TALLY_SET_TYPE tally__simt_set
#define TALLY_TEMPLATE TALLY_SIMT_FILE
#include "foreach_type.h"
