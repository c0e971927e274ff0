/* A file or stream of values: opened, recognised, and either handed out a block at a time or held in memory whole. */
#ifndef INPUT_H
#define INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/npy.h"
#include "tally/tally.h"
#include "formats/text.h"

typedef enum input_form { FORM_NPY, FORM_RAW, FORM_TEXT } input_form;

/* What the user said about how files are to be read. */
typedef struct input_wish {
    bool raw;
    tally_type type; /* NATURAL: found from the file */
} input_wish;

typedef struct input {
    const char *name; /* for sentences; "standard input" for - */
    int descriptor;   /* -1: closed, or laid aside */
    input_form form;
    tally_type wanted;    /* text: the type asked for, or NATURAL */
    npy_layout layout;    /* of npy and raw; a raw stream has count -1 until its end */
    int64_t file_bytes;   /* of a regular file, else -1 */
    uint64_t identity[2]; /* and which one it is, for lay_aside */
    bool aside;
    bool huge;            /* larger than half the memory: read in blocks, and forgotten behind */
    bool in_memory_order; /* hand out a Fortran array as it lies: set by callers for whom the order cannot show */
    unsigned char *ahead; /* bytes read from the stream while the form was found, to be read first */
    size_t ahead_bytes, ahead_at;
    int64_t bytes_read;        /* from the descriptor */
    const unsigned char *held; /* all values as they lie in the file, when mapped or read whole */
    void *mapped;              /* the mapping's start and bytes */
    size_t mapped_bytes;
    unsigned char *owned; /* heap memory behind held or load_values */
    text_zeros zeros;     /* of the integers of a text that load_series has brought into memory */
    unsigned char *block; /* where next_values puts values that it has to read or rearrange */
    int64_t at;           /* values handed out */
} input;

/* Opens the file, or standard input for "-", and finds its form and, but for text, its layout. Complains on failure.
 * close_input is right after either. */
bool open_input(input *in, const char *name, input_wish wish);
void close_input(input *in);

/* Closes a regular file until it is next read, for those who read more files than may be open at once. It has to be the
 * same file then. Others stay open. */
void lay_aside(input *in);

/* Reads from the stream until size bytes or its end. -1: it failed, and a complaint was made. */
int64_t read_input(input *in, void *bytes, int64_t size);

/* ---- npy and raw (values.c) ---- */

/* Whether next_values hands out mapped memory as it is, rather than what it reads or rearranges in between. */
bool values_at_hand(const input *in);

/* How many values next_values gives at best. */
int64_t block_values(const input *in);

/* The next values, `most` unless the input ends: in C order (but see in_memory_order), native byte order. They stay
 * valid until the next call. array->count 0: the end, and the file was whole. */
bool next_values(input *in, int64_t most, tally_array *array);

/* All values at once, in C order unless in_memory_order. They stay valid until close_input. */
bool load_values(input *in, tally_array *array);

/* Copies `count` items of `size` bytes, those from `first` on in C order, out of an array in Fortran order. */
void gather_values(void *to, const void *from, const int64_t *shape, int dimensions, size_t size, int64_t first,
                   int64_t count);

/* ---- text (series.c) ---- */

/* A block of text at a time into runs of values. */
typedef bool (*run_taker)(void *taker, const text_run *run, const void *values);

/* Hands every run of the text to `take`, and gives the type of them all. */
bool read_series(input *in, run_taker take, void *taker, tally_type *type);

/* All numbers of the text in memory, of one type. They stay valid until close_input. */
bool load_series(input *in, tally_array *array);

#endif
