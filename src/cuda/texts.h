/* The texts of kernels/, carried in the library (cmake/texts.cmake): a compiler gets them from memory, never from a
 * path. */
#ifndef TALLY_CUDA_TEXTS_H
#define TALLY_CUDA_TEXTS_H

#include <stddef.h>

typedef struct tally__text {
    const char *name; /* as other texts include it: "types/types.h" */
    const char *text; /* ends with a 0, which `size` leaves out */
    size_t size;
} tally__text;

extern const tally__text tally__texts[]; /* by name, ascending */
extern const int tally__text_count;

/* The text of a name; NULL: there is none. "stdint.h" is device/nvrtc.h. (emit.c) */
const tally__text *tally__text_named(const char *name, size_t length);

#endif
