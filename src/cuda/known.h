/* What is known of the compiler without opening it. */
#ifndef TALLY_CUDA_KNOWN_H
#define TALLY_CUDA_KNOWN_H

#include <stdbool.h>
#include <stddef.h>

/* The version that an earlier process found with these options, where the file it found is as it was; false: nothing is
 * known. Looks once in a process. */
bool tally__compiler_known(const char *const *options, int count, char *version, size_t capacity);

/* Keeps for later processes that the compiler in the file `path` is of this version, once in a process. */
void tally__compiler_found(const char *const *options, int count, const char *path, const char *version);

#endif
