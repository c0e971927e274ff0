/* Tables: files of records with a header, read in blocks of whole records, and the cells of a block that are wanted.
 *
 * next_block is for one thread at a time; read_rows is for any thread, with a block and rows of its own. A record has
 * at most 128 MiB. */
#ifndef TABLE_H
#define TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/csv.h"
#include "input/input.h"
#include "input/keys.h"

/* What a missing value does: refuses the table, is left out, or becomes NaN. */
typedef enum missing_rule { MISSING_REFUSED, MISSING_SKIPPED, MISSING_NAN } missing_rule;

/* What is wanted of a table. Columns are named as their header has them, or by number from 1. */
typedef struct table_wish {
    csv_form form;
    bool form_given; /* else a name that ends in .tsv says tabs */
    bool headless;
    missing_rule missing;
    tally_type type; /* of all values; NATURAL: found for each group */
    const char *const *values;
    int value_count;
    const char *const *keys;
    int key_count;
    bool sorted; /* rows of a group stand together: a key is compared with the one before it only */
} table_wish;

/* One file's columns. */
typedef struct table_shape {
    const char *name;
    char **titles; /* of the wanted columns, values first: as the header has them, or as they are wanted */
    csv_form form;
    int64_t width, header_lines;
    int64_t *places; /* for each wanted column, values first, its place from 0 */
} table_shape;

typedef struct table_reader {
    const table_wish *wish;
    char **names;
    int file_count, file; /* the file that is open is names[file - 1] */
    bool open;
    input in;
    table_shape *shapes; /* one for each file */
    char *rest;          /* bytes behind the last block's records */
    size_t rest_bytes, rest_capacity;
    int64_t blocks, bytes_read, total_bytes; /* negative: not known */
} table_reader;

typedef struct table_block {
    const table_shape *shape;
    int64_t number; /* blocks are counted over all files */
    char *bytes;
    size_t data_at, size, capacity; /* records lie from data_at to size */
    int64_t bytes_read;             /* so far, of all files */
    const char *trouble;            /* its records cannot be told apart, or NULL */
} table_block;

/* What was seen among the numbers of a group's column: what decides on their type. A set. */
enum {
    SEEN_NEGATIVE = 1, /* an integer below 0 */
    SEEN_LARGE = 2,    /* one that only u64 holds */
    SEEN_HUGE = 4,     /* one that no 64-bit type holds; it is kept as the nearest double */
    SEEN_FLOAT = 8,    /* no integer, or -0 */
    SEEN_NATURAL = 16, /* an integer from 0 on that i64 holds */
    SEEN_GIVEN = 32    /* a number of the type asked for */
};

/* The type in which numbers are kept: i64, u64 where one is large, f64 where that is all that holds them. */
tally_type seen_type(const table_wish *wish, unsigned seen);

/* Rewrites words from one such type to a later one. */
void convert_words(uint64_t *words, int64_t count, tally_type from, tally_type to);

/* The numbers of one group's column in a block, in order, each in a word of its own. */
typedef struct cell_run {
    uint64_t *words; /* of type seen_type(seen) */
    uint32_t count;
    unsigned seen;
    uint32_t odd_line; /* where the first large or huge integer stands, from the block's first line */
} cell_run;

/* The cells of one block, sorted by group. */
typedef struct block_rows {
    /* ---- groups, numbered as they appear; without key columns there is one ---- */
    key_table keys;
    int64_t group_count;
    cell_run *runs;        /* of group g and value column k: runs[g * value_count + k] */
    uint32_t *first_lines; /* of each group, from the block's first line */
    int64_t line_count;    /* lines of the block */
    bool failed;           /* something was refused */
    int64_t trouble_line;  /* from the block's first line */
    char trouble[240];
    /* ---- row by row: row r has its cells at [r * value_count] ---- */
    int64_t count, capacity, group_capacity;
    uint64_t *words, *sorted;
    unsigned char *kinds; /* what was seen; 0: nothing, the cell is left out */
    uint32_t *lines, *groups, *order;
    csv_field *fields;
    int64_t field_capacity;
    char *key;
    size_t key_capacity;
} block_rows;

/* Whether a name is longer than its ending. */
bool ends_in(const char *name, const char *ending);

/* Complains where memory lacks; close_table is right after either. The wish and the names have to last. */
bool open_table(table_reader *t, const table_wish *wish, char **names, int file_count);
void close_table(table_reader *t);

/* Whether the next block is the first of a file, which may be refused before any of its records is read. */
bool begins_file(const table_reader *t);

/* The next block; size 0: the end. Complains and returns false if a file cannot be read or lacks a column. */
bool next_block(table_reader *t, table_block *b);
void free_block(table_block *b);

/* Reads a block's cells and sorts them by group. If r->failed, they are those before the line that r->trouble is
 * about. */
void read_rows(const table_wish *wish, const table_block *b, block_rows *r);
void free_rows(block_rows *r);

#endif
