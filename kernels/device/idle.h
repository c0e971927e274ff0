/* Kernels that stand by: they are launched in any case, and have nothing to do unless one before them asks for it. */
#ifndef TALLY_IDLE_H
#define TALLY_IDLE_H

#include "device/device.h"

TALLY_FN int32_t tally_is_idle(const tally_work *work) { return work->wanted != 0 && tally_look32(work->wanted) == 0; }

#endif
