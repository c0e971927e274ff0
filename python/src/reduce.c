/* reduce(x, op) and its axes, where= and initial=. */
#include "python.h"

#include <stdlib.h>

/* One call: what is reduced, and where results go. Shared by the threads' part, which runs without the lock. */
typedef struct problem {
    const call_context *context;
    const array *in[2];
    layout layout[2];
    int inputs;
    uint64_t reduced;
    const array *mask;
    const char *initial;
    bool packed;
    result_set *results;
} problem;

/* ---- arguments ---- */

static bool one_axis(PyObject *object, int axes, uint64_t *reduced) {
    int64_t axis = 0;
    if (axes == 0) {
        PyErr_SetString(PyExc_ValueError, "axis: the array has no axes; leave axis out");
        return false;
    }
    if (!int_argument(object, "axis", -axes, axes - 1, &axis)) return false;
    if (axis < 0) axis += axes;
    if (*reduced >> axis & 1) {
        PyErr_Format(PyExc_ValueError, "axis: %lld is named twice", (long long)axis);
        return false;
    }
    *reduced |= (uint64_t)1 << axis;
    return true;
}

static bool take_axes(const call_arguments *arguments, int axes, uint64_t *reduced) {
    PyObject *axis = arguments->value[K_AXIS];
    *reduced = axes == 64 ? UINT64_MAX : ((uint64_t)1 << axes) - 1;
    if (!given(arguments, K_AXIS)) return true;
    *reduced = 0;
    if (!PyTuple_Check(axis)) return one_axis(axis, axes, reduced);
    for (Py_ssize_t k = 0; k < PyTuple_Size(axis); k++)
        if (!one_axis(PyTuple_GetItem(axis, k), axes, reduced)) return false;
    return true;
}

static int result_shape(const array *in, uint64_t reduced, const call_arguments *arguments, int64_t *shape) {
    const int keep = given(arguments, K_KEEPDIMS) ? PyObject_IsTrue(arguments->value[K_KEEPDIMS]) : 0;
    int axes = 0;
    if (keep < 0) return -1;
    for (int k = 0; k < in->axes; k++)
        if (!(reduced >> k & 1))
            shape[axes++] = in->shape[k];
        else if (keep)
            shape[axes++] = 1;
    return axes;
}

/* A mask of bools that broadcasts to the array's shape. */
static bool take_mask(array *mask, PyObject *object, const array *in) {
    if (!array_open(mask, object, NULL, "where")) return false;
    const int more = in->axes - mask->axes;
    bool right = mask->type == TALLY_BOOL && mask->device == HOST && more >= 0;
    for (int k = in->axes; k-- > 0 && right;) {
        const int64_t extent = k < more ? 1 : mask->shape[k - more];
        mask->strides[k] = extent == 1 ? 0 : mask->strides[k - more];
        right = extent == 1 || extent == in->shape[k];
    }
    if (right) {
        mask->axes = in->axes;
        memcpy(mask->shape, in->shape, sizeof mask->shape[0] * (size_t)in->axes);
        return true;
    }
    PyErr_SetString(PyExc_ValueError,
                    "where must be an array of bool in host memory that broadcasts to the array's shape");
    array_close(mask);
    return false;
}

/* The bytes of `object` as a value of the array's type. */
static bool take_initial(char *bytes, PyObject *object, tally_type type) {
    if (type >= TALLY_F16) {
        const double value = PyFloat_AsDouble(object);
        if (PyErr_Occurred()) return false;
        const tally_status status =
            tally_reduce(NULL, TALLY_SUM, tally_in(&value, TALLY_F64, 1), tally_out(bytes, type, 1));
        return status == TALLY_OK || raise_status(status);
    }
    PyObject *number = PyNumber_Index(object);
    const tally_type wide = type == TALLY_U64 ? TALLY_U64 : TALLY_I64;
    int64_t value = 0;
    if (number) value = wide == TALLY_U64 ? (int64_t)PyLong_AsUnsignedLongLong(number) : PyLong_AsLongLong(number);
    Py_XDECREF(number);
    tally_status status = TALLY_OK;
    if (!PyErr_Occurred()) status = tally_reduce(NULL, TALLY_SUM, tally_in(&value, wide, 1), tally_out(bytes, type, 1));
    if (status == TALLY_OVERFLOW || (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_OverflowError)))
        PyErr_Format(PyExc_OverflowError, "initial: %R is no value of the array's dtype, %s; convert the array first",
                     object, type_name(type));
    return !PyErr_Occurred();
}

/* ---- running ---- */

static tally_status worse(tally_status one, tally_status other) {
    const bool grave = one != TALLY_OK && one != TALLY_EMPTY;
    return grave || other == TALLY_OK ? one : other;
}

static tally_status one_call(const problem *it, const int64_t *offset, tally_output out) {
    const layout *shape = &it->layout[0];
    tally_array in[2];
    for (int k = 0; k < it->inputs; k++) {
        const tally_array one = {it->layout[k].data + offset[k], it->in[k]->type,
                                 shape->outer * shape->length * shape->inner, it->layout[k].stride};
        in[k] = one;
    }
    tally_context *context = it->context->context;
    const tally_op op = it->context->op;
    if (out.count == 1)
        return it->inputs == 1 ? tally_reduce(context, op, in[0], out)
                               : tally_reduce_pair(context, op, in[0], in[1], out);
    const tally_segments rows = tally_rows(shape->outer, shape->length, shape->inner);
    return reduce_segments_of(it->context, it->inputs, in, rows, out);
}

static tally_status run_in_place(const problem *it) {
    const layout *shape = &it->layout[0];
    tally_output out = tally_out(it->results->data, it->results->type, shape->outer * shape->inner);
    int64_t index[MOST_AXES], offset[2] = {0, 0}, calls = 1;
    for (int k = 0; k < shape->loops; k++) {
        index[k] = 0;
        calls *= shape->loop_shape[k];
    }
    tally_status status = TALLY_OK;
    for (int64_t call = 0; call < calls; call++) {
        status = worse(status, one_call(it, offset, out));
        if (status != TALLY_OK && status != TALLY_EMPTY && status != TALLY_OVERFLOW) break;
        out.data = (char *)out.data + out.count * it->results->item;
        for (int k = shape->loops; k-- > 0;) {
            for (int side = 0; side < it->inputs; side++) offset[side] += it->layout[side].loop_strides[k];
            if (++index[k] < shape->loop_shape[k]) break;
            for (int side = 0; side < it->inputs; side++)
                offset[side] -= shape->loop_shape[k] * it->layout[side].loop_strides[k];
            index[k] = 0;
        }
    }
    return status;
}

static tally_status reduce_packed(const problem *it, char *const *values, int64_t count, int64_t length,
                                  const int64_t *lengths) {
    const int64_t rows = it->results->item ? it->results->count : 0;
    tally_array in[2];
    for (int k = 0; k < it->inputs; k++) in[k] = tally_in(values[k], it->in[k]->type, count);
    const tally_segments segments = lengths ? tally_lengths(lengths, TALLY_I64, rows) : tally_rows(rows, length, 1);
    const tally_output out = tally_out(it->results->data, it->results->type, rows);
    return reduce_segments_of(it->context, it->inputs, in, segments, out);
}

/* false: no memory for the copy. */
static bool run_packed(const problem *it, tally_status *status) {
    const int64_t rows = it->results->count, count = it->in[0]->count + (it->initial ? rows : 0);
    char *values[2] = {NULL, NULL};
    int64_t *lengths = it->mask ? malloc((size_t)(rows + 1) * sizeof *lengths) : NULL;
    bool room = lengths || !it->mask;
    for (int k = 0; k < it->inputs; k++) {
        values[k] = malloc((size_t)(count * it->in[k]->item) + 1);
        room = room && values[k];
    }
    if (room) {
        int64_t taken = 0;
        for (int k = 0; k < it->inputs; k++)
            taken = layout_pack(values[k], lengths, it->in[k], it->reduced, it->mask, it->initial);
        *status = reduce_packed(it, values, taken, rows ? taken / rows : 0, lengths);
    }
    free(values[0]), free(values[1]), free(lengths);
    return room;
}

static bool run(problem *it) {
    PyThreadState *thread = release_lock(it->in[0]);
    tally_status status = TALLY_OK;
    bool room = true;
    if (it->packed)
        room = run_packed(it, &status);
    else
        status = run_in_place(it);
    if (thread) PyEval_RestoreThread(thread);
    if (!room) return PyErr_NoMemory() != NULL;
    if (status == TALLY_EMPTY && op_gives_nothing(it->context->op)) return true;
    return status == TALLY_OK || raise_status(status);
}

/* ---- a call ---- */

static bool arrange(problem *it, const call_arguments *arguments) {
    const array *in = it->in[0];
    it->packed = it->mask || it->initial;
    for (int k = 0; k < it->inputs && !it->packed; k++)
        it->packed = !layout_of(&it->layout[k], it->in[k], it->reduced, false);
    if (it->packed && it->inputs == 1 && !it->mask && !it->initial) {
        PyObject *accuracy = arguments->value[K_ACCURACY];
        const bool fast = given(arguments, K_ACCURACY) && PyUnicode_CompareWithASCIIString(accuracy, "fast") == 0;
        if (!op_counts_positions(it->context->op) && !op_order_shows(it->context->op, in->type, fast))
            it->packed = !layout_of(&it->layout[0], in, it->reduced, true);
    }
    if (it->inputs == 2 && !it->packed) {
        const layout *a = &it->layout[0], *b = &it->layout[1];
        it->packed = a->outer != b->outer || a->length != b->length || a->inner != b->inner || a->loops != b->loops;
        for (int k = 0; k < a->loops && !it->packed; k++) it->packed = a->loop_shape[k] != b->loop_shape[k];
    }
    if (!it->packed || in->device == HOST) return true;
    PyErr_SetString(PyExc_ValueError, it->mask || it->initial
                                          ? "where and initial are for arrays in host memory"
                                          : "these axes of a strided array on a GPU cannot be reduced where they lie; "
                                            "copy it first: x.contiguous(), or cupy.ascontiguousarray(x)");
    return false;
}

static bool special_arguments(problem *it, const call_arguments *arguments, array *mask, char *initial) {
    const tally_op op = it->context->op;
    if (given(arguments, K_WHERE) && arguments->value[K_WHERE] != Py_True) {
        if (op_counts_positions(op) || it->inputs == 2) {
            PyErr_SetString(PyExc_TypeError, "where is not supported by operators of positions or of two arrays");
            return false;
        }
        if (!take_mask(mask, arguments->value[K_WHERE], it->in[0])) return false;
        it->mask = mask;
    }
    if (given(arguments, K_INITIAL)) {
        if (!op_takes_initial(op)) {
            PyErr_SetString(PyExc_TypeError, "initial is for sum, prod, min, max, and, or, xor");
            return false;
        }
        if (!take_initial(initial, arguments->value[K_INITIAL], it->in[0]->type)) return false;
        it->initial = initial;
    }
    return true;
}

static PyObject *reduce_opened(problem *it, PyObject *const *inputs, const call_arguments *arguments) {
    int64_t shape[MOST_AXES];
    array mask;
    char initial[8];
    result_set results;
    PyObject *result = NULL;
    if (!take_axes(arguments, it->in[0]->axes, &it->reduced)) return NULL;
    const int axes = result_shape(it->in[0], it->reduced, arguments, shape);
    if (axes < 0 || !special_arguments(it, arguments, &mask, initial)) goto done;
    if (!arrange(it, arguments)) goto done;
    const array *const read[] = {it->in[0], it->inputs == 2 ? it->in[1] : NULL, it->mask};
    if (!results_open(&results, it->context, it->in[0], inputs[0], arguments, shape, axes, read, 3)) goto done;
    it->results = &results;
    if (results.count == 0 || run(it))
        result = results_take(&results);
    else
        results_close(&results);
done:
    if (it->mask) array_close(&mask);
    return result;
}

PyObject *reduce_call(tally_op op, PyObject *user, PyObject *const *inputs, const call_arguments *arguments) {
    array in[2];
    call_context context;
    PyObject *result = NULL, *stream = given(arguments, K_STREAM) ? arguments->value[K_STREAM] : NULL;
    problem it;
    it.context = &context;
    it.inputs = op_inputs(op);
    it.mask = NULL;
    it.initial = NULL;
    if (!inputs_open(in, it.inputs, inputs, stream, false)) return NULL;
    for (int k = 0; k < it.inputs; k++) it.in[k] = &in[k];
    if (context_for(&context, op, user, arguments, &in[0])) {
        result = reduce_opened(&it, inputs, arguments);
        context_release(&context);
    }
    for (int k = it.inputs; k-- > 0;) array_close(&in[k]);
    return result;
}
