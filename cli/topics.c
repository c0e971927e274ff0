#include "pages.h"

const topic topics[] = {
    {"files", "Files",
     "FILE is a .npy array, raw values or text; - is standard input. What it is shows in its first bytes and its name: "
     "bytes that begin as .npy does are .npy; a name that ends in .raw, .bin or the name of a type (.f32, .i64) is "
     "raw; everything else is text. --raw makes any file raw.\n\n"
     ".npy: versions 1 to 3, either byte order, C or Fortran order. Results are those of the array in C order, as "
     "NumPy "
     "numbers its values. Records, strings, dates, complex numbers and objects are refused. NumPy has no bfloat16: "
     "arrays of two raw bytes, or of uint16, are read with --type bf16.\n\n"
     "Raw: the values side by side in this machine's byte order, of the type that --type or the file's name says.\n\n"
     "Text: numbers separated by white space or commas; # begins a comment that ends with the line. A comma follows a "
     "number on its line: a missing value is written nan. Integers are i64, or u64 if one is too large for "
     "that; a single number with a point or an exponent, inf or nan makes all of them f64. An operator that takes no "
     "integers gets them as f64. --type reads them as another type, correctly rounded; integer types take no "
     "fractions, "
     "and nothing out of range.\n\n"
     "A file larger than memory streams through, as standard input does. Only cuts, axes and pairs of text need "
     "all values in memory.\n\n"
     "Several files are reduced one by one, one line each, with the file's name last. A file that is "
     "refused does not keep the others from being reduced. dot takes two files at a time."},
    {"segments", "Segments",
     "With --by, --offsets, --lengths or --axis there is one result per segment, one per line. The first three take a "
     "file of integers (text, .npy or raw). A segment has the same result, bit for bit, as a file with its values "
     "alone; argmin and "
     "argmax count from its start.\n\n"
     "--by KEYS: key k belongs to value k; line s is the result for key s - 1, from key 0 to the last one. Values have "
     "to be "
     "sorted by their keys. A key that does not occur is an empty segment.\n\n"
     "--offsets FILE: n + 1 positions, never decreasing, cut n segments; values before the first and behind the last "
     "belong "
     "to none. --lengths FILE: n lengths that sum to the number of values.\n\n"
     "--axis K: results come in C order of the axes that are left.\n\n"
     "An empty segment gives what an empty file gives: 0 for sum, 1 for prod. Where that is nothing (min, mean, ...) "
     "the "
     "line is - (null in JSON; in a .npy file nan, or the farthest value of an integer type), the other "
     "lines are right, a sentence is printed, and the exit status is 1."},
    {"results", "Results",
     "Results go to standard output, one per line, everything else to standard error. minmax and stats print "
     "several numbers, separated by tabs; stats begins with a header and pads its columns. Floats have the fewest "
     "digits that read back to the same bits in their own type; so 0.1 as f32 prints as 0.1. Others are nan, inf, "
     "-inf; "
     "truth is true or false.\n\n"
     "--json prints one object on one line per file: op, file (and second, for dot), type, result_type, count (of the "
     "values), and "
     "result, or with segments shape and results. What JSON has no number for is a string: \"nan\", \"inf\", "
     "\"-inf\".\n\n"
     "-o OUT.npy writes the results as an array instead: a single result has shape (), minmax has a last axis of 2, "
     "stats is "
     "an array of records. It takes one file. OUT.npy appears whole or not at all.\n\n"
     "sum, mean, norm1, sumsq, norm2, dot, var, std and stats of floats are exact: the true value, rounded once. They "
     "do not "
     "depend on the order of the values. --accuracy fast adds floats in one fixed order instead, each sum rounded.\n\n"
     "The bits of a result depend on the values, their order (where it shows), their type, the operator, --nan, --ddof, "
     "--accuracy and --overflow: not on threads, the machine, or whether the file was mapped, read or piped.\n\n"
     "When the work lasts over a second and standard error is a terminal, a bar there shows how far it is."},
    {"status", "Exit status",
     "0: done. 1: the data was refused, in whole or in part: a file that cannot be read or is damaged, segments that "
     "do not fit, no "
     "value where one is needed, results that cannot be written. 2: the command was misspelt: no such operator, option "
     "or argument."},
    {"environment", "Environment",
     "OMP_NUM_THREADS: how many threads to use when --threads does not say. TALLY_ISA: the highest instruction set to "
     "use "
     "(baseline, avx2, avx512); tally info shows the one in use. Neither changes a bit of any result."},
};

const int topic_count = (int)(sizeof topics / sizeof topics[0]);

const char *const examples = "tally stats readings.npy\n"
                             "# count, min, max, sum, mean and variance in one pass\n"
                             "seq 1 100 | tally sum -\n"
                             "# 5050\n"
                             "tally mean prices.txt --by days.txt\n"
                             "# one mean per day\n"
                             "tally max image.npy --axis -1 -o rows.npy\n"
                             "# the largest value of each row, as an array\n"
                             "tally sum --raw --type f32 --nan skip sensor.dat\n"
                             "# raw 32-bit floats; NaNs are left out\n"
                             "tally dot a.npy b.npy --json\n"
                             "# the sum of products, as JSON\n";
