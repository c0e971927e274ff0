/* The compiler's version without opening it. */
#ifndef TALLY_CUDA_KNOWN_H
#define TALLY_CUDA_KNOWN_H

#include <stdbool.h>
#include <stddef.h>

/* The version that an earlier process found with these options, if the file is unchanged; false: nothing is known.
 * Looks once in a process. */
bool tally__compiler_known(const char *const *options, int count, char *version, size_t capacity);

/* Records for later processes, once in a process, the version of the compiler in the file `path`. */
void tally__compiler_found(const char *const *options, int count, const char *path, const char *version);

#endif
