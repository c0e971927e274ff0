/* Tally: parallel reductions with the same bits on every machine.
 *
 *     double x[1000], total;
 *     tally_reduce(NULL, TALLY_SUM, tally_in(x, TALLY_F64, 1000), tally_out(&total, TALLY_F64, 1));
 *
 * Tally reduces an array, or each segment of an array, with an operator. The bits of a result depend on the values,
 * their order, their type, the operator and the options. They do not depend on the processor or GPU, the number of
 * threads, the instruction set, alignment or other segments. So tally_reduce_segments gives for segment s what
 * tally_reduce gives for the values of that segment alone.
 *
 * Errors: every function returns a status; 0 is TALLY_OK. After another status tally_message() has a sentence that says
 * what was wrong and what to do. Nothing is printed and nothing aborts.
 *
 * Synchronous: when a function returns, the work is done. The one exception is an output in GPU memory, whose result
 * comes later, in stream order (see tally_reduce and tally_reduce_segments).
 *
 * Memory: arrays belong to the caller. They are borrowed for the call, or until the stream has done the work. Values
 * may lie at any address.
 *
 * Threads: any thread may call any function. Several threads may use one context at once, as long as none changes its
 * options. A state belongs to one thread at a time. The library has threads of its own for the CPU, which sleep between
 * calls; where the system refuses threads, fewer work. A child of fork() can call everything that needs no GPU. A call
 * takes at most TALLY_STACK_BYTES of the calling thread's stack; callbacks and a GPU's driver are not counted.
 *
 * Floating point: calls compute in the default floating-point environment, and callbacks of the caller's operators see
 * that too. The caller's own rounding mode, traps and flags are as before when a call returns.
 *
 * Needs C11 or C++17. Link with -ltally.
 */
#ifndef TALLY_H
#define TALLY_H

#include <stddef.h>
#include <stdint.h>

#include "tally/tables.h"

#define TALLY_STACK_BYTES (256 * 1024)

#define TALLY_VERSION_MAJOR 0
#define TALLY_VERSION_MINOR 1
#define TALLY_VERSION_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TALLY_API __attribute__((visibility("default")))
#define TALLY_CHECKED __attribute__((visibility("default"), warn_unused_result))
#else
#define TALLY_API
#define TALLY_CHECKED
#endif

/* ---- words ------------------------------------------------------------------------------------------------- */

typedef enum tally_status {
#define TALLY_ROW(id, number, sentence) TALLY_##id = number,
    TALLY_STATUSES(TALLY_ROW)
#undef TALLY_ROW
} tally_status;

/* TALLY_NATURAL means the type that the operator gives; it is for outputs only. TALLY_STRUCT is the caller's own
 * struct, for operators made with tally_define, which say its size. A bool is a byte: 0 is false, all else is true.
 * f16 and bf16 are passed as their 16 bits; no compiler support is needed. */
typedef enum tally_type {
    TALLY_NATURAL = 0,
#define TALLY_ROW(id, name, numpy, bytes, class) TALLY_##id,
    TALLY_TYPES(TALLY_ROW)
#undef TALLY_ROW
    TALLY_STRUCT,
    TALLY_TYPE_END
} tally_type;

/* Built-in operators. Numbers from TALLY_OP_USER on are those that tally_define gives. */
typedef int32_t tally_op;
enum {
#define TALLY_ROW(id, name, kernel, inputs, on, gives, order, empty, nans, what) TALLY_##id,
    TALLY_OPERATORS(TALLY_ROW)
#undef TALLY_ROW
    TALLY_OP_END,
    TALLY_OP_USER = 1000
};

/* An input: `count` values of `type`. The first lies at `data`, each other one `stride` bytes after the one before it.
 * A stride of 0 means side by side. A stride may be larger than the value (a field of a struct), smaller, or negative;
 * if it is negative, `data` is the first value in reading order, which is the highest in memory. data may be NULL only
 * if count is 0. It may be GPU or managed memory where a function says so; that GPU then does the work. */
typedef struct tally_array {
    const void *data;
    tally_type type;
    int64_t count;
    int64_t stride;
} tally_array;

/* An output: room for `count` results of `type`, `stride` bytes apart (0: side by side). It may overlap no input. data
 * may be GPU memory where a function says so. type: TALLY_NATURAL is the type that tally_result_type names. With
 * another numeric type each result is converted. Floats are rounded to nearest even. What does not fit an integer type
 * is TALLY_OVERFLOW (an integer out of range, a float that is not an integer in range), and the nearest value of the
 * type is written. A sum of integers may not even fit its natural type: see tally_overflow. minmax writes two values
 * for each result; stats writes one tally_stats, and its type stays natural. */
typedef struct tally_output {
    void *data;
    tally_type type;
    int64_t count;
    int64_t stride;
} tally_output;

static inline tally_array tally_in(const void *data, tally_type type, int64_t count) {
    tally_array array = {data, type, count, 0};
    return array;
}

static inline tally_output tally_out(void *data, tally_type type, int64_t count) {
    tally_output output = {data, type, count, 0};
    return output;
}

/* How an array is divided into segments. */
typedef enum tally_segmentation {
    TALLY_OFFSETS,     /* index[0 .. count]: segment s is values index[s] .. index[s+1]-1; never decreasing */
    TALLY_LENGTHS,     /* index[0 .. count-1]: segments follow one another from value 0; none negative */
    TALLY_SEGMENT_IDS, /* index[0 .. values-1]: the segment of each value, 0 .. count-1, sorted; an id that is left out
                          is an empty segment */
    TALLY_ROWS,        /* no index: see tally_rows */
    TALLY_PLANNED,     /* no index: see tally_planned */
    TALLY_BEGIN_END,   /* index[0 .. count-1] and ends[0 .. count-1]: segment s is values index[s] .. ends[s]-1, in any
                          order, with gaps, overlaps and repeats; index[s] == ends[s] is an empty one */
    TALLY_UNSORTED_IDS /* index[0 .. values-1]: the segment of each value, in any order. Segment s is the values with id
                          s, in the order in which they lie */
} tally_segmentation;

/* What becomes of a value whose id in TALLY_UNSORTED_IDS is not one of the segments. */
typedef enum tally_outside {
    TALLY_OUTSIDE_REFUSED = 0, /* TALLY_BAD_SEGMENTS */
    TALLY_OUTSIDE_LEFT_OUT = 1 /* it belongs to no segment */
} tally_outside;

/* Segments that were checked and prepared: see tally_plan_open. */
typedef struct tally_plan tally_plan;

/* `count` segments. index and ends: i32 or i64 as index_type says, side by side, at any address; tally_segmentation
 * says how many. length is for TALLY_ROWS alone, ends for TALLY_BEGIN_END, outside for TALLY_UNSORTED_IDS, plan for
 * TALLY_PLANNED.
 * inner: for TALLY_ROWS see tally_rows, for others see tally_features. */
typedef struct tally_segments {
    tally_segmentation kind;
    const void *index;
    tally_type index_type;
    int64_t count;
    int64_t length;
    int64_t inner;
    const void *ends;
    tally_outside outside;
    const tally_plan *plan;
} tally_segments;

static inline tally_segments tally_offsets(const void *index, tally_type index_type, int64_t count) {
    tally_segments segments = {TALLY_OFFSETS, index, index_type, count, 0, 0, NULL, TALLY_OUTSIDE_REFUSED, NULL};
    return segments;
}
static inline tally_segments tally_lengths(const void *index, tally_type index_type, int64_t count) {
    tally_segments segments = {TALLY_LENGTHS, index, index_type, count, 0, 0, NULL, TALLY_OUTSIDE_REFUSED, NULL};
    return segments;
}
static inline tally_segments tally_segment_ids(const void *index, tally_type index_type, int64_t count) {
    tally_segments segments = {TALLY_SEGMENT_IDS, index, index_type, count, 0, 0, NULL, TALLY_OUTSIDE_REFUSED, NULL};
    return segments;
}
static inline tally_segments tally_begin_end(const void *begins, const void *ends, tally_type index_type,
                                             int64_t count) {
    tally_segments segments = {TALLY_BEGIN_END, begins, index_type, count, 0, 0, ends, TALLY_OUTSIDE_REFUSED, NULL};
    return segments;
}
static inline tally_segments tally_unsorted_ids(const void *index, tally_type index_type, int64_t count,
                                                tally_outside outside) {
    tally_segments segments = {TALLY_UNSORTED_IDS, index, index_type, count, 0, 0, NULL, outside, NULL};
    return segments;
}
/* The same segments, of vectors of `inner` features: the values have shape (N, inner) in C order, so that in.count is
 * N * inner; indexes count vectors, 0 .. N-1; the results have shape (count, inner). Result s * inner + f is of the
 * values (i, f) of segment s. inner 0 and 1 mean numbers. Not for TALLY_ROWS. */
static inline tally_segments tally_features(tally_segments segments, int64_t inner) {
    segments.inner = inner;
    return segments;
}
/* One axis of an array in C order, of shape (outer, length, inner): the axis that has the extent `length`. There are
 * outer * inner results. Result o * inner + i is of the values (o * length + l) * inner + i, l = 0 .. length-1. For
 * axis k of an array of N axes, outer is the product of the extents before k, inner the product of those after it; the
 * last axis has inner 1. */
static inline tally_segments tally_rows(int64_t outer, int64_t length, int64_t inner) {
    tally_segments segments = {TALLY_ROWS, NULL, TALLY_NATURAL, outer, length,
                               inner,      NULL, TALLY_OUTSIDE_REFUSED, NULL};
    return segments;
}

/* The result of TALLY_STATS. min, max and sum are .i for bool and signed input, .u for unsigned input, .f for floats.
 * var is the variance with the context's ddof. */
typedef union tally_word {
    int64_t i;
    uint64_t u;
    double f;
} tally_word;
typedef struct tally_stats {
    int64_t count;
    tally_word min, max, sum;
    double mean, var;
} tally_stats;

/* ---- contexts ----------------------------------------------------------------------------------------------- */

/* A context has options, an allocator and the caller's own operators. NULL in place of a context means the process's
 * own, which has the defaults and no operators of the caller's. */
typedef struct tally_context tally_context;

typedef enum tally_accuracy {
    TALLY_BEST = 0, /* the best this version has: TALLY_EXACT */
    TALLY_FAST = 1, /* floats are added in floats, in the canonical order (docs/order.md) */
    TALLY_EXACT = 2 /* sums of floats, and what is made of them, are the true value rounded once, directly to the type
                       asked for (docs/exact.md) */
} tally_accuracy;

typedef enum tally_nan {
    TALLY_NAN_PROPAGATE = 0, /* a NaN makes the result NaN; arg operators give the first NaN */
    TALLY_NAN_SKIP = 1,      /* NaNs add nothing and are not counted, but keep their place in the order; only NaNs is
                                as empty */
    TALLY_NAN_TOTAL = 2      /* of operators that compare values: IEEE 754 totalOrder, NaNs beyond the infinities */
} tally_nan;

/* What happens to a sum of integers that does not fit an integer type. sum, norm1, sumsq, dot and the sum in stats are
 * computed without overflow; only the result may be too large. As TALLY_F64 it always fits. See docs/operators.md. */
typedef enum tally_overflow {
    TALLY_OVERFLOW_REFUSED = 0, /* the status is TALLY_OVERFLOW, and the nearest value of the type is written */
    TALLY_OVERFLOW_WRAPS = 1    /* the natural result is the sum modulo 2^64; other types are converted from that */
} tally_overflow;

typedef enum tally_backend {
    TALLY_BACKEND_AUTO = 0,      /* where the data is: CUDA for GPU or managed memory, else CPU */
    TALLY_BACKEND_CPU = 1,       /* threads and vector units */
    TALLY_BACKEND_REFERENCE = 2, /* slow and obvious, the same bits: for tests and doubts */
    TALLY_BACKEND_CUDA = 3,      /* an NVIDIA GPU; arrays in host memory are copied to it */
    TALLY_BACKEND_SIMT = 4       /* the GPU's kernels on a simulated GPU: slow, and reports their mistakes */
} tally_backend;

typedef struct tally_options {
    size_t size; /* sizeof(tally_options); TALLY_OPTIONS_INIT sets it. Everything else is 0 by default. */
    tally_accuracy accuracy;
    tally_nan nan;
    int threads; /* the most, 1 .. TALLY_MOST_THREADS. 0: the first number of OMP_NUM_THREADS (read once), or
                    the number of CPUs that the process may use */
    int ddof;    /* var and std divide by count - ddof (NaN if that is not positive); 0 .. TALLY_MOST_DDOF */
    tally_backend backend;
    tally_overflow overflow;
    int device;           /* the GPU, if neither array nor output lies on one */
    void *stream;         /* the CUstream (cudaStream_t) of GPU work; NULL: the default stream */
    void *scratch;        /* the caller's GPU memory for whole arrays, at a multiple of 16; NULL: the context's own */
    size_t scratch_bytes; /* its size: see tally_scratch_bytes. The memory is the context's until the next
                             tally_set_options, and is cleared when it is first used */
    int checked;          /* 1: a call whose segments are reduced to GPU memory waits, and reports invalid segments */
} tally_options;
#define TALLY_MOST_THREADS 65536
#define TALLY_MOST_DDOF 1000
#define TALLY_OPTIONS_INIT \
    {sizeof(tally_options), TALLY_BEST, TALLY_NAN_PROPAGATE, 0,    0, \
     TALLY_BACKEND_AUTO,    TALLY_OVERFLOW_REFUSED, 0,     NULL, NULL, 0, 0}

/* allocate returns NULL, or `bytes` bytes aligned for any type. release takes what allocate gave, or NULL. Threads of
 * the caller and of the library call both at the same time. */
typedef struct tally_allocator {
    void *(*allocate)(size_t bytes, void *user);
    void (*release)(void *memory, void *user);
    void *user;
} tally_allocator;

/* Makes a context with the default options. allocator NULL means malloc and free. The caller destroys the context after
 * its states and plans. TALLY_BAD_ARGUMENT: NULL context, or an allocator without both functions. TALLY_NO_MEMORY. */
TALLY_CHECKED tally_status tally_context_create(const tally_allocator *allocator, tally_context **context);
TALLY_API void tally_context_destroy(tally_context *context); /* NULL is fine */

/* Sets all options at once. On failure nothing changes. TALLY_BAD_ARGUMENT: a NULL context (the process's own keeps its
 * defaults), a size that this version does not know, a value out of range. */
TALLY_CHECKED tally_status tally_set_options(tally_context *context, const tally_options *options);
TALLY_API tally_options tally_get_options(const tally_context *context);

/* The sentence for the last status other than TALLY_OK that this thread got; "" before any. Never NULL. It is valid
 * until the thread's next call that fails. It is one line: control characters of names that it quotes are shown as
 * \x1b. */
TALLY_API const char *tally_message(void);

/* ---- reducing ----------------------------------------------------------------------------------------------- */

/* Reduces the array to one result in out[0].
 *
 * Method: docs/order.md. Threads take runs of leaves, and each leaf is reduced column by column (Hillis and Steele's
 * data-parallel reduction, with a fixed tree). On a GPU warps take runs of leaves, and the last block to arrive at a
 * node of the tree combines it, in one launch (docs/design/005-gpu-whole-arrays.md). Exact dot, var, std and stats
 * of large arrays, and norm2 and sumsq of 2-byte floats, take two (docs/design/012-gpu-exact-segments.md).
 *
 * GPU: the array and out may be host, pinned, managed or GPU memory; GPU memory must be of one GPU. Host arrays are
 * copied to it. The kernel is put on options.stream. The first call for an operator, type and set of options compiles
 * or loads the kernel, takes scratch memory and may wait for the GPU; tally_warm does that ahead.
 *  - out in GPU memory: asynchronous. The call returns, and the result comes in stream order. The array may not be
 *    host memory. TALLY_EMPTY and TALLY_OVERFLOW are reported only for an array without values; the filler or the
 *    nearest value is written all the same. A type that the kernel does not give itself (docs/gpu.md) takes a second
 *    small kernel. Errors of kernels show at the stream. The stream may be capturing: each captured call has scratch
 *    memory of its own, which lives as long as the context. Other calls on one context and stream share scratch
 *    memory.
 *  - out in other memory: the call waits for the stream and reports all errors. The stream may not be capturing.
 *
 * TALLY_EMPTY: there are no values (or only NaNs, skipped), and the operator has no identity. The filler of
 *     docs/operators.md is written.
 * TALLY_OVERFLOW: see tally_output and tally_overflow.
 * TALLY_BAD_TYPE: the operator is not defined for in.type, or out.type cannot hold its result.
 * TALLY_BAD_ARGUMENT: NULL data, a negative count, an unknown operator, an operator of two inputs, an out that is too
 *     small, a range of addresses that wraps around. GPU: memory of different GPUs, GPU memory with another backend, a
 *     host array with out in GPU memory, a capturing stream with out or an index elsewhere, options.scratch that is no
 *     memory of that GPU, the text of an operator that does not compile (the sentence quotes the compiler).
 * TALLY_NO_MEMORY: no scratch memory (some KB for each thread, 1 MiB or more on a GPU).
 * TALLY_NO_SPACE: options.scratch_bytes are too few.
 * TALLY_UNSUPPORTED: an operator of the caller's own without text on a GPU or with text only on the CPU, no NVRTC, or
 *     no kernels of the simulator.
 * TALLY_NO_DEVICE: no driver, or no such GPU. TALLY_DEVICE_FAILED: the driver or the kernel failed; the sentence
 *     quotes the driver. */
TALLY_CHECKED tally_status tally_reduce(tally_context *context, tally_op op, tally_array in, tally_output out);

/* Reduces each segment. out[s] is what tally_reduce gives for segment s alone; arg operators count from its start. The
 * segments are checked before or while they are used, and nothing outside of the array is read.
 *
 * GPU: as tally_reduce. Method: docs/design/006-gpu-segments.md, for exact sums 012-gpu-exact-segments.md, for rows
 * 007-gpu-rows.md. The index may be host, pinned, managed or GPU memory; an index in host memory is copied, and the
 * call then waits for the GPU. Otherwise, with out in GPU memory, the call is asynchronous: invalid segments,
 * TALLY_EMPTY and TALLY_OVERFLOW are reported only with options.checked. If the segments are invalid, out holds nothing
 * of use.
 * Scratch memory on a GPU: 1 to 5 % of the array. Lengths need one offset more for each segment, and so do segment ids
 * of segments with more than 6 values on average. Results that are converted need memory for the natural ones. Rows
 * need less; with operators of the caller's own they need 4 or 8 bytes for each row.
 *
 * Vectors of features, begins and ends, and unsorted ids (method: docs/design/015-groups-of-vectors.md):
 *  - CPU: vectors are reduced in place, or each thread copies them into a buffer, one feature after the other. A stable
 *    counting sort groups unsorted ids. Memory: 8 bytes for each segment, begin and end; with unsorted ids 16 for each
 *    vector, or 4 and twice the vector where it has at most 32.
 *  - GPU: vectors are read in place. Memory: 16 bytes for each id while unsorted ids are sorted, 24 for each begin and
 *    end, and a few percent of the array for segments of many vectors. The values are copied if they or the offsets are
 *    not aligned, for operators of the caller's own, and for exact results that a few doubles cannot hold; exact calls
 *    reserve memory for that copy. Begins and ends without a plan make the call wait for the number of their vectors,
 *    so such a call cannot be captured.
 *
 * TALLY_EMPTY: as tally_reduce, for at least one segment. All results are written, fillers included.
 * TALLY_BAD_SEGMENTS: offsets that are negative or decrease; negative lengths; an id outside 0 .. count-1; ids that are
 *     not sorted (TALLY_UNSORTED_IDS excepted); an end before its begin; a segment beyond the array; rows whose extents
 *     do not multiply to in.count; a number of values that is no multiple of `inner`. out then holds nothing of use.
 * TALLY_UNSUPPORTED: on a GPU 2^32 vectors or more with unsorted ids, or 2^31 segments of them.
 * Others as tally_reduce. */
TALLY_CHECKED tally_status tally_reduce_segments(tally_context *context, tally_op op, tally_array in,
                                                 tally_segments segments, tally_output out);

/* Segments that are checked and prepared once, for many reductions. Lengths and segment ids become offsets, and for a
 * GPU the work is divided among blocks. The results have the same bits as without a plan.
 *
 * Makes a plan for arrays of `values` values. `type` is the type that most of them have; others work too, and take one
 * kernel more on a GPU. options.backend says where the plan is prepared; AUTO means where the index lies. The call
 * waits for what it put on options.stream. The index is borrowed until the plan is closed; for lengths, segment ids
 * and copies of host memory for a GPU only until this returns. The caller closes the plan before the context. Several
 * threads and contexts may use one plan at once. Memory: for lengths and segment ids 4 or 8 bytes for each segment; on
 * a GPU 0.1 % of the array more. TALLY_BAD_SEGMENTS, TALLY_BAD_ARGUMENT, TALLY_NO_MEMORY, and for a GPU: as
 * tally_reduce_segments. TALLY_BAD_TYPE: no such type. */
TALLY_CHECKED tally_status tally_plan_open(tally_context *context, tally_type type, int64_t values,
                                           tally_segments segments, tally_plan **plan);
TALLY_API void tally_plan_close(tally_plan *plan); /* when no call uses it any more; NULL is fine */

/* The segments of a plan. The array must have as many values as the plan (else TALLY_BAD_SEGMENTS). A plan for a GPU
 * serves that GPU only (else TALLY_BAD_ARGUMENT). A plan of the host serves all, and is copied to a GPU for each call.
 * With tally_features the plan's values are vectors, of any number of features. */
static inline tally_segments tally_planned(const tally_plan *plan) {
    tally_segments segments = {TALLY_PLANNED, NULL, TALLY_NATURAL, 0, 0, 0, NULL, TALLY_OUTSIDE_REFUSED, plan};
    return segments;
}

/* tally_reduce and tally_reduce_segments for operators of two inputs (dot). Both arrays have the same type and count;
 * each may be host or GPU memory. */
TALLY_CHECKED tally_status tally_reduce_pair(tally_context *context, tally_op op, tally_array left, tally_array right,
                                             tally_output out);
TALLY_CHECKED tally_status tally_reduce_segments_pair(tally_context *context, tally_op op, tally_array left,
                                                      tally_array right, tally_segments segments, tally_output out);

/* The type of a result, and the bytes of one result, for input of `type`. A result of minmax is a pair; one of stats
 * has sizeof(tally_stats). Either pointer may be NULL. TALLY_BAD_ARGUMENT: unknown operator or type. TALLY_BAD_TYPE:
 * the operator is not defined for the type. */
TALLY_CHECKED tally_status tally_result_type(const tally_context *context, tally_op op, tally_type type,
                                             tally_type *result, size_t *result_bytes);

/* The number of values in a leaf for input of `type`: 4096 / its size. 0: unknown type. For TALLY_STRUCT see
 * tally_define. */
TALLY_API int64_t tally_leaf_length(tally_type type);

/* ---- the caller's own operators ------------------------------------------------------------------------------- */

/* An operator has four parts: lift makes an accumulator of a value, combine joins two accumulators and is associative,
 * the identity changes nothing, finish makes the result. They are C callbacks over runs of values, so that the
 * caller's compiler can vectorise their loops. `text` is the same operator as source, compiled when a GPU first needs
 * it. Arrays in host memory need the callbacks, arrays on a GPU the text (else TALLY_UNSUPPORTED); both must give the
 * same bits. The words that a text may use are in docs/operators.md ("Words of a text"): TALLY_FN, TALLY_COLUMN,
 * TALLY_NODE, TALLY_START, TALLY_JOIN, TALLY_T, TALLY_V, TALLY_BYTES, item_t, column_t, node_t, __builtin_memcpy, the
 * integers of <stdint.h>, and few more. Accumulators and results that callbacks get lie side by side, aligned for any
 * struct of their size. Values lie as in the caller's array. Callbacks run on several threads at once. */
typedef struct tally_operator {
    size_t size;         /* sizeof(tally_operator) */
    const char *name;    /* 1 to 31 letters, digits, '_' or '-'; saved states are found again by it */
    tally_type input;    /* any type, or TALLY_STRUCT */
    size_t input_size;   /* bytes of one value: for TALLY_STRUCT 1 .. 64; else 0 or the type's size */
    size_t acc_size;     /* bytes of one accumulator, 1 .. 64 */
    tally_type result;   /* type of one result, or TALLY_STRUCT */
    size_t result_size;  /* bytes of one result: for TALLY_STRUCT 1 .. 64; else 0 or the type's size */
    int commutative;     /* not 0: operands may change places, up to rounding (order of columns); 0: they may not */
    const void *identity; /* acc_size bytes: combine(identity, a) and combine(a, identity) are a, bit for bit */
    /* accs[k] = lift(value k), k = 0 .. count-1; the values lie side by side at `values`; value 0 has index `first`. */
    void (*lift)(void *accs, const void *values, int64_t count, int64_t first, void *user);
    /* left[k] = combine(left[k], right[k]), k = 0 .. count-1; left comes earlier in the input. They do not overlap. */
    void (*combine)(void *left, const void *right, int64_t count, void *user);
    /* results[k] = finish(accs[k]); NULL: the accumulator's bytes are the result (acc_size must equal the result's). */
    void (*finish)(void *results, const void *accs, int64_t count, void *user);
    void *user;       /* handed to every callback */
    const char *text; /* the operator as source (docs/operators.md), or NULL; with it the callbacks may all be NULL */
} tally_operator;

/* Adds an operator to a context and gives its number. The description, its identity and its text are copied. `user`
 * and the callbacks must live as long as the context. No other thread may reduce on the context meanwhile. A leaf of a
 * struct type has 4096 / input_size values, rounded down to a power of two. TALLY_BAD_ARGUMENT: NULL context, a field
 * out of range, a name that is taken. TALLY_UNSUPPORTED: neither callbacks nor text. TALLY_NO_MEMORY. */
TALLY_CHECKED tally_status tally_define(tally_context *context, const tally_operator *definition, tally_op *op);

/* ---- states --------------------------------------------------------------------------------------------------- */

/* A state is the reduction of a run of values, which begins at value `first` of a whole. Values can be pushed to it.
 * It can be merged with the state of the next run, saved and loaded. A state that begins at 0 can be finished, and its
 * result has the bits of tally_reduce over all its values. A state copies the options that it is opened with; a loaded
 * state takes `overflow` from its context. The context must outlive it. It takes some 30 KB of host memory. GPU: an
 * array in GPU memory is reduced by its GPU, on options.stream, and the call waits. An operator that has only text has
 * no states: TALLY_UNSUPPORTED. */
typedef struct tally_state tally_state;

/* TALLY_BAD_ARGUMENT: NULL state, negative first, unknown operator. TALLY_BAD_TYPE. TALLY_NO_MEMORY. */
TALLY_CHECKED tally_status tally_state_open(tally_context *context, tally_op op, tally_type type, int64_t first,
                                            tally_state **state);
TALLY_API void tally_state_close(tally_state *state); /* NULL is fine */

/* Appends values. The second function is for operators of two inputs. Errors as tally_reduce; the state is then as
 * before. */
TALLY_CHECKED tally_status tally_state_push(tally_state *state, tally_array in);
TALLY_CHECKED tally_status tally_state_push_pair(tally_state *state, tally_array left, tally_array right);

/* into becomes the state of both runs; later does not change. later must begin where into ends. The result has the
 * bits of one state that got all values, wherever one run ends and the next begins. Where order does not show
 * (docs/order.md), any state opened at 0 may be merged too; its values count as the next ones. TALLY_BAD_ORDER: later
 * begins elsewhere.
 * TALLY_BAD_ARGUMENT: NULL, the same state twice, or different operators, types or options. */
TALLY_CHECKED tally_status tally_state_merge(tally_state *into, const tally_state *later);

/* The number of values that were pushed or merged, and where the run begins. NULL gives 0. */
TALLY_API int64_t tally_state_count(const tally_state *state);
TALLY_API int64_t tally_state_first(const tally_state *state);

/* Writes the result of the run to out[0]. The state stays open and can be pushed to. TALLY_BAD_ORDER: the run does not
 * begin at 0, and its order could show; merge it into the state before it. Others as tally_reduce. */
TALLY_CHECKED tally_status tally_state_finish(const tally_state *state, tally_output out);

/* Saves to `capacity` bytes at buffer, and gives in *size how many bytes were written. TALLY_NO_SPACE: the buffer is
 * too small, and *size says how many bytes are needed; with a NULL buffer the status is TALLY_OK and *size says so
 * too. Layout: docs/states.md; the same bytes on every machine. */
TALLY_CHECKED tally_status tally_state_save(const tally_state *state, void *buffer, size_t capacity, size_t *size);

/* Opens the state saved in `size` bytes. An operator of the caller's own is found in the context by its name.
 * TALLY_BAD_STATE: the bytes are not a saved state of this version, or have changed. TALLY_BAD_ARGUMENT: NULL.
 * TALLY_NO_MEMORY. */
TALLY_CHECKED tally_status tally_state_load(tally_context *context, const void *buffer, size_t size,
                                            tally_state **state);

/* What a state reduces. NULL gives TALLY_OP_END and TALLY_NATURAL. */
TALLY_API tally_op tally_state_op(const tally_state *state);
TALLY_API tally_type tally_state_type(const tally_state *state);

/* ---- GPUs ------------------------------------------------------------------------------------------------------- */

/* To reduce on a GPU, nothing here is needed: NVIDIA's driver and compiler are opened when a call first needs them.
 * docs/gpu.md has the environment variables. */
typedef struct tally_gpu_info {
    char name[256];
    int sm;              /* compute capability, 90 for 9.0; Tally needs 75 */
    int multiprocessors;
    uint64_t memory;     /* bytes */
    int driver;          /* the newest CUDA its driver knows: 13000 for 13.0 */
} tally_gpu_info;

/* The number of GPUs that the driver shows this process: at least 1. TALLY_NO_DEVICE: there is none, *count is 0, and
 * the sentence says why. TALLY_DEVICE_FAILED. */
TALLY_CHECKED tally_status tally_gpu_count(int *count);

/* Describes GPU `ordinal`, counted from 0 as options.device is. Starts nothing on it. Errors as above; TALLY_NO_DEVICE
 * also if there is no such GPU. */
TALLY_CHECKED tally_status tally_gpu_describe(int ordinal, tally_gpu_info *info);

/* The compiler of GPU kernels ("NVRTC 13.0"), and the folder of compiled kernels. NULL: there is none, and
 * tally_message() says why. The first string is static. The second is valid until the thread asks again; the folder is
 * made when a kernel is first kept. */
TALLY_API const char *tally_gpu_compiler(void);
TALLY_API const char *tally_cache_folder(void);

/* Writes the CUDA source of the kernel that reduces a whole array with the context's options, as one file that nvcc
 * compiles alone. It has only what that operator, type and set of options use. Tally compiles more, to the same machine
 * code. The text goes to `capacity` bytes at buffer, with a 0 at the end; *size gives the bytes of both.
 * TALLY_NO_SPACE: the buffer is too small, and *size says how many bytes are needed; with a NULL buffer the status is
 * TALLY_OK. Needs no GPU. TALLY_BAD_ARGUMENT, TALLY_BAD_TYPE: as tally_result_type. TALLY_UNSUPPORTED: an operator of
 * the caller's own without text. TALLY_NO_MEMORY. */
TALLY_CHECKED tally_status tally_emit(const tally_context *context, tally_op op, tally_type type, char *buffer,
                                      size_t capacity, size_t *size);

/* The bytes of GPU memory that options.scratch needs for reductions of at most `count` values by op, on any GPU: some
 * 100 KB, and more for large arrays whose order shows. A reduction with such memory allocates nothing. Reductions that
 * share the memory must follow one another: on one stream, or in one chain of a graph. Needs no GPU.
 * TALLY_BAD_ARGUMENT: NULL bytes, a negative count. Others as tally_result_type. */
TALLY_CHECKED tally_status tally_scratch_bytes(const tally_context *context, tally_op op, tally_type type,
                                               int64_t count, size_t *bytes);

/* Makes the kernel of whole arrays ready on the context's GPU (options.device; backend AUTO means CUDA): compiles,
 * keeps and loads it. May take seconds; does nothing if the kernel is ready. TALLY_BAD_ARGUMENT: a backend without a
 * GPU. Others as tally_reduce on a GPU and tally_emit. */
TALLY_CHECKED tally_status tally_warm(const tally_context *context, tally_op op, tally_type type);

/* The same for all kernels that tally_reduce_segments may use for segments: four to nine units, and for TALLY_ROWS
 * those of rows, too. Kernels are compiled side by side, on as many threads as options.threads allows. */
TALLY_CHECKED tally_status tally_warm_segments(const tally_context *context, tally_op op, tally_type type,
                                               tally_segmentation kind);

/* ---- names and facts -------------------------------------------------------------------------------------------- */

/* Names as in the tables ("sum", "f32"). An unknown number gives NULL; the caller's own operators have no name here. An
 * unknown name gives TALLY_OP_END or TALLY_NATURAL. Strings are static. */
TALLY_API const char *tally_op_name(tally_op op);
TALLY_API const char *tally_op_summary(tally_op op);
TALLY_API int tally_op_inputs(tally_op op); /* 1 or 2; 0: unknown */
TALLY_API tally_op tally_op_from_name(const char *name);
TALLY_API const char *tally_type_name(tally_type type);
TALLY_API tally_type tally_type_from_name(const char *name);
TALLY_API size_t tally_type_size(tally_type type); /* bytes; 0 for NATURAL, STRUCT and unknown */
TALLY_API const char *tally_status_name(tally_status status); /* "BAD_SEGMENTS" */

TALLY_API const char *tally_version(void); /* "0.1.0" */

/* The instruction set in use ("avx512", "avx2", "baseline", "neon"), and the threads that a call may use by default.
 * The environment variable TALLY_ISA names the highest instruction set to use; it is read at the first call. */
TALLY_API const char *tally_cpu_isa(void);
TALLY_API int tally_cpu_threads(void);

#ifdef __cplusplus
}
#endif

#endif
