/* The header of a .npy file (numpy.lib.format, versions 1 to 3), read from memory and written to it. */
#ifndef NPY_H
#define NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tally/tally.h"

enum {
    NPY_MAGIC_BYTES = 6,
    NPY_FIRST_BYTES = 12,           /* enough to know how long any header is */
    NPY_HEADER_MAX = 1 << 20,       /* longer headers are refused */
    NPY_DIMENSIONS_MAX = 64,        /* as NumPy */
    NPY_TROUBLE_SIZE = 240,         /* a sentence */
    NPY_WRITTEN_MAX = 64 * 22 + 512 /* the longest header that is written */
};

/* An array as it lies in a file. */
typedef struct npy_layout {
    tally_type type; /* NATURAL: two bytes whose meaning --type has to say */
    size_t size;     /* bytes of one value */
    bool swapped;    /* the other byte order than the machine's */
    bool fortran;    /* the first index varies fastest */
    int dimensions;  /* 0: a single value */
    int64_t shape[NPY_DIMENSIONS_MAX];
    int64_t count;  /* the product of the shape */
    size_t data_at; /* where values begin */
} npy_layout;

typedef enum npy_verdict {
    NPY_FINE,
    NPY_SHORT, /* layout->data_at bytes are needed to decide (more, after the first NPY_FIRST_BYTES) */
    NPY_BAD    /* trouble says why */
} npy_verdict;

bool npy_starts(const unsigned char *bytes, size_t size);

/* Reads the header at the start of bytes. Never reads beyond size; count * size fits 63 bits when the verdict is fine.
 */
npy_verdict npy_read(const unsigned char *bytes, size_t size, npy_layout *layout, char trouble[NPY_TROUBLE_SIZE]);

/* Writes a version 1.0 header for values that descr describes (a Python literal) and returns its bytes. */
size_t npy_write(char header[NPY_WRITTEN_MAX], const char *descr, int dimensions, const int64_t *shape);

/* The descr of a type, quotes included; bf16, which NumPy lacks, is two bytes. */
const char *npy_descr(tally_type type);

#endif
