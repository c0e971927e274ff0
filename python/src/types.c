/* State and Operator. */
#include "python.h"

#include <stdlib.h>

PyObject *object_allocate(PyTypeObject *type) {
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    return allocate(type, 0);
}

void object_free(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

/* ---- states ---- */

typedef struct state_object {
    PyObject ob_base;
    tally_state *state;
    call_context context;
    bool opened;
    bool busy;  /* a thread works with it, without the interpreter's lock */
    bool numpy; /* NumPy arrays were pushed: results are NumPy's scalars */
} state_object;

static void state_free(PyObject *self) {
    state_object *it = (state_object *)self;
    tally_state_close(it->state);
    if (it->opened) context_release(&it->context);
    object_free(self);
}

static bool is_free(const state_object *it) {
    if (!it->state)
        PyErr_SetString(PyExc_ValueError, "the state was not opened");
    else if (it->busy)
        PyErr_SetString(PyExc_RuntimeError, "another thread uses this state; give each thread a state, and merge them");
    else
        return true;
    return false;
}

static PyObject *state_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"op", "dtype", "first", "nan", "accuracy", "ddof", NULL};
    PyObject *op_object, *dtype = NULL, *first_object = NULL, *user;
    call_arguments arguments = {{NULL}};
    tally_op op;
    tally_type input = TALLY_F64;
    int64_t first = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O$OOOO:State", names, &op_object, &dtype, &first_object,
                                     &arguments.value[K_NAN], &arguments.value[K_ACCURACY], &arguments.value[K_DDOF]) ||
        !op_from_object(op_object, &op, &user) || (dtype && !type_from_object(dtype, &input)) ||
        (first_object && !int_argument(first_object, "first", 0, INT64_MAX, &first)))
        return NULL;
    state_object *it = (state_object *)object_allocate(type);
    if (!it) return NULL;
    if (context_for(&it->context, op, user, &arguments, NULL)) {
        it->opened = true;
        const tally_status status = tally_state_open(it->context.context, it->context.op, input, first, &it->state);
        if (status == TALLY_OK) return (PyObject *)it;
        raise_status(status);
    }
    Py_DECREF((PyObject *)it);
    return NULL;
}

/* The values of an array in C order, as the library takes them: where they lie, or a copy. */
static bool as_values(array *in, tally_array *values) {
    *values = tally_in(in->data, in->type, in->count);
    if (array_is_packed(in)) return true;
    if (in->axes == 1 && in->strides[0] != 0) {
        values->stride = in->strides[0];
        return true;
    }
    if (in->device != HOST) {
        PyErr_SetString(PyExc_ValueError, "a state takes arrays on a GPU of one axis, or contiguous ones; x.ravel() "
                                          "makes one");
        return false;
    }
    in->converted = PyMem_Malloc((size_t)(in->count * in->item));
    if (!in->converted) return PyErr_NoMemory() != NULL;
    layout_pack((char *)in->converted, NULL, in, UINT64_MAX, NULL, NULL);
    values->data = in->converted;
    return true;
}

/* Work on a GPU is on the default stream, on which the array must be ready then. */
static bool open_for_state(array *it, PyObject *object) {
    if (!array_open(it, object, NULL, "the array")) return false;
    if (it->device == HOST) return true;
    array_close(it);
    PyObject *default_stream = PyLong_FromLong(1);
    const bool right = default_stream && array_open(it, object, default_stream, "the array");
    Py_XDECREF(default_stream);
    return right;
}

static PyObject *state_push(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    state_object *it = (state_object *)self;
    array in[2];
    tally_array values[2];
    int opened = 0;
    PyObject *result = NULL;
    if (!is_free(it)) return NULL;
    const int inputs = op_inputs(tally_state_op(it->state));
    if (count != inputs) {
        PyErr_Format(PyExc_TypeError, "push() takes %d array%s", inputs, inputs == 1 ? "" : "s");
        return NULL;
    }
    for (; opened < inputs; opened++)
        if (!open_for_state(&in[opened], args[opened])) goto done;
    for (int k = 0; k < inputs; k++)
        if (!as_values(&in[k], &values[k])) goto done;
    if (!is_free(it)) goto done; /* opening may have run Python */
    it->numpy |= in[0].family.numpy;
    it->busy = true;
    PyThreadState *thread = release_lock(&in[0]);
    const tally_status status =
        inputs == 1 ? tally_state_push(it->state, values[0]) : tally_state_push_pair(it->state, values[0], values[1]);
    if (thread) PyEval_RestoreThread(thread);
    it->busy = false;
    result = status == TALLY_OK ? Py_NewRef(Py_None) : raise_status(status);
done:
    while (opened > 0) array_close(&in[--opened]);
    return result;
}

static PyObject *state_merge(PyObject *self, PyObject *other) {
    if (Py_TYPE(other) != state_type) {
        PyErr_SetString(PyExc_TypeError, "merge() takes a State");
        return NULL;
    }
    if (!is_free((state_object *)self) || !is_free((state_object *)other)) return NULL;
    const tally_status status = tally_state_merge(((state_object *)self)->state, ((state_object *)other)->state);
    if (status != TALLY_OK) return raise_status(status);
    ((state_object *)self)->numpy |= ((state_object *)other)->numpy;
    Py_RETURN_NONE;
}

static PyObject *state_finish(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"dtype", NULL};
    state_object *it = (state_object *)self;
    PyObject *dtype = Py_None;
    tally_type type;
    union {
        tally_stats stats;
        char bytes[128];
    } value;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$O:finish", names, &dtype) || !is_free(it)) return NULL;
    const tally_op op = tally_state_op(it->state);
    const tally_type input = tally_state_type(it->state);
    if (!result_type(&it->context, input, &type)) return NULL;
    if (dtype != Py_None && !type_from_object(dtype, &type)) return NULL;
    if (op == TALLY_STATS) type = TALLY_NATURAL;
    const tally_status status = tally_state_finish(it->state, tally_out(&value, type, 1));
    if (status != TALLY_OK && !(status == TALLY_EMPTY && op_gives_nothing(op))) return raise_status(status);
    if (op == TALLY_STATS) return stats_from(&value.stats, input, it->numpy);
    return op == TALLY_MINMAX ? pair_from(&value, type, it->numpy) : scalar_from(&value, type, it->numpy);
}

static PyObject *state_bytes(state_object *it) {
    size_t size = 0;
    if (!is_free(it)) return NULL;
    tally_status status = tally_state_save(it->state, NULL, 0, &size);
    PyObject *bytes = status == TALLY_OK ? PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size) : NULL;
    if (bytes) status = tally_state_save(it->state, PyBytes_AsString(bytes), size, &size);
    if (status == TALLY_OK) return bytes;
    Py_XDECREF(bytes);
    return raise_status(status);
}

static PyObject *state_load(PyTypeObject *type, const void *bytes, size_t size, PyObject *user) {
    call_arguments arguments = {{NULL}};
    state_object *it = (state_object *)object_allocate(type);
    if (!it) return NULL;
    if (context_for(&it->context, TALLY_SUM, user, &arguments, NULL)) {
        it->opened = true;
        const tally_status status = tally_state_load(it->context.context, bytes, size, &it->state);
        if (status == TALLY_OK) return (PyObject *)it;
        raise_status(status);
    }
    Py_DECREF((PyObject *)it);
    return NULL;
}

static PyObject *state_from_bytes(PyObject *self, PyObject *bytes) {
    (void)self;
    Py_buffer buffer;
    if (PyObject_GetBuffer(bytes, &buffer, PyBUF_SIMPLE) < 0) return NULL;
    PyObject *state = state_load(state_type, buffer.buf, (size_t)buffer.len, NULL);
    PyBuffer_Release(&buffer);
    return state;
}

static PyObject *state_to_bytes(PyObject *self, PyObject *unused) {
    (void)unused;
    return state_bytes((state_object *)self);
}

static PyObject *state_reduce(PyObject *self, PyObject *unused) {
    (void)unused;
    PyObject *bytes = state_bytes((state_object *)self);
    PyObject *load = PyObject_GetAttrString((PyObject *)state_type, "from_bytes");
    PyObject *result = bytes && load ? Py_BuildValue("O(O)", load, bytes) : NULL;
    Py_XDECREF(bytes), Py_XDECREF(load);
    return result;
}

static PyObject *state_add(PyObject *left, PyObject *right) {
    if (Py_TYPE(left) != state_type || Py_TYPE(right) != state_type) return Py_NewRef(Py_NotImplemented);
    PyObject *bytes = state_bytes((state_object *)left);
    if (!bytes) return NULL;
    PyObject *sum = state_load(state_type, PyBytes_AsString(bytes), (size_t)PyBytes_Size(bytes), NULL);
    Py_DECREF(bytes);
    if (!sum) return NULL;
    ((state_object *)sum)->numpy = ((state_object *)left)->numpy;
    PyObject *merged = state_merge(sum, right);
    if (!merged) {
        Py_DECREF(sum);
        return NULL;
    }
    Py_DECREF(merged);
    return sum;
}

enum { FIELD_COUNT, FIELD_FIRST, FIELD_OP, FIELD_DTYPE };

static PyObject *state_field(PyObject *self, void *which) {
    const tally_state *state = ((state_object *)self)->state;
    if (!is_free((state_object *)self)) return NULL;
    switch ((intptr_t)which) {
    case FIELD_COUNT: return PyLong_FromLongLong(tally_state_count(state));
    case FIELD_FIRST: return PyLong_FromLongLong(tally_state_first(state));
    case FIELD_OP: return PyUnicode_FromString(tally_op_name(tally_state_op(state)));
    default: return PyUnicode_FromString(type_name(tally_state_type(state)));
    }
}

static PyMethodDef state_methods[] = {
    {"push", (PyCFunction)(void (*)(void))state_push, METH_FASTCALL,
     "push($self, *arrays)\n--\n\n"
     "Appends the values of an array of the state's dtype, in C order; two arrays for dot. Raises TypeError for\n"
     "another dtype, ValueError for an array that does not fit.\n\n"
     ">>> import tally_reduce\n>>> from array import array\n"
     ">>> state = tally_reduce.State('sum')\n>>> state.push(array('d', [1, 2]))\n>>> state.count\n2\n"},
    {"merge", state_merge, METH_O,
     "merge($self, later, /)\n--\n\n"
     "Appends the values of a state that begins where this one ends; it does not change. Where order does not show,\n"
     "any state that begins at 0 may be merged. Raises ValueError for other states.\n\n"
     ">>> import tally_reduce\n>>> from array import array\n"
     ">>> one, two = tally_reduce.State('max'), tally_reduce.State('max')\n"
     ">>> one.push(array('d', [1, 2])); two.push(array('d', [7]))\n>>> one.merge(two)\n>>> one.finish()\n7.0\n"},
    {"finish", (PyCFunction)(void (*)(void))state_finish, METH_VARARGS | METH_KEYWORDS,
     "finish($self, *, dtype=None)\n--\n\n"
     "The result of all values so far, as a scalar: NumPy's if a NumPy array was pushed. The state stays open. Raises\n"
     "ValueError if there are no values and the operator has no identity, OverflowError if the result does not fit.\n\n"
     ">>> import tally_reduce\n>>> tally_reduce.State('sum', 'int32').finish()\n0\n"},
    {"to_bytes", state_to_bytes, METH_NOARGS,
     "to_bytes($self)\n--\n\n"
     "The state as bytes, the same on every machine (docs/states.md).\n\n"
     ">>> import tally_reduce\n>>> state = tally_reduce.State('sum')\n"
     ">>> tally_reduce.State.from_bytes(state.to_bytes()).finish()\n0.0\n"},
    {"from_bytes", state_from_bytes, METH_O | METH_STATIC,
     "from_bytes(data, /)\n--\n\n"
     "The state that `to_bytes` or the command saved. Raises ValueError for other bytes.\n\n"
     ">>> import tally_reduce\n>>> tally_reduce.State.from_bytes(tally_reduce.State('min').to_bytes()).op\n'min'\n"},
    {"__reduce__", state_reduce, METH_NOARGS, "__reduce__($self)\n--\n\nFor pickle.\n"},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef state_fields[] = {
    {"count", state_field, NULL, "the number of values", (void *)FIELD_COUNT},
    {"first", state_field, NULL, "where the values begin in the whole", (void *)FIELD_FIRST},
    {"op", state_field, NULL, "the operator's name", (void *)FIELD_OP},
    {"dtype", state_field, NULL, "the dtype of the values, as in NumPy", (void *)FIELD_DTYPE},
    {NULL, NULL, NULL, NULL, NULL}};

/* ---- operators as text ---- */

typedef struct operator_object {
    PyObject ob_base;
    tally_operator definition;
    PyObject *name, *text, *identity;
} operator_object;

const tally_operator *operator_definition(PyObject *object) { return &((operator_object *)object)->definition; }

static void operator_free(PyObject *self) {
    operator_object *it = (operator_object *)self;
    Py_XDECREF(it->name), Py_XDECREF(it->text), Py_XDECREF(it->identity);
    object_free(self);
}

static PyObject *operator_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"text", "name", "dtype", "identity", "result", "commutative", NULL};
    PyObject *text, *name = NULL, *dtype = NULL, *identity = NULL, *result = NULL;
    int commutative = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$OOOOp:define", names, &text, &name, &dtype, &identity, &result,
                                     &commutative))
        return NULL;
    if (!PyUnicode_Check(text)) {
        PyErr_SetString(PyExc_TypeError,
                        "define() takes the text of an operator (docs/operators.md); a Python function "
                        "cannot be run for each value");
        return NULL;
    }
    if (!dtype || !name || !PyUnicode_Check(name) || !identity || !PyBytes_Check(identity)) {
        PyErr_SetString(PyExc_TypeError,
                        "define() needs a dtype; name must be a str, and identity the bytes of an accumulator");
        return NULL;
    }
    operator_object *it = (operator_object *)object_allocate(type);
    if (!it) return NULL;
    it->name = Py_NewRef(name), it->text = Py_NewRef(text), it->identity = Py_NewRef(identity);
    tally_operator *definition = &it->definition;
    definition->size = sizeof *definition;
    definition->name = PyUnicode_AsUTF8AndSize(name, NULL);
    definition->text = PyUnicode_AsUTF8AndSize(text, NULL);
    definition->acc_size = (size_t)PyBytes_Size(identity);
    definition->identity = PyBytes_AsString(identity);
    definition->commutative = commutative;
    bool right = definition->name && definition->text && type_from_object(dtype, &definition->input);
    definition->result = definition->input;
    if (right && result && result != Py_None) right = type_from_object(result, &definition->result);
    call_context context; /* checks the definition */
    call_arguments arguments = {{NULL}};
    if (right && context_for(&context, TALLY_OP_USER, (PyObject *)it, &arguments, NULL)) {
        context_release(&context);
        return (PyObject *)it;
    }
    Py_DECREF((PyObject *)it);
    return NULL;
}

static PyObject *operator_name(PyObject *self, void *unused) {
    (void)unused;
    return Py_NewRef(((operator_object *)self)->name);
}

static PyGetSetDef operator_fields[] = {{"name", operator_name, NULL, "the operator's name", NULL},
                                        {NULL, NULL, NULL, NULL, NULL}};

bool types_add(PyObject *module) {
    static PyType_Slot state_slots[] = {
        {Py_tp_doc,
         "State(op, dtype='float64', *, first=0, nan='propagate', accuracy='exact', ddof=0)\n\n"
         "A reduction that values are pushed to, from `first` on. States of runs that follow one another are merged\n"
         "(merge, +), saved (pickle, to_bytes) and finished, and the result has the bits of one call with all values.\n"
         "One thread may use a state at a time. Raises TypeError for a dtype that the operator does not take.\n\n"
         ">>> import tally_reduce\n>>> from array import array\n"
         ">>> state = tally_reduce.State('mean', 'float64')\n"
         ">>> for part in ([1, 2], [3, 4, 5]):\n...     state.push(array('d', part))\n>>> state.finish()\n3.0\n"},
        {Py_tp_new, state_new},
        {Py_tp_dealloc, state_free},
        {Py_tp_methods, state_methods},
        {Py_tp_getset, state_fields},
        {Py_nb_add, state_add},
        {0, NULL}};
    static PyType_Slot operator_slots[] = {
        {Py_tp_doc,
         "define(text, *, name, dtype, identity, result=None, commutative=False)\n\n"
         "An operator given as text (docs/operators.md, 'Words of a text'), for arrays on a GPU: pass it as `op`.\n"
         "dtype and result (the same, if left out) are the dtypes of values and results; identity is the bytes of the\n"
         "accumulator that changes nothing. The text is compiled when a GPU first needs it. Raises TypeError for what\n"
         "is no text, ValueError for a definition that is not right. On the CPU such an operator raises Error.\n\n"
         ">>> import tally_reduce\n"
         ">>> op = tally_reduce.define('...', name='mine', dtype='f32', identity=bytes(4))\n>>> op.name\n'mine'\n"},
        {Py_tp_new, operator_new},
        {Py_tp_dealloc, operator_free},
        {Py_tp_getset, operator_fields},
        {0, NULL}};
    static PyType_Spec specs[] = {
        {"tally_reduce.State", sizeof(state_object), 0, Py_TPFLAGS_DEFAULT, state_slots},
        {"tally_reduce.define", sizeof(operator_object), 0, Py_TPFLAGS_DEFAULT, operator_slots}};
    state_type = (PyTypeObject *)PyType_FromSpec(&specs[0]);
    operator_type = (PyTypeObject *)PyType_FromSpec(&specs[1]);
    return state_type && operator_type && PyModule_AddObjectRef(module, "State", (PyObject *)state_type) == 0 &&
           PyModule_AddObjectRef(module, "define", (PyObject *)operator_type) == 0;
}
