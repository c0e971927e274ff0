/* The production kernels of one operator and text for every type, compiled for the simulator: the body of the units that CMake writes. They export
 * `const tally__simt_set tally__simt_<text>_<kernel>`. CMake defines
 *
 *     TALLY_SIMT_KERNELS                   the text
 *     TALLY_SIMT_FIRST, TALLY_SIMT_SECOND  what the names of its kernels begin with; there may be no second */
#include "internal.h"
#include "simt/production.h"

#ifdef TALLY_SIMT_SECOND
#define TALLY_MEMBERS(type, nan) \
    { TALLY_N1(TALLY_PASTE(TALLY_SIMT_FIRST, TALLY_KERNEL), type, nan), TALLY_N1(TALLY_PASTE(TALLY_SIMT_SECOND, TALLY_KERNEL), type, nan) }
#else
#define TALLY_MEMBERS(type, nan) \
    { TALLY_N1(TALLY_PASTE(TALLY_SIMT_FIRST, TALLY_KERNEL), type, nan), NULL }
#endif
#define TALLY_SET TALLY_PASTE(TALLY_PASTE(tally__simt_, TALLY_SIMT_FIRST), TALLY_KERNEL)
#define TALLY_SET_TYPE tally__simt_set
#define TALLY_TEMPLATE TALLY_SIMT_KERNELS
#include "foreach_type.h"
