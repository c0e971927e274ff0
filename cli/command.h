/* What the user asked for, once the words are understood. */
#ifndef COMMAND_H
#define COMMAND_H

#include <stdbool.h>
#include <stdint.h>

#include "input/input.h"
#include "input/table.h"
#include "output/rows.h"
#include "tally/tally.h"

/* The words that are commands but no operators: X(id, word, arguments, what it is). */
#define COMMAND_WORDS(X)                                                                              \
    X(LIST, "list", "", "the operators, their types and what they give")                              \
    X(MERGE, "merge", "FILE...", "sorted files into one, or saved states into their result")          \
    X(INFO, "info", "", "the version and what this machine offers")                                   \
    X(EMIT, "emit", "OPERATOR TYPE",                                                                  \
      "the CUDA source of its GPU kernel, as one file; or KERNEL, one of the textbook's")             \
    X(WARM, "warm", "[OPERATOR [TYPE]]", "compile GPU kernels ahead of their first use")              \
    X(RACE, "race", "", "the textbook's kernels side by side, checked and timed; tally help gallery") \
    X(EXPLAIN, "explain", "KERNEL", "the steps of such a kernel as a picture")                        \
    X(COURSE, "course", "", "all of them as a page to learn from, in a browser")                      \
    X(HELP, "help", "[WORD]", "this page; with an operator, a command or a topic, the page of that one")

typedef enum command_word {
    WORD_OPERATOR, /* any operator */
#define WORD(id, name, arguments, what) WORD_##id,
    COMMAND_WORDS(WORD)
#undef WORD
        WORD_NONE
} command_word;

/* Sets of commands. */
enum {
    OF_OPERATORS = 1 << WORD_OPERATOR,
#define WORD(id, name, arguments, what) OF_##id = 1 << WORD_##id,
    COMMAND_WORDS(WORD)
#undef WORD
        OF_ALL = (1 << WORD_NONE) - 1
};

/* Every option, said once: id, name, letter (0: none), argument ("": none), the commands that take it, what it does.
 * A command refuses what it does not take. */
#define COMMAND_OPTIONS(X)                                                                                            \
    X(BY, "by", 0, "KEYS", OF_OPERATORS,                                                                              \
      "one result per key: KEYS is a file with one sorted integer key, from 0 on, for each value; "                   \
      "of a table, columns of any text, separated by commas")                                                         \
    X(UNSORTED, "unsorted", 0, "", OF_OPERATORS, "the keys of --by come in any order; values of one key keep theirs") \
    X(OFFSETS, "offsets", 0, "FILE", OF_OPERATORS,                                                                    \
      "one result per segment: segment s is values offset[s] to offset[s+1]-1")                                       \
    X(LENGTHS, "lengths", 0, "FILE", OF_OPERATORS,                                                                    \
      "one result per segment: segments of these lengths follow one another")                                         \
    X(AXIS, "axis", 0, "K", OF_OPERATORS, "reduce along axis K of a .npy array, 0 the first, -1 the last")            \
    X(OUTPUT, "output", 'o', "OUT", OF_OPERATORS | OF_MERGE | OF_EMIT | OF_EXPLAIN | OF_COURSE | OF_RACE,             \
      "write the results to this .npy file in place of standard output (emit: the source to this .cu file; "          \
      "explain: the picture to this .svg file; course: the page to this .html file; race --fix: the kernel); "        \
      "- is standard output")                                                                                         \
    X(SAVE, "save", 0, "STATE", OF_OPERATORS | OF_MERGE,                                                              \
      "write the partial result to this file in place of a result: tally merge finishes it")                          \
    X(FIRST, "first", 0, "N", OF_OPERATORS,                                                                           \
      "with --save: the number of values before these in the whole; needed where order shows in the result")          \
    X(JSON, "json", 0, "", OF_OPERATORS | OF_MERGE | OF_RACE, "print one JSON object per result set")                 \
    X(CSV, "csv", 0, "", OF_OPERATORS, "FILE is a table of fields with commas between; see tally help tables")        \
    X(TSV, "tsv", 0, "", OF_OPERATORS, "FILE is a table of fields with tabs between")                                 \
    X(NO_HEADER, "no-header", 0, "", OF_OPERATORS, "the table has no header: columns are numbered from 1")            \
    X(SORTED, "sorted", 0, "", OF_OPERATORS,                                                                          \
      "the table is sorted by the columns of --by: one group after the other, in constant memory")                    \
    X(NA, "na", 0, "RULE", OF_OPERATORS,                                                                              \
      "what a missing value of a table does: refuse (it is an error; default), skip (it is left out) or nan")         \
    X(TO, "to", 0, "FORMAT", OF_OPERATORS,                                                                            \
      "the results of a table as aligned (default on a terminal), tsv (default elsewhere), csv, jsonl or npy")        \
    X(TYPE, "type", 't', "T", OF_OPERATORS | OF_MERGE | OF_RACE,                                                      \
      "read text or raw values as type T (race: reduce such values): " COMMAND_TYPES)                                 \
    X(RAW, "raw", 0, "", OF_OPERATORS | OF_MERGE, "read the values as raw bytes of --type, whatever the file's name") \
    X(NAN, "nan", 0, "POLICY", OF_OPERATORS | OF_MERGE | OF_EMIT | OF_WARM,                                           \
      "propagate (a NaN makes the result NaN; default), skip (as if absent) or total "                                \
      "(for merge and operators that compare values, as min: IEEE 754 total order)")                                  \
    X(DDOF, "ddof", 0, "N", OF_OPERATORS, "var, std and stats divide by the count minus N (default 0)")               \
    X(ACCURACY, "accuracy", 0, "WHICH", OF_OPERATORS | OF_EMIT | OF_WARM,                                             \
      "exact (sums of floats, and what is made of them, are the true value rounded once; default) or "                \
      "fast (floats are added in the canonical order)")                                                               \
    X(OVERFLOW, "overflow", 0, "WHICH", OF_OPERATORS | OF_MERGE,                                                      \
      "refuse (default; a sum of integers that does not fit 64 bits has no result) or wrap "                          \
      "(it is given modulo 2^64)")                                                                                    \
    X(DEVICE, "device", 0, "D", OF_OPERATORS | OF_WARM | OF_RACE,                                                     \
      "cpu (default); cuda or cuda:N, the first or N-th NVIDIA GPU, from 0; simt, its kernels on a simulated "        \
      "GPU, slowly; reference, slow and obvious. The bits are the same. warm, race: cuda (default) or simt")          \
    X(THREADS, "threads", 0, "N", OF_OPERATORS | OF_MERGE | OF_WARM,                                                  \
      "use at most N threads (the bits do not depend on it)")                                                         \
    X(ALL, "all", 0, "", OF_WARM, "the kernels of segments and rows, too")                                            \
    X(OP, "op", 0, "OPERATOR", OF_RACE,                                                                               \
      "reduce by this operator (default min), or by compose, which does not commute")                                 \
    X(N, "n", 0, "COUNT", OF_RACE | OF_EXPLAIN, "the number of values")                                               \
    X(SEGMENTS, "segments", 0, "SHAPE", OF_RACE | OF_EXPLAIN,                                                         \
      "how values are divided into segments: one, random (10 to 50 values each), three (3 each) or single (1 each)")  \
    X(CHART, "chart", 0, "OUT.svg", OF_RACE, "also draw the times")                                                   \
    X(LIST, "list", 0, "", OF_RACE, "only list the kernels")                                                          \
    X(MEASURED, "measured", 0, "RACE.json", OF_COURSE,                                                                \
      "the times that the page shows, as tally race --json printed them (default: those of an H100)")                 \
    X(BLOCK, "block", 0, "THREADS", OF_RACE, "the threads of a block, for kernels that take any power of two")        \
    X(EACH, "each", 0, "COUNT", OF_RACE, "the elements of a thread (4 to 64), for kernels that take any number")      \
    X(WIDTH, "width", 0, "COLUMNS", OF_RACE,                                                                          \
      "the columns of the matrix (8 to 128; usually 32), for kernels that fold one")                                  \
    X(HEIGHT, "height", 0, "ROWS", OF_RACE,                                                                           \
      "the rows of the matrix (32 to 128; usually 32), for kernels that fold one")                                    \
    X(BLOCKS, "blocks", 0, "COUNT", OF_RACE, "the number of blocks, for kernels whose blocks stay or stride")         \
    X(LISTS, "lists", 0, "COUNT", OF_RACE, "the number of lists for merge_lists (default 32)")                        \
    X(SWEEP, "sweep", 0, "PARAMETER", OF_RACE,                                                                        \
      "race at each power of two of block, each, width, height, blocks or lists")                                     \
    X(MINE, "mine", 0, "KERNEL.h", OF_RACE, "check, count and rank a kernel of your own; cc builds it")               \
    X(FIX, "fix", 0, "N", OF_RACE, "write exercise N, a kernel with a mistake to mend; 0 lists them")                 \
    X(PAPER, "paper", 0, "", OF_RACE | OF_EXPLAIN,                                                                    \
      "the tables and figures of the paper that the kernels 16 to 26 are from (explain: its Figures 1 and 2)")        \
    X(HELP, "help", 'h', "", OF_ALL, "say what the command does")                                                     \
    X(VERSION, "version", 'V', "", OF_ALL, "say which version this is")

typedef enum command_option {
#define OPTION(id, name, letter, argument, takers, what) OPTION_##id,
    COMMAND_OPTIONS(OPTION)
#undef OPTION
        OPTION_COUNT
} command_option;

#define ONLY(id) (UINT64_C(1) << OPTION_##id) /* sets of options */

typedef struct command {
    const char *word; /* the first argument that is no option, or NULL */
    char **files;     /* those after it */
    int file_count;
    uint64_t given; /* the set of options that were given; where they have an argument it is below */
    missing_rule missing;
    row_format to;
    const char *by, *offsets, *lengths, *output, *save;
    int64_t first;
    const char *op, *segments, *chart, *measured, *mine, *sweep;
    int64_t fix, block, each, width, height, blocks, lists; /* 0: not said */
    int64_t n;                                              /* 0: not said */
    int64_t axis;
    input_wish wish;
    tally_options options;
} command;

static inline bool is_given(const command *wanted, command_option id) { return (wanted->given >> id & 1) != 0; }

#define COMMAND_TYPES "bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32 or f64"

/* Reads the arguments; argv is reordered. Returns STATUS_DONE, or STATUS_MISSPELT after a complaint. */
int read_command(int argc, char **argv, command *wanted);

/* Which command a word is; WORD_NONE: none, which may be an operator. */
command_word find_word(const char *word);

/* Whether no option but those of the set was given, after a complaint if one was; `what` does not take it. */
bool takes_only(const command *wanted, const char *what, uint64_t options);

uint64_t options_of(command_word word);

/* The operator or other command nearest to a word, or NULL if none is near. */
const char *nearest_command(const char *word);

const char *nearest_operator(const char *word);

#endif
