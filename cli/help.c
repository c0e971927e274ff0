/* `tally help`, `tally list` and the manual page, from the tables of operators, types, options and topics. */
#include <stdint.h>
#include <string.h>

#include "command.h"
#include "pages.h"
#include "tally/tally.h"

enum { LINE_WIDTH = 80 };

/* ---- the tables in words ---- */

typedef struct operator_row {
    const char *name;
    int inputs, on, gives, empty, nans;
    const char *what;
} operator_row;

static const operator_row operators[] = {
#define TALLY_ROW(id, name, kernel, inputs, on, gives, order, empty, nans, what) \
    {#name, inputs, on, gives, empty, nans, what},
    TALLY_OPERATORS(TALLY_ROW)
#undef TALLY_ROW
};
enum { OPERATOR_COUNT = sizeof operators / sizeof operators[0] };

typedef struct option_row {
    const char *name;
    char letter;
    const char *argument;
    int takers;
    const char *what;
} option_row;

static const option_row options[] = {
#define OPTION(id, name, letter, argument, takers, what) {name, letter, argument, takers, what},
    COMMAND_OPTIONS(OPTION)
#undef OPTION
};
enum { OPTION_TEXT = 400 };

static const struct {
    const char *name, *arguments, *what; /* arguments "": options alone */
} words[] = {
#define WORD(id, name, arguments, what) {name, arguments, what},
    COMMAND_WORDS(WORD)
#undef WORD
};
enum { WORD_COUNT = sizeof words / sizeof words[0] };

/* Valid until the next call. */
static const char *types_in_words(int on) {
    static const struct {
        int classes;
        const char *name;
    } kinds[] = {{TALLY_CLASS_BOOL, "bool"},
                 {TALLY_CLASS_INT | TALLY_CLASS_UINT, "integers"},
                 {TALLY_CLASS_INT, "signed integers"},
                 {TALLY_CLASS_UINT, "unsigned integers"},
                 {TALLY_CLASS_FLOAT, "floats"}};
    static char list[64];
    size_t length = 0;
    if (on == TALLY_ON_ALL) return "all types";
    list[0] = 0;
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        if ((on & kinds[k].classes) != kinds[k].classes) continue;
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", length > 0 ? ", " : "", kinds[k].name);
        on &= ~kinds[k].classes;
    }
    return list;
}

static const char *gives_in_words(int gives) {
    switch (gives) {
    case TALLY_GIVES_WIDE: return "i64, u64, f32 or f64";
    case TALLY_GIVES_SAME: return "the input's type";
    case TALLY_GIVES_INDEX:
    case TALLY_GIVES_COUNT: return "i64";
    case TALLY_GIVES_TRUTH: return "bool";
    case TALLY_GIVES_REAL: return "f32 or f64";
    case TALLY_GIVES_MAGNITUDE: return "u64, f32 or f64";
    case TALLY_GIVES_PAIR: return "two of the input's";
    default: return "a row of numbers";
    }
}

/* ---- plain text ---- */

/* Sets words in lines that begin at column `indent`; the cursor stands there already. */
static void print_wrapped(const char *text, int indent, FILE *stream) {
    int column = indent;
    while (*text != '\0') {
        int length = (int)strcspn(text, " ");
        if (column > indent && column + 1 + length > LINE_WIDTH) {
            fprintf(stream, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', stream);
            column++;
        }
        fprintf(stream, "%.*s", length, text);
        column += length;
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', stream);
}

static void print_paragraphs(const char *text, FILE *stream) {
    char paragraph[1600];
    while (*text != '\0') {
        const char *end = strstr(text, "\n\n");
        size_t length = end != NULL ? (size_t)(end - text) : strlen(text);
        snprintf(paragraph, sizeof paragraph, "%.*s", (int)length, text);
        print_wrapped(paragraph, 0, stream);
        text += length;
        if (end != NULL) {
            fputc('\n', stream);
            text += 2;
        }
    }
}

/* "race, explain: " before what an option does that no operator takes. */
static const char *say_what(const option_row *row, char said[OPTION_TEXT]) {
    int length = 0;
    for (int k = 0; k < WORD_COUNT && (row->takers & OF_OPERATORS) == 0; k++) {
        if ((row->takers >> (WORD_OPERATOR + 1 + k) & 1) != 0) {
            length +=
                snprintf(said + length, OPTION_TEXT - (size_t)length, "%s%s", length > 0 ? ", " : "", words[k].name);
        }
    }
    snprintf(said + length, OPTION_TEXT - (size_t)length, "%s%s", length > 0 ? ": " : "", row->what);
    return said;
}

/* Those that some of the commands take; of one command it goes without saying whose they are. */
static void print_options(int takers, FILE *stream) {
    char left[64], said[OPTION_TEXT];
    for (int k = 0; k < OPTION_COUNT; k++) {
        const option_row *row = &options[k];
        if ((row->takers & takers) == 0) {
            continue;
        }
        int at = row->letter != 0 ? snprintf(left, sizeof left, "-%c, ", row->letter) : 0;
        snprintf(left + at, sizeof left - (size_t)at, "--%s%s%s", row->name, *row->argument != '\0' ? " " : "",
                 row->argument);
        fprintf(stream, "  %-22s  ", left);
        if (strlen(left) > 22) {
            fprintf(stream, "\n%*s", 26, "");
        }
        print_wrapped(takers == OF_ALL ? say_what(row, said) : row->what, 26, stream);
    }
}

static const char table_usage[] = "tally OPERATOR COLUMNS [OPERATOR COLUMNS]... TABLE... [--by COLUMNS] [OPTION...]";
static const char usage[] =
    "tally OPERATOR FILE... [--by KEYS | --offsets FILE | --lengths FILE | --axis K] [OPTION...]";

/* "FILE...: " before what a command does. */
static const char *say_word(int k, char said[OPTION_TEXT]) {
    const char *arguments = words[k].arguments;
    snprintf(said, OPTION_TEXT, "%s%s%s", arguments, arguments[0] != '\0' ? ": " : "", words[k].what);
    return said;
}

void print_help(FILE *stream) {
    char said[OPTION_TEXT];
    fputs("Tally reduces: it takes numbers and an operator, and gives one number, or one\n"
          "per segment or group, with the same bits on every machine.\n\n",
          stream);
    fputs("  ", stream);
    print_wrapped(usage, 2, stream);
    fputs("  ", stream);
    print_wrapped(table_usage, 2, stream);
    for (int k = 0; k < WORD_COUNT; k++) {
        fprintf(stream, k == 0 ? "\n  tally %-8s" : "  tally %-8s", words[k].name);
        print_wrapped(say_word(k, said), 16, stream);
    }
    fputs("\nFILE is .npy, raw or text, TABLE is CSV or TSV; - is standard input.\n\nOperators\n  ", stream);
    int column = 2;
    for (int k = 0; k < OPERATOR_COUNT; k++) {
        int length = (int)strlen(operators[k].name);
        if (column + 1 + length > LINE_WIDTH) {
            fputs("\n  ", stream);
            column = 2;
        }
        column += fprintf(stream, column > 2 ? " %s" : "%s", operators[k].name);
    }
    fputs("\n\nOptions\n", stream);
    print_options(OF_ALL, stream);
    fputs("\nExamples\n", stream);
    for (const char *line = examples; *line != '\0'; line = strchr(line, '\n') + 1) {
        fprintf(stream, *line == '#' ? "      %.*s\n" : "  %.*s\n", (int)strcspn(line, "\n"), line);
    }
    fputs("\nMore: tally help OPERATOR, tally help COMMAND, and tally help with a topic:\n ", stream);
    for (int k = 0; k < topic_count; k++) {
        fprintf(stream, " %s%s", topics[k].name, k + 1 < topic_count ? "," : "\n");
    }
}

void print_list(FILE *stream) {
    fprintf(stream, "%-10s %-15s %-21s %s\n", "operator", "takes", "gives", "what it is");
    for (int k = 0; k < OPERATOR_COUNT; k++) {
        const operator_row *row = &operators[k];
        fprintf(stream, "%-10s %-15s %-21s %s\n", row->name, types_in_words(row->on), gives_in_words(row->gives),
                row->what);
    }
}

static void print_operator(const operator_row *row, FILE *stream) {
    fprintf(stream, "%s: %s\n\n  tally %s %s [OPTION...]\n\n", row->name, row->what, row->name,
            row->inputs == 2 ? "FILE FILE" : "FILE...");
    fprintf(stream, "takes    %s\n", types_in_words(row->on));
    fprintf(stream, "gives    %s\n", gives_in_words(row->gives));
    fprintf(stream, "empty    %s\n",
            row->empty == TALLY_EMPTY_IS_REFUSED ? "refused: no values have no such result"
                                                 : "gives the operator's identity");
    fprintf(stream, "NaN      --nan propagate or skip%s\n", row->nans == TALLY_NANS_ORDER ? ", or total" : "");
    fputs("\nOptions are those of every operator: see tally help.\n", stream);
}

bool print_help_on(const char *word, FILE *stream) {
    for (int k = 0; k < OPERATOR_COUNT; k++) {
        if (strcmp(word, operators[k].name) == 0) {
            print_operator(&operators[k], stream);
            return true;
        }
    }
    for (int k = 0; k < topic_count; k++) {
        if (strcmp(word, topics[k].name) == 0) {
            fprintf(stream, "%s\n\n", topics[k].title);
            print_paragraphs(topics[k].text, stream);
            return true;
        }
    }
    for (int k = 0; k < WORD_COUNT; k++) {
        if (strcmp(word, words[k].name) == 0) {
            const int length =
                fprintf(stream, "tally %s%s%s: ", word, words[k].arguments[0] != '\0' ? " " : "", words[k].arguments);
            print_wrapped(words[k].what, length, stream);
            fputs("\nOptions\n", stream);
            print_options(1 << (WORD_OPERATOR + 1 + k), stream);
            return true;
        }
    }
    return false;
}

/* ---- roff ---- */

/* Text with what roff would take for itself made harmless. */
static void print_roff(const char *text, FILE *stream) {
    for (bool line_start = true; *text != '\0'; line_start = *text++ == '\n') {
        if (line_start && (*text == '.' || *text == '\'')) {
            fputs("\\&", stream);
        }
        if (*text == '-') {
            fputs("\\-", stream);
        } else if (*text == '\\') {
            fputs("\\e", stream);
        } else if (text[0] == '\n' && text[1] == '\n') {
            fputs("\n.PP", stream);
            text++;
            fputc('\n', stream);
        } else {
            fputc(*text, stream);
        }
    }
    fputc('\n', stream);
}

static void print_roff_options(FILE *stream) {
    char said[OPTION_TEXT];
    for (int k = 0; k < OPTION_COUNT; k++) {
        const option_row *row = &options[k];
        fputs(".TP\n", stream);
        if (row->letter != 0) {
            fprintf(stream, "\\fB\\-%c\\fR, ", row->letter);
        }
        fprintf(stream, "\\fB\\-\\-%s\\fR", row->name);
        fprintf(stream, *row->argument != '\0' ? " \\fI%s\\fR\n" : "%s\n", row->argument);
        print_roff(say_what(row, said), stream);
    }
}

void print_manual(FILE *stream) {
    char said[OPTION_TEXT];
    fprintf(stream, ".\\\" Made by `tally help man`: change cli/topics.c or the tables, not this file.\n");
    fprintf(stream, ".TH TALLY 1 \"\" \"Tally %s\" \"User commands\"\n", tally_version());
    fputs(".SH NAME\ntally \\- reduce numbers to one, or to one per segment, with the same bits on every machine\n",
          stream);
    fputs(".SH SYNOPSIS\n", stream);
    print_roff(usage, stream);
    fputs(".br\n", stream);
    print_roff(table_usage, stream);
    for (int k = 0; k < WORD_COUNT; k++) {
        fprintf(stream, ".br\ntally %s%s%s\n", words[k].name, words[k].arguments[0] != '\0' ? " " : "",
                words[k].arguments);
    }
    fputs(".SH OPERATORS\n", stream);
    for (int k = 0; k < OPERATOR_COUNT; k++) {
        fprintf(stream, ".TP\n\\fB%s\\fR\n", operators[k].name);
        print_roff(operators[k].what, stream);
        fprintf(stream, "(%s; gives %s)\n", types_in_words(operators[k].on), gives_in_words(operators[k].gives));
    }
    fputs(".SH COMMANDS\n", stream);
    for (int k = 0; k < WORD_COUNT; k++) {
        fprintf(stream, ".TP\n\\fB%s\\fR\n", words[k].name);
        print_roff(say_word(k, said), stream);
    }
    fputs(".SH OPTIONS\n", stream);
    print_roff_options(stream);
    for (int k = 0; k < topic_count; k++) {
        fputs(".SH \"", stream);
        for (const char *p = topics[k].title; *p != '\0'; p++) {
            fputc(*p >= 'a' && *p <= 'z' ? *p - 'a' + 'A' : *p, stream);
        }
        fputs("\"\n", stream);
        print_roff(topics[k].text, stream);
    }
    fputs(".SH EXAMPLES\n.nf\n", stream);
    print_roff(examples, stream);
    fputs(".fi\n", stream);
}
