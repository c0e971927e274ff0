/* What the files of the extension share: arrays as they come in, calls, results. CPython's stable ABI of 3.11. */
#ifndef TALLY_PYTHON_H
#define TALLY_PYTHON_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "dlpack.h"
#include "tally/tally.h"

#define MOST_AXES 64
#define HOST (-1) /* array.device of host memory */

/* ---- arrays (array.c) ---- */

/* What an array's type asks for. handler is an object of tally_reduce/_arrays.py, or NULL: NumPy and plain buffers
 * need none. */
typedef struct family {
    PyTypeObject *type;
    bool numpy;
    PyObject *handler;
    bool views, finishes; /* the handler has view, and finish */
    bool is_lazy;         /* memory may not be what the values are: PyTorch */
    bool arrow;           /* it has __arrow_c_array__ */
    const dl_exchange *exchange;
} family;

/* An array that somebody else owns: values of `type`, `strides` bytes apart along each axis. */
typedef struct array {
    char *data;
    tally_type type;
    int axes;
    int device; /* the GPU's number, or HOST */
    bool read_only;
    int64_t count;
    int64_t item; /* bytes of a value */
    void *stream; /* the CUDA stream on which a GPU's array is ready */
    family family;
    int64_t shape[MOST_AXES];
    int64_t strides[MOST_AXES];
    /* who holds the memory: one of these */
    bool has_buffer;
    Py_buffer buffer;
    PyObject *substitute; /* what a handler gave in the place of the caller's object */
    dl_managed *managed;
    dl_versioned *versioned;
    int64_t *converted; /* values that had to be copied: integers of a list or of another type, bools of bits, ... */
    /* the offsets of an Arrow array of lists, lists_count + 1 of them; NULL: it has no lists */
    const char *lists;
    tally_type lists_type;
    int64_t lists_count;
} array;

/* Opens the array that `object` is. stream: the CUDA stream that will read it, if the caller named one. `name` is for
 * messages. false: a Python exception is set, and nothing is to be closed. */
bool array_open(array *it, PyObject *object, PyObject *stream, const char *name);
void array_close(array *it);
/* Opens the one or two arrays of a call, which must be of one kind; if `lists`, one may have lists. false: none is
 * open. */
bool inputs_open(array *in, int count, PyObject *const *objects, PyObject *stream, bool lists);
/* Releases the interpreter's lock if there is much to do; the caller restores the thread, if any. */
PyThreadState *release_lock(const array *in);
/* Parts of array_open: shapes and types that exporters give are checked, as they may be wrong. */
bool shape_take(array *it, int axes, const char *name);
bool count_values(array *it, const char *name);
void set_packed_strides(array *it);
bool type_from_parts(int class, int64_t bytes, tally_type *type);
/* dlpack.c: the C exchange API of a type (NULL: it has none), an array by it, by __dlpack__, or in a capsule. */
bool exchange_of(PyTypeObject *type, const dl_exchange **exchange);
bool open_exchange(array *it, PyObject *object, PyObject *stream, const char *name);
/* A new array of that library in host memory, in C order. */
PyObject *exchange_make(const dl_exchange *exchange, tally_type type, int axes, int64_t *shape, char **data);
bool open_dlpack(array *it, PyObject *object, PyObject *stream, const char *name);
bool open_capsule(array *it, PyObject *capsule, const char *name);
bool open_arrow(array *it, PyObject *object, const char *name); /* arrow.c: by __arrow_c_array__ */
bool arrays_overlap(const array *left, const array *right);
bool array_is_packed(const array *it); /* in C order, side by side */

/* Opens an array of integers, or a sequence of Python ints, as i32 or i64 side by side. */
bool index_open(array *it, PyObject *object, PyObject *stream, const char *name);
bool index_widen(array *it, const char *name); /* makes it i64 */

/* ---- arguments (arguments.c) ---- */

enum keyword {
    K_AXIS,
    K_KEEPDIMS,
    K_DTYPE,
    K_OUT,
    K_INITIAL,
    K_WHERE,
    K_NAN,
    K_ACCURACY,
    K_STREAM,
    K_DDOF,
    K_LENGTHS,
    K_OFFSETS,
    K_STARTS,
    K_ENDS,
    K_SEGMENT_IDS,
    K_NUM_SEGMENTS,
    K_SORTED,
    K_OUT_OF_RANGE,
    K_CHECKED,
    K_PLAN,
    K_END
};

/* Keyword arguments, borrowed; NULL where none was given. */
typedef struct call_arguments {
    PyObject *value[K_END];
} call_arguments;

bool arguments_prepare(void); /* once, when the module is made */
/* Takes the keywords that `allowed` (bits 1 << K_...) has. names may be NULL. */
bool arguments_take(call_arguments *it, uint32_t allowed, PyObject *const *values, PyObject *names,
                    const char *function);
bool given(const call_arguments *it, enum keyword which); /* and not None */

bool type_from_object(PyObject *object, tally_type *type); /* a name of Tally's, or a dtype of any library */
const char *type_name(tally_type type);                    /* "float32" */
bool op_from_object(PyObject *object, tally_op *op, PyObject **user);
/* `number` gets the place of a word in `words`, which end with NULL. */
bool word_argument(PyObject *object, const char *name, const char *const *words, int *number);
bool int_argument(PyObject *object, const char *name, int64_t low, int64_t high, int64_t *value);
bool stream_argument(PyObject *object, void **stream);

/* Raises the exception for a status, with the library's sentence. Returns NULL. */
PyObject *raise_status(tally_status status);

/* ---- contexts (contexts.c) ---- */

/* A context with the options of a call. `user` is an Operator or NULL. context NULL is right: the defaults. `borrowed`
 * is given back by context_release. */
typedef struct call_context {
    tally_context *context;
    void *borrowed;
    tally_op op;
} call_context;
bool context_for(call_context *it, tally_op op, PyObject *user, const call_arguments *arguments, const array *in);
/* The same for one of Tally's operators, on a thread without the interpreter's lock. */
tally_status context_borrow(call_context *it, tally_op op, const tally_options *options);
void context_release(call_context *it);

/* ---- layout (layout.c) ---- */

/* How the results of a reduction of axes lie in an array: `loops` axes that calls are made for, one by one, and inside
 * of them the shape (outer, length, inner) of tally_rows, of values that are `stride` bytes apart. */
typedef struct layout {
    char *data;
    int64_t outer, length, inner, stride;
    int loops;
    int64_t loop_shape[MOST_AXES];
    int64_t loop_strides[MOST_AXES];
} layout;

/* false: the array must be packed first. `reduced` has a bit for each axis that is reduced; any_order says that the
 * values of a result may be taken in any order. */
bool layout_of(layout *it, const array *in, uint64_t reduced, bool any_order);

/* Copies the values of each result side by side. mask (NULL: all), of the array's shape, chooses values; initial (NULL:
 * none) is a value put before those of each result. lengths gets the number of values of each result. `values` has
 * room for all values and one initial for each result. Returns the number of values. */
int64_t layout_pack(char *values, int64_t *lengths, const array *in, uint64_t reduced, const array *mask,
                    const char *initial);

/* ---- results (results.c) ---- */

/* Where results go: a scalar of this struct, an array made by the caller's library, or the caller's own `out`. */
typedef struct result_set {
    tally_type type; /* TALLY_NATURAL for stats and structs */
    int64_t item;    /* bytes of one result */
    int axes;
    int64_t shape[MOST_AXES + 1];
    int64_t count;
    char *data; /* where Tally writes them, side by side */
    bool scalar;
    bool own_out;
    array out;
    PyObject *object;
    PyObject *scratch; /* memory for results, if out lies otherwise: a bytearray */
    const family *family;
    PyObject *like; /* the caller's array, borrowed */
    tally_op op;
    tally_type input;
    union {
        double force_alignment;
        char bytes[64];
    } value;
} result_set;

/* The type of results where no dtype is asked for: TALLY_NATURAL for stats. Sums and means of halves are halves. */
bool result_type(const call_context *context, tally_type input, tally_type *type);
/* `shape` of `axes` axes is that of the results; a pair adds an axis of 2. `read` are the arrays that out may not
 * overlap. */
bool results_open(result_set *it, const call_context *context, const array *in, PyObject *like,
                  const call_arguments *arguments, const int64_t *shape, int axes, const array *const *read, int n);
PyObject *results_take(result_set *it); /* a new reference; closes */
void results_close(result_set *it);
PyObject *scalar_from(const void *value, tally_type type, bool numpy);
PyObject *pair_from(const void *values, tally_type type, bool numpy);
PyObject *stats_from(const tally_stats *stats, tally_type input, bool numpy);

/* ---- calls ---- */

/* The facts of an operator that a binding needs, by the tables. Operators of the caller's own give false and 1. */
bool op_takes_initial(tally_op op); /* its result is what its values are: sum, prod, min, and ... */
bool op_gives_nothing(tally_op op); /* NaN for no values, where the library says TALLY_EMPTY: mean, var, std */
bool op_counts_positions(tally_op op);
bool op_order_shows(tally_op op, tally_type type, bool fast);
bool op_rounds_to_input(tally_op op); /* f16 in, f16 out */
int op_inputs(tally_op op);

/* tally_reduce_segments, or for two inputs tally_reduce_segments_pair. */
tally_status reduce_segments_of(const call_context *it, int inputs, const tally_array *in, tally_segments segments,
                                tally_output out);

PyObject *reduce_call(tally_op op, PyObject *user, PyObject *const *inputs, const call_arguments *arguments);
PyObject *segments_call(tally_op op, PyObject *user, PyObject *const *inputs, const call_arguments *arguments);
/* Nodes (nodes.c). */
PyObject *node_facts(PyObject *self, PyObject *args, PyObject *words);
PyObject *make_nodes(PyObject *self, PyObject *args, PyObject *words);
PyObject *merge_nodes(PyObject *self, PyObject *args, PyObject *words);
PyObject *shift_nodes(PyObject *self, PyObject *args, PyObject *words);
PyObject *finish_nodes(PyObject *self, PyObject *args, PyObject *words);
/* _xla_handlers(): (name, platform, capsule) of each handler for jax.ffi (xla.c). */
PyObject *xla_handlers(PyObject *self, PyObject *unused);

extern PyObject *tally_error, *arrays_module, *stats_type;
extern PyTypeObject *plan_type, *operator_type, *state_type;
bool types_add(PyObject *module); /* State and Operator */
PyObject *object_allocate(PyTypeObject *type);
void object_free(PyObject *self); /* what an object of such a type ends with */
bool plan_add(PyObject *module);

tally_plan *plan_of(PyObject *plan, int64_t *segments);
const tally_operator *operator_definition(PyObject *object);

/* Work of more bytes than this releases the interpreter's lock. */
#define LITTLE_WORK 32768

#endif
