/* Arrays as callers hand them over: the buffer protocol, __cuda_array_interface__, and DLPack (dlpack.c). None is
 * copied. */
#include "python.h"

#define NATIVE_IS_LITTLE (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
#define MOST_FAMILIES 32

static bool has(PyObject *object, const char *attribute) {
    if (PyObject_HasAttrString(object, attribute)) return true;
    PyErr_Clear();
    return false;
}

/* ---- families: what is known of an array's Python type ---- */

static family families[MOST_FAMILIES];
static int families_known;

/* What is known of a type; the first types of a process get a place in the table. Handlers are classes of _arrays.py
 * and live as long as the process. */
static bool family_of(PyTypeObject *type, family *it) {
    for (int k = 0; k < families_known; k++)
        if (families[k].type == type) {
            *it = families[k];
            return true;
        }
    PyObject *found = PyObject_CallMethod(arrays_module, "family_of", "O", (PyObject *)type);
    if (!found) return false;
    it->type = type;
    it->numpy = PyUnicode_Check(found);
    it->handler = it->numpy || found == Py_None ? NULL : found;
    it->views = it->handler && has(it->handler, "view");
    it->finishes = it->handler && has(it->handler, "finish");
    it->is_lazy = has((PyObject *)type, "is_neg");
    it->arrow = has((PyObject *)type, "__arrow_c_array__");
    Py_DECREF(found);
    if (!exchange_of(type, &it->exchange)) return false;
    if (families_known < MOST_FAMILIES) {
        families[families_known++] = *it;
        Py_INCREF((PyObject *)type);
    }
    return true;
}

/* ---- the buffer protocol ---- */

bool type_from_parts(int class, int64_t bytes, tally_type *type) {
#define TALLY_ROW(id, name, numpy, size, class_of)                        \
    if (class == class_of && bytes == size && TALLY_##id != TALLY_BF16) { \
        *type = TALLY_##id;                                               \
        return true;                                                      \
    }
    TALLY_TYPES(TALLY_ROW)
#undef TALLY_ROW
    return false;
}

/* 0: none of Tally's types. */
static int class_of_code(char code) {
    switch (code) {
    case '?': return TALLY_CLASS_BOOL;
    case 'b':
    case 'h':
    case 'i':
    case 'l':
    case 'q':
    case 'n': return TALLY_CLASS_INT;
    case 'B':
    case 'H':
    case 'I':
    case 'L':
    case 'Q':
    case 'N': return TALLY_CLASS_UINT;
    case 'e':
    case 'f':
    case 'd': return TALLY_CLASS_FLOAT;
    default: return 0;
    }
}

static bool type_from_format(const char *format, int64_t bytes, const char *name, tally_type *type) {
    const char *code = format ? format : "B";
    bool foreign = false;
    if (*code == '<') foreign = !NATIVE_IS_LITTLE;
    if (*code == '>' || *code == '!') foreign = NATIVE_IS_LITTLE;
    if (*code == '<' || *code == '>' || *code == '!' || *code == '@' || *code == '=') code++;
    const int class = code[0] && !code[1] ? class_of_code(*code) : 0;
    if (!class || !type_from_parts(class, bytes, type)) {
        PyErr_Format(PyExc_TypeError,
                     "%s: values of format '%s' are not supported; bool, integers, float16, float32 and float64 are",
                     name, format ? format : "B");
        return false;
    }
    if (foreign && bytes > 1) {
        PyErr_Format(
            PyExc_TypeError,
            "%s: its values have the other byte order; convert them first: x.astype(x.dtype.newbyteorder('='))", name);
        return false;
    }
    return true;
}

bool shape_take(array *it, int axes, const char *name) {
    if (axes < 0 || axes > MOST_AXES) {
        PyErr_Format(PyExc_ValueError, "%s: %d axes, and 0 to %d are supported", name, axes, MOST_AXES);
        return false;
    }
    it->axes = axes;
    return true;
}

/* An exporter may be wrong: no later product of extents may overflow. */
bool count_values(array *it, const char *name) {
    int64_t bytes = it->item;
    it->count = 1;
    bool right = true, none = false;
    for (int k = 0; k < it->axes; k++) {
        none |= it->shape[k] == 0;
        right &= it->shape[k] >= 0 && !__builtin_mul_overflow(bytes, it->shape[k] ? it->shape[k] : 1, &bytes);
        it->count *= right ? it->shape[k] : 0;
    }
    if (right && (it->data || none)) return true;
    PyErr_Format(PyExc_ValueError, "%s: its shape or address is invalid", name);
    return false;
}

/* The strides of values in C order, side by side; the shape has been checked. */
void set_packed_strides(array *it) {
    int64_t step = it->item;
    for (int k = it->axes; k-- > 0; step *= it->shape[k]) it->strides[k] = step;
}

static bool open_buffer(array *it, PyObject *object, const char *name) {
    if (PyObject_GetBuffer(object, &it->buffer, PyBUF_RECORDS_RO) < 0) {
        if (PyErr_ExceptionMatches(PyExc_MemoryError)) return false;
        PyObject *type, *value, *trace;
        PyErr_Fetch(&type, &value, &trace); /* NumPy refuses its own dtypes with ValueError */
        PyErr_Format(PyExc_TypeError, "%s: its memory cannot be read as numbers: %S", name, value ? value : Py_None);
        Py_XDECREF(type), Py_XDECREF(value), Py_XDECREF(trace);
        return false;
    }
    it->has_buffer = true;
    const Py_buffer *buffer = &it->buffer;
    if (buffer->suboffsets) {
        for (int k = 0; k < buffer->ndim; k++)
            if (buffer->suboffsets[k] >= 0) {
                PyErr_Format(PyExc_TypeError, "%s: memory of pointers (suboffsets) is not supported; copy it", name);
                return false;
            }
    }
    if (!shape_take(it, buffer->ndim, name) || !type_from_format(buffer->format, buffer->itemsize, name, &it->type))
        return false;
    it->data = buffer->buf;
    it->read_only = buffer->readonly;
    it->item = buffer->itemsize;
    for (int k = 0; k < buffer->ndim; k++) {
        it->shape[k] = buffer->shape[k];
        it->strides[k] = buffer->strides[k];
    }
    return count_values(it, name);
}

/* ---- __cuda_array_interface__, version 3 ---- */

static bool ints_from(PyObject *sequence, int64_t *values, int *count) {
    const Py_ssize_t n = PyTuple_Check(sequence) ? PyTuple_Size(sequence) : -1;
    if (n < 0 || n > MOST_AXES) return false;
    for (Py_ssize_t k = 0; k < n; k++) {
        values[k] = PyLong_AsLongLong(PyTuple_GetItem(sequence, k));
        if (values[k] == -1 && PyErr_Occurred()) return false;
    }
    *count = (int)n;
    return true;
}

static bool take_interface(array *it, PyObject *interface, PyObject *stream, const char *name) {
    PyObject *shape = PyDict_GetItemString(interface, "shape"), *data = PyDict_GetItemString(interface, "data");
    PyObject *type = PyDict_GetItemString(interface, "typestr"), *mask = PyDict_GetItemString(interface, "mask");
    PyObject *strides = PyDict_GetItemString(interface, "strides"), *on = PyDict_GetItemString(interface, "stream");
    int same = 0;
    if (!shape || !type || !data || !PyTuple_Check(data) || PyTuple_Size(data) != 2 || (mask && mask != Py_None) ||
        !ints_from(shape, it->shape, &it->axes) || !type_from_object(type, &it->type)) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_TypeError, "%s: its __cuda_array_interface__ needs shape, typestr, data and no mask",
                         name);
        return false;
    }
    it->data = PyLong_AsVoidPtr(PyTuple_GetItem(data, 0));
    it->read_only = PyObject_IsTrue(PyTuple_GetItem(data, 1)) != 0;
    it->item = (int64_t)tally_type_size(it->type);
    if (PyErr_Occurred()) return false;
    if (strides && strides != Py_None) {
        if (!ints_from(strides, it->strides, &same) || same != it->axes) {
            if (!PyErr_Occurred()) PyErr_Format(PyExc_TypeError, "%s: strides and shape differ in length", name);
            return false;
        }
    }
    it->device = 0; /* the driver knows which: libtally asks it */
    if (!count_values(it, name)) return false;
    if (!strides || strides == Py_None) set_packed_strides(it);
    if (on && on != Py_None && !stream_argument(on, &it->stream)) return false;
    if (!stream) return true;
    void *wanted = NULL;
    if (!stream_argument(stream, &wanted)) return false;
    if (on && on != Py_None && wanted != it->stream) {
        PyErr_Format(PyExc_ValueError, "%s: it is ready on another stream; pass that stream, or hand it over by DLPack",
                     name);
        return false;
    }
    it->stream = wanted;
    return true;
}

static bool open_interface(array *it, PyObject *object, PyObject *stream, const char *name) {
    PyObject *interface = PyObject_GetAttrString(object, "__cuda_array_interface__");
    if (!interface) return false;
    bool right = false;
    if (PyDict_Check(interface))
        right = take_interface(it, interface, stream, name);
    else
        PyErr_Format(PyExc_TypeError, "%s: its __cuda_array_interface__ is no dict", name);
    Py_DECREF(interface);
    if (right) it->substitute = Py_NewRef(object);
    return right;
}

/* ---- any of them ---- */

static bool open_any(array *it, PyObject *object, PyObject *stream, const char *name) {
    if (!family_of(Py_TYPE(object), &it->family)) return false;
    PyObject *handler = it->family.handler;
    if (it->family.views) {
        it->substitute = PyObject_CallMethod(handler, "view", "O", object);
        if (!it->substitute) return false;
        object = it->substitute;
    }
    if (it->family.arrow || (it->family.views && has(object, "__arrow_c_array__"))) return open_arrow(it, object, name);
    if (it->family.exchange) return open_exchange(it, object, stream, name);
    const bool plain = !handler || it->family.views;
    if (it->family.numpy || (plain && PyObject_CheckBuffer(object))) return open_buffer(it, object, name);
    if (PyCapsule_CheckExact(object)) return open_capsule(it, object, name);
    if (has(object, "__dlpack__") && has(object, "__dlpack_device__")) return open_dlpack(it, object, stream, name);
    if (has(object, "__cuda_array_interface__")) return open_interface(it, object, stream, name);
    if (PyObject_CheckBuffer(object)) return open_buffer(it, object, name);
    PyObject *type = PyType_GetName(Py_TYPE(object));
    PyErr_Format(PyExc_TypeError,
                 "%s: %S is no array; pass one of NumPy, PyTorch, CuPy or JAX, or anything with the buffer protocol, "
                 "__dlpack__ or __cuda_array_interface__",
                 name, type ? type : Py_None);
    Py_XDECREF(type);
    return false;
}

static bool open_with_lists(array *it, PyObject *object, PyObject *stream, const char *name) {
    it->device = HOST;
    it->lists = NULL;
    it->stream = NULL;
    it->read_only = it->has_buffer = false;
    it->substitute = NULL;
    it->managed = NULL;
    it->versioned = NULL;
    it->converted = NULL;
    if (open_any(it, object, stream, name)) return true;
    array_close(it);
    return false;
}

bool array_open(array *it, PyObject *object, PyObject *stream, const char *name) {
    if (!open_with_lists(it, object, stream, name)) return false;
    if (!it->lists) return true;
    PyErr_Format(PyExc_TypeError, "%s has lists, which are segments; segment_reduce(x, op) reduces each", name);
    array_close(it);
    return false;
}

void array_close(array *it) {
    PyObject *type, *value, *trace; /* deleters may run Python, which must see no exception */
    PyErr_Fetch(&type, &value, &trace);
    if (it->has_buffer) PyBuffer_Release(&it->buffer);
    if (it->managed && it->managed->deleter) it->managed->deleter(it->managed);
    if (it->versioned && it->versioned->deleter) it->versioned->deleter(it->versioned);
    Py_CLEAR(it->substitute);
    PyMem_Free(it->converted);
    it->has_buffer = false;
    it->managed = NULL;
    it->versioned = NULL;
    it->converted = NULL;
    PyErr_Restore(type, value, trace);
}

static bool same_kind(const array *left, const array *right) {
    bool same = left->type == right->type && left->axes == right->axes && left->device == right->device;
    for (int k = 0; k < left->axes && same; k++) same = left->shape[k] == right->shape[k];
    if (!same) PyErr_SetString(PyExc_ValueError, "the two arrays must have the same shape, dtype and device");
    return same;
}

bool inputs_open(array *in, int count, PyObject *const *objects, PyObject *stream, bool lists) {
    if (count == 1 && lists) return open_with_lists(&in[0], objects[0], stream, "the array");
    if (!array_open(&in[0], objects[0], stream, "the array")) return false;
    if (count == 1) return true;
    if (array_open(&in[1], objects[1], stream, "the second array")) {
        if (same_kind(&in[0], &in[1])) return true;
        array_close(&in[1]);
    }
    array_close(&in[0]);
    return false;
}

PyThreadState *release_lock(const array *in) {
    return in->device != HOST || in->count * in->item > LITTLE_WORK ? PyEval_SaveThread() : NULL;
}

/* ---- questions ---- */

bool array_is_packed(const array *it) {
    int64_t step = it->item;
    for (int k = it->axes; k-- > 0; step *= it->shape[k])
        if (it->shape[k] != 1 && it->strides[k] != step) return it->count == 0;
    return true;
}

static void bounds(const array *it, uintptr_t *low, uintptr_t *high) {
    *low = (uintptr_t)it->data;
    *high = *low + (uintptr_t)it->item;
    for (int k = 0; k < it->axes; k++) {
        const int64_t reach = (it->shape[k] - 1) * it->strides[k];
        *(reach < 0 ? low : high) += (uintptr_t)reach;
    }
}

bool arrays_overlap(const array *left, const array *right) {
    if (!left->count || !right->count) return false;
    uintptr_t low, high, low_of_right, high_of_right;
    bounds(left, &low, &high);
    bounds(right, &low_of_right, &high_of_right);
    return low < high_of_right && low_of_right < high;
}

/* ---- indices ---- */

/* Integers of another type, or apart, become int64_t. */
bool index_widen(array *it, const char *name) {
    if (it->device != HOST) {
        PyErr_Format(PyExc_TypeError, "%s: on a GPU they must be int32 or int64, side by side and of one dtype", name);
        return false;
    }
    int64_t *values = PyMem_Malloc((size_t)(it->count + 1) * sizeof *values);
    if (!values) {
        PyErr_NoMemory();
        return false;
    }
    it->converted = values;
    for (int64_t k = 0; k < it->count; k++) {
        const char *from = it->data + k * it->strides[0];
        uint64_t unsigned_value = 0;
        switch (it->type) {
#define INTEGER(id, c_type)                 \
    case TALLY_##id: {                      \
        c_type value;                       \
        memcpy(&value, from, sizeof value); \
        values[k] = (int64_t)value;         \
        break;                              \
    }
            INTEGER(I8, int8_t)
            INTEGER(I16, int16_t)
            INTEGER(I32, int32_t)
            INTEGER(I64, int64_t)
            INTEGER(U8, uint8_t)
            INTEGER(U16, uint16_t)
            INTEGER(U32, uint32_t)
#undef INTEGER
        default: /* TALLY_U64: values beyond int64 are beyond any array */
            memcpy(&unsigned_value, from, sizeof unsigned_value);
            values[k] = unsigned_value > INT64_MAX ? INT64_MAX : (int64_t)unsigned_value;
        }
    }
    it->data = (char *)values;
    it->type = TALLY_I64;
    it->item = it->strides[0] = sizeof *values;
    return true;
}

static bool index_from_sequence(array *it, PyObject *object, const char *name) {
    const Py_ssize_t n = PySequence_Size(object);
    int64_t *values = n < 0 ? NULL : PyMem_Malloc((size_t)(n + 1) * sizeof *values);
    if (!values) {
        if (n >= 0) PyErr_NoMemory();
        return false;
    }
    memset(it, 0, sizeof *it);
    it->converted = values;
    for (Py_ssize_t k = 0; k < n; k++) {
        PyObject *item = PySequence_GetItem(object, k), *number = item ? PyNumber_Index(item) : NULL;
        if (number) values[k] = PyLong_AsLongLong(number);
        Py_XDECREF(number), Py_XDECREF(item);
        if (PyErr_Occurred()) {
            if (PyErr_ExceptionMatches(PyExc_TypeError))
                PyErr_Format(PyExc_TypeError, "%s: item %zd is not an integer", name, k);
            array_close(it);
            return false;
        }
    }
    it->data = (char *)values;
    it->type = TALLY_I64;
    it->axes = 1;
    it->device = HOST;
    it->count = it->shape[0] = n;
    it->item = it->strides[0] = sizeof *values;
    return true;
}

bool index_open(array *it, PyObject *object, PyObject *stream, const char *name) {
    if (PyList_Check(object) || PyTuple_Check(object)) return index_from_sequence(it, object, name);
    if (!array_open(it, object, stream, name)) return false;
    bool right = it->axes == 1;
    if (!right) PyErr_Format(PyExc_ValueError, "%s: one axis is needed, and it has %d", name, it->axes);
    if (right && (it->type < TALLY_I8 || it->type > TALLY_U64)) {
        PyErr_Format(PyExc_TypeError, "%s: integers are needed", name);
        right = false;
    }
    if (right && ((it->type != TALLY_I32 && it->type != TALLY_I64) || !array_is_packed(it)))
        right = index_widen(it, name);
    if (!right) array_close(it);
    return right;
}
