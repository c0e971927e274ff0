/* A file that the user names for results: it appears whole or not at all, where the name's links lead to, with the
 * rights of the file that it replaces. What is no ordinary file (a device, a pipe) is written to as it is; "-" is
 * standard output. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

enum { MOST_NAME = 255 }; /* bytes of one name, NAME_MAX of Linux */

typedef struct output {
    const char *name;
    FILE *stream; /* to write to */
    /* ---- of a file that is to appear ---- */
    int folder;                           /* where it will lie; -1: `stream` is what was named */
    char beside[48], last[MOST_NAME + 1]; /* its name there until it is whole, and afterwards */
} output;

/* Complains on failure, and then needs no end_output. */
bool begin_output(output *out, const char *name);

/* Complains if what was written to the stream did not arrive; then nothing appears. */
bool end_output(output *out);

/* In place of end_output: nothing appears. What was written to a stream or a device stays. */
void drop_output(output *out);

bool is_standard_stream(const char *name); /* "-"; NULL is none */

#endif
