#include "output/results.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/complain.h"
#include "formats/numbers.h"
#include "base/quote.h"

_Static_assert((int)RESULT_TEXT_SIZE >= (int)NUMBER_TEXT_SIZE, "any number fits");

static const char absent_text[] = "-";

bool make_results(results *made, tally_context *context, tally_op op, tally_type input, int64_t count) {
    size_t size;
    tally_type type;
    if (tally_result_type(context, op, input, &type, &size) != TALLY_OK) {
        return complain(made->names[0], "%s", tally_message());
    }
    made->op = op;
    made->input = input;
    made->type = op == TALLY_STATS ? TALLY_NATURAL : type;
    made->size = size;
    made->count = count;
    made->data = take_memory(made->names[0], count, size);
    return made->data != NULL;
}

void free_results(results *made) {
    free(made->data);
    free(made->absent);
    made->data = NULL;
    made->absent = NULL;
}

const char *const *result_names(tally_op op) {
    static const char *const stats[] = {"count", "min", "max", "sum", "mean", "var"};
    static const char *const pair[] = {"min", "max"};
    return op == TALLY_STATS ? stats : op == TALLY_MINMAX ? pair : NULL;
}

/* ---- texts ---- */

/* The type of a tally_word: the widest of the input's class. */
static tally_type word_type(tally_type input) {
    switch (type_class(input)) {
    case TALLY_CLASS_FLOAT: return TALLY_F64;
    case TALLY_CLASS_UINT: return TALLY_U64;
    default: return TALLY_I64;
    }
}

/* min, max and sum have the bits of those operators, so that a float is written with the digits its own type needs. */
static void print_value(tally_type type, const tally_word *word, char *text) {
    unsigned char own[8];
    if (type_class(type) == TALLY_CLASS_FLOAT) {
        store_float(word->f, type, own);
        print_number(type, own, text);
    } else {
        print_number(word_type(type), word, text);
    }
}

static tally_type sum_type(tally_type input) {
    tally_type type;
    return tally_result_type(NULL, TALLY_SUM, input, &type, NULL) == TALLY_OK ? type : input;
}

int result_numbers(tally_op op) { return op == TALLY_STATS ? 6 : op == TALLY_MINMAX ? 2 : 1; }

tally_type result_number_type(const results *from, int k) {
    if (from->op != TALLY_STATS) {
        return from->type;
    }
    return k == 0 ? TALLY_I64 : k > 3 ? TALLY_F64 : word_type(from->input);
}

static void stats_texts(const results *from, int64_t s, bool absent, char texts[RESULT_NUMBERS_MAX][RESULT_TEXT_SIZE]) {
    tally_stats row;
    memcpy(&row, from->data + s * (int64_t)from->size, sizeof row);
    print_number(TALLY_I64, &row.count, texts[0]);
    if (absent) {
        return;
    }
    print_value(from->input, &row.min, texts[1]);
    print_value(from->input, &row.max, texts[2]);
    print_value(sum_type(from->input), &row.sum, texts[3]);
    print_number(TALLY_F64, &row.mean, texts[4]);
    print_number(TALLY_F64, &row.var, texts[5]);
}

int result_texts(const results *from, int64_t s, char texts[RESULT_NUMBERS_MAX][RESULT_TEXT_SIZE]) {
    bool absent = from->absent != NULL && from->absent[s];
    int numbers = result_numbers(from->op);
    for (int k = 0; absent && k < numbers; k++) {
        strcpy(texts[k], absent_text);
    }
    if (from->op == TALLY_STATS) {
        stats_texts(from, s, absent, texts);
        return numbers;
    }
    const unsigned char *at = from->data + s * (int64_t)from->size;
    for (int k = 0; !absent && k < numbers; k++) {
        print_number(from->type, at + (size_t)k * type_size(from->type), texts[k]);
    }
    return numbers;
}

/* ---- lines ---- */

/* `name`: what the last column says, or NULL. */
static void end_line(const char *name, FILE *stream) {
    if (name != NULL) {
        fputc('\t', stream);
        print_visible(name, stream);
    }
    fputc('\n', stream);
}

void print_lines(const results *from, bool named, FILE *stream) {
    char texts[RESULT_NUMBERS_MAX][RESULT_TEXT_SIZE];
    for (int64_t s = 0; s < from->count && !ferror(stream); s++) {
        int numbers = result_texts(from, s, texts);
        for (int k = 0; k < numbers; k++) {
            fprintf(stream, k == 0 ? "%s" : "\t%s", texts[k]);
        }
        end_line(named ? from->names[0] : NULL, stream);
    }
}

typedef struct table {
    int widths[RESULT_NUMBERS_MAX];
    bool named;
    FILE *stream;
} table;

static void widen(table *shape, int column, const char *text) {
    int width = (int)strlen(text);
    shape->widths[column] = width > shape->widths[column] ? width : shape->widths[column];
}

static void print_row(const table *shape, const char *const *cells, const char *name) {
    for (int k = 0; k < RESULT_NUMBERS_MAX; k++) {
        fprintf(shape->stream, k == 0 ? "%*s" : "\t%*s", shape->widths[k], cells[k]);
    }
    end_line(shape->named ? name : NULL, shape->stream);
}

/* Numbers are made into text twice, once to measure them: cheaper than keeping the texts of millions of rows. */
bool print_table(const results *sets, int set_count, bool named, FILE *stream) {
    char texts[RESULT_NUMBERS_MAX][RESULT_TEXT_SIZE];
    const char *cells[RESULT_NUMBERS_MAX];
    const char *const *names = result_names(TALLY_STATS);
    table shape = {.named = named, .stream = stream};
    for (int k = 0; k < RESULT_NUMBERS_MAX; k++) {
        cells[k] = texts[k];
        widen(&shape, k, names[k]);
    }
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1) {
            print_row(&shape, names, "file");
        }
        for (int set = 0; set < set_count; set++) {
            for (int64_t s = 0; s < sets[set].count && !ferror(stream); s++) {
                result_texts(&sets[set], s, texts);
                for (int k = 0; pass == 0 && k < RESULT_NUMBERS_MAX; k++) {
                    widen(&shape, k, texts[k]);
                }
                if (pass == 1) {
                    print_row(&shape, cells, sets[set].names[0]);
                }
            }
        }
    }
    return !ferror(stream);
}

/* ---- JSON ---- */

/* A number's text as JSON has it: numbers as they are, what JSON has no number for as strings, absent as null. */
static void print_item(const char *text, FILE *stream) {
    if (strcmp(text, absent_text) == 0) {
        fputs("null", stream);
    } else if (strchr("ni", text[text[0] == '-']) != NULL) {
        fprintf(stream, "\"%s\"", text);
    } else {
        fputs(text, stream);
    }
}

static void print_result(const results *from, int64_t s, FILE *stream) {
    char texts[RESULT_NUMBERS_MAX][RESULT_TEXT_SIZE];
    const char *const *names = result_names(from->op);
    int numbers = result_texts(from, s, texts);
    for (int k = 0; k < numbers; k++) {
        if (names != NULL) {
            fprintf(stream, "%s\"%s\": ", k == 0 ? "{" : ", ", names[k]);
        }
        print_item(texts[k], stream);
    }
    fputs(names != NULL ? "}" : "", stream);
}

static void print_shape(const results *from, FILE *stream) {
    fputs(", \"shape\": [", stream);
    for (int d = 0; d < from->dimensions; d++) {
        fprintf(stream, d == 0 ? "%" PRId64 : ", %" PRId64, from->shape[d]);
    }
    fputs("], \"results\": [", stream);
    for (int64_t s = 0; s < from->count && !ferror(stream); s++) {
        fputs(s == 0 ? "" : ", ", stream);
        print_result(from, s, stream);
    }
    fputs("]", stream);
}

void print_json(const results *from, FILE *stream) {
    fprintf(stream, "{\"op\": \"%s\", \"file\": ", tally_op_name(from->op));
    print_json_string(from->names[0], stream);
    if (from->names[1] != NULL) {
        fputs(", \"second\": ", stream);
        print_json_string(from->names[1], stream);
    }
    fprintf(stream, ", \"type\": \"%s\", \"result_type\": \"%s\", \"count\": %" PRId64, type_name(from->input),
            from->op == TALLY_STATS ? "stats" : type_name(from->type), from->values);
    if (from->whole) {
        fputs(", \"result\": ", stream);
        print_result(from, 0, stream);
    } else {
        print_shape(from, stream);
    }
    fputs("}\n", stream);
}
