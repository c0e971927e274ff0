/* Between the machine, which sees, and the trace, which keeps. (trace.c) */
#ifndef TALLY_SIMT_TRACING_H
#define TALLY_SIMT_TRACING_H

#include "simt/trace.h"

void tally__simt_trace_begin(void);
/* Keeps one event; on a fiber. */
void tally__simt_trace_add(const tally__simt_event *event);
/* Gives away what was kept, all but lanes and word. */
void tally__simt_trace_end(tally__simt_trace *trace);

#endif
