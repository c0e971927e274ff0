/* From the words of the command line to a command. A word that is misspelt is answered with the nearest one. */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "base/complain.h"

enum { OPTION_BASE = 1000 }; /* beyond any letter */
_Static_assert((int)OPTION_COUNT <= 64, "a set of options has a bit for each");

static const struct option long_options[] = {
#define OPTION(id, name, letter, argument, takers, what) \
    {name, sizeof(argument) > 1 ? required_argument : no_argument, NULL, OPTION_BASE + OPTION_##id},
    COMMAND_OPTIONS(OPTION)
#undef OPTION
        {NULL, 0, NULL, 0}};

static const struct {
    char letter;
    int takers;
} more[] = {
#define OPTION(id, name, letter, argument, takers, what) {letter, takers},
    COMMAND_OPTIONS(OPTION)
#undef OPTION
};

static const char *const command_words[] = {
#define WORD(id, name, arguments, what) name,
    COMMAND_WORDS(WORD)
#undef WORD
        NULL};
static const char *const operator_words[] = {
#define TALLY_ROW(id, name, kernel, inputs, on, gives, order, empty, nans, what) #name,
    TALLY_OPERATORS(TALLY_ROW)
#undef TALLY_ROW
        NULL};

/* ---- words that are nearly right ---- */

static int least(int a, int b) { return a < b ? a : b; }

/* How many letters must be changed, added, dropped or swapped with their neighbour to make one word of the other; words
 * of up to 31 letters (Damerau's distance, three rows at a time). */
static int edit_distance(const char *left, const char *right) {
    enum { LONGEST = 31 };
    int rows[3][LONGEST + 1];
    int columns = (int)strlen(right);
    if (strlen(left) > LONGEST || columns > LONGEST) {
        return LONGEST;
    }
    for (int c = 0; c <= columns; c++) {
        rows[0][c] = c;
    }
    int r = 0;
    for (; left[r] != '\0'; r++) {
        const int *before = rows[(r + 2) % 3], *above = rows[r % 3];
        int *row = rows[(r + 1) % 3];
        row[0] = r + 1;
        for (int c = 0; c < columns; c++) {
            row[c + 1] = least(above[c] + (left[r] != right[c]), least(above[c + 1], row[c]) + 1);
            if (r > 0 && c > 0 && left[r] == right[c - 1] && left[r - 1] == right[c]) {
                row[c + 1] = least(row[c + 1], before[c - 1] + 1);
            }
        }
    }
    return rows[r % 3][columns];
}

/* Keeps `candidate` if it is nearer to the word than any before; a third of it wrong is still near. */
static void keep_nearest(const char *word, const char *candidate, int *best, const char **nearest) {
    int distance = edit_distance(word, candidate);
    if (distance < *best && 3 * distance <= (int)strlen(candidate) + 1) {
        *best = distance;
        *nearest = candidate;
    }
}

static void search(const char *word, const char *const *words, int *best, const char **nearest) {
    for (; *words != NULL; words++) {
        keep_nearest(word, *words, best, nearest);
    }
}

const char *nearest_command(const char *word) {
    int best = 4;
    const char *nearest = NULL;
    search(word, command_words, &best, &nearest);
    search(word, operator_words, &best, &nearest);
    return nearest;
}

const char *nearest_operator(const char *word) {
    int best = 4;
    const char *nearest = NULL;
    search(word, operator_words, &best, &nearest);
    return nearest;
}

/* Whether a word is the beginning of several options. */
static bool ambiguous(const char *word) {
    int matches = 0;
    for (const struct option *option = long_options; option->name != NULL; option++) {
        matches += strncmp(option->name, word, strlen(word)) == 0;
    }
    return matches > 1;
}

static const char *nearest_option(const char *word) {
    int best = 4;
    const char *nearest = NULL;
    for (const struct option *option = long_options; option->name != NULL; option++) {
        keep_nearest(word, option->name, &best, &nearest);
    }
    return nearest;
}

/* ---- arguments ---- */

static bool read_whole(const char *option, const char *text, int64_t low, int64_t high, int64_t *value) {
    char *end;
    errno = 0;
    long long found = strtoll(text, &end, 10);
    if (*text == '\0' || *end != '\0' || errno != 0 || found < low || found > high) {
        return complain(NULL, "--%s takes an integer from %lld to %lld, not '%s'", option, (long long)low,
                        (long long)high, text);
    }
    *value = found;
    return true;
}

static bool read_power(const char *option, const char *text, int64_t low, int64_t high, int64_t *value) {
    return read_whole(option, text, low, high, value) &&
           ((*value & (*value - 1)) == 0 || complain(NULL, "--%s takes a power of two, not %s", option, text));
}

/* One word out of a list that NULL ends; its place in the list. */
static bool read_word(const char *option, const char *text, const char *const *words, const char *all, int *value) {
    for (*value = 0; words[*value] != NULL; ++*value) {
        if (strcmp(text, words[*value]) == 0) {
            return true;
        }
    }
    return complain(NULL, "--%s takes %s, not '%s'", option, all, text);
}

static bool read_nan(command *wanted, const char *text) {
    static const char *const words[] = {"propagate", "skip", "total", NULL};
    int place;
    bool fine = read_word("nan", text, words, "propagate, skip or total", &place);
    wanted->options.nan = fine ? (tally_nan)place : TALLY_NAN_PROPAGATE;
    return fine;
}

static bool read_accuracy(command *wanted, const char *text) {
    static const char *const words[] = {"best", "fast", "exact", NULL};
    int place;
    bool fine = read_word("accuracy", text, words, "exact or fast", &place);
    wanted->options.accuracy = fine ? (tally_accuracy)place : TALLY_BEST;
    return fine;
}

static bool read_overflow(command *wanted, const char *text) {
    static const char *const words[] = {"refuse", "wrap", NULL};
    int place;
    bool fine = read_word("overflow", text, words, "refuse or wrap", &place);
    wanted->options.overflow = fine ? (tally_overflow)place : TALLY_OVERFLOW_REFUSED;
    return fine;
}

static bool read_missing(command *wanted, const char *text) {
    static const char *const words[] = {"refuse", "skip", "nan", NULL};
    int place;
    bool fine = read_word("na", text, words, "refuse, skip or nan", &place);
    wanted->missing = fine ? (missing_rule)place : MISSING_REFUSED;
    return fine;
}

static bool read_format(command *wanted, const char *text) {
    static const char *const words[] = {"aligned", "tsv", "csv", "jsonl", "npy", NULL};
    int place;
    bool fine = read_word("to", text, words, "aligned, tsv, csv, jsonl or npy", &place);
    wanted->to = fine ? (row_format)place : ROWS_ALIGNED;
    return fine;
}

static bool read_type(command *wanted, const char *text) {
    wanted->wish.type = tally_type_from_name(text);
    return wanted->wish.type != TALLY_NATURAL || complain(NULL, "--type takes " COMMAND_TYPES ", not '%s'", text);
}

static bool read_count(const char *option, const char *text, int high, int low, int *value) {
    int64_t found = 0;
    if (!read_whole(option, text, low, high, &found)) {
        return false;
    }
    *value = (int)found;
    return true;
}

static bool read_device(command *wanted, const char *text) {
    static const char *const words[] = {"auto", "cpu", "reference", "cuda", "simt", NULL};
    int place;
    bool fine;
    if (strncmp(text, "cuda:", 5) == 0) {
        wanted->options.backend = TALLY_BACKEND_CUDA;
        return read_count("device cuda:", text + 5, INT_MAX, 0, &wanted->options.device);
    }
    wanted->options.device = 0;
    fine = read_word("device", text, words, "cpu, cuda, cuda:N, simt or reference", &place);
    wanted->options.backend = fine ? (tally_backend)place : TALLY_BACKEND_AUTO;
    return fine;
}

/* What an option says beyond that it was given. */
static bool read_option(command *wanted, command_option id, const char *text) {
    switch (id) {
    case OPTION_BY: wanted->by = text; return true;
    case OPTION_OFFSETS: wanted->offsets = text; return true;
    case OPTION_LENGTHS: wanted->lengths = text; return true;
    case OPTION_OUTPUT: wanted->output = text; return true;
    case OPTION_SAVE: wanted->save = text; return true;
    case OPTION_FIRST: return read_whole("first", text, 0, INT64_MAX, &wanted->first);
    case OPTION_OP: wanted->op = text; return true;
    case OPTION_SEGMENTS: wanted->segments = text; return true;
    case OPTION_MEASURED: wanted->measured = text; return true;
    case OPTION_BLOCK: return read_power("block", text, 1, 1024, &wanted->block);
    case OPTION_EACH: return read_power("each", text, 4, 64, &wanted->each);
    case OPTION_WIDTH: return read_power("width", text, 8, 128, &wanted->width);
    case OPTION_HEIGHT: return read_power("height", text, 32, 128, &wanted->height);
    case OPTION_BLOCKS: return read_whole("blocks", text, 1, 65535, &wanted->blocks);
    case OPTION_LISTS: return read_whole("lists", text, 1, 1024, &wanted->lists);
    case OPTION_SWEEP: wanted->sweep = text; return true;
    case OPTION_MINE: wanted->mine = text; return true;
    case OPTION_FIX: return read_whole("fix", text, 0, 99, &wanted->fix);
    case OPTION_CHART: wanted->chart = text; return true;
    case OPTION_N: return read_whole("n", text, 1, INT32_MAX, &wanted->n);
    case OPTION_RAW: wanted->wish.raw = true; return true;
    case OPTION_AXIS: return read_whole("axis", text, -NPY_DIMENSIONS_MAX, NPY_DIMENSIONS_MAX - 1, &wanted->axis);
    case OPTION_TYPE: return read_type(wanted, text);
    case OPTION_NAN: return read_nan(wanted, text);
    case OPTION_NA: return read_missing(wanted, text);
    case OPTION_TO: return read_format(wanted, text);
    case OPTION_ACCURACY: return read_accuracy(wanted, text);
    case OPTION_OVERFLOW: return read_overflow(wanted, text);
    case OPTION_DEVICE: return read_device(wanted, text);
    case OPTION_DDOF: return read_count("ddof", text, TALLY_MOST_DDOF, 0, &wanted->options.ddof);
    case OPTION_THREADS: return read_count("threads", text, TALLY_MOST_THREADS, 1, &wanted->options.threads);
    default: return true;
    }
}

/* An option that getopt_long did not take; `argument` is the word it stands in. */
static bool refuse_option(int verdict, const char *argument) {
    if (verdict == ':') {
        return complain(NULL, "%s needs an argument; see tally help", argument);
    }
    if (strncmp(argument, "--", 2) != 0) {
        return complain(NULL, "there is no option -%c; see tally help", optopt);
    }
    char name[32] = "";
    strncpy(name, argument + 2, sizeof name - 1);
    name[strcspn(name, "=")] = '\0';
    const char *nearest = nearest_option(name);
    if (ambiguous(name)) {
        return complain(NULL, "several options begin with --%s; see tally help", name);
    }
    if (optopt >= OPTION_BASE) {
        return complain(NULL, "--%s takes no argument", name);
    }
    if (nearest != NULL) {
        return complain(NULL, "there is no option --%s; did you mean --%s?", name, nearest);
    }
    return complain(NULL, "there is no option --%s; see tally help", name);
}

/* The letters as getopt wants them. */
static void list_letters(char letters[2 * OPTION_COUNT + 2]) {
    *letters++ = ':';
    for (int id = 0; id < OPTION_COUNT; id++) {
        if (more[id].letter != 0) {
            *letters++ = more[id].letter;
            if (long_options[id].has_arg == required_argument) {
                *letters++ = ':';
            }
        }
    }
    *letters = '\0';
}

/* The option that getopt_long means; OPTION_COUNT: none. */
static command_option find_option(int verdict) {
    int id = verdict >= OPTION_BASE ? verdict - OPTION_BASE : 0;
    while (verdict < OPTION_BASE && id < OPTION_COUNT && more[id].letter != verdict) {
        id++;
    }
    return (command_option)id;
}

/* ---- who takes what ---- */

command_word find_word(const char *word) {
    int place = 0;
    while (command_words[place] != NULL && strcmp(word, command_words[place]) != 0) {
        place++;
    }
    return (command_word)(WORD_OPERATOR + 1 + place);
}

uint64_t options_of(command_word word) {
    uint64_t taken = 0;
    for (int id = 0; id < OPTION_COUNT; id++) {
        taken |= (uint64_t)(more[id].takers >> word & 1) << id;
    }
    return taken;
}

bool takes_only(const command *wanted, const char *what, uint64_t options) {
    for (int id = 0; id < OPTION_COUNT; id++) {
        if (is_given(wanted, (command_option)id) && (options >> id & 1) == 0) {
            return complain(NULL, "%s takes no --%s", what, long_options[id].name);
        }
    }
    return true;
}

/* ---- the words of a command ---- */

int read_command(int argc, char **argv, command *wanted) {
    char letters[2 * OPTION_COUNT + 2];
    *wanted = (command){.options = TALLY_OPTIONS_INIT};
    opterr = 0;
    list_letters(letters);
    for (;;) {
        int at = optind;
        int verdict = getopt_long(argc, argv, letters, long_options, NULL);
        if (verdict == -1) {
            break;
        }
        command_option id = find_option(verdict);
        if (id == OPTION_COUNT) {
            refuse_option(verdict, optind > at ? argv[optind - 1] : argv[at]);
            return STATUS_MISSPELT;
        }
        wanted->given |= UINT64_C(1) << id;
        if (!read_option(wanted, id, optarg)) {
            return STATUS_MISSPELT;
        }
    }
    if (optind < argc) {
        wanted->word = argv[optind++];
    }
    wanted->files = argv + optind;
    wanted->file_count = argc - optind;
    return STATUS_DONE;
}
