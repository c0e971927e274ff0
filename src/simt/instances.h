/* The production kernels of one operator for every type, compiled for the simulator: the body of the units that CMake writes. They export
 * `const tally__simt_set tally__simt_<kernel>`, of exact operators `tally__simt_exact_<kernel>`. */
#include "internal.h"
#include "simt/production.h"

#ifdef TALLY_SIMT_EXACT
#define TALLY_KERNEL_TEXT "production/reduce_exact.h"
#define TALLY_MEMBERS(type, nan) TALLY_N1(TALLY_PASTE(exact_, TALLY_KERNEL), type, nan)
#define TALLY_SET TALLY_PASTE(tally__simt_exact_, TALLY_KERNEL)
#else
#define TALLY_KERNEL_TEXT "production/reduce.h"
#define TALLY_MEMBERS(type, nan) TALLY_N1(TALLY_PASTE(reduce_, TALLY_KERNEL), type, nan)
#define TALLY_SET TALLY_PASTE(tally__simt_, TALLY_KERNEL)
#endif
#define TALLY_SET_TYPE tally__simt_set
#define TALLY_TEMPLATE TALLY_KERNEL_TEXT
#include "foreach_type.h"
