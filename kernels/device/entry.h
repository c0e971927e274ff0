/* The names of entry points: tally_<kernel>_<operator>_<type>_<policy> (forms.h). All other names of kernels are plain:
 * NVRTC compiles one form, operator, type and policy at a time. Where one unit of C has several types, all names get
 * the type and the policy as suffixes (src/names.h). */
#ifndef TALLY_ENTRY_H
#define TALLY_ENTRY_H

#include "device/dialect.h"

#define TALLY_N2(name, type, nan) tally_##name##_##type##_##nan
#define TALLY_N1(name, type, nan) TALLY_N2(name, type, nan)
#define TALLY_N(name) TALLY_N1(name, TALLY_TYPE, TALLY_NAN)

/* Begins the kernel `form` of the unit's operator, type and policy (TALLY_ENTRY_OF, device/device.h). */
#define TALLY_KERNEL_ENTRY(threads, form, type, blocks) \
    TALLY_ENTRY_OF(threads, TALLY_N(TALLY_PASTE(TALLY_PASTE(form, _), TALLY_KERNEL)), type, blocks)

#endif
