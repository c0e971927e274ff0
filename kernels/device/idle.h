/* Standby kernels: they are always launched, but have work only if a kernel before them asks for it. */
#ifndef TALLY_IDLE_H
#define TALLY_IDLE_H

#include "device/device.h"

/* wanted: NULL, or a word that is 0 until a kernel asks for the work. */
TALLY_FN int32_t tally_is_idle(const int32_t *wanted) { return wanted != 0 && tally_look32(wanted) == 0; }

#endif
