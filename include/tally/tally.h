/* Tally: parallel reductions with the same bits on every machine.
 *
 *     double x[1000], total;
 *     tally_reduce(NULL, TALLY_SUM, tally_in(x, TALLY_F64, 1000), tally_out(&total, TALLY_F64, 1));
 *
 * An operator is reduced over an array, or over each segment of an array that a cut divides. The bits of a result
 * depend on the values, their order, their type, the operator and the options, never on the processor or GPU, threads, instruction
 * sets, alignment or neighbouring segments: tally_reduce_segments gives for segment s what tally_reduce gives for that slice.
 *
 * Every function returns a status (0 is TALLY_OK); tally_message() then has a sentence that says what was wrong and
 * what to do. Nothing is printed, nothing aborts. Functions are synchronous: when one returns, the work is done; only what is
 * reduced to an output in GPU memory is put on a stream and done later (see tally_reduce, tally_reduce_segments).
 * Arrays belong to the caller and are only borrowed for the call, or until that stream is done. Values may lie at any address: no
 * alignment is needed.
 * Calls of the CPU share threads of the library's own, which sleep between calls; where the system refuses threads, fewer work. A child of fork() can
 * call everything that needs no GPU. Calls compute with the default floating-point environment, which callbacks of the caller's own operators
 * see too, and leave the caller's as it was: rounding, traps and flags.
 * A call takes at most TALLY_STACK_BYTES of the calling thread's stack, what callbacks and a GPU's driver take not counted.
 * Any thread may call any function; one context may serve several threads at once as long as none of them changes its
 * options; one state belongs to one thread at a time.
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

/* TALLY_NATURAL stands for "the type the operator gives" (outputs only). TALLY_STRUCT is the caller's own struct, for
 * operators made with tally_define; its size is the operator's input_size. Booleans are bytes: 0 is false, all else true.
 * f16 and bf16 are passed as their 16 bits; no compiler support is needed. */
typedef enum tally_type {
    TALLY_NATURAL = 0,
#define TALLY_ROW(id, name, numpy, bytes, class) TALLY_##id,
    TALLY_TYPES(TALLY_ROW)
#undef TALLY_ROW
    TALLY_STRUCT,
    TALLY_TYPE_END
} tally_type;

/* Built-in operators, and behind them the numbers tally_define hands out. */
typedef int32_t tally_op;
enum {
#define TALLY_ROW(id, name, kernel, inputs, on, gives, order, empty, nans, what) TALLY_##id,
    TALLY_OPERATORS(TALLY_ROW)
#undef TALLY_ROW
    TALLY_OP_END,
    TALLY_OP_USER = 1000
};

/* An input: `count` values of `type`, the first at `data`, each `stride` bytes after the one before. A stride of 0 means
 * side by side; it may be larger than the value (a field of a struct), smaller, or negative (then `data` is the first
 * value in reading order, the highest in memory). data may be NULL only when count is 0. It may be memory of a GPU (or managed) where
 * a function says so; compute goes there. */
typedef struct tally_array {
    const void *data;
    tally_type type;
    int64_t count;
    int64_t stride;
} tally_array;

/* An output: room for `count` results of `type`, `stride` bytes apart (0: side by side). TALLY_NATURAL is the type
 * tally_result_type names; another numeric type converts each result to it: integers that do not fit, and floats
 * that are no integer in range, are TALLY_OVERFLOW (the nearest representable value is written); floats round to nearest even.
 * A sum of integers may not fit its natural type either: see tally_overflow.
 * minmax writes two values per result, stats one tally_stats (its type stays natural). May overlap no input. data may be memory of a
 * GPU where a function says so. */
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

/* How an array is cut into segments. */
typedef enum tally_cut {
    TALLY_OFFSETS, /* index[0 .. count]: segment s is values index[s] .. index[s+1]-1; never decreasing */
    TALLY_LENGTHS, /* index[0 .. count-1]: segments follow one another from value 0; none negative */
    TALLY_OWNERS,  /* index[0 .. values-1]: the segment of each value, sorted, in 0 .. count-1; gaps are empty segments */
    TALLY_ROWS,    /* no index: see tally_rows */
    TALLY_PLANNED  /* index is a tally_plan: see tally_planned */
} tally_cut;

/* `count` segments. index: i32 or i64 as index_type says, side by side, any alignment; see tally_cut for its length.
 * length and inner are for TALLY_ROWS alone. */
typedef struct tally_segments {
    tally_cut cut;
    const void *index;
    tally_type index_type;
    int64_t count;
    int64_t length;
    int64_t inner;
} tally_segments;

static inline tally_segments tally_offsets(const void *index, tally_type index_type, int64_t count) {
    tally_segments segments = {TALLY_OFFSETS, index, index_type, count, 0, 0};
    return segments;
}
static inline tally_segments tally_lengths(const void *index, tally_type index_type, int64_t count) {
    tally_segments segments = {TALLY_LENGTHS, index, index_type, count, 0, 0};
    return segments;
}
static inline tally_segments tally_owners(const void *index, tally_type index_type, int64_t count) {
    tally_segments segments = {TALLY_OWNERS, index, index_type, count, 0, 0};
    return segments;
}
/* The axis of `length` in an array of shape (outer, length, inner), in C order: outer * inner results, result
 * o * inner + i over the values (o * length + l) * inner + i, l = 0 .. length-1. An axis k of an N-d array has as outer the
 * product of the extents before k and as inner the product of those after it; the last axis has inner 1. */
static inline tally_segments tally_rows(int64_t outer, int64_t length, int64_t inner) {
    tally_segments segments = {TALLY_ROWS, NULL, TALLY_NATURAL, outer, length, inner};
    return segments;
}

/* The result of TALLY_STATS. min, max and sum are .i for bool and signed input, .u for unsigned, .f for floats; var is
 * the variance with the context's ddof. */
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

/* A context carries options, an allocator and the caller's own operators. Where a context is asked for, NULL means the
 * process's own, which has the defaults and no operators of the caller's. */
typedef struct tally_context tally_context;

typedef enum tally_accuracy {
    TALLY_BEST = 0,  /* the best this version has: TALLY_EXACT */
    TALLY_FAST = 1,  /* floats are added in the canonical order (docs/order.md) */
    TALLY_EXACT = 2  /* sums of floats, and what is made of them, are the true value rounded once (docs/exact.md); it goes straight
                        to the type asked for, with no rounding to the natural type before */
} tally_accuracy;

typedef enum tally_nan {
    TALLY_NAN_PROPAGATE = 0, /* a NaN makes the result NaN; arg operators give the first NaN */
    TALLY_NAN_SKIP = 1,      /* NaNs keep their place in the order but add nothing and are not counted; only NaNs is as empty */
    TALLY_NAN_TOTAL = 2      /* min, max, minmax, argmin, argmax: IEEE 754 totalOrder, NaNs beyond the infinities */
} tally_nan;

/* Of integers, sum, norm1, sumsq, dot and the sum in stats are exact, however large; this is for those that do not fit an integer type
 * (docs/operators.md). Asked for as TALLY_F64 they always fit. */
typedef enum tally_overflow {
    TALLY_OVERFLOW_REFUSED = 0, /* the status is TALLY_OVERFLOW, and the nearest value of the type is written */
    TALLY_OVERFLOW_WRAPS = 1    /* the natural result is the sum modulo 2^64; other types are converted from that */
} tally_overflow;

typedef enum tally_backend {
    TALLY_BACKEND_AUTO = 0,      /* where the data is: CUDA if an array or the output is GPU or managed memory, else CPU */
    TALLY_BACKEND_CPU = 1,       /* threads and vector units */
    TALLY_BACKEND_REFERENCE = 2, /* slow and obvious, the same bits: for tests and doubts */
    TALLY_BACKEND_CUDA = 3,      /* an NVIDIA GPU; arrays in host memory are copied to it */
    TALLY_BACKEND_SIMT = 4       /* the GPU's kernels on a simulated GPU, slowly, with their mistakes reported */
} tally_backend;

typedef struct tally_options {
    size_t size; /* sizeof(tally_options): TALLY_OPTIONS_INIT sets it; zero everywhere else is the default */
    tally_accuracy accuracy;
    tally_nan nan;
    int threads; /* at most this many, 1 .. TALLY_MOST_THREADS; 0: the first number of OMP_NUM_THREADS when first asked, or the CPUs that the process may use */
    int ddof;    /* var and std divide by count - ddof (NaN where that is not positive); 0 .. TALLY_MOST_DDOF */
    tally_backend backend;
    tally_overflow overflow;
    int device;   /* which GPU, where neither array nor output says so */
    void *stream; /* the CUstream (cudaStream_t) that GPU work is put on; NULL: the default stream */
    void *scratch;        /* GPU memory of the caller's for whole arrays on a GPU, at a multiple of 16; NULL: the context takes its own. It is the */
    size_t scratch_bytes; /* context's until the next tally_set_options, and cleared when first used; see tally_scratch_bytes */
    int checked;  /* 1: segments reduced to GPU memory are waited for, so that what is wrong with the cut is reported too */
} tally_options;
#define TALLY_MOST_THREADS 65536
#define TALLY_MOST_DDOF 1000
#define TALLY_OPTIONS_INIT \
    {sizeof(tally_options), TALLY_BEST, TALLY_NAN_PROPAGATE, 0, 0, TALLY_BACKEND_AUTO, TALLY_OVERFLOW_REFUSED, 0, NULL, NULL, 0, 0}

/* allocate returns NULL or `bytes` bytes aligned for any type; release takes what allocate gave, or NULL. Both are
 * called by threads that call Tally and by those it starts, at the same time. */
typedef struct tally_allocator {
    void *(*allocate)(size_t bytes, void *user);
    void (*release)(void *memory, void *user);
    void *user;
} tally_allocator;

/* Makes a context with the default options; allocator NULL means malloc and free. The caller destroys it after its
 * states. TALLY_BAD_ARGUMENT: NULL context, or an allocator without both functions. TALLY_NO_MEMORY. */
TALLY_CHECKED tally_status tally_context_create(const tally_allocator *allocator, tally_context **context);
TALLY_API void tally_context_destroy(tally_context *context); /* NULL is fine */

/* Sets all options at once. TALLY_BAD_ARGUMENT: a NULL context (the process's own keeps its defaults), a size this
 * version does not know, a value out of range. Nothing changes on failure. */
TALLY_CHECKED tally_status tally_set_options(tally_context *context, const tally_options *options);
TALLY_API tally_options tally_get_options(const tally_context *context);

/* The sentence behind the last status other than TALLY_OK that this thread got; "" before any. Valid until the
 * thread's next call that fails. Never NULL. One line: control characters of names that it quotes are shown as \x1b. */
TALLY_API const char *tally_message(void);

/* ---- reducing ----------------------------------------------------------------------------------------------- */

/* Reduces the array to one result in out[0]. Method: docs/order.md; threads take runs of leaves, each leaf column by
 * column (Hillis and Steele's data-parallel reduction, with the tree fixed in advance). On a GPU, warps take runs of leaves and the last
 * block to arrive at a node combines it: one launch, docs/design/005-gpu-whole-arrays.md.
 * GPU: the array and out may be host, pinned, managed or GPU memory, those of a GPU all of the same one. Host arrays are copied to it.
 * The kernel is put on options.stream, ordered there like any other. The first call for an operator, type and set of options also
 * compiles or loads its kernel and takes scratch memory, and may wait for the GPU (tally_warm does the first ahead).
 *  - out in GPU memory: the call returns with the result still to come, in stream order; the array is not host memory. The values are
 *    not known by then: of TALLY_EMPTY and TALLY_OVERFLOW only an array without values is reported; the filler or the nearest value is
 *    written all the same. A type that the kernel does not give itself (see docs/gpu.md) takes a second, tiny kernel. Errors of
 *    kernels show at the stream. Capturing streams are fine: each captured call has scratch memory of its own, which lives as
 *    long as the context; that of other calls is shared by those on one context and stream.
 *  - out in other memory: the call waits for the stream, and knows all errors. A capturing stream is TALLY_BAD_ARGUMENT.
 * TALLY_EMPTY: no values (or NaNs only, skipped) and no identity; the filler of docs/operators.md is written.
 * TALLY_BAD_ARGUMENT: NULL data, negative count, unknown operator, out too small, a range of addresses that wraps, or
 * an operator of two inputs. TALLY_BAD_TYPE: the operator is not defined for in.type, or out.type cannot hold its result.
 * TALLY_OVERFLOW: see tally_output and tally_overflow. TALLY_NO_MEMORY: scratch memory (some KB a thread, 1 MiB or more on a GPU).
 * Of a GPU: TALLY_BAD_ARGUMENT: memory of different GPUs, of a GPU with a backend that is not for it, or a host array with out in GPU memory.
 * TALLY_UNSUPPORTED: an operator of the caller's own without text, no NVRTC, or no kernels of the simulator. TALLY_NO_SPACE: options.scratch_bytes are too few.
 * TALLY_BAD_ARGUMENT also: options.scratch is no memory of that GPU, or the text of an operator does not compile; the sentence quotes the compiler.
 * TALLY_NO_DEVICE: no driver, or no such GPU. TALLY_DEVICE_FAILED: the driver or the kernel failed; the sentence quotes the driver. */
TALLY_CHECKED tally_status tally_reduce(tally_context *context, tally_op op, tally_array in, tally_output out);

/* Reduces each segment; out[s] is what tally_reduce gives for segment s alone, arg operators counting from the segment's
 * start. The whole cut is checked before or while it is used, never is anything read outside the array.
 * GPU: as tally_reduce, and the index too may be host, pinned, managed or GPU memory; method: docs/design/006-gpu-segments.md. With out in
 * GPU memory no value of cut or array is known when the call returns: a cut that does not
 * fit leaves nothing of use in out, and is reported with options.checked only, as are TALLY_EMPTY and TALLY_OVERFLOW. Scratch memory: 1 to
 * 5 % of the array, for lengths and, where segments have more than 6 values on average, for owners the offsets that they stand for, and natural
 * results that are to be converted; rows (docs/design/007-gpu-rows.md): less, but by operators of the caller's own 4 or 8 bytes a row.
 * TALLY_EMPTY: as tally_reduce for at least one segment; all results are written, fillers included.
 * TALLY_BAD_CUT: negative or decreasing offsets, negative lengths, unsorted owners, owners outside 0 .. count-1, segments
 * beyond the array, rows that do not multiply to in.count; out then holds nothing of use. Others as tally_reduce. */
TALLY_CHECKED tally_status tally_reduce_segments(tally_context *context, tally_op op, tally_array in,
                                                 tally_segments segments, tally_output out);

/* A cut made ready once for many reductions: it is checked, lengths and owners become offsets, and for a GPU the offsets are shared out to
 * blocks. The bits are those of the cut itself. */
typedef struct tally_plan tally_plan;

/* Makes the plan of a cut of `values` values; they are mostly to be of `type` (others are fine, and take a kernel more on a GPU). Where it is made
 * ready: by the context's options.backend, AUTO meaning where the index lies. The index is borrowed until the plan is closed (lengths, owners and
 * copies of host memory for a GPU: until this returns); the caller closes the plan before the context. It waits for what it put on options.stream.
 * One plan serves several threads and contexts at once. Memory: for lengths and owners 4 or 8 bytes a segment, on a GPU 1 per mille of the
 * array more. TALLY_BAD_CUT, TALLY_BAD_ARGUMENT, TALLY_NO_MEMORY, and of a GPU: as tally_reduce_segments. TALLY_BAD_TYPE: no type. */
TALLY_CHECKED tally_status tally_plan_open(tally_context *context, tally_type type, int64_t values, tally_segments segments, tally_plan **plan);
TALLY_API void tally_plan_close(tally_plan *plan); /* when what uses it is done; NULL is fine */

/* The cut of a plan, for arrays of as many values as it was made of (else TALLY_BAD_CUT). One made ready for a GPU serves reductions on that GPU
 * only (else TALLY_BAD_ARGUMENT), one of the host all, and is copied to a GPU for each. */
static inline tally_segments tally_planned(const tally_plan *plan) {
    tally_segments segments = {TALLY_PLANNED, plan, TALLY_NATURAL, 0, 0, 0};
    return segments;
}

/* The same for operators of two inputs (dot): both arrays have the same type and count, and lie in host or GPU memory each. */
TALLY_CHECKED tally_status tally_reduce_pair(tally_context *context, tally_op op, tally_array left, tally_array right,
                                             tally_output out);
TALLY_CHECKED tally_status tally_reduce_segments_pair(tally_context *context, tally_op op, tally_array left,
                                                      tally_array right, tally_segments segments, tally_output out);

/* The type, and the bytes of one result (a pair for minmax, sizeof(tally_stats) for stats), that op gives for input of
 * `type`. Either pointer may be NULL. TALLY_BAD_ARGUMENT: unknown operator or type. TALLY_BAD_TYPE: not defined. */
TALLY_CHECKED tally_status tally_result_type(const tally_context *context, tally_op op, tally_type type,
                                             tally_type *result, size_t *result_bytes);

/* The number of values in a leaf for input of `type`: 4096 / its size. For TALLY_STRUCT see tally_define. 0: unknown type. */
TALLY_API int64_t tally_leaf_length(tally_type type);

/* ---- the caller's own operators ------------------------------------------------------------------------------- */

/* An operator is a lift, an associative combine, its identity and a finish, in C callbacks over runs of values so that the
 * caller's compiler can vectorise their loops; `text` is the same operator as source, compiled when it is first used on a GPU: for arrays
 * in host memory the callbacks are needed, for those on a GPU the text (else TALLY_UNSUPPORTED). The two must give the same bits.
 * Accumulators and results handed to callbacks lie side by side, aligned for any struct of their size; values lie as the caller's
 * array does. Callbacks run on several threads at once. */
typedef struct tally_operator {
    size_t size;         /* sizeof(tally_operator) */
    const char *name;    /* 1 to 31 letters, digits, '_' or '-'; saved states are found again by it */
    tally_type input;    /* any type, or TALLY_STRUCT */
    size_t input_size;   /* bytes of one value: for TALLY_STRUCT 1 .. 64; else 0 or the type's size */
    size_t acc_size;     /* bytes of one accumulator, 1 .. 64 */
    tally_type result;   /* type of one result, or TALLY_STRUCT */
    size_t result_size;  /* bytes of one result: for TALLY_STRUCT 1 .. 64; else 0 or the type's size */
    int commutative;     /* not 0: the order of operands is free up to rounding (column order); 0: kept (7-fold order) */
    const void *identity; /* acc_size bytes: combine(identity, a) and combine(a, identity) are a, bit for bit */
    /* accs[k] = lift(value k), k = 0 .. count-1; the values lie side by side at `values`; value 0 has index `first`. */
    void (*lift)(void *accs, const void *values, int64_t count, int64_t first, void *user);
    /* left[k] = combine(left[k], right[k]), k = 0 .. count-1; left comes earlier in the input; left and right do not overlap. */
    void (*combine)(void *left, const void *right, int64_t count, void *user);
    /* results[k] = finish(accs[k]); NULL: the accumulator's bytes are the result (acc_size must equal the result's). */
    void (*finish)(void *results, const void *accs, int64_t count, void *user);
    void *user;       /* handed to every callback */
    const char *text; /* the operator as source (docs/operators.md), or NULL; lift, combine and finish may then all be NULL */
} tally_operator;

/* Adds an operator to a context and gives its number; the description, its identity and its text are copied, `user` and the
 * callbacks must outlive the context. Do not define while other threads reduce on the context. A leaf of a struct type has
 * 4096 / input_size values, rounded down to a power of two.
 * TALLY_BAD_ARGUMENT: NULL context, a field out of range, a name that is taken. TALLY_UNSUPPORTED: neither callbacks nor text.
 * TALLY_NO_MEMORY. */
TALLY_CHECKED tally_status tally_define(tally_context *context, const tally_operator *definition, tally_op *op);

/* ---- states --------------------------------------------------------------------------------------------------- */

/* A state is the reduction of a run of values that begins at value `first` of a whole: it is pushed to, merged with the
 * state of the run that follows, saved, loaded, and, when it begins at 0, finished to the bits of tally_reduce over the whole.
 * A state copies the options it is opened with (a loaded one has `overflow` from its context); its context must outlive it. One state takes some 30 KB.
 * A state lives in host memory. An array in GPU memory is pushed by its GPU, on options.stream, and waited for, as is a result that
 * goes there. An operator that has only text has no states: TALLY_UNSUPPORTED. */
typedef struct tally_state tally_state;

/* TALLY_BAD_ARGUMENT: NULL state, negative first, unknown operator. TALLY_BAD_TYPE. TALLY_NO_MEMORY. */
TALLY_CHECKED tally_status tally_state_open(tally_context *context, tally_op op, tally_type type, int64_t first,
                                            tally_state **state);
TALLY_API void tally_state_close(tally_state *state); /* NULL is fine */

/* Appends values (for an operator of two inputs: pairs of values). Errors as tally_reduce; after one the state is as before. */
TALLY_CHECKED tally_status tally_state_push(tally_state *state, tally_array in);
TALLY_CHECKED tally_status tally_state_push_pair(tally_state *state, tally_array left, tally_array right);

/* into becomes the state of both runs; later is unchanged. later must begin where into ends; then the bits are those of one
 * state that was pushed everything, wherever the border lies. Where order cannot show (docs/order.md) any state opened at 0
 * may be merged too, and counts as following.
 * TALLY_BAD_ORDER: later begins elsewhere. TALLY_BAD_ARGUMENT: NULL, the same state twice, or different operator, type or
 * options. */
TALLY_CHECKED tally_status tally_state_merge(tally_state *into, const tally_state *later);

/* How many values were pushed or merged, and where the run begins. NULL gives 0. */
TALLY_API int64_t tally_state_count(const tally_state *state);
TALLY_API int64_t tally_state_first(const tally_state *state);

/* Writes the result of the run to out[0]; the state stays open and can be pushed to. TALLY_BAD_ORDER: the run does not
 * begin at 0 and its order could show: merge it into its predecessor. Others as tally_reduce. */
TALLY_CHECKED tally_status tally_state_finish(const tally_state *state, tally_output out);

/* Saves to `capacity` bytes at buffer and gives the bytes written in *size (needed, when buffer is NULL or too small:
 * TALLY_NO_SPACE, unless buffer is NULL). Layout: docs/states.md; the same bytes on every machine. */
TALLY_CHECKED tally_status tally_state_save(const tally_state *state, void *buffer, size_t capacity, size_t *size);

/* Opens the state saved in `size` bytes. An operator of the caller's own is found in the context by its name.
 * TALLY_BAD_STATE: anything but an unharmed state of this version. TALLY_BAD_ARGUMENT: NULL. TALLY_NO_MEMORY. */
TALLY_CHECKED tally_status tally_state_load(tally_context *context, const void *buffer, size_t size,
                                            tally_state **state);

/* What a state reduces. NULL gives TALLY_OP_END and TALLY_NATURAL. */
TALLY_API tally_op tally_state_op(const tally_state *state);
TALLY_API tally_type tally_state_type(const tally_state *state);

/* ---- GPUs ------------------------------------------------------------------------------------------------------- */

/* NVIDIA's driver and compiler are found when they are first needed; nothing here is needed to reduce on a GPU. docs/gpu.md has the
 * environment variables. */
typedef struct tally_gpu_info {
    char name[256];
    int sm;              /* compute capability, 90 for 9.0; Tally needs 75 */
    int multiprocessors;
    uint64_t memory;     /* bytes */
    int driver;          /* the newest CUDA its driver knows: 13000 for 13.0 */
} tally_gpu_info;

/* How many GPUs the driver shows this process: at least 1. TALLY_NO_DEVICE: none, and why; *count is 0. TALLY_DEVICE_FAILED. */
TALLY_CHECKED tally_status tally_gpu_count(int *count);
/* Describes GPU `ordinal`, counted from 0 as options.device is; starts nothing on it. Errors as above; no such GPU is TALLY_NO_DEVICE. */
TALLY_CHECKED tally_status tally_gpu_describe(int ordinal, tally_gpu_info *info);

/* The compiler of GPU kernels ("NVRTC 13.0"), and the folder that keeps what it makes. NULL: there is none, and tally_message() says why.
 * The first is static, the second lasts until the thread asks again, and is made when something is kept. */
TALLY_API const char *tally_gpu_compiler(void);
TALLY_API const char *tally_cache_folder(void);

/* Writes the CUDA source of the kernel that reduces a whole array with the context's options, as one file that nvcc compiles alone: to
 * `capacity` bytes at buffer, a 0 at its end, and the bytes of both in *size (needed, when buffer is NULL or too small: TALLY_NO_SPACE,
 * unless buffer is NULL). Needs no GPU. TALLY_BAD_ARGUMENT, TALLY_BAD_TYPE as tally_result_type. TALLY_UNSUPPORTED: an operator of the
 * caller's own without text. TALLY_NO_MEMORY. */
TALLY_CHECKED tally_status tally_emit(const tally_context *context, tally_op op, tally_type type, char *buffer,
                                      size_t capacity, size_t *size);
/* The bytes of GPU memory that options.scratch needs for reductions of at most `count` values by op, whatever the GPU; some 100 KB, and more
 * for large arrays whose order shows. A reduction with such memory allocates nothing. Reductions that share it must follow one another: on one
 * stream, or one graph's chain. Needs no GPU. TALLY_BAD_ARGUMENT: NULL bytes, a negative count; others as tally_result_type. */
TALLY_CHECKED tally_status tally_scratch_bytes(const tally_context *context, tally_op op, tally_type type, int64_t count, size_t *bytes);
/* Makes that kernel ready on the context's GPU (options.device; backend AUTO means CUDA): compiled, kept in the cache, loaded. May take
 * seconds; nothing when it is ready. TALLY_BAD_ARGUMENT: a backend without GPU. Others as tally_reduce on a GPU and tally_emit. */
TALLY_CHECKED tally_status tally_warm(const tally_context *context, tally_op op, tally_type type);
/* The same for the kernels that tally_reduce_segments uses for such cuts: two or three, for TALLY_ROWS all of which the
 * shape chooses. What one call of this, or of a reduction, has to compile is compiled side by side, on as many threads as
 * options.threads allows. */
TALLY_CHECKED tally_status tally_warm_segments(const tally_context *context, tally_op op, tally_type type, tally_cut cut);

/* ---- names and facts -------------------------------------------------------------------------------------------- */

/* Names as in the tables ("sum", "f32"); NULL for an unknown number (user operators have none here). The _from_ functions give
 * TALLY_OP_END and TALLY_NATURAL for an unknown name. Strings are static. */
TALLY_API const char *tally_op_name(tally_op op);
TALLY_API const char *tally_op_summary(tally_op op);
TALLY_API int tally_op_inputs(tally_op op); /* 1 or 2; 0: unknown */
TALLY_API tally_op tally_op_from_name(const char *name);
TALLY_API const char *tally_type_name(tally_type type);
TALLY_API tally_type tally_type_from_name(const char *name);
TALLY_API size_t tally_type_size(tally_type type); /* bytes; 0 for NATURAL, STRUCT and unknown */
TALLY_API const char *tally_status_name(tally_status status); /* "BAD_CUT" */

TALLY_API const char *tally_version(void); /* "0.1.0" */

/* What the machine offers: instruction set in use ("avx512", "avx2", "baseline", "neon"; the environment variable TALLY_ISA names
 * the highest level to use, read at the first call), and the threads a call may use by default. */
TALLY_API const char *tally_cpu_isa(void);
TALLY_API int tally_cpu_threads(void);

#ifdef __cplusplus
}
#endif

#endif
