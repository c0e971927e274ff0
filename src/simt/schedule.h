/* Which thread runs next (schedule.c), for the machine alone. Threads have numbers: slot of their block *
 * TALLY_SIMT_MOST_THREADS + index. */
#ifndef TALLY_SIMT_SCHEDULE_H
#define TALLY_SIMT_SCHEDULE_H

#include "simt/simt.h"

/* Why a thread leaves the processor: it waits or has ended; all it waited for has come; it is about to do something
 * atomic; or it looks at memory again, for which others must get on. */
typedef enum tally__step { TALLY_STEP_WAIT, TALLY_STEP_MET, TALLY_STEP_ATOMIC, TALLY_STEP_SPIN } tally__step;

/* For a launch: nobody is ready, `slots` blocks of `threads` run at once. */
void tally__schedule_start(const tally__simt_settings *settings, int slots, int threads);
void tally__schedule_ready(int number);
void tally__schedule_wait(int number);
/* Who runs after thread `now` (any if nobody did): -1 if none is ready, `now` itself to go on. */
int tally__schedule_next(int now, tally__step step);
/* Which of a grid's blocks starts as the n-th. */
int64_t tally__schedule_block(int64_t n, int64_t blocks);

#endif
