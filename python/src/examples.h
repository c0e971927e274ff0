/* The docstrings, and what the examples in them give: tests run them. */
#ifndef TALLY_PYTHON_EXAMPLES_H
#define TALLY_PYTHON_EXAMPLES_H

/* Of the first values, of [3, 1] and [4, 1], and of the field of stats. */
#define VALUES_EXAMPLE "array('%s', [3, 1, 4, 1])"
#define PAIR_EXAMPLE "array('h', [3, 1, 4, 1]), array('%s', [1, 0, 2, 5])"

typedef struct example {
    const char *op, *code, *whole, *field, *segments;
} example;

/* clang-format off */
static const example examples[] = {
    {"sum", "h", "9", "", "[4, 5]"},
    {"prod", "h", "12", "", "[3, 4]"},
    {"min", "h", "1", "", "[1, 1]"},
    {"max", "h", "4", "", "[3, 4]"},
    {"argmin", "h", "1", "", "[1, 1]"},
    {"argmax", "h", "2", "", "[0, 0]"},
    {"minmax", "h", "(1, 4)", "", "[[1, 3], [1, 4]]"},
    {"any", "h", "True", "", "[True, True]"},
    {"all", "h", "True", "", "[True, True]"},
    {"count", "h", "4", "", "[2, 2]"},
    {"and", "h", "0", "", "[1, 0]"},
    {"or", "h", "7", "", "[3, 5]"},
    {"xor", "h", "7", "", "[2, 5]"},
    {"mean", "h", "2.25", "", "[2.0, 2.5]"},
    {"var", "h", "1.6875", "", "[1.0, 2.25]"},
    {"std", "h", "1.299038105676658", "", "[1.0, 1.5]"},
    {"stats", "h", "Stats(count=4, min=1, max=4, sum=9, mean=2.25, var=1.6875)", ".sum", "[4, 5]"},
    {"norm1", "h", "9", "", "[4, 5]"},
    {"norm2", "h", "5.196152422706632", "", "[3.1622776601683795, 4.123105625617661]"},
    {"norminf", "h", "4", "", "[3, 4]"},
    {"sumsq", "h", "27", "", "[10, 17]"},
    {"logsumexp", "d", "4.38352863876639", "", "[3.1269280110429727, 4.048587351573742]"},
    {"dot", "h", "16", "", "[3, 13]"},
};
/* clang-format on */

#define ARRAYS_DOC                                                                                                 \
    "Arrays are of NumPy, PyTorch, CuPy or JAX, or have the buffer protocol, DLPack or __cuda_array_interface__; " \
    "none\n"                                                                                                       \
    "is copied if its axes can be reduced where they lie. Results are arrays of the same library, on the same "    \
    "device;\n"                                                                                                    \
    "results without axes are its scalars, for plain buffers Python's.\n\n"
#define KEYWORDS_DOC                                                                                          \
    "dtype: of the results, rounded once. float16 and bfloat16 give their own dtype.\n"                       \
    "out: an array of the results' shape that overlaps no input; it is returned.\n"                           \
    "nan: 'propagate', 'skip' (as if they were not there), or 'total' (IEEE totalOrder; min, max, arg...).\n" \
    "accuracy: 'exact' (sums of floats are true sums, rounded once) or 'fast' (added in a fixed order).\n"    \
    "stream: the CUDA stream of arrays on a GPU; by default the one that the array's library works on.\n\n"
#define ERRORS_DOC                                                                                                   \
    "Raises ValueError (no values and no identity, axes, shapes, segments), TypeError (dtypes, what is no array),\n" \
    "OverflowError (a sum of integers that does not fit), MemoryError, or tally_reduce.Error (the GPU).\n\n"
#define REDUCE_KEYWORDS_DOC                                                                              \
    "axis: an int, a tuple of ints, or None for all axes. keepdims: reduced axes stay, with extent 1.\n" \
    "where: an array of bool that broadcasts to x: values that count.\n"
#define SEGMENT_KEYWORDS_DOC                                                                                      \
    "The segments along `axis` are named in one way: segment_ids (one for each value; num_segments of them),\n"   \
    "lengths, offsets (one more than segments), starts and ends, or a Plan. The other axes are features.\n"       \
    "indices_are_sorted=False takes ids in any order. out_of_range='drop' leaves out ids that are no segment.\n"  \
    "On a GPU indices are int32 or int64, ids need num_segments, and checked=True has the call wait and report\n" \
    "invalid segments.\n"                                                                                         \
    "Segments without values give the operator's filler (docs/operators.md).\n"
#define SEGMENT_SIGNATURE                                                                                         \
    "lengths=None, offsets=None, starts=None, ends=None, indices_are_sorted=True, axis=0, dtype=None, out=None, " \
    "nan='propagate', accuracy='exact', out_of_range='error', checked=False, plan=None, stream=None"

/* name, arrays, initial, ddof, what, arrays in words, name in Python, arguments, result */
#define OPERATOR_DOC                                                                                  \
    "%s(%s, /, *, axis=None, keepdims=False, dtype=None, out=None, where=None%s%s, nan='propagate', " \
    "accuracy='exact', stream=None)\n--\n\n"                                                          \
    "Gives %s of %s along the axes.\n\n" ARRAYS_DOC REDUCE_KEYWORDS_DOC KEYWORDS_DOC ERRORS_DOC       \
    ">>> import tally_reduce\n>>> from array import array\n>>> tally_reduce.%s(%U)\n%s\n"
/* name, arrays, ddof, what, name, arguments, result */
#define SEGMENT_DOC                                                                           \
    "segment_%s(%s, segment_ids=None, num_segments=None, *, " SEGMENT_SIGNATURE "%s)\n--\n\n" \
    "Gives %s of each segment.\n\n" ARRAYS_DOC SEGMENT_KEYWORDS_DOC KEYWORDS_DOC ERRORS_DOC   \
    ">>> import tally_reduce\n>>> from array import array\n"                                  \
    ">>> tally_reduce.segment_%s(%U, lengths=[2, 2])%s.tolist()\n%s\n"
#define REDUCE_DOC                                                                                                    \
    "reduce(x, op, /, *, axis=None, keepdims=False, dtype=None, out=None, initial=None, where=None, "                 \
    "nan='propagate', accuracy='exact', ddof=0, stream=None)\n--\n\n"                                                 \
    "Reduces x along the axes with an operator: a name of info()['operators'], or what define() gave. For dot:\n"     \
    "reduce(x, y, 'dot').\n\n" ARRAYS_DOC REDUCE_KEYWORDS_DOC                                                         \
    "initial: for sum, prod, min, max, and, or, xor a value of x's dtype that comes first.\n" KEYWORDS_DOC ERRORS_DOC \
    ">>> import tally_reduce\n>>> from array import array\n"                                                          \
    ">>> tally_reduce.reduce(array('d', [1e300, 1, -1e300]), 'sum')\n1.0\n"
#define SEGMENT_REDUCE_DOC                                                                                       \
    "segment_reduce(data, op, /, *, segment_ids=None, num_segments=None, " SEGMENT_SIGNATURE ", ddof=0)\n--\n\n" \
    "Reduces each segment of data with an operator.\n\n" ARRAYS_DOC SEGMENT_KEYWORDS_DOC KEYWORDS_DOC ERRORS_DOC \
    ">>> import tally_reduce\n>>> from array import array\n"                                                     \
    ">>> tally_reduce.segment_reduce(array('d', [3, 1, 4]), 'sum', offsets=[0, 2, 2, 3]).tolist()\n"             \
    "[4.0, 0.0, 4.0]\n"
#define WARM_DOC                                                                                                      \
    "warm(op, dtype, *, segments=None, device=0, nan='propagate', accuracy='exact', ddof=0)\n--\n\n"                  \
    "Makes the kernels of a GPU ready, so that the first call does not wait for the compiler. segments: 'offsets',\n" \
    "'lengths', 'segment_ids' or 'rows'; None for whole arrays. Raises Error where there is no GPU or no "            \
    "compiler.\n\n"                                                                                                   \
    ">>> import tally_reduce\n>>> if tally_reduce.info()['gpus']:\n...     tally_reduce.warm('sum', 'float32')\n"
#define INFO_DOC                                                                                                     \
    "info()\n--\n\n"                                                                                                 \
    "A dict: version, isa (the CPU's instruction set), threads, operators, dtypes, gpus, compiler (of GPU kernels, " \
    "or\n"                                                                                                           \
    "None) and cache (their folder, or None).\n\n"                                                                   \
    ">>> import tally_reduce\n>>> 'sum' in tally_reduce.info()['operators']\nTrue\n"

#endif
