/* The module tally_reduce._core: functions, made of the table of operators. */
#include "python.h"

#include "examples.h"

PyObject *tally_error, *arrays_module, *stats_type;
PyTypeObject *plan_type, *operator_type, *state_type;

#define BIT(keyword) ((uint32_t)1 << K_##keyword)
#define OPTIONS (BIT(AXIS) | BIT(DTYPE) | BIT(OUT) | BIT(NAN) | BIT(ACCURACY) | BIT(STREAM) | BIT(DDOF))
#define REDUCE (OPTIONS | BIT(KEEPDIMS) | BIT(INITIAL) | BIT(WHERE))
#define SEGMENTS                                                                                              \
    (OPTIONS | BIT(LENGTHS) | BIT(OFFSETS) | BIT(STARTS) | BIT(ENDS) | BIT(SEGMENT_IDS) | BIT(NUM_SEGMENTS) | \
     BIT(SORTED) | BIT(OUT_OF_RANGE) | BIT(CHECKED) | BIT(PLAN))

#define TALLY_ROW(id) || op == TALLY_##id
static bool takes_ddof(tally_op op) { return false TALLY_WITH_DDOF(TALLY_ROW); }
#undef TALLY_ROW

typedef PyObject *(*call_function)(tally_op op, PyObject *user, PyObject *const *inputs,
                                   const call_arguments *arguments);

/* `others` names the positional arguments that may follow the arrays, K_END last. */
static PyObject *call_with(call_function call, tally_op op, PyObject *user, const char *function, uint32_t allowed,
                           const enum keyword *others, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    call_arguments arguments = {{NULL}};
    const int inputs = op_inputs(op);
    Py_ssize_t taken = inputs;
    if (!takes_ddof(op)) allowed &= ~BIT(DDOF);
    for (; count > taken && *others != K_END; others++) arguments.value[*others] = args[taken++];
    if (count < inputs || count > taken) {
        PyErr_Format(PyExc_TypeError, "%s() takes %d array%s%s, and got %zd positional arguments", function, inputs,
                     inputs == 1 ? "" : "s", taken > inputs || *others != K_END ? " and ids" : "", count);
        return NULL;
    }
    if (!arguments_take(&arguments, allowed, args + count, names, function)) return NULL;
    return call(op, user, args, &arguments);
}

static const enum keyword no_others[] = {K_END}, ids[] = {K_SEGMENT_IDS, K_NUM_SEGMENTS, K_END};

#define TALLY_ROW(id, name, kernel, inputs, on, gives, order, empty, nans, what)                                \
    static PyObject *reduce_##name(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {  \
        (void)self;                                                                                             \
        return call_with(reduce_call, TALLY_##id, NULL, #name, REDUCE, no_others, args, count, names);          \
    }                                                                                                           \
    static PyObject *segment_##name(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) { \
        (void)self;                                                                                             \
        return call_with(segments_call, TALLY_##id, NULL, "segment_" #name, SEGMENTS, ids, args, count, names); \
    }
TALLY_OPERATORS(TALLY_ROW)
#undef TALLY_ROW

/* reduce(x, op) and reduce(x, y, op): the operator comes last, as the arrays come first. */
static PyObject *any_op(call_function call, const char *function, uint32_t allowed, PyObject *const *args,
                        Py_ssize_t count, PyObject *names) {
    tally_op op;
    PyObject *user, *moved[3];
    if (count < 2 || count > 3) {
        PyErr_Format(PyExc_TypeError, "%s() takes an array and an operator (for dot two arrays and an operator)",
                     function);
        return NULL;
    }
    if (!op_from_object(args[count - 1], &op, &user)) return NULL;
    for (Py_ssize_t k = 0; k < count - 1; k++) moved[k] = args[k];
    call_arguments arguments = {{NULL}};
    if (!takes_ddof(op)) allowed &= ~BIT(DDOF);
    if (op_inputs(op) != count - 1) {
        PyErr_Format(PyExc_TypeError, "%s(): this operator takes %d array%s", function, op_inputs(op),
                     op_inputs(op) == 1 ? "" : "s");
        return NULL;
    }
    if (!arguments_take(&arguments, allowed, args + count, names, function)) return NULL;
    return call(op, user, moved, &arguments);
}

static PyObject *reduce(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    (void)self;
    return any_op(reduce_call, "reduce", REDUCE, args, count, names);
}

static PyObject *segment_reduce(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    (void)self;
    return any_op(segments_call, "segment_reduce", SEGMENTS, args, count, names);
}

static PyObject *warm(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *words[] = {"op", "dtype", "segments", "device", "nan", "accuracy", "ddof", NULL};
    (void)self;
    PyObject *op_object, *dtype, *user;
    const char *kind = NULL;
    call_arguments arguments = {{NULL}};
    array place;
    place.device = 0;
    place.stream = NULL;
    tally_op op;
    tally_type type;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|$ziOOO:warm", words, &op_object, &dtype, &kind, &place.device,
                                     &arguments.value[K_NAN], &arguments.value[K_ACCURACY], &arguments.value[K_DDOF]) ||
        !op_from_object(op_object, &op, &user) || !type_from_object(dtype, &type))
        return NULL;
    static const char *const kinds[] = {"offsets", "lengths", "segment_ids", "rows"};
    int segmentation = -1;
    for (int k = 0; k < 4 && kind; k++)
        if (!strcmp(kind, kinds[k])) segmentation = k;
    if ((kind && segmentation < 0) || place.device < 0) {
        PyErr_SetString(PyExc_ValueError,
                        "segments must be 'offsets', 'lengths', 'segment_ids' or 'rows', and device a "
                        "GPU's number");
        return NULL;
    }
    call_context context;
    if (!context_for(&context, op, user, &arguments, &place)) return NULL;
    PyThreadState *thread = PyEval_SaveThread();
    const tally_status status =
        kind ? tally_warm_segments(context.context, context.op, type, (tally_segmentation)segmentation)
             : tally_warm(context.context, context.op, type);
    PyEval_RestoreThread(thread);
    context_release(&context);
    return status == TALLY_OK ? Py_NewRef(Py_None) : raise_status(status);
}

static PyObject *gpus(void) {
    int count = 0;
    PyObject *list = PyList_New(0);
    if (tally_gpu_count(&count) != TALLY_OK) return list;
    for (int k = 0; k < count && list; k++) {
        tally_gpu_info gpu;
        if (tally_gpu_describe(k, &gpu) != TALLY_OK) continue;
        PyObject *one =
            Py_BuildValue("{s:s,s:i,s:i,s:K,s:i}", "name", gpu.name, "sm", gpu.sm, "multiprocessors",
                          gpu.multiprocessors, "memory", (unsigned long long)gpu.memory, "driver", gpu.driver);
        if (!one || PyList_Append(list, one) < 0) Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

static PyObject *info(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    static const char *const operators[] = {
#define TALLY_ROW(id, name, kernel, inputs, on, gives, order, empty, nans, what) #name,
        TALLY_OPERATORS(TALLY_ROW)
#undef TALLY_ROW
    };
    PyObject *list = PyTuple_New(TALLY_OP_END), *dtypes = PyTuple_New(TALLY_STRUCT - 1), *found = gpus();
    bool right = list && dtypes && found;
    for (int k = 0; right && k < TALLY_OP_END; k++)
        right = PyTuple_SetItem(list, k, PyUnicode_FromString(operators[k])) == 0;
    for (int k = 0; right && k < TALLY_STRUCT - 1; k++)
        right = PyTuple_SetItem(dtypes, k, PyUnicode_FromString(type_name((tally_type)(k + 1)))) == 0;
    PyObject *result = NULL;
    if (right)
        result = Py_BuildValue("{s:s,s:s,s:i,s:O,s:O,s:O,s:z,s:z}", "version", tally_version(), "isa", tally_cpu_isa(),
                               "threads", tally_cpu_threads(), "operators", list, "dtypes", dtypes, "gpus", found,
                               "compiler", tally_gpu_compiler(), "cache", tally_cache_folder());
    Py_XDECREF(list), Py_XDECREF(dtypes), Py_XDECREF(found);
    return result;
}

/* _result_dtype(op, dtype): the name of the dtype of results, for tally_reduce.torch and tally_reduce.jax. */
static PyObject *result_dtype(PyObject *self, PyObject *args) {
    (void)self;
    PyObject *op_object, *dtype, *user;
    call_context context = {0};
    tally_type input, type;
    if (!PyArg_ParseTuple(args, "OO:_result_dtype", &op_object, &dtype) ||
        !op_from_object(op_object, &context.op, &user) || !type_from_object(dtype, &input) ||
        !result_type(&context, input, &type))
        return NULL;
    return PyUnicode_FromString(type_name(type));
}

/* _dtype_name(dtype): the name of a dtype of any library. */
static PyObject *dtype_name(PyObject *self, PyObject *dtype) {
    (void)self;
    tally_type type;
    return type_from_object(dtype, &type) ? PyUnicode_FromString(type_name(type)) : NULL;
}

/* _order_shows(op, dtype, accuracy): whether parts of an array must be merged in their order. */
static PyObject *order_shows(PyObject *self, PyObject *args) {
    (void)self;
    PyObject *op_object, *dtype, *user;
    const char *accuracy;
    tally_op op;
    tally_type input;
    if (!PyArg_ParseTuple(args, "OOs:_order_shows", &op_object, &dtype, &accuracy) ||
        !op_from_object(op_object, &op, &user) || !type_from_object(dtype, &input))
        return NULL;
    return PyBool_FromLong(op_counts_positions(op) || op_order_shows(op, input, !strcmp(accuracy, "fast")));
}

/* _takes_ddof(op) */
static PyObject *whether_takes_ddof(PyObject *self, PyObject *op_object) {
    (void)self;
    PyObject *user;
    tally_op op;
    return op_from_object(op_object, &op, &user) ? PyBool_FromLong(takes_ddof(op)) : NULL;
}

/* ---- the module ---- */

#define WITH_WORDS(function) (PyCFunction)(void (*)(void)) function, METH_VARARGS | METH_KEYWORDS
#define FAST(function) (PyCFunction)(void (*)(void)) function, METH_FASTCALL | METH_KEYWORDS

static PyMethodDef functions[] = {
#define TALLY_ROW(id, name, kernel, inputs, on, gives, order, empty, nans, what) {#name, FAST(reduce_##name), NULL},
    TALLY_OPERATORS(TALLY_ROW)
#undef TALLY_ROW
#define TALLY_ROW(id, name, kernel, inputs, on, gives, order, empty, nans, what) \
    {"segment_" #name, FAST(segment_##name), NULL},
        TALLY_OPERATORS(TALLY_ROW)
#undef TALLY_ROW
            {"reduce", FAST(reduce), REDUCE_DOC},
    {"segment_reduce", FAST(segment_reduce), SEGMENT_REDUCE_DOC},
    {"warm", WITH_WORDS(warm), WARM_DOC},
    {"info", info, METH_NOARGS, INFO_DOC},
    {"_result_dtype", result_dtype, METH_VARARGS, NULL},
    {"_dtype_name", dtype_name, METH_O, NULL},
    {"_order_shows", order_shows, METH_VARARGS, NULL},
    {"_takes_ddof", whether_takes_ddof, METH_O, NULL},
    {"_node_facts", WITH_WORDS(node_facts), NULL},
    {"_make_nodes", WITH_WORDS(make_nodes), NULL},
    {"_merge_nodes", WITH_WORDS(merge_nodes), NULL},
    {"_shift_nodes", WITH_WORDS(shift_nodes), NULL},
    {"_finish_nodes", WITH_WORDS(finish_nodes), NULL},
    {"_xla_handlers", xla_handlers, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};

/* The docstrings of operators: the signature, what it is, and an example. They live as long as the process. */
static bool write_docs(void) {
    static const example missing = {"", "h", "no example", "", "no example"}; /* a test says so */
    for (int op = 0; op < TALLY_OP_END; op++) {
        const bool pair = op_inputs(op) == 2;
        const char *name = functions[op].ml_name, *python = name;
        if (op == TALLY_AND) python = "and_";
        if (op == TALLY_OR) python = "or_";
        const char *ddof = takes_ddof(op) ? ", ddof=0" : "", *x = pair ? "x, y" : "x";
        const example *found = NULL;
        for (size_t k = 0; k < sizeof examples / sizeof *examples; k++)
            if (!strcmp(examples[k].op, name)) found = &examples[k];
        if (!found) found = &missing;
        PyObject *values = PyUnicode_FromFormat(pair ? PAIR_EXAMPLE : VALUES_EXAMPLE, found->code);
        if (!values) return false;
        PyObject *texts[] = {PyUnicode_FromFormat(OPERATOR_DOC, name, x, op_takes_initial(op) ? ", initial=None" : "",
                                                  ddof, tally_op_summary(op),
                                                  pair ? "x and y, which have the same shape and dtype," : "x", python,
                                                  values, found->whole),
                             PyUnicode_FromFormat(SEGMENT_DOC, name, pair ? "data, other" : "data", ddof,
                                                  tally_op_summary(op), name, values, found->field, found->segments)};
        Py_DECREF(values);
        for (int k = 0; k < 2; k++) {
            if (!texts[k]) return false;
            functions[op + k * TALLY_OP_END].ml_doc = PyUnicode_AsUTF8AndSize(texts[k], NULL);
        }
    }
    return true;
}

static bool fill(PyObject *module) {
    arrays_module = PyImport_ImportModule("tally_reduce._arrays");
    PyObject *types = PyImport_ImportModule("tally_reduce._types");
    if (types) {
        tally_error = PyObject_GetAttrString(types, "Error");
        stats_type = PyObject_GetAttrString(types, "Stats");
        Py_DECREF(types);
    }
    return arrays_module && tally_error && stats_type && arguments_prepare() && types_add(module) && plan_add(module);
}

PyMODINIT_FUNC PyInit__core(void) {
    static struct PyModuleDef definition = {
        PyModuleDef_HEAD_INIT, "tally_reduce._core", NULL, -1, functions, NULL, NULL, NULL, NULL};
    if (!write_docs()) return NULL;
    PyObject *module = PyModule_Create(&definition);
    if (module && !fill(module)) Py_CLEAR(module);
    return module;
}
