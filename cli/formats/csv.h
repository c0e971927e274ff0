/* Records of fields out of CSV (RFC 4180) or TSV, in memory.
 *
 * CSV: a field that begins with a quote ends with the next single one; two quotes within it stand for one, and
 * separators and line ends within it are text. Elsewhere a quote is an error. TSV has no quotes. Lines end with LF or
 * CRLF. */
#ifndef CSV_H
#define CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CSV_TROUBLE_SIZE = 160 };

typedef struct csv_form {
    char separator;
    bool quotes;
} csv_form;

static const csv_form csv_commas = {',', true}, csv_tabs = {'\t', false};

/* A field: `length` bytes at text, without its outer quotes. doubled: some quote within is written twice. */
typedef struct csv_field {
    const char *text;
    size_t length;
    bool quoted, doubled;
} csv_field;

typedef struct csv_reader {
    csv_form form;
    const char *at, *end;
    int64_t line; /* the line on which the last record begins, counted from 0 */
    int64_t next_line;
    const char *trouble; /* a sentence, after a record that is none */
} csv_reader;

/* The bytes of the whole records at the beginning of `bytes`, which begin with a record. */
size_t csv_whole(const char *bytes, size_t size, csv_form form);

/* bytes[0 .. size-1] are whole records: they end with a line feed, unless size is 0. */
csv_reader csv_begin(const char *bytes, size_t size, csv_form form);

/* Reads the next record. Stores its first `capacity` fields and returns how many it has: 0 at the end, -1 with trouble.
 */
int64_t csv_next(csv_reader *reader, csv_field *fields, size_t capacity);

/* Writes the field's text with every doubled quote as one to `to`, which has room for field->length bytes. Returns its
 * length. */
size_t csv_copy(const csv_field *field, char *to);

#endif
