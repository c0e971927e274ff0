/* The commands about GPU kernels. */
#ifndef GPU_H
#define GPU_H

#include "command.h"

/* Whether the device that was asked for, if any, has kernels; after a complaint if not. */
bool takes_kernels(const command *wanted);

/* What the words of these commands name; false after a complaint. */
bool read_operator(const char *word, tally_op *op);
bool read_kernel_type(const char *word, tally_type *type);

/* With these options; NULL after a complaint. */
tally_context *make_context(const tally_options *options);

/* tally emit OPERATOR TYPE: the kernel's source. Returns the exit status. */
int run_emit(const command *wanted);

/* tally warm [OPERATOR [TYPE]]: compiles kernels into the cache (warm.c). Returns the exit status. */
int run_warm(const command *wanted);

#endif
