/* The gallery of one operator for every type: the body of the units that CMake writes. They export `const
 * tally__gallery_set tally__gallery_of_<kernel>`. */
#include <string.h>

#include "gallery/host/kernels.h"

/* Operators and types that the simulator has: some of each kind. All others are for a GPU. */
#define TALLY_SIMULATED_sum 1
#define TALLY_SIMULATED_min 1
#define TALLY_SIMULATED_argmin 1
#define TALLY_SIMULATED_compose 1
#define TALLY_PICTURED_inputs 1 /* of u64: pictures are of it */
#define TALLY_IS_SIMULATED                                                                                        \
    ((TALLY_PASTE(TALLY_PICTURED_, TALLY_KERNEL) && TALLY_NUMBER == TALLY_NUMBER_u64) ||                          \
     (TALLY_PASTE(TALLY_SIMULATED_, TALLY_KERNEL) &&                                                              \
      (TALLY_NUMBER == TALLY_NUMBER_u8 || TALLY_NUMBER == TALLY_NUMBER_i32 || TALLY_NUMBER == TALLY_NUMBER_f32 || \
       TALLY_NUMBER == TALLY_NUMBER_f64)))

#define TALLY_TEMPLATE "gallery/host/template.h"
#define TALLY_SET_TYPE tally__gallery_set
#define TALLY_SET TALLY_PASTE(tally__gallery_of_, TALLY_KERNEL)
#define TALLY_MEMBERS_0(type) &TALLY_N2(host, type, 0)
#define TALLY_MEMBERS_1(type) NULL
#define TALLY_MEMBERS_2(type) NULL
#define TALLY_MEMBERS(type, nan) TALLY_PASTE(TALLY_MEMBERS_, nan)(type)
#include "gallery/host/names.h"
#include "foreach_type.h"
