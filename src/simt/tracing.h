/* Between the machine, which sees, and the trace, which keeps. */
#ifndef TALLY_SIMT_TRACING_H
#define TALLY_SIMT_TRACING_H

#include "simt/trace.h"

/* Keeps one event; on a fiber. (trace.c) */
void tally__simt_trace_add(const tally__simt_event *event);
/* Whether events are given to it, from the next launch on, which has the number 0. (machine.c) */
void tally__simt_trace_all(bool on);

#endif
