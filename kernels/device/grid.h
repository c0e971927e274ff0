/* The thread's number among those of all blocks, which have TALLY_THREADS each, and how many these are. */
#ifndef TALLY_GRID_H
#define TALLY_GRID_H

#include "device/device.h"

TALLY_FN int64_t tally_thread_of_all(void) { return (int64_t)tally_block() * TALLY_THREADS + tally_thread(); }
TALLY_FN int64_t tally_threads_of_all(void) { return (int64_t)tally_blocks() * TALLY_THREADS; }

#endif
