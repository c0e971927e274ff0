/* The commands about GPU kernels. */
#ifndef GPU_H
#define GPU_H

#include "command.h"

/* Whether the device that was asked for, if any, has kernels; after a complaint if not. */
bool takes_kernels(const command *wanted);

/* tally emit OPERATOR TYPE: the kernel's source. Returns the exit status. */
int run_emit(const command *wanted);

/* tally warm [OPERATOR [TYPE]]: compiles kernels into the cache. Returns the exit status. */
int run_warm(const command *wanted);

#endif
