/* Kernels that stand by: they are launched in any case, and have nothing to do unless one before them asks for it. */
#ifndef TALLY_IDLE_H
#define TALLY_IDLE_H

#include "device/device.h"

/* wanted: NULL, or a word that is 0 as long as nobody asks. */
TALLY_FN int32_t tally_is_idle(const int32_t *wanted) { return wanted != 0 && tally_look32(wanted) == 0; }

#endif
