/* The commands about GPU kernels. */
#ifndef GPU_H
#define GPU_H

#include "command.h"

/* tally emit OPERATOR TYPE: the kernel's source to standard output. Returns the exit status. */
int run_emit(const command *wanted);

/* tally warm [OPERATOR [TYPE]]: compiles kernels into the cache. Returns the exit status. */
int run_warm(const command *wanted);

#endif
