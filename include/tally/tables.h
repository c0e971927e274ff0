/* Who exists in Tally: types, operators, statuses, each said once.
 *
 * Enums, names, legality, command-line help, the Python constants and the test matrix are expansions of these lists.
 * What an operator *does* is not here: it is in kernels/operators/<kernel>.h. New rows go at the end of their list:
 * the numbers are part of saved states and of the ABI. CMake has the C preprocessor list the rows, and stops
 * at one that it does not understand.
 */
#ifndef TALLY_TABLES_H
#define TALLY_TABLES_H

/* Classes of types. A row of an operator takes one of the TALLY_ON_... below, or any classes with | between them. */
#define TALLY_CLASS_BOOL 1
#define TALLY_CLASS_INT 2  /* signed integers */
#define TALLY_CLASS_UINT 4 /* unsigned integers */
#define TALLY_CLASS_FLOAT 8

#define TALLY_ON_ALL (TALLY_CLASS_BOOL | TALLY_CLASS_INT | TALLY_CLASS_UINT | TALLY_CLASS_FLOAT)
#define TALLY_ON_BITS (TALLY_CLASS_BOOL | TALLY_CLASS_INT | TALLY_CLASS_UINT)
#define TALLY_ON_FLOATS (TALLY_CLASS_FLOAT)

/* How the result type follows from the input type (tally_result_type says it for one pair). */
#define TALLY_GIVES_WIDE 1      /* bool, i* -> i64; u* -> u64; f16, bf16, f32 -> f32; f64 -> f64 */
#define TALLY_GIVES_SAME 2      /* the input type */
#define TALLY_GIVES_INDEX 3     /* i64: where a value lies, counted from the first */
#define TALLY_GIVES_TRUTH 4     /* bool */
#define TALLY_GIVES_REAL 5      /* f16, bf16, f32 -> f32; everything else -> f64 */
#define TALLY_GIVES_MAGNITUDE 6 /* bool, i*, u* -> u64; floats as WIDE */
#define TALLY_GIVES_PAIR 7      /* two values of the input type, side by side */
#define TALLY_GIVES_STATS 8     /* one tally_stats */
#define TALLY_GIVES_COUNT 9     /* i64: a number of values */

/* Whether the order of combination can show in the bits (docs/order.md). */
#define TALLY_ORDER_FREE 0      /* never: the operator is exactly associative and commutative */
#define TALLY_ORDER_FREE_INTS 1 /* with floats only */
#define TALLY_ORDER_FIXED 2     /* with every type */

/* What an empty input gives. */
#define TALLY_EMPTY_IS_IDENTITY 0
#define TALLY_EMPTY_IS_REFUSED 1 /* TALLY_EMPTY, and the filler of docs/operators.md is written */

/* Which NaN policies mean something: all take propagate and skip, ordering operators take total too. */
#define TALLY_NANS_PLAIN 0
#define TALLY_NANS_ORDER 1

/*        id    name  numpy   bytes class */
#define TALLY_TYPES(X)                               \
    X(BOOL, bool, "|b1", 1, TALLY_CLASS_BOOL)        \
    X(I8, i8, "|i1", 1, TALLY_CLASS_INT)             \
    X(I16, i16, "<i2", 2, TALLY_CLASS_INT)           \
    X(I32, i32, "<i4", 4, TALLY_CLASS_INT)           \
    X(I64, i64, "<i8", 8, TALLY_CLASS_INT)           \
    X(U8, u8, "|u1", 1, TALLY_CLASS_UINT)            \
    X(U16, u16, "<u2", 2, TALLY_CLASS_UINT)          \
    X(U32, u32, "<u4", 4, TALLY_CLASS_UINT)          \
    X(U64, u64, "<u8", 8, TALLY_CLASS_UINT)          \
    X(F16, f16, "<f2", 2, TALLY_CLASS_FLOAT)         \
    X(BF16, bf16, "", 2, TALLY_CLASS_FLOAT)          \
    X(F32, f32, "<f4", 4, TALLY_CLASS_FLOAT)         \
    X(F64, f64, "<f8", 8, TALLY_CLASS_FLOAT)

/* One row, one operator. `kernel` names the file in kernels/operators/ (var and std share one). */
/* clang-format off */
/*    id         name       kernel     inputs on              gives                  order                  empty                    NaNs              what it is */
#define TALLY_OPERATORS(X)                                                                                                                              \
    X(SUM,       sum,       sum,       1, TALLY_ON_ALL,    TALLY_GIVES_WIDE,      TALLY_ORDER_FREE_INTS, TALLY_EMPTY_IS_IDENTITY, TALLY_NANS_PLAIN, "the sum") \
    X(PROD,      prod,      prod,      1, TALLY_ON_ALL,    TALLY_GIVES_WIDE,      TALLY_ORDER_FREE_INTS, TALLY_EMPTY_IS_IDENTITY, TALLY_NANS_PLAIN, "the product") \
    X(MIN,       min,       min,       1, TALLY_ON_ALL,    TALLY_GIVES_SAME,      TALLY_ORDER_FREE,      TALLY_EMPTY_IS_REFUSED,  TALLY_NANS_ORDER, "the smallest value") \
    X(MAX,       max,       max,       1, TALLY_ON_ALL,    TALLY_GIVES_SAME,      TALLY_ORDER_FREE,      TALLY_EMPTY_IS_REFUSED,  TALLY_NANS_ORDER, "the largest value") \
    X(ARGMIN,    argmin,    argmin,    1, TALLY_ON_ALL,    TALLY_GIVES_INDEX,     TALLY_ORDER_FREE,      TALLY_EMPTY_IS_REFUSED,  TALLY_NANS_ORDER, "the index of the smallest value, the lowest on a tie") \
    X(ARGMAX,    argmax,    argmax,    1, TALLY_ON_ALL,    TALLY_GIVES_INDEX,     TALLY_ORDER_FREE,      TALLY_EMPTY_IS_REFUSED,  TALLY_NANS_ORDER, "the index of the largest value, the lowest on a tie") \
    X(MINMAX,    minmax,    minmax,    1, TALLY_ON_ALL,    TALLY_GIVES_PAIR,      TALLY_ORDER_FREE,      TALLY_EMPTY_IS_REFUSED,  TALLY_NANS_ORDER, "the smallest and the largest value") \
    X(ANY,       any,       any,       1, TALLY_ON_ALL,    TALLY_GIVES_TRUTH,     TALLY_ORDER_FREE,      TALLY_EMPTY_IS_IDENTITY, TALLY_NANS_PLAIN, "whether some value is not zero") \
    X(ALL,       all,       all,       1, TALLY_ON_ALL,    TALLY_GIVES_TRUTH,     TALLY_ORDER_FREE,      TALLY_EMPTY_IS_IDENTITY, TALLY_NANS_PLAIN, "whether no value is zero") \
    X(COUNT,     count,     count,     1, TALLY_ON_ALL,    TALLY_GIVES_COUNT,     TALLY_ORDER_FREE,      TALLY_EMPTY_IS_IDENTITY, TALLY_NANS_PLAIN, "how many values are not zero") \
    X(AND,       and,       and,       1, TALLY_ON_BITS,   TALLY_GIVES_SAME,      TALLY_ORDER_FREE,      TALLY_EMPTY_IS_IDENTITY, TALLY_NANS_PLAIN, "the bitwise and") \
    X(OR,        or,        or,        1, TALLY_ON_BITS,   TALLY_GIVES_SAME,      TALLY_ORDER_FREE,      TALLY_EMPTY_IS_IDENTITY, TALLY_NANS_PLAIN, "the bitwise or") \
    X(XOR,       xor,       xor,       1, TALLY_ON_BITS,   TALLY_GIVES_SAME,      TALLY_ORDER_FREE,      TALLY_EMPTY_IS_IDENTITY, TALLY_NANS_PLAIN, "the bitwise exclusive or") \
    X(MEAN,      mean,      mean,      1, TALLY_ON_ALL,    TALLY_GIVES_REAL,      TALLY_ORDER_FREE_INTS, TALLY_EMPTY_IS_REFUSED,  TALLY_NANS_PLAIN, "the arithmetic mean") \
    X(VAR,       var,       var,       1, TALLY_ON_ALL,    TALLY_GIVES_REAL,      TALLY_ORDER_FREE_INTS, TALLY_EMPTY_IS_REFUSED,  TALLY_NANS_PLAIN, "the variance") \
    X(STD,       std,       var,       1, TALLY_ON_ALL,    TALLY_GIVES_REAL,      TALLY_ORDER_FREE_INTS, TALLY_EMPTY_IS_REFUSED,  TALLY_NANS_PLAIN, "the standard deviation") \
    X(STATS,     stats,     stats,     1, TALLY_ON_ALL,    TALLY_GIVES_STATS,     TALLY_ORDER_FREE_INTS, TALLY_EMPTY_IS_REFUSED,  TALLY_NANS_PLAIN, "count, min, max, sum, mean and var in one pass") \
    X(NORM1,     norm1,     norm1,     1, TALLY_ON_ALL,    TALLY_GIVES_MAGNITUDE, TALLY_ORDER_FREE_INTS, TALLY_EMPTY_IS_IDENTITY, TALLY_NANS_PLAIN, "the sum of magnitudes") \
    X(NORM2,     norm2,     norm2,     1, TALLY_ON_ALL,    TALLY_GIVES_REAL,      TALLY_ORDER_FREE_INTS, TALLY_EMPTY_IS_IDENTITY, TALLY_NANS_PLAIN, "the square root of the sum of squares") \
    X(NORMINF,   norminf,   norminf,   1, TALLY_ON_ALL,    TALLY_GIVES_MAGNITUDE, TALLY_ORDER_FREE,      TALLY_EMPTY_IS_IDENTITY, TALLY_NANS_PLAIN, "the largest magnitude") \
    X(SUMSQ,     sumsq,     sumsq,     1, TALLY_ON_ALL,    TALLY_GIVES_MAGNITUDE, TALLY_ORDER_FREE_INTS, TALLY_EMPTY_IS_IDENTITY, TALLY_NANS_PLAIN, "the sum of squares") \
    X(LOGSUMEXP, logsumexp, logsumexp, 1, TALLY_ON_FLOATS, TALLY_GIVES_REAL,      TALLY_ORDER_FIXED,     TALLY_EMPTY_IS_IDENTITY, TALLY_NANS_PLAIN, "the logarithm of the sum of exponentials") \
    X(DOT,       dot,       dot,       2, TALLY_ON_ALL,    TALLY_GIVES_WIDE,      TALLY_ORDER_FREE_INTS, TALLY_EMPTY_IS_IDENTITY, TALLY_NANS_PLAIN, "the sum of products of two arrays")
/* clang-format on */

/* What the last step does to the sums of the list below (tally_final of kernels/device/dialect.h has it as flags). */
#define TALLY_LAST_PLAIN 0 /* nothing: the result is what the kernel says */
#define TALLY_LAST_MEAN 1  /* divides the sum by the number of values */
#define TALLY_LAST_ROOT 2  /* takes the square root */

/* Operators made of sums, the kernel in kernels/exact/ that adds floats exactly for them, and the last step. Integers
 * are always exact. */
#define TALLY_EXACT_SUMS(X)           \
    X(SUM, sum, TALLY_LAST_PLAIN)     \
    X(MEAN, sum, TALLY_LAST_MEAN)     \
    X(NORM1, norm1, TALLY_LAST_PLAIN) \
    X(SUMSQ, sumsq, TALLY_LAST_PLAIN) \
    X(NORM2, sumsq, TALLY_LAST_ROOT)  \
    X(DOT, dot, TALLY_LAST_PLAIN)     \
    X(VAR, var, TALLY_LAST_PLAIN)     \
    X(STD, var, TALLY_LAST_ROOT)      \
    X(STATS, stats, TALLY_LAST_PLAIN)

/* Operators that divide by the number of values less tally_options.ddof. */
#define TALLY_WITH_DDOF(X) X(VAR) X(STD) X(STATS)

/*        id            number  sentence */
#define TALLY_STATUSES(X)                                                             \
    X(OK, 0, "done")                                                                  \
    X(EMPTY, 1, "no value to reduce, and the operator has no identity")               \
    X(BAD_ARGUMENT, 2, "an argument is NULL, negative or out of range")               \
    X(BAD_TYPE, 3, "the operator is not defined for this type")                       \
    X(BAD_SEGMENTS, 4, "the segments do not fit the array")                                \
    X(BAD_STATE, 5, "the bytes are not a saved state of this version of Tally")       \
    X(BAD_ORDER, 6, "the states do not follow one another")                           \
    X(OVERFLOW, 7, "a result does not fit the type asked for")                        \
    X(NO_MEMORY, 8, "the allocator returned no memory")                               \
    X(NO_SPACE, 9, "the buffer is too small")                                         \
    X(UNSUPPORTED, 10, "this version of Tally cannot do that")                        \
    X(NO_DEVICE, 11, "there is no such GPU, or no driver for it")         \
    X(DEVICE_FAILED, 12, "the GPU or its driver failed")

#endif
