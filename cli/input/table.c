#define _GNU_SOURCE
#include "input/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/complain.h"

enum { BLOCK_BYTES = 1 << 20, MOST_BLOCK_BYTES = 256 << 20, MOST_COLUMNS = 1 << 20 };

bool ends_in(const char *name, const char *ending) {
    size_t length = strlen(name), tail = strlen(ending);
    return length > tail && strcmp(name + length - tail, ending) == 0;
}

bool open_table(table_reader *t, const table_wish *wish, char **names, int file_count) {
    *t = (table_reader){.wish = wish, .names = names, .file_count = file_count};
    t->shapes = take_memory(names[0], file_count, sizeof *t->shapes);
    for (int k = 0; t->shapes != NULL && k < file_count; k++) {
        struct stat status;
        bool sized = strcmp(names[k], "-") != 0 && stat(names[k], &status) == 0 && S_ISREG(status.st_mode);
        t->total_bytes = sized && t->total_bytes >= 0 ? t->total_bytes + status.st_size : -1;
        t->shapes[k] = (table_shape){.name = strcmp(names[k], "-") == 0 ? "standard input" : names[k],
                                     .form = wish->form_given || !ends_in(names[k], ".tsv") ? wish->form : csv_tabs};
    }
    return t->shapes != NULL;
}

void close_table(table_reader *t) {
    if (t->open) {
        close_input(&t->in);
    }
    for (int k = 0; t->shapes != NULL && k < t->file_count; k++) {
        free(t->shapes[k].places);
        for (int c = 0; t->shapes[k].titles != NULL && c < t->wish->value_count + t->wish->key_count; c++) {
            free(t->shapes[k].titles[c]);
        }
        free(t->shapes[k].titles);
    }
    free(t->shapes);
    free(t->rest);
    *t = (table_reader){0};
}

void free_block(table_block *b) {
    free(b->bytes);
    *b = (table_block){0};
}

/* ---- headers ---- */

/* The place of a column by its number; -1: it is none. */
static int64_t numbered(const char *name, int64_t width) {
    char *end;
    long long place = name[0] >= '1' && name[0] <= '9' ? strtoll(name, &end, 10) : 0;
    return place >= 1 && place <= width && *end == '\0' ? place - 1 : -1;
}

/* Complains and names the columns that there are, as far as a line has room; one with a comma in quotes. */
static bool refuse_column(const table_shape *shape, const char *name, const csv_field *header) {
    char list[200] = "";
    size_t length = 0;
    bool has_comma = false;
    for (int64_t k = 0; header != NULL && k < shape->width && length < sizeof list - 10; k++) {
        const char *quote = memchr(header[k].text, ',', header[k].length) != NULL ? "'" : "";
        int capacity = (int)(sizeof list - 8 - length);
        int shown = header[k].length < (size_t)capacity ? (int)header[k].length : capacity;
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%s%.*s%s", k == 0 ? "" : ", ", quote, shown,
                                   header[k].text, quote);
        length = length < sizeof list - 1 ? length : sizeof list - 1;
        has_comma = has_comma || quote[0] != '\0';
    }
    const char *hint = has_comma ? "; name one with a comma by its number"
                       : header != NULL && shape->width == 1 && strpbrk(list, ";|\t") != NULL
                           ? "; fields have commas between, or with --tsv tabs"
                           : "";
    return header == NULL
               ? complain(shape->name, "it has no column %s; without a header, columns are numbered 1 to %" PRId64,
                          name, shape->width)
               : complain(shape->name, "it has no column %s; it has %" PRId64 ": %s%s", name, shape->width, list, hint);
}

/* The text of a field, which the caller frees; NULL and a complaint where memory lacks. */
static char *field_text(const char *subject, const csv_field *field) {
    char *text = take_memory(subject, (int64_t)field->length + 1, 1);
    if (text != NULL) {
        text[csv_copy(field, text)] = '\0';
    }
    return text;
}

/* header NULL: there is none. */
static bool place_column(const table_shape *shape, const char *name, const csv_field *header, int64_t *place) {
    *place = -1;
    for (int64_t k = 0; header != NULL && k < shape->width; k++) {
        char *title = field_text(shape->name, &header[k]);
        bool same = title != NULL && strcmp(title, name) == 0;
        bool twice = same && *place >= 0;
        free(title);
        if (title == NULL) {
            return false;
        }
        if (twice) {
            return complain(shape->name, "columns %" PRId64 " and %" PRId64 " are both called %s; name them by number",
                            *place + 1, k + 1, name);
        }
        *place = same ? k : *place;
    }
    *place = *place < 0 ? numbered(name, shape->width) : *place;
    return *place >= 0 || refuse_column(shape, name, header);
}

static bool place_columns(const table_wish *wish, table_shape *shape, const csv_field *header) {
    int count = wish->value_count + wish->key_count;
    shape->places = take_memory(shape->name, count, sizeof *shape->places);
    shape->titles = take_memory(shape->name, count, sizeof *shape->titles);
    for (int k = 0; shape->titles != NULL && k < count; k++) {
        shape->titles[k] = NULL;
    }
    bool fine = shape->places != NULL && shape->titles != NULL;
    for (int k = 0; fine && k < count; k++) {
        const char *name = k < wish->value_count ? wish->values[k] : wish->keys[k - wish->value_count];
        csv_field wanted = {.text = name, .length = strlen(name)};
        fine = place_column(shape, name, header, &shape->places[k]);
        shape->titles[k] = fine ? field_text(shape->name, header != NULL ? &header[shape->places[k]] : &wanted) : NULL;
        fine = shape->titles[k] != NULL;
    }
    return fine;
}

/* Takes the header off the first block of a file, and finds the columns that are wanted. */
static bool read_header(table_reader *t, table_block *b) {
    table_shape *shape = &t->shapes[t->file - 1];
    b->data_at = b->size >= 3 && memcmp(b->bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    csv_reader reader = csv_begin(b->bytes + b->data_at, b->size - b->data_at, shape->form);
    int64_t width = b->trouble != NULL ? -1 : csv_next(&reader, NULL, 0);
    if (width <= 0 || width > MOST_COLUMNS) {
        return complain(shape->name, "line 1: %s",
                        b->trouble != NULL ? b->trouble
                        : width == 0 ? "the file is empty; a table has a header, or --no-header says that it has none"
                        : width < 0  ? reader.trouble
                                     : "it has more than a million columns");
    }
    csv_field *header = take_memory(shape->name, width, sizeof *header);
    if (header == NULL) {
        return false;
    }
    reader = csv_begin(b->bytes + b->data_at, b->size - b->data_at, shape->form);
    csv_next(&reader, header, (size_t)width);
    shape->width = width;
    bool fine = place_columns(t->wish, shape, t->wish->headless ? NULL : header);
    if (!t->wish->headless) {
        b->data_at = (size_t)(reader.at - b->bytes);
        shape->header_lines = reader.next_line;
    }
    free(header);
    return fine;
}

/* ---- blocks ---- */

bool begins_file(const table_reader *t) { return !t->open; }

static bool open_next(table_reader *t) {
    input_wish wish = {0};
    if (!open_input(&t->in, t->names[t->file], wish)) {
        t->open = true;
        return false;
    }
    t->open = true;
    t->file++;
    t->rest_bytes = 0;
    return t->in.form == FORM_TEXT ||
           complain(t->in.name, "it is no table: its %s",
                    t->in.form == FORM_NPY ? "first bytes are those of a .npy array" : "name says raw values");
}

static bool widen_block(const table_reader *t, table_block *b, size_t capacity) {
    char *longer = realloc(b->bytes, capacity + 1); /* and a line feed */
    if (longer == NULL) {
        return complain(t->in.name, "no memory for a block of %zu bytes", capacity);
    }
    b->bytes = longer;
    b->capacity = capacity;
    return true;
}

static bool keep_rest(table_reader *t, const char *bytes, size_t size) {
    if (size > t->rest_capacity) {
        free(t->rest);
        t->rest_capacity = size + BLOCK_BYTES;
        t->rest = take_memory(t->in.name, (int64_t)t->rest_capacity, 1);
        if (t->rest == NULL) {
            t->rest_capacity = 0;
            return false;
        }
    }
    if (size > 0) {
        memcpy(t->rest, bytes, size);
    }
    t->rest_bytes = size;
    return true;
}

/* Whole records, at least one, up to the end of the file. *more: the file goes on. */
static bool fill_block(table_reader *t, table_block *b, csv_form form, bool *more) {
    size_t filled = t->rest_bytes, whole = 0;
    for (size_t capacity = BLOCK_BYTES + 2 * filled; whole == 0; capacity = 2 * b->capacity) {
        if (capacity > MOST_BLOCK_BYTES) {
            b->trouble = "a record has more than 128 MiB; perhaps a closing quote is missing";
            b->size = filled;
            return true;
        }
        if (capacity > b->capacity && !widen_block(t, b, capacity)) {
            return false;
        }
        if (t->rest_bytes > 0) {
            memcpy(b->bytes, t->rest, t->rest_bytes);
            t->rest_bytes = 0;
        }
        int64_t asked = (int64_t)(b->capacity - filled);
        int64_t got = read_input(&t->in, b->bytes + filled, asked);
        if (got < 0) {
            return false;
        }
        filled += (size_t)got;
        t->bytes_read += got;
        *more = got == asked;
        if (!*more) {
            if (filled > 0 && b->bytes[filled - 1] != '\n') {
                b->bytes[filled++] = '\n';
            }
            whole = filled;
            break;
        }
        whole = csv_whole(b->bytes, filled, form);
    }
    b->size = whole;
    return keep_rest(t, b->bytes + whole, filled - whole);
}

bool next_block(table_reader *t, table_block *b) {
    b->trouble = NULL;
    b->size = b->data_at = 0;
    for (bool more = true; b->size == b->data_at;) {
        bool first = !t->open;
        if (first) {
            if (t->file == t->file_count) {
                b->size = 0;
                return true;
            }
            if (!open_next(t)) {
                return false;
            }
        }
        b->shape = &t->shapes[t->file - 1];
        b->size = b->data_at = 0;
        if (!fill_block(t, b, b->shape->form, &more) || (first && !read_header(t, b))) {
            return false;
        }
        if (!more) {
            close_input(&t->in);
            t->open = false;
        }
    }
    b->bytes_read = t->bytes_read;
    b->number = t->blocks++;
    return true;
}
