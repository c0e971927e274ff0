/* An input of which a piece is in memory: values side by side, which are taken from the front and come again behind. */
#ifndef WINDOW_H
#define WINDOW_H

#include "input/input.h"

typedef struct window {
    input in;
    const unsigned char *values; /* at hand, `count` of them */
    int64_t count;
    int64_t before;        /* values that have been taken */
    int64_t total;         /* values in all; -1: nobody knows */
    bool more;             /* values may follow behind those at hand */
    unsigned char last[8]; /* the one that was taken last, if any */
    /* ---- of values that do not lie in memory as a whole ---- */
    unsigned char *buffer;
    int64_t room_values;
    text_reader reader;
    char *bytes; /* of text, `used` of them not read yet */
    size_t used, capacity;
    bool bytes_ended;
} window;

/* What a text without a --type holds. */
typedef struct text_facts {
    tally_type type;
    bool any_negative; /* integer */
    int64_t count;
} text_facts;

/* Opens it. A file is closed until it is read. Complains on failure; close_window is right after either. */
bool open_window(window *w, const char *name, input_wish wish);
void close_window(window *w);

/* Finds the type of a text by reading it once; what cannot be read twice is kept in memory. Complains on failure. */
bool look_through(window *w, text_facts *facts);

/* Makes all values come as this type: of texts, which have been looked through if it was not the --type. */
void settle_window(window *w, tally_type type);

/* The type of its values; NATURAL: a text that may take any. */
tally_type window_type(const window *w);

/* Has `most` values at hand, or all that are left. Complains on failure. */
bool fill_window(window *w, int64_t most);

/* Takes the first `count` of those at hand. */
void take_values(window *w, int64_t count);

#endif
