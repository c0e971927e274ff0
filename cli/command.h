/* What the user asked for, once the words are understood. */
#ifndef COMMAND_H
#define COMMAND_H

#include <stdbool.h>
#include <stdint.h>

#include "input.h"
#include "tally/tally.h"

typedef struct command {
    const char *word; /* the first argument that is no option, or NULL */
    char **files;     /* those after it */
    int file_count;
    const char *by, *offsets, *lengths, *output;
    const char *op, *segments, *chart; /* of race and explain, as the next ones */
    int64_t n;                         /* 0: not said */
    bool list, paper;
    bool axis_given;
    int64_t axis;
    bool json, help, version, accuracy_given, nan_given;
    input_wish wish;
    tally_options options;
} command;

/* Every option, said once: id, name, letter (0: none), argument ("" : none), what it does. */
#define COMMAND_OPTIONS(X)                                                                                     \
    X(BY, "by", 0, "KEYS",                                                                                     \
      "one result per key: KEYS is a file with one sorted integer key, from 0 on, for each value")             \
    X(OFFSETS, "offsets", 0, "FILE", "one result per segment: segment s is values offset[s] to offset[s+1]-1") \
    X(LENGTHS, "lengths", 0, "FILE", "one result per segment: segments of these lengths follow one another")   \
    X(AXIS, "axis", 0, "K", "reduce along axis K of a .npy array, 0 the first, -1 the last")                   \
    X(OUTPUT, "output", 'o', "OUT.npy",                                                                        \
      "write the results to this .npy file in place of standard output; explain: the picture to this .svg file") \
    X(JSON, "json", 0, "", "print one JSON object per result set")                                             \
    X(TYPE, "type", 't', "T", "read text or raw values as type T: " COMMAND_TYPES)                             \
    X(RAW, "raw", 0, "", "read the values as raw bytes of --type, whatever the file's name")                   \
    X(NAN, "nan", 0, "POLICY",                                                                                 \
      "propagate (a NaN makes the result NaN; default), skip (as if absent) or total "                         \
      "(for min, max, minmax, argmin and argmax: IEEE 754 total order)")                                       \
    X(DDOF, "ddof", 0, "N", "var, std and stats divide by the count minus N (default 0)")                      \
    X(ACCURACY, "accuracy", 0, "WHICH",                                                                        \
      "exact (sums of floats, and what is made of them, are the true value rounded once; default) or "         \
      "fast (floats are added in the canonical order)")                                                        \
    X(OVERFLOW, "overflow", 0, "WHICH",                                                                        \
      "refuse (a sum of integers that does not fit 64 bits is no result; default) or wrap "                    \
      "(it is given modulo 2^64)")                                                                             \
    X(DEVICE, "device", 0, "D",                                                                                \
      "cpu (default); cuda or cuda:N, the first or N-th NVIDIA GPU, from 0; simt, its kernels on a simulated " \
      "GPU, slowly; reference, slow and obvious. The bits are the same")                                       \
    X(THREADS, "threads", 0, "N", "use at most N threads (the bits do not depend on it)")                      \
    X(OP, "op", 0, "OPERATOR", "race: reduce by this operator (default min), or by compose, which does not commute") \
    X(N, "n", 0, "COUNT", "race, explain: so many values")                                                     \
    X(SEGMENTS, "segments", 0, "SHAPE",                                                                        \
      "race, explain: cut into segments: one, random (10 to 50 values each), three (3 each) or single (1 each)") \
    X(CHART, "chart", 0, "OUT.svg", "race: also draw the times")                                               \
    X(LIST, "list", 0, "", "race: only list the kernels")                                                      \
    X(PAPER, "paper", 0, "", "race: the tables and figures of the paper that the kernels 16 to 26 are from")   \
    X(HELP, "help", 'h', "", "say what the command does")                                                      \
    X(VERSION, "version", 'V', "", "say which version this is")

#define COMMAND_TYPES "bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32 or f64"

/* Reads the arguments; argv is reordered. Returns STATUS_DONE, or STATUS_MISSPELT after a complaint. */
int read_command(int argc, char **argv, command *wanted);

/* The operator or other command nearest to a word, or NULL if none is near. */
const char *nearest_command(const char *word);

const char *nearest_operator(const char *word);

/* The words that are commands but no operators. */
#define COMMAND_WORDS(X)                                       \
    X("list", "the operators, their types and what they give") \
    X("info", "the version and what this machine offers")      \
    X("emit", "OPERATOR TYPE: the CUDA source of its GPU kernel, as one file") \
    X("warm", "[OPERATOR [TYPE]]: compile GPU kernels ahead of their first use") \
    X("race", "the textbook's kernels side by side, checked and timed; tally help gallery") \
    X("explain", "KERNEL: the steps of such a kernel as a picture") \
    X("help", "this page; with an operator or a topic, the page of that one")

#endif
