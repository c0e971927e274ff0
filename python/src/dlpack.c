/* Arrays by DLPack: the C exchange API where their type offers it, else __dlpack__ and capsules. */
#include "python.h"

static bool type_from_dlpack(const dl_tensor *tensor, const char *name, tally_type *type) {
    static const struct {
        int code, class;
    } classes[] = {{DLPACK_INT, TALLY_CLASS_INT},
                   {DLPACK_UINT, TALLY_CLASS_UINT},
                   {DLPACK_FLOAT, TALLY_CLASS_FLOAT},
                   {DLPACK_BOOL, TALLY_CLASS_BOOL}};
    const int code = tensor->dtype.code, bits = tensor->dtype.bits;
    if (tensor->dtype.lanes == 1 && code == DLPACK_BFLOAT && bits == 16) {
        *type = TALLY_BF16;
        return true;
    }
    for (size_t k = 0; k < sizeof classes / sizeof *classes && tensor->dtype.lanes == 1 && bits % 8 == 0; k++)
        if (classes[k].code == code && type_from_parts(classes[k].class, bits / 8, type)) return true;
    PyErr_Format(PyExc_TypeError,
                 "%s: its values (DLPack code %d, %d bits, %d lanes) are not supported; "
                 "bool, integers, float16, bfloat16, float32 and float64 are",
                 name, code, bits, (int)tensor->dtype.lanes);
    return false;
}

static bool take_tensor(array *it, const dl_tensor *tensor, const char *name) {
    if (!shape_take(it, tensor->ndim, name) || !type_from_dlpack(tensor, name, &it->type)) return false;
    switch (tensor->device.type) {
    case DLPACK_CPU:
    case DLPACK_CUDA_HOST: it->device = HOST; break;
    case DLPACK_CUDA:
    case DLPACK_CUDA_MANAGED: it->device = tensor->device.id; break;
    default:
        PyErr_Format(PyExc_TypeError, "%s: it lies on DLPack device %d; arrays of the CPU and of CUDA are supported",
                     name, (int)tensor->device.type);
        return false;
    }
    it->item = (int64_t)tally_type_size(it->type);
    it->data = (char *)tensor->data + tensor->byte_offset;
    for (int k = 0; k < it->axes; k++) it->shape[k] = tensor->shape[k];
    if (!count_values(it, name)) return false;
    if (!tensor->strides) set_packed_strides(it);
    for (int k = 0; k < it->axes && tensor->strides; k++) it->strides[k] = tensor->strides[k] * it->item;
    return true;
}

/* A capsule is used once: its name changes, and we call the deleter. */
bool open_capsule(array *it, PyObject *capsule, const char *name) {
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        dl_versioned *tensor = PyCapsule_GetPointer(capsule, "dltensor_versioned");
        if (!tensor || PyCapsule_SetName(capsule, "used_dltensor_versioned") < 0) return false;
        it->versioned = tensor;
        if (tensor->version.major != DLPACK_MAJOR) {
            PyErr_Format(PyExc_BufferError, "%s: its DLPack version is %d.%d, and 1.x is supported", name,
                         (int)tensor->version.major, (int)tensor->version.minor);
            return false;
        }
        it->read_only = tensor->flags & DLPACK_FLAG_READ_ONLY;
        return take_tensor(it, &tensor->tensor, name);
    }
    if (PyCapsule_IsValid(capsule, "dltensor")) {
        dl_managed *tensor = PyCapsule_GetPointer(capsule, "dltensor");
        if (!tensor || PyCapsule_SetName(capsule, "used_dltensor") < 0) return false;
        it->managed = tensor;
        return take_tensor(it, &tensor->tensor, name);
    }
    PyErr_Format(PyExc_ValueError,
                 "%s: a DLPack capsule that has not been used yet is needed; ask the array for a new one", name);
    return false;
}

/* The device that __dlpack_device__ names: HOST, a GPU, or -2 with an exception. */
static int dlpack_device(PyObject *object) {
    PyObject *pair = PyObject_CallMethod(object, "__dlpack_device__", NULL);
    int type = 0, number = 0;
    const bool right = pair && PyTuple_Check(pair) && PyArg_ParseTuple(pair, "ii", &type, &number);
    if (pair && !right && !PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "__dlpack_device__() must give a pair of ints");
    Py_XDECREF(pair);
    if (!right) return -2;
    return type == DLPACK_CUDA || type == DLPACK_CUDA_MANAGED ? number : HOST;
}

/* Tensors of PyTorch whose memory is not their values: lazily negated ones, and those that gradients are asked of,
 * whose results would have none. */
static bool is_itself(PyObject *object, const char *name) {
    static PyObject *words[2];
    if (!words[0]) words[0] = PyUnicode_InternFromString("is_neg");
    if (!words[1]) words[1] = PyUnicode_InternFromString("requires_grad");
    if (!words[0] || !words[1]) return false;
    PyObject *negative = PyObject_CallMethodObjArgs(object, words[0], NULL);
    PyObject *grad = negative ? PyObject_GetAttr(object, words[1]) : NULL;
    const int lazy = grad ? PyObject_IsTrue(negative) : 0, requires_grad = grad ? PyObject_IsTrue(grad) : 0;
    Py_XDECREF(negative), Py_XDECREF(grad);
    if (lazy > 0) PyErr_Format(PyExc_ValueError, "%s is negated lazily; pass x.resolve_neg()", name);
    if (requires_grad > 0 && !PyErr_Occurred())
        PyErr_Format(PyExc_ValueError, "%s requires gradients; use tally_reduce.torch, or pass x.detach()", name);
    return !PyErr_Occurred();
}

/* The stream that will read the array: the caller's, else the current one of its library, else the default stream. */
static bool reading_stream(array *it, PyObject *object, PyObject *stream) {
    if (stream) return stream_argument(stream, &it->stream);
    if (!it->family.handler) return true;
    PyObject *current = PyObject_CallMethod(it->family.handler, "stream", "O", object);
    const bool right = current && stream_argument(current, &it->stream);
    Py_XDECREF(current);
    return right;
}

bool open_dlpack(array *it, PyObject *object, PyObject *stream, const char *name) {
    if (it->family.is_lazy && !is_itself(object, name)) return false;
    const int device = dlpack_device(object);
    if (device == -2 || (device != HOST && !reading_stream(it, object, stream))) return false;
    PyObject *export = PyObject_GetAttrString(object, "__dlpack__"), *none = PyTuple_New(0);
    /* the standard's number of the legacy default stream is 1 */
    PyObject *words = device == HOST ? PyDict_New()
                                     : Py_BuildValue("{s:n}", "stream",
                                                     it->stream ? (Py_ssize_t)(intptr_t)it->stream : (Py_ssize_t)1);
    PyObject *newest = Py_BuildValue("(ii)", DLPACK_MAJOR, 0), *capsule = NULL;
    if (export && none && words && newest && PyDict_SetItemString(words, "max_version", newest) == 0) {
        capsule = PyObject_Call(export, none, words);
        if (!capsule && PyErr_ExceptionMatches(PyExc_TypeError)) { /* from before DLPack 1.0 */
            PyErr_Clear();
            if (PyDict_DelItemString(words, "max_version") == 0) capsule = PyObject_Call(export, none, words);
        }
    }
    Py_XDECREF(export), Py_XDECREF(none), Py_XDECREF(words), Py_XDECREF(newest);
    if (!capsule) return false;
    Py_XDECREF(it->substitute);
    it->substitute = capsule; /* goes when the array is closed: its destructor may run Python */
    return open_capsule(it, capsule, name);
}

/* ---- the C exchange API ---- */

bool exchange_of(PyTypeObject *type, const dl_exchange **exchange) {
    PyObject *capsule = PyObject_GetAttrString((PyObject *)type, "__dlpack_c_exchange_api__");
    *exchange = NULL;
    if (!capsule) {
        const bool missing = PyErr_ExceptionMatches(PyExc_AttributeError);
        if (missing) PyErr_Clear();
        return missing;
    }
    const dl_exchange *found = NULL;
    if (PyCapsule_IsValid(capsule, "dlpack_exchange_api")) found = PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
    while (found && found->version.major > DLPACK_MAJOR) found = found->older;
    if (found && found->version.major == DLPACK_MAJOR) *exchange = found; /* lives as long as the process */
    Py_DECREF(capsule);
    return true;
}

/* On the stream that the library works on now. The caller's, if that is another, is made to wait for it: by __dlpack__,
 * which takes 30 times as long. */
bool open_exchange(array *it, PyObject *object, PyObject *stream, const char *name) {
    void *wanted = NULL;
    if (it->family.is_lazy && !is_itself(object, name)) return false;
    if (it->family.exchange->from_object(object, &it->versioned) != 0) {
        it->versioned = NULL;
        return false;
    }
    const dl_versioned *managed = it->versioned;
    it->read_only = managed->flags & DLPACK_FLAG_READ_ONLY;
    if (!take_tensor(it, &managed->tensor, name)) return false;
    if (it->device == HOST) return true;
    if (it->family.exchange->current_stream(managed->tensor.device.type, it->device, &it->stream) != 0) return false;
    if (!stream) return true;
    if (!stream_argument(stream, &wanted)) return false;
    if (wanted == it->stream) return true;
    if (it->versioned->deleter) it->versioned->deleter(it->versioned);
    it->versioned = NULL;
    return open_dlpack(it, object, stream, name);
}

static void set_error(void *unused, const char *kind, const char *message) {
    (void)unused;
    PyErr_Format(!strcmp(kind, "MemoryError") ? PyExc_MemoryError : PyExc_RuntimeError, "%s: %s", kind, message);
}

PyObject *exchange_make(const dl_exchange *exchange, tally_type type, int axes, int64_t *shape, char **data) {
    static const struct {
        uint8_t code, bits;
    } kinds[TALLY_TYPE_END] = {
#define TALLY_ROW(id, name, numpy, bytes, class)                   \
    [TALLY_##id] = {TALLY_##id == TALLY_BF16       ? DLPACK_BFLOAT \
                    : (class) == TALLY_CLASS_FLOAT ? DLPACK_FLOAT  \
                    : (class) == TALLY_CLASS_BOOL  ? DLPACK_BOOL   \
                    : (class) == TALLY_CLASS_INT   ? DLPACK_INT    \
                                                   : DLPACK_UINT,    \
                    8 * (bytes)},
        TALLY_TYPES(TALLY_ROW)
#undef TALLY_ROW
    };
    dl_tensor prototype = {.device = {DLPACK_CPU, 0}, .ndim = axes, .shape = shape};
    prototype.dtype.code = kinds[type].code;
    prototype.dtype.bits = kinds[type].bits;
    prototype.dtype.lanes = 1;
    dl_versioned *made = NULL;
    void *object = NULL;
    if (exchange->allocate(&prototype, &made, NULL, set_error) != 0) return NULL;
    *data = (char *)made->tensor.data + made->tensor.byte_offset;
    return exchange->to_object(made, &object) == 0 ? object : NULL;
}
