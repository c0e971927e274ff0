/* Libraries of others, opened at run time. */
#ifndef TALLY_CUDA_LIBRARY_H
#define TALLY_CUDA_LIBRARY_H

/* dlopen for ordinary files only, as opening a pipe would wait. A name without a slash is searched among the system's
 * libraries. NULL: *why says what is wrong, until this thread's next call. */
void *tally__open_library(const char *path, const char **why);

#endif
