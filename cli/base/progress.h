/* A bar on stderr, drawn only when stderr is a terminal and the work has lasted over a second. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdint.h>

void start_progress(int64_t total_bytes); /* negative: unknown */
void start_counting(int64_t total, const char *things);
void advance_progress(int64_t done); /* bytes, or things */
void clear_progress(void);           /* takes the bar off the screen; it comes back with the next advance */
void end_progress(void);

#endif
