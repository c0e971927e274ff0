#define _POSIX_C_SOURCE 200809L
#include "output/rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/complain.h"
#include "base/quote.h"
#include "formats/npy.h"
#include "formats/numbers.h"

/* ---- one cell ---- */

static void put_csv(const row_cell *cell, FILE *stream) {
    bool plain = true;
    for (uint32_t k = 0; k < cell->length; k++) {
        plain = plain && strchr(",\"\r\n", cell->text[k]) == NULL;
    }
    if (plain && cell->text != NULL && cell->length > 0) {
        fwrite(cell->text, 1, cell->length, stream);
        return;
    }
    fputs(cell->text == NULL ? "" : "\"", stream);
    for (uint32_t k = 0; k < cell->length; k++) {
        fputs(cell->text[k] == '"' ? "\"" : "", stream);
        fputc(cell->text[k], stream);
    }
    fputs(cell->text == NULL ? "" : "\"", stream);
}

static void put_visible(const row_cell *cell, FILE *stream) {
    if (cell->text == NULL) {
        fputc('-', stream);
    } else {
        print_visible(cell->text, stream);
    }
}

/* TSV has no quotes: tabs and line ends within text are shown as \x09 and the like. */
static void put_tsv(const row_cell *cell, FILE *stream) {
    if (cell->text != NULL) {
        print_visible(cell->text, stream);
    }
}

static void put_json(const row_cell *cell, FILE *stream) {
    if (cell->text == NULL) {
        fputs("null", stream);
    } else if (cell->type == TALLY_NATURAL || strchr("ni", cell->text[cell->text[0] == '-']) != NULL) {
        print_json_string(cell->text, stream);
    } else {
        fputs(cell->text, stream);
    }
}

/* ---- one line ---- */

static void put_line(const row_writer *w, const row_cell *cells) {
    for (int k = 0; k < w->column_count; k++) {
        if (w->format == ROWS_JSON) {
            fputs(k == 0 ? "{" : ", ", w->stream);
            print_json_string(w->names[k], w->stream);
            fputs(": ", w->stream);
            put_json(&cells[k], w->stream);
        } else if (w->format == ROWS_CSV) {
            fputs(k == 0 ? "" : ",", w->stream);
            put_csv(&cells[k], w->stream);
        } else {
            fputs(k == 0 ? "" : "\t", w->stream);
            put_tsv(&cells[k], w->stream);
        }
    }
    fputs(w->format == ROWS_JSON ? "}\n" : "\n", w->stream);
}

static row_cell name_cell(const row_writer *w, int k) {
    return (row_cell){w->names[k], (uint32_t)strlen(w->names[k]), TALLY_NATURAL};
}

static void put_header(row_writer *w) {
    bool wanted = !w->begun && (w->format == ROWS_TSV || w->format == ROWS_CSV);
    w->begun = true;
    if (!wanted) {
        return;
    }
    for (int k = 0; k < w->column_count; k++) {
        row_cell name = name_cell(w, k);
        fputs(k == 0 ? "" : w->format == ROWS_CSV ? "," : "\t", w->stream);
        if (w->format == ROWS_CSV) {
            put_csv(&name, w->stream);
        } else {
            put_tsv(&name, w->stream);
        }
    }
    fputc('\n', w->stream);
}

row_writer begin_rows(row_format format, FILE *stream, const char *const *names, int column_count) {
    return (row_writer){.format = format, .stream = stream, .names = names, .column_count = column_count};
}

/* ---- rows that are kept ---- */

static bool keep_row(row_writer *w, const row_cell *cells) {
    if (w->count == w->capacity) {
        int64_t capacity = w->capacity == 0 ? 64 : 2 * w->capacity;
        row_cell *longer = realloc(w->cells, (size_t)(capacity * w->column_count) * sizeof *longer);
        if (longer == NULL) {
            return complain(NULL, "no memory for %lld rows of results", (long long)capacity);
        }
        w->cells = longer;
        w->capacity = capacity;
    }
    for (int k = 0; k < w->column_count; k++) {
        row_cell *kept = &w->cells[w->count * w->column_count + k];
        *kept = cells[k];
        if (cells[k].text != NULL) {
            char *text = take_memory(NULL, (int64_t)cells[k].length + 1, 1);
            if (text == NULL) {
                return false;
            }
            memcpy(text, cells[k].text, cells[k].length);
            text[cells[k].length] = '\0';
            kept->text = text;
        }
    }
    w->count++;
    return true;
}

bool put_row(row_writer *w, const row_cell *cells) {
    if (w->format == ROWS_ALIGNED || w->format == ROWS_NPY) {
        return keep_row(w, cells);
    }
    put_header(w);
    put_line(w, cells);
    return true;
}

/* ---- aligned ---- */

/* The columns that a text takes on a terminal: characters, not bytes. */
static int shown_width(const row_cell *cell) {
    int width = cell->text == NULL ? 1 : 0;
    for (uint32_t k = 0; k < cell->length; k++) {
        width += ((unsigned char)cell->text[k] & 0xc0) != 0x80;
        width += (unsigned char)cell->text[k] < ' ' ? 3 : 0;
    }
    return width;
}

/* Numbers to the right, text to the left, two spaces between. */
static void put_aligned(const row_writer *w, const row_cell *cells, const int *widths, const bool *numeric) {
    for (int k = 0; k < w->column_count; k++) {
        int padding = widths[k] - shown_width(&cells[k]);
        fprintf(w->stream, "%s%*s", k == 0 ? "" : "  ", numeric[k] ? padding : 0, "");
        put_visible(&cells[k], w->stream);
        fprintf(w->stream, "%*s", numeric[k] || k == w->column_count - 1 ? 0 : padding, "");
    }
    fputc('\n', w->stream);
}

static bool write_aligned(const row_writer *w) {
    int *widths = take_memory(NULL, w->column_count, sizeof *widths);
    bool *numeric = take_memory(NULL, w->column_count, sizeof *numeric);
    row_cell *names = take_memory(NULL, w->column_count, sizeof *names);
    bool fine = widths != NULL && numeric != NULL && names != NULL;
    for (int k = 0; fine && k < w->column_count; k++) {
        names[k] = name_cell(w, k);
        widths[k] = shown_width(&names[k]);
        numeric[k] = w->count > 0 && w->cells[k].type != TALLY_NATURAL;
        for (int64_t r = 0; r < w->count; r++) {
            int width = shown_width(&w->cells[r * w->column_count + k]);
            widths[k] = width > widths[k] ? width : widths[k];
        }
    }
    if (fine) {
        put_aligned(w, names, widths, numeric);
    }
    for (int64_t r = 0; fine && r < w->count; r++) {
        put_aligned(w, w->cells + r * w->column_count, widths, numeric);
    }
    free(widths);
    free(numeric);
    free(names);
    return fine;
}

/* ---- .npy ---- */

/* How a column of records is stored: the one type of its numbers, f64 for several or where one is absent; or bytes. */
typedef struct npy_column {
    tally_type type; /* NATURAL: bytes */
    size_t size;
} npy_column;

static npy_column describe_column(const row_writer *w, int k) {
    npy_column found = {TALLY_NATURAL, 1};
    for (int64_t r = 0; r < w->count; r++) {
        const row_cell *cell = &w->cells[r * w->column_count + k];
        tally_type type = cell->text == NULL ? TALLY_F64 : cell->type;
        if (type == TALLY_NATURAL) {
            found.size = cell->length > found.size ? cell->length : found.size;
        } else {
            found.type = r == 0 || found.type == type ? type : TALLY_F64;
            found.size = type_size(found.type);
        }
    }
    return found;
}

static void put_record(const row_cell *cell, npy_column column, FILE *stream) {
    unsigned char value[8] = {0};
    number found;
    if (column.type == TALLY_NATURAL) {
        fwrite(cell->text, 1, cell->length, stream);
        for (size_t k = cell->length; k < column.size; k++) {
            fputc('\0', stream);
        }
        return;
    }
    const char *text = cell->text == NULL ? "nan" : cell->text;
    if (scan_number(text, strlen(text), &found)) {
        (void)store_number(&found, column.type, value);
    }
    fwrite(value, 1, column.size, stream);
}

/* The name of a column as a Python literal. */
static void put_name(const char *name, FILE *stream) {
    fputc('\'', stream);
    for (; *name != '\0'; name++) {
        fputs(*name == '\'' || *name == '\\' ? "\\" : "", stream);
        fputc((unsigned char)*name < ' ' ? '?' : *name, stream);
    }
    fputc('\'', stream);
}

/* Version 3 of the format: a header of any length, in UTF-8. */
static void put_npy_header(const row_writer *w, const char *descr, size_t length) {
    char tail[80];
    int tail_length = snprintf(tail, sizeof tail, ", 'fortran_order': False, 'shape': (%lld,), }", (long long)w->count);
    size_t text = strlen("{'descr': ") + length + (size_t)tail_length + 1;
    size_t padded = (12 + text + 63) / 64 * 64;
    uint32_t header = (uint32_t)(padded - 12);
    fwrite("\x93NUMPY\x03\x00", 1, 8, w->stream);
    fwrite(&header, sizeof header, 1, w->stream);
    fprintf(w->stream, "{'descr': %s%s%*s\n", descr, tail, (int)(padded - 12 - text), "");
}

static bool write_npy(const row_writer *w) {
    npy_column *columns = take_memory(NULL, w->column_count, sizeof *columns);
    char *descr = NULL;
    size_t length = 0;
    FILE *text = columns != NULL ? open_memstream(&descr, &length) : NULL;
    if (text == NULL) {
        free(columns);
        return complain(NULL, "no memory for the header of the results");
    }
    fputc('[', text);
    for (int k = 0; k < w->column_count; k++) {
        columns[k] = describe_column(w, k);
        fputs(k == 0 ? "(" : ", (", text);
        put_name(w->names[k], text);
        if (columns[k].type == TALLY_NATURAL) {
            fprintf(text, ", '|S%zu')", columns[k].size);
        } else {
            fprintf(text, ", %s)", npy_descr(columns[k].type));
        }
    }
    fputc(']', text);
    bool fine = fclose(text) == 0 && descr != NULL;
    if (fine) {
        put_npy_header(w, descr, length);
    }
    for (int64_t cell = 0; fine && cell < w->count * w->column_count; cell++) {
        put_record(&w->cells[cell], columns[cell % w->column_count], w->stream);
    }
    free(descr);
    free(columns);
    return fine;
}

void drop_rows(row_writer *w) {
    for (int64_t cell = 0; cell < w->count * w->column_count; cell++) {
        free((char *)(uintptr_t)w->cells[cell].text);
    }
    free(w->cells);
    w->cells = NULL;
    w->count = 0;
}

bool end_rows(row_writer *w) {
    put_header(w);
    bool fine = w->format == ROWS_ALIGNED ? write_aligned(w) : w->format == ROWS_NPY ? write_npy(w) : true;
    drop_rows(w);
    return fine;
}
