/* The production kernels of one operator for every type, compiled for the simulator: the body of the units that CMake
 * writes. The unit says TALLY_SIMT_FORM, the word of names, TALLY_SIMT_SECOND, that of further ones if there are any,
 * and TALLY_SIMT_FILE (src/cuda/platform.h), and exports `const tally__simt_set tally__simt_<form>_<kernel>`. */
#include "simt/kernels/set.h"

#define TALLY_NAME_OF(word) TALLY_PASTE(TALLY_PASTE(word, _), TALLY_KERNEL)
#ifdef TALLY_SIMT_THIRD
#define TALLY_MEMBERS(type, nan)                                                                                    \
    {                                                                                                               \
        TALLY_N1(TALLY_NAME_OF(TALLY_SIMT_FORM), type, nan), TALLY_N1(TALLY_NAME_OF(TALLY_SIMT_SECOND), type, nan), \
            TALLY_N1(TALLY_NAME_OF(TALLY_SIMT_THIRD), type, nan)                                                    \
    }
#elif defined(TALLY_SIMT_SECOND)
#define TALLY_MEMBERS(type, nan) \
    { TALLY_N1(TALLY_NAME_OF(TALLY_SIMT_FORM), type, nan), TALLY_N1(TALLY_NAME_OF(TALLY_SIMT_SECOND), type, nan), NULL }
#else
#define TALLY_MEMBERS(type, nan) {TALLY_N1(TALLY_NAME_OF(TALLY_SIMT_FORM), type, nan), NULL, NULL}
#endif
#define TALLY_SET TALLY_PASTE(TALLY_PASTE(tally__simt_, TALLY_SIMT_FORM), TALLY_PASTE(_, TALLY_KERNEL))
#ifdef TALLY_SIMT_NOTHING /* left out of this build (TALLY_SIMT_SEGMENTS) */
extern const tally__simt_set TALLY_SET;
const tally__simt_set TALLY_SET = {0};
#else
#define TALLY_SET_TYPE tally__simt_set
#define TALLY_TEMPLATE TALLY_SIMT_FILE
#include "foreach_type.h"
#endif
