/* Numbers between text and bits: correctly rounded when read, the fewest digits that read back when written. */
#ifndef NUMBERS_H
#define NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tally/tally.h"

enum {
    NUMBER_TEXT_SIZE = 48,    /* room for any number as text */
    NUMBER_LENGTH_MAX = 1000, /* the longest token that is read as a number */
};

/* A number as it stands in text, not yet of any type. */
typedef struct number {
    const char *text;
    size_t length;
    uint64_t digits; /* the digits as an integer, when whole */
    int exponent;    /* the power of ten they are times */
    bool negative;
    bool integer; /* no point, no exponent, no name */
    bool whole;   /* all digits fit `digits` */
    bool named;   /* inf or nan */
    bool truth;   /* true or false */
} number;

typedef enum number_verdict {
    NUMBER_FINE,
    NUMBER_NOT_INTEGER, /* an integer type was asked for */
    NUMBER_BEYOND       /* outside the type's range */
} number_verdict;

/* Whether the bytes are one number (or, for the bool type, true or false). */
bool scan_number(const char *text, size_t length, number *found);

/* Writes the number to value as one of type, which may be any but NATURAL and STRUCT. */
number_verdict store_number(const number *found, tally_type type, void *value);

/* Writes one value of type as text, at most NUMBER_TEXT_SIZE bytes with the closing NUL. Returns the length. */
size_t print_number(tally_type type, const void *value, char *text);

/* The value of any float type as a double (exact). */
double float_value(tally_type type, const void *value);

/* Rounds to the float type, to nearest even. */
void store_float(double value, tally_type type, void *bits);

/* Bytes of one value; 0 for NATURAL and STRUCT. From the tables, so that readers need no library. */
size_t type_size(tally_type type);
int type_class(tally_type type);
const char *type_name(tally_type type);

#endif
