/* The production kernels of one operator for every type, compiled for the simulator: the body of the units that CMake
 * writes. The unit says TALLY_SIMT_UNIT, kind and form of kernels/forms.h (EXACT_WHOLE), TALLY_SIMT_ENTRIES(X, ...),
 * its kernels, and TALLY_SIMT_FILE, its text; it exports `const tally__simt_set tally__simt_<unit>_<operator>`. */
#define TALLY_ON_GPU 1
#include "simt/kernels/set.h"
#include "types_that_share.h"

#define TALLY_NAME_OF(word) TALLY_PASTE(TALLY_PASTE(word, _), TALLY_KERNEL)
#define TALLY_MEMBER(type, nan, name) TALLY_N1(TALLY_NAME_OF(name), type, nan),
#define TALLY_MEMBERS(type, nan)                             \
    {                                                        \
        { TALLY_SIMT_ENTRIES(TALLY_MEMBER, type, nan) NULL } \
    }
#define TALLY_SET TALLY_PASTE(TALLY_PASTE(tally__simt_, TALLY_SIMT_UNIT), TALLY_PASTE(_, TALLY_KERNEL))
#ifdef TALLY_SIMT_NOTHING /* left out of this build (TALLY_SIMT_SEGMENTS) */
extern const tally__simt_set TALLY_SET;
const tally__simt_set TALLY_SET = {0};
#else
#define TALLY_SET_TYPE tally__simt_set
#define TALLY_TEMPLATE TALLY_SIMT_FILE
#include "foreach_type.h"
#endif
