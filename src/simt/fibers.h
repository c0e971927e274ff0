/* Fibers: stacks that one OS thread switches between. Nothing here locks; the machine does, around a whole launch. */
#ifndef TALLY_SIMT_FIBERS_H
#define TALLY_SIMT_FIBERS_H

#include <stdbool.h>

typedef struct tally__fiber tally__fiber;

/* A fiber, old if there is one, that runs body() once switched to; NULL: no memory. The last thing body does is to
 * switch away for good: when the fiber is taken again that switch returns, and body is to return as well. */
tally__fiber *tally__fiber_take(void (*body)(void));
/* Keeps it for the next. Not ended: its body was left in the middle and never goes on. */
void tally__fiber_give(tally__fiber *fiber, bool ended);
/* The calling OS thread, to switch from and back to. Good for one launch. */
tally__fiber *tally__fiber_host(void);
/* From the running fiber to another. Returns when somebody switches back. */
void tally__fiber_switch(tally__fiber *from, tally__fiber *to);

#endif
