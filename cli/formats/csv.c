#define _GNU_SOURCE
#include "formats/csv.h"

#include <string.h>

/* ---- where records end ---- */

static size_t count_byte(const char *bytes, size_t size, char wanted) {
    size_t count = 0;
    for (size_t k = 0; k < size; k++) {
        count += bytes[k] == wanted;
    }
    return count;
}

/* A line feed ends a record if an even number of quotes stand before it. Where quotes are misplaced this may cut
 * wrongly; csv_next finds the misplaced quote before it comes to such a cut. */
size_t csv_whole(const char *bytes, size_t size, csv_form form) {
    bool within = form.quotes && memchr(bytes, '"', size) != NULL && (count_byte(bytes, size, '"') & 1) != 0;
    size_t end = size;
    while (end > 0 && (bytes[end - 1] != '\n' || within)) {
        end--;
        within ^= form.quotes && bytes[end] == '"';
    }
    return end;
}

/* ---- records ---- */

csv_reader csv_begin(const char *bytes, size_t size, csv_form form) {
    return (csv_reader){.form = form, .at = bytes, .end = bytes + size};
}

/* Reads the quoted field that begins at `at`. Returns where it ends; NULL: it does not end as it should. */
static const char *quoted_field(csv_reader *reader, const char *at, csv_field *field) {
    const char *start = ++at;
    field->quoted = true;
    for (;;) {
        const char *quote = memchr(at, '"', (size_t)(reader->end - at));
        if (quote == NULL) {
            reader->trouble = "a quoted field does not end; the closing quote is missing";
            return NULL;
        }
        if (quote + 1 < reader->end && quote[1] == '"') {
            field->doubled = true;
            at = quote + 2;
            continue;
        }
        field->text = start;
        field->length = (size_t)(quote - start);
        reader->next_line += (int64_t)count_byte(start, field->length, '\n');
        return quote + 1;
    }
}

static bool ends_field(const csv_reader *reader, const char *at) {
    return at < reader->end &&
           (*at == reader->form.separator || *at == '\n' || (*at == '\r' && at + 1 < reader->end && at[1] == '\n'));
}

/* Reads the field that begins at `at`. Returns where it ends, or NULL. */
static const char *next_field(csv_reader *reader, const char *at, csv_field *field) {
    const char separator = reader->form.separator, quote = reader->form.quotes ? '"' : '\n';
    *field = (csv_field){.text = at};
    if (*at == '"' && reader->form.quotes) {
        at = quoted_field(reader, at, field);
        if (at != NULL && !ends_field(reader, at)) {
            reader->trouble = "text behind the closing quote of a field; a quote within a field is written twice";
            return NULL;
        }
        return at == NULL || *at != '\r' ? at : at + 1;
    }
    while (*at != separator && *at != '\n' && *at != quote) {
        at++;
    }
    if (*at == quote && quote != '\n') {
        reader->trouble = "a quote within a field that does not begin with one; such a field is \"quoted\", "
                          "with every quote in it written twice";
        return NULL;
    }
    field->length = (size_t)(at - field->text);
    field->length -= *at == '\n' && field->length > 0 && at[-1] == '\r';
    return at;
}

int64_t csv_next(csv_reader *reader, csv_field *fields, size_t capacity) {
    const char *at = reader->at;
    size_t count = 0;
    csv_field beyond;
    reader->line = reader->next_line;
    if (at == reader->end) {
        return 0;
    }
    for (;; at++) {
        at = next_field(reader, at, count < capacity ? &fields[count] : &beyond);
        if (at == NULL) {
            return -1;
        }
        count++;
        if (*at == '\n') {
            break;
        }
    }
    reader->at = at + 1;
    reader->next_line++;
    return (int64_t)count;
}

size_t csv_copy(const csv_field *field, char *to) {
    size_t length = 0;
    if (!field->doubled) {
        memcpy(to, field->text, field->length);
        return field->length;
    }
    for (size_t k = 0; k < field->length; k++) {
        to[length++] = field->text[k];
        k += field->text[k] == '"';
    }
    return length;
}
