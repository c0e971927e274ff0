/* Keyword arguments, dtypes, operators, streams, and exceptions. */
#include "python.h"

static const char *const keyword_names[K_END] = {
    [K_AXIS] = "axis",
    [K_KEEPDIMS] = "keepdims",
    [K_DTYPE] = "dtype",
    [K_OUT] = "out",
    [K_INITIAL] = "initial",
    [K_WHERE] = "where",
    [K_NAN] = "nan",
    [K_ACCURACY] = "accuracy",
    [K_STREAM] = "stream",
    [K_DDOF] = "ddof",
    [K_LENGTHS] = "lengths",
    [K_OFFSETS] = "offsets",
    [K_STARTS] = "starts",
    [K_ENDS] = "ends",
    [K_SEGMENT_IDS] = "segment_ids",
    [K_NUM_SEGMENTS] = "num_segments",
    [K_SORTED] = "indices_are_sorted",
    [K_OUT_OF_RANGE] = "out_of_range",
    [K_CHECKED] = "checked",
    [K_PLAN] = "plan",
};
static PyObject *interned[K_END];
static void write_long_names(void);

bool arguments_prepare(void) {
    write_long_names();
    for (int k = 0; k < K_END; k++)
        if (!(interned[k] = PyUnicode_InternFromString(keyword_names[k]))) return false;
    return true;
}

static int keyword_of(PyObject *name) {
    for (int k = 0; k < K_END; k++)
        if (interned[k] == name) return k;
    for (int k = 0; k < K_END; k++)
        if (PyUnicode_Compare(interned[k], name) == 0) return k;
    return K_END;
}

bool arguments_take(call_arguments *it, uint32_t allowed, PyObject *const *values, PyObject *names,
                    const char *function) {
    const Py_ssize_t count = names ? PyTuple_Size(names) : 0;
    for (Py_ssize_t k = 0; k < count; k++) {
        PyObject *name = PyTuple_GetItem(names, k);
        const int which = keyword_of(name);
        if (which == K_END || !(allowed >> which & 1)) {
            PyErr_Format(PyExc_TypeError, "%s() takes no argument '%U'", function, name);
            return false;
        }
        if (it->value[which]) {
            PyErr_Format(PyExc_TypeError, "%s() got '%U' twice", function, name);
            return false;
        }
        it->value[which] = values[k];
    }
    return true;
}

bool given(const call_arguments *it, enum keyword which) { return it->value[which] && it->value[which] != Py_None; }

bool int_argument(PyObject *object, const char *name, int64_t low, int64_t high, int64_t *value) {
    PyObject *number = PyNumber_Index(object);
    int beyond = 0;
    *value = number ? PyLong_AsLongLongAndOverflow(number, &beyond) : 0;
    Py_XDECREF(number);
    if (PyErr_Occurred()) {
        if (PyErr_ExceptionMatches(PyExc_TypeError)) PyErr_Format(PyExc_TypeError, "%s must be an int", name);
        return false;
    }
    if (beyond || *value < low || *value > high) {
        PyErr_Format(PyExc_ValueError, "%s must be %lld to %lld", name, (long long)low, (long long)high);
        return false;
    }
    return true;
}

/* ---- dtypes and operators ---- */

/* "float32" of TALLY_F32: the names that array libraries have in common. */
static char long_names[TALLY_TYPE_END][16];

static void write_long_names(void) {
#define TALLY_ROW(id, name, numpy, bytes, class)                                                             \
    PyOS_snprintf(long_names[TALLY_##id], sizeof long_names[0], TALLY_##id == TALLY_BF16 ? "b%s%d" : "%s%d", \
                  (class) == TALLY_CLASS_INT    ? "int"                                                      \
                  : (class) == TALLY_CLASS_UINT ? "uint"                                                     \
                                                : "float",                                                   \
                  8 * (bytes));
    TALLY_TYPES(TALLY_ROW)
#undef TALLY_ROW
    strcpy(long_names[TALLY_BOOL], "bool");
}

const char *type_name(tally_type type) { return long_names[type]; }

static bool type_from_word(const char *word, tally_type *type) {
    static const struct {
        const char *word;
        tally_type type;
    } others[] = {{"bool_", TALLY_BOOL}, {"int", TALLY_I64}, {"float", TALLY_F64}}; /* np.bool_ and Python's types */
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
        if (!strcmp(word, others[k].word)) return *type = others[k].type, true;
    if (!strcmp(word, "i8") || !strcmp(word, "u8")) return false; /* one byte to Tally, eight to NumPy */
#define TALLY_ROW(id, name, numpy, bytes, class)                          \
    if (!strcmp(word, #name) || !strcmp(word, long_names[TALLY_##id]) ||  \
        (numpy[0] && (!strcmp(word, numpy) || !strcmp(word, &numpy[1])))) \
        return *type = TALLY_##id, true;
    TALLY_TYPES(TALLY_ROW)
#undef TALLY_ROW
    return false;
}

/* The word that names a dtype: "float32" of np.float32, np.dtype("f4"), torch.float32, jnp.float32. */
static PyObject *dtype_word(PyObject *object) {
    if (PyUnicode_Check(object)) return Py_NewRef(object);
    static const char *const attributes[] = {"name", "__name__"};
    for (int k = 0; k < 2; k++) {
        PyObject *word = PyObject_GetAttrString(object, attributes[k]);
        if (word && PyUnicode_Check(word)) return word;
        PyErr_Clear();
        Py_XDECREF(word);
    }
    return PyObject_Str(object);
}

bool type_from_object(PyObject *object, tally_type *type) {
    PyObject *word = dtype_word(object);
    const char *text = word ? PyUnicode_AsUTF8AndSize(word, NULL) : NULL;
    bool found = false;
    if (text) {
        const char *dot = strrchr(text, '.'); /* torch.float32 */
        found = type_from_word(dot ? dot + 1 : text, type);
        if (!found)
            PyErr_Format(PyExc_TypeError,
                         "dtype %R is not supported; bool, int8 to int64, uint8 to uint64, float16, bfloat16, float32 "
                         "and float64 are, by these names ('i8' and 'u8' mean other things to NumPy and to Tally)",
                         object);
    }
    Py_XDECREF(word);
    return found;
}

bool op_from_object(PyObject *object, tally_op *op, PyObject **user) {
    *user = NULL;
    *op = TALLY_OP_USER;
    if (Py_TYPE(object) == operator_type) {
        *user = object;
        return true;
    }
    if (!PyUnicode_Check(object)) {
        PyErr_SetString(PyExc_TypeError, PyCallable_Check(object)
                                             ? "op: a Python function cannot be run for each value; name an operator, "
                                               "or give one as text by tally_reduce.define"
                                             : "op must be the name of an operator, or what tally_reduce.define gave");
        return false;
    }
    const char *name = PyUnicode_AsUTF8AndSize(object, NULL);
    if (!name) return false;
    *op = tally_op_from_name(name);
    if (*op == TALLY_OP_END && !strcmp(name, "and_")) *op = TALLY_AND;
    if (*op == TALLY_OP_END && !strcmp(name, "or_")) *op = TALLY_OR;
    if (*op != TALLY_OP_END) return true;
    PyErr_Format(PyExc_ValueError, "op: there is no operator %R; tally_reduce.info()['operators'] lists them", object);
    return false;
}

typedef struct facts {
    int inputs, on, gives, order, empty;
} facts;
static const facts operators[TALLY_OP_END] = {
#define TALLY_ROW(id, name, kernel, inputs, on, gives, order, empty, nans, what) {inputs, on, gives, order, empty},
    TALLY_OPERATORS(TALLY_ROW)
#undef TALLY_ROW
};
static const bool exact_sums[TALLY_OP_END] = {
#define TALLY_ROW(id, kernel, last) [TALLY_##id] = true,
    TALLY_EXACT_SUMS(TALLY_ROW)
#undef TALLY_ROW
};

int op_inputs(tally_op op) { return op < TALLY_OP_END ? operators[op].inputs : 1; }

bool op_takes_initial(tally_op op) {
    return op < TALLY_OP_END && operators[op].inputs == 1 &&
           (operators[op].gives == TALLY_GIVES_WIDE || operators[op].gives == TALLY_GIVES_SAME);
}

bool op_gives_nothing(tally_op op) {
    return op < TALLY_OP_END && operators[op].gives == TALLY_GIVES_REAL &&
           operators[op].empty == TALLY_EMPTY_IS_REFUSED;
}

bool op_counts_positions(tally_op op) { return op >= TALLY_OP_END || operators[op].gives == TALLY_GIVES_INDEX; }

bool op_order_shows(tally_op op, tally_type type, bool fast) {
    if (op >= TALLY_OP_END) return true;
    const bool floats = type >= TALLY_F16 && type <= TALLY_F64;
    if (floats && exact_sums[op]) return fast;
    return operators[op].order == TALLY_ORDER_FIXED || (operators[op].order == TALLY_ORDER_FREE_INTS && floats);
}

bool op_rounds_to_input(tally_op op) {
    if (op >= TALLY_OP_END) return false;
    const int gives = operators[op].gives;
    return gives == TALLY_GIVES_WIDE || gives == TALLY_GIVES_REAL || gives == TALLY_GIVES_MAGNITUDE;
}

/* ---- words, streams ---- */

bool word_argument(PyObject *object, const char *name, const char *const *words, int *number) {
    const char *text = PyUnicode_Check(object) ? PyUnicode_AsUTF8AndSize(object, NULL) : NULL;
    for (*number = 0; text && words[*number]; ++*number)
        if (!strcmp(text, words[*number])) return true;
    if (!PyErr_Occurred()) {
        const bool three = words[2] != NULL;
        PyErr_Format(PyExc_ValueError, "%s is %R, and must be '%s', '%s'%s%s%s", name, object, words[0], words[1],
                     three ? " or '" : "", three ? words[2] : "", three ? "'" : "");
    }
    return false;
}

bool stream_argument(PyObject *object, void **stream) {
    *stream = NULL;
    if (!object || object == Py_None) return true;
    static const char *const attributes[] = {"cuda_stream", "ptr", "handle"}; /* of torch, CuPy, Numba */
    PyObject *number = PyLong_Check(object) ? Py_NewRef(object) : NULL;
    if (!number && PyObject_HasAttrString(object, "__cuda_stream__")) { /* CUDA's Python protocol: (version, handle) */
        PyObject *pair = PyObject_CallMethod(object, "__cuda_stream__", NULL);
        number = pair ? PySequence_GetItem(pair, 1) : NULL;
        Py_XDECREF(pair);
    }
    for (int k = 0; k < 3 && !number; k++) {
        PyErr_Clear();
        number = PyObject_GetAttrString(object, attributes[k]);
    }
    *stream = number && PyLong_Check(number) ? PyLong_AsVoidPtr(number) : NULL;
    const bool right = number && PyLong_Check(number) && !PyErr_Occurred();
    Py_XDECREF(number);
    if (!right) {
        PyErr_Clear();
        PyErr_SetString(PyExc_TypeError, "stream must be a CUDA stream of torch, CuPy or Numba, its address, or None");
    }
    if (*stream == (void *)1) *stream = NULL; /* DLPack's number of the legacy default stream */
    return right;
}

/* ---- exceptions ---- */

PyObject *raise_status(tally_status status) {
    PyObject *type = tally_error;
    switch (status) {
    case TALLY_EMPTY:
    case TALLY_BAD_ARGUMENT:
    case TALLY_BAD_SEGMENTS:
    case TALLY_BAD_STATE:
    case TALLY_BAD_ORDER:
    case TALLY_NO_SPACE: type = PyExc_ValueError; break;
    case TALLY_BAD_TYPE: type = PyExc_TypeError; break;
    case TALLY_OVERFLOW: type = PyExc_OverflowError; break;
    case TALLY_NO_MEMORY: type = PyExc_MemoryError; break;
    default: break;
    }
    PyErr_SetString(type, tally_message());
    return NULL;
}
