/* One operator for every type it is defined on, for one instruction set: the body of the units that CMake writes, which
 * define
 *
 *     TALLY_KERNEL, TALLY_KERNEL_FILE   the operator's name and file in kernels/operators
 *     TALLY_KERNEL_ON, _NANS, _ORDER    its row in include/tally/tables.h
 *     TALLY_ISA, TALLY_ISA_<LEVEL>      the instruction set
 *
 * and export `const tally__kernel_set tally__cpu_<kernel>_<isa>`. Operators are scalar text; the loops around them
 * (leaves_template.h) are written so that compilers turn them into vector code for the target attribute set here. */
#include "cpu/target.h"

#include "internal.h"
#include "types_that_share.h"

/* Whether finish takes a root where it is asked for: others need no loop of results with it and one without. */
#define TALLY_ROOTED_var 1
#if TALLY_PASTE(TALLY_ROOTED_, TALLY_KERNEL)
#define TALLY_ROOTED 1
#else
#define TALLY_ROOTED 0
#endif

#define TALLY_TEMPLATE "cpu/operator_template.h"
#define TALLY_SET TALLY_PASTE(TALLY_PASTE(TALLY_PASTE(tally__cpu_, TALLY_KERNEL), _), TALLY_ISA)
#include "foreach_type.h"
