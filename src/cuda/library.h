/* Libraries of others, opened at run time. */
#ifndef TALLY_CUDA_LIBRARY_H
#define TALLY_CUDA_LIBRARY_H

/* dlopen, but of ordinary files only: a pipe would be waited for. A name without a slash is looked for among the
 * system's libraries. NULL: *why says what is wrong, until this thread asks again. */
void *tally__open_library(const char *path, const char **why);

#endif
