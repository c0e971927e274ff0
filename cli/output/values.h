/* Values of one type, one after the other, to a file or standard output: as .npy, raw, or a number on each line. */
#ifndef OUTPUT_VALUES_H
#define OUTPUT_VALUES_H

#include "tally/tally.h"
#include "output/output.h"

typedef enum value_form { VALUES_TEXT, VALUES_NPY, VALUES_RAW } value_form;

typedef struct value_writer {
    output file;
    value_form form;
    tally_type type;
    int64_t promised, written; /* values; promised -1: nobody knows how many */
} value_writer;

/* Opens the file of that name, whose ending says the form; NULL is text to standard output, - a .npy to it. A .npy of
 * an unknown number of values has to be a file. Complains on failure, and then needs no end. */
bool begin_values(value_writer *w, const char *name, tally_type type, int64_t promised);

/* False: they did not arrive, which end_values says. */
bool write_values(value_writer *w, const void *values, int64_t count);

/* Complains if not all arrived. fine false: nothing appears. */
bool end_values(value_writer *w, bool fine);

#endif
