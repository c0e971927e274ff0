/* Numbers out of text, a block of bytes at a time.
 *
 * Numbers are separated by white space or commas; a comma follows a number on its line; '#' begins a comment that ends
 * with the line. The type is given, or found: i64 as long as every number is an integer that fits, then u64, and f64 as
 * soon as one number has a point, an exponent or is inf or nan. What is found only grows, so each block says the type
 * its values came in, and text_verdict the type of them all. Integers have no -0: where one was written is kept beside
 * them, for floats do, and what a text says does not depend on where in it the first point stands. */
#ifndef TEXT_H
#define TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/numbers.h"

enum { TEXT_TROUBLE_SIZE = 240 };

typedef struct text_reader {
    tally_type wanted; /* NATURAL: found from the numbers */
    tally_type type;   /* the type in which values come now */
    int64_t line;      /* counted from 1 */
    bool begun, in_comment, comma_may_follow;
    bool any_negative;   /* integers so far; they rule out u64 */
    bool any_fraction;   /* some number was no integer */
    int64_t misfit_line; /* where an integer stood that no 64-bit type fits along with the others, or 0 */
    char misfit[40];     /* and how it began */
    char trouble[TEXT_TROUBLE_SIZE];
} text_reader;

/* Which of some integers were written -0. */
typedef struct text_zeros {
    size_t *places; /* counted from 0, ascending */
    size_t count;
} text_zeros;

/* A run of values of one type. */
typedef struct text_run {
    tally_type type;
    size_t count;     /* values stored */
    text_zeros zeros; /* of integers found; else none */
    size_t consumed;  /* bytes used up; the rest has to be shown again, with more behind it */
} text_run;

void text_begin(text_reader *reader, tally_type wanted);

/* Reads from bytes into values (8 bytes each; stored side by side in the run's type), and the places of those
 * written -0 into zeros (room for capacity too), until capacity, the last whole number, or a change of type. last: no
 * more bytes follow. count 0 without change of type, and consumed < size, asks for more bytes. False: reader->trouble
 * says what is wrong. */
bool text_read(text_reader *reader, const char *bytes, size_t size, bool last, void *values, size_t *zeros,
               size_t capacity, text_run *run);

/* After the last byte: the type of all values. False: no type holds them, trouble says why. */
bool text_verdict(text_reader *reader, tally_type *type);

/* Rewrites values from one found type to a later one (i64, u64, f64), in place or not. */
void text_convert(void *to, tally_type to_type, const void *from, tally_type from_type, size_t count, text_zeros zeros);

#endif
