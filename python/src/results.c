/* Results: scalars, arrays made by the caller's library, and the caller's own `out`. */
#include "python.h"

#include <math.h>

/* NumPy, once it has been seen: its dtypes, numpy.empty, and an array of no axes for each type. To write a value to
 * such an array and take it out is the fastest way to a scalar of NumPy. */
static PyObject *numpy_dtypes[TALLY_TYPE_END], *numpy_cells[TALLY_TYPE_END], *numpy_empty, *no_index;
static char *cell_data[TALLY_TYPE_END];

static bool make_cell(tally_type type) {
    Py_buffer memory;
    numpy_cells[type] = PyObject_CallFunctionObjArgs(numpy_empty, no_index, numpy_dtypes[type], NULL);
    if (!numpy_cells[type] || PyObject_GetBuffer(numpy_cells[type], &memory, PyBUF_WRITABLE) < 0) return false;
    cell_data[type] = memory.buf; /* the cell lives as long as the process */
    PyBuffer_Release(&memory);
    return true;
}

static bool numpy_prepare(void) {
    if (no_index) return true;
    PyObject *parts = PyObject_CallMethod(arrays_module, "numpy_parts", NULL);
    PyObject *empty = NULL, *dtypes = NULL, *nothing = PyTuple_New(0);
    if (!parts || !nothing || !PyArg_ParseTuple(parts, "OO!", &empty, &PyDict_Type, &dtypes)) {
        Py_XDECREF(parts), Py_XDECREF(nothing);
        return false;
    }
#define TALLY_ROW(id, name, numpy, bytes, class) numpy_dtypes[TALLY_##id] = PyDict_GetItemString(dtypes, #name);
    TALLY_TYPES(TALLY_ROW)
#undef TALLY_ROW
    for (int k = 0; k < TALLY_TYPE_END; k++) Py_XINCREF(numpy_dtypes[k]);
    numpy_empty = Py_NewRef(empty);
    Py_DECREF(parts);
    no_index = nothing;
    return true;
}

static PyObject *numpy_scalar(const void *value, tally_type type) {
    if (!numpy_prepare() || (!cell_data[type] && !make_cell(type))) return NULL;
    memcpy(cell_data[type], value, tally_type_size(type));
    return PyObject_GetItem(numpy_cells[type], no_index);
}

static double half_to_double(const void *bits) {
    uint16_t half;
    memcpy(&half, bits, sizeof half);
    const int exponent = half >> 10 & 31, fraction = half & 1023;
    double value = exponent == 31 ? (fraction ? (double)NAN : (double)INFINITY)
                                  : ldexp(exponent ? 1024 + fraction : fraction, exponent ? exponent - 25 : -24);
    return half >> 15 ? -value : value;
}

static double bfloat_to_double(const void *bits) {
    uint32_t word = 0;
    float value;
    memcpy((char *)&word + (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 2 : 0), bits, 2);
    memcpy(&value, &word, sizeof value);
    return value;
}

PyObject *scalar_from(const void *value, tally_type type, bool numpy) {
    if (numpy && type != TALLY_BF16) return numpy_scalar(value, type); /* NumPy has no bfloat16 */
    PyObject *plain = NULL;
    switch (type) {
    case TALLY_BOOL: plain = PyBool_FromLong(*(const unsigned char *)value); break;
    case TALLY_F16: plain = PyFloat_FromDouble(half_to_double(value)); break;
    case TALLY_BF16: plain = PyFloat_FromDouble(bfloat_to_double(value)); break;
#define NUMBER(id, c_type, make)               \
    case TALLY_##id: {                         \
        c_type number;                         \
        memcpy(&number, value, sizeof number); \
        plain = make(number);                  \
        break;                                 \
    }
        NUMBER(I8, int8_t, PyLong_FromLong)
        NUMBER(I16, int16_t, PyLong_FromLong)
        NUMBER(I32, int32_t, PyLong_FromLong)
        NUMBER(I64, int64_t, PyLong_FromLongLong)
        NUMBER(U8, uint8_t, PyLong_FromLong)
        NUMBER(U16, uint16_t, PyLong_FromLong)
        NUMBER(U32, uint32_t, PyLong_FromUnsignedLong)
        NUMBER(U64, uint64_t, PyLong_FromUnsignedLongLong)
        NUMBER(F32, float, PyFloat_FromDouble)
        NUMBER(F64, double, PyFloat_FromDouble)
#undef NUMBER
    default: return PyBytes_FromStringAndSize(value, 0);
    }
    return plain;
}

/* The type of min, max and sum in a tally_stats. */
static tally_type word_type(tally_type input) {
    if (input >= TALLY_F16) return TALLY_F64;
    return input >= TALLY_U8 ? TALLY_U64 : TALLY_I64;
}

PyObject *pair_from(const void *values, tally_type type, bool numpy) {
    PyObject *low = scalar_from(values, type, numpy);
    PyObject *high = low ? scalar_from((const char *)values + tally_type_size(type), type, numpy) : NULL;
    PyObject *pair = high ? PyTuple_Pack(2, low, high) : NULL;
    Py_XDECREF(low), Py_XDECREF(high);
    return pair;
}

PyObject *stats_from(const tally_stats *stats, tally_type input, bool numpy) {
    const tally_type word = word_type(input);
    const struct {
        const void *value;
        tally_type type;
    } fields[] = {{&stats->count, TALLY_I64}, {&stats->min, word},       {&stats->max, word},
                  {&stats->sum, word},        {&stats->mean, TALLY_F64}, {&stats->var, TALLY_F64}};
    PyObject *values = PyTuple_New(6);
    for (int k = 0; k < 6 && values; k++) {
        PyObject *value = scalar_from(fields[k].value, fields[k].type, numpy);
        if (!value || PyTuple_SetItem(values, k, value) < 0) Py_CLEAR(values);
    }
    PyObject *result = values ? PyObject_Call(stats_type, values, NULL) : NULL;
    Py_XDECREF(values);
    return result;
}

/* ---- arrays ---- */

static PyObject *shape_tuple(const result_set *it) {
    PyObject *shape = PyTuple_New(it->axes);
    for (int k = 0; k < it->axes && shape; k++) {
        PyObject *extent = PyLong_FromLongLong(it->shape[k]);
        if (!extent || PyTuple_SetItem(shape, k, extent) < 0) Py_CLEAR(shape);
    }
    return shape;
}

/* Has the library of `like`, or for plain buffers memoryview, make an array for the results. A tensor on a GPU is made
 * by the library's own function, as what the exchange API makes there is not known to its allocator (record_stream). */
static bool make_array(result_set *it, PyObject *like, int device) {
    if (it->family->exchange && device == HOST) {
        const tally_type type = it->type == TALLY_NATURAL ? TALLY_I64 : it->type; /* stats: six words */
        it->object = exchange_make(it->family->exchange, type, it->axes, it->shape, &it->data);
        return it->object != NULL;
    }
    PyObject *shape = shape_tuple(it);
    const bool numpy = it->family->numpy;
    const char *name = it->type == TALLY_NATURAL ? "i64" : tally_type_name(it->type); /* stats: six words */
    if (!shape || (numpy && !numpy_prepare())) {
        Py_XDECREF(shape);
        return false;
    }
    if (numpy && it->type != TALLY_BF16) {
        PyObject *type = numpy_dtypes[it->type == TALLY_NATURAL ? TALLY_I64 : it->type];
        it->object = PyObject_CallFunctionObjArgs(numpy_empty, shape, type, NULL);
    } else {
        PyObject *made = it->family->handler
                             ? PyObject_CallMethod(it->family->handler, "empty", "OOs", like, shape, name)
                             : PyObject_CallMethod(arrays_module, "buffer_empty", "Os", shape, name);
        PyObject *address = NULL;
        if (made && PyArg_ParseTuple(made, "OO", &it->object, &address)) {
            Py_INCREF(it->object);
            if (address != Py_None) it->data = PyLong_AsVoidPtr(address);
        }
        Py_XDECREF(made);
    }
    Py_DECREF(shape);
    if (!it->object || PyErr_Occurred()) return false;
    if (it->data || it->count == 0) return true;
    Py_buffer memory;
    if (PyObject_GetBuffer(it->object, &memory, PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS) < 0) return false;
    it->data = memory.buf; /* the array has just been made, and is held until the results are taken */
    PyBuffer_Release(&memory);
    return true;
}

static bool same_shape(const result_set *it) {
    bool same = it->out.axes == it->axes;
    for (int k = 0; k < it->axes && same; k++) same = it->out.shape[k] == it->shape[k];
    if (same) return true;
    PyObject *shape = shape_tuple(it);
    if (shape) PyErr_Format(PyExc_ValueError, "out has another shape than the results, %R", shape);
    Py_XDECREF(shape);
    return false;
}

static bool take_out(result_set *it, const array *in, const call_arguments *arguments, const array *const *read,
                     int n) {
    PyObject *object = arguments->value[K_OUT];
    if (!array_open(&it->out, object, arguments->value[K_STREAM], "out")) return false;
    it->own_out = true;
    it->object = Py_NewRef(object);
    if (!same_shape(it)) return false;
    if (it->type == TALLY_NATURAL) {
        PyErr_SetString(PyExc_TypeError, "out is not supported for stats and structs");
        return false;
    }
    if (given(arguments, K_DTYPE) && it->type != it->out.type) {
        PyErr_SetString(PyExc_TypeError, "dtype and out name different dtypes; leave one of them out");
        return false;
    }
    it->type = it->out.type;
    if (it->out.read_only) {
        PyErr_SetString(PyExc_ValueError, "out is read-only");
        return false;
    }
    if (it->out.family.finishes) {
        PyErr_SetString(PyExc_TypeError, "out: arrays of this library cannot be written to");
        return false;
    }
    if (it->out.device != in->device) {
        PyErr_SetString(PyExc_ValueError, "out must lie on the same device as the array");
        return false;
    }
    for (int k = 0; k < n; k++)
        if (read[k] && arrays_overlap(&it->out, read[k])) {
            PyErr_SetString(PyExc_ValueError, "out overlaps an input; give it memory of its own");
            return false;
        }
    if (array_is_packed(&it->out)) {
        it->data = it->out.data;
        return true;
    }
    if (in->device != HOST) {
        PyErr_SetString(PyExc_ValueError, "out on a GPU must be contiguous");
        return false;
    }
    it->scratch = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(it->count * it->out.item));
    if (!it->scratch) return false;
    it->data = PyByteArray_AsString(it->scratch);
    return true;
}

bool result_type(const call_context *context, tally_type input, tally_type *type) {
    const tally_status status = tally_result_type(context->context, context->op, input, type, NULL);
    if (status != TALLY_OK) return raise_status(status) != NULL;
    if (context->op == TALLY_STATS) *type = TALLY_NATURAL;
    if ((input == TALLY_F16 || input == TALLY_BF16) && op_rounds_to_input(context->op)) *type = input;
    return true;
}

bool results_open(result_set *it, const call_context *context, const array *in, PyObject *like,
                  const call_arguments *arguments, const int64_t *shape, int axes, const array *const *read, int n) {
    it->own_out = it->scalar = false;
    it->object = it->scratch = NULL;
    it->data = NULL;
    it->op = context->op;
    it->input = in->type;
    it->family = &in->family;
    it->like = like;
    it->axes = axes;
    it->count = 1;
    if (!result_type(context, in->type, &it->type)) return false;
    for (int k = 0; k < axes; k++) it->count *= it->shape[k] = shape[k];
    const int64_t parts = it->type == TALLY_NATURAL ? 6 : context->op == TALLY_MINMAX ? 2 : 1;
    if (it->type == TALLY_STRUCT) {
        PyErr_SetString(PyExc_TypeError,
                        "results that are structs are not supported; let the operator finish to a number");
        return false;
    }
    if (parts > 1) it->shape[it->axes++] = parts;
    if (given(arguments, K_DTYPE)) {
        if (parts == 6) {
            PyErr_SetString(PyExc_TypeError, "stats has the dtypes it has; dtype is not supported");
            return false;
        }
        if (!type_from_object(arguments->value[K_DTYPE], &it->type)) return false;
    }
    if (given(arguments, K_OUT)) {
        if (!take_out(it, in, arguments, read, n)) {
            results_close(it);
            return false;
        }
    } else if (axes == 0 && !it->family->handler) {
        it->scalar = true;
        it->data = it->value.bytes;
    } else if (!make_array(it, like, in->device)) {
        results_close(it);
        return false;
    }
    it->item = parts == 6 ? (int64_t)sizeof(tally_stats) : parts * (int64_t)tally_type_size(it->type);
    return true;
}

static void scatter(result_set *it) {
    int64_t index[MOST_AXES] = {0};
    const char *from = it->data;
    const int64_t values = it->out.count, item = it->out.item;
    for (int64_t k = 0; k < values; k++, from += item) {
        int64_t offset = 0;
        for (int axis = 0; axis < it->out.axes; axis++) offset += index[axis] * it->out.strides[axis];
        memcpy(it->out.data + offset, from, (size_t)item);
        for (int axis = it->out.axes; axis-- > 0;) {
            if (++index[axis] < it->out.shape[axis]) break;
            index[axis] = 0;
        }
    }
}

PyObject *results_take(result_set *it) {
    PyObject *result = NULL;
    if (it->scratch) scatter(it);
    if (it->scalar && it->type == TALLY_NATURAL)
        result = stats_from((const tally_stats *)it->data, it->input, it->family->numpy);
    else if (it->scalar && it->op == TALLY_MINMAX)
        result = pair_from(it->data, it->type, it->family->numpy);
    else if (it->scalar)
        result = scalar_from(it->data, it->type, it->family->numpy);
    else if (it->type == TALLY_NATURAL)
        result =
            PyObject_CallMethod(arrays_module, "stats_of", "OsOO", it->object, tally_type_name(word_type(it->input)),
                                it->family->handler && !it->own_out ? it->family->handler : Py_None, it->like);
    else if (it->family->finishes && !it->own_out)
        result = PyObject_CallMethod(it->family->handler, "finish", "OO", it->object, it->like);
    else
        result = Py_NewRef(it->object);
    results_close(it);
    return result;
}

void results_close(result_set *it) {
    if (it->own_out) array_close(&it->out);
    it->own_out = false;
    Py_CLEAR(it->object);
    Py_CLEAR(it->scratch);
}
