/* Rows of named columns to a stream: aligned, TSV, CSV, JSON lines, or records of a .npy file. */
#ifndef OUTPUT_ROWS_H
#define OUTPUT_ROWS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tally/tally.h"

typedef enum row_format { ROWS_ALIGNED, ROWS_TSV, ROWS_CSV, ROWS_JSON, ROWS_NPY } row_format;

/* A cell: text, or a number as text and its type. text NULL: there is no value. Text ends with a NUL. */
typedef struct row_cell {
    const char *text;
    uint32_t length;
    tally_type type; /* NATURAL: text */
} row_cell;

typedef struct row_writer {
    row_format format;
    FILE *stream;
    int column_count;
    const char *const *names;
    bool begun; /* the header is written */
    /* ---- of ALIGNED and NPY, which need every row before the first is written ---- */
    row_cell *cells; /* with texts of their own */
    int64_t count, capacity;
} row_writer;

/* names are borrowed. Nothing is written yet: the header, where the format has one, comes with the first row. */
row_writer begin_rows(row_format format, FILE *stream, const char *const *names, int column_count);

/* Writes or keeps one row. Complains where memory lacks. */
bool put_row(row_writer *w, const row_cell *cells);

/* Writes what was kept, and the header if there was no row. Complains on failure. What the stream did not take its
 * owner finds out. */
bool end_rows(row_writer *w);

void drop_rows(row_writer *w); /* in place of end_rows: forgets what was kept */

#endif
