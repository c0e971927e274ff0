/* The results of one command over one input, and the ways to give them to the user. */
#ifndef RESULTS_H
#define RESULTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "formats/npy.h"
#include "tally/tally.h"

typedef struct results {
    tally_op op;
    const char *names[2]; /* of the inputs as the user wrote them; the second NULL but for pairs */
    tally_type input;     /* type of the values */
    tally_type type;      /* type of each number in a result; NATURAL for stats */
    size_t size;          /* bytes of one result */
    int64_t values;       /* values reduced */
    int64_t count;        /* results */
    bool whole;           /* one result of everything, not a list that happens to have one */
    int dimensions;       /* shape of the results */
    int64_t shape[NPY_DIMENSIONS_MAX];
    unsigned char *data;   /* the results side by side */
    unsigned char *absent; /* NULL, or for each result whether it had no values to come from */
    const char *save;      /* NULL, or the file for the state in place of a result, */
    int64_t first;         /* and the number of values before its own in the whole */
} results;

/* Makes room for `count` results. Complains when the operator is not defined on the type, or memory lacks. */
bool make_results(results *made, tally_context *context, tally_op op, tally_type input, int64_t count);
void free_results(results *made);

/* The numbers that make up result s, as text. Returns how many: 1, 2 (minmax) or 6 (stats). */
enum { RESULT_NUMBERS_MAX = 6, RESULT_TEXT_SIZE = 48 };
int result_texts(const results *from, int64_t s, char texts[RESULT_NUMBERS_MAX][RESULT_TEXT_SIZE]);

/* The type of number k of a result: in stats the widest of its class. */
tally_type result_number_type(const results *from, int k);

/* How many numbers a result of the operator has. */
int result_numbers(tally_op op);

/* What the numbers of a result are called ("min", ...); NULL for operators of one number. */
const char *const *result_names(tally_op op);

/* One line per result, numbers separated by tabs; with the input's name last if named. */
void print_lines(const results *from, bool named, FILE *stream);

/* The lines of stats: a header, then a row per result of every set, in columns as wide as their widest number. */
bool print_table(const results *sets, int set_count, bool named, FILE *stream);

/* One JSON object on one line. */
void print_json(const results *from, FILE *stream);

/* Writes the results as a .npy file (output.h). Complains on failure. */
bool save_results(const results *from, const char *path);

/* Gives one set out: to the file at `path`, or as JSON, or as lines, or where neither and of stats as a table. */
bool give_results(const results *made, const char *path, bool json, bool named);

#endif
