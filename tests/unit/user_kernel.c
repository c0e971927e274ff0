/* The kernel of one operator of texts/ for the simulator, as src/cuda/units.c describes it to a compiler. Compiled once
 * for each row of user_operators.h, which says what the definitions are. */
#define TALLY_NAN 0
#define TALLY_KERNEL_FILE "user/operator.h"
#define TALLY_KERNEL_ORDER 2
#define TALLY_KERNEL_INPUTS 1

#include TALLY_USER_FORM
