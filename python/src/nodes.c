/* Nodes (tally_nodes.h), for arrays that are distributed over ranks: _partials.py sends them. */
#include "python.h"

#include "tally/tally_nodes.h"

/* Whose nodes: (op, dtype, *, nan=, accuracy=, ddof=), behind what a function takes itself. */
typedef struct node_kind {
    call_context context;
    tally_type type;
    size_t bytes; /* of a node */
} node_kind;

#define KIND_NAMES "op", "dtype", "nan", "accuracy", "ddof", NULL
#define KIND_FORMAT "OO|$OOO"
#define KIND_PLACES(a) \
    &(a).op, &(a).dtype, &(a).words.value[K_NAN], &(a).words.value[K_ACCURACY], &(a).words.value[K_DDOF]
typedef struct kind_arguments {
    PyObject *op, *dtype;
    call_arguments words;
} kind_arguments;

/* in: the array that is reduced, or NULL. Closed by context_release. */
static bool open_kind(node_kind *it, const kind_arguments *given_ones, const array *in) {
    PyObject *user;
    tally_op op;
    if (!op_from_object(given_ones->op, &op, &user) || !type_from_object(given_ones->dtype, &it->type) ||
        !context_for(&it->context, op, user, &given_ones->words, in))
        return false;
    const tally_status status = tally_node_bytes(it->context.context, it->context.op, it->type, &it->bytes);
    if (status == TALLY_OK) return true;
    context_release(&it->context);
    return raise_status(status) != NULL;
}

/* _node_facts(op, dtype, ...): the bytes of a node, and whether nodes are added as 64-bit integers; None if the order
 * of values shows, so that there are no nodes. */
PyObject *node_facts(PyObject *self, PyObject *args, PyObject *words) {
    static char *names[] = {KIND_NAMES};
    kind_arguments given_ones = {0};
    node_kind kind;
    PyObject *user, *result = NULL;
    size_t bytes = 0;
    int adds = 0;
    (void)self;
    if (!PyArg_ParseTupleAndKeywords(args, words, KIND_FORMAT ":_node_facts", names, KIND_PLACES(given_ones)) ||
        !op_from_object(given_ones.op, &kind.context.op, &user) || !type_from_object(given_ones.dtype, &kind.type) ||
        !context_for(&kind.context, kind.context.op, user, &given_ones.words, NULL))
        return NULL;
    tally_status status = tally_node_bytes(kind.context.context, kind.context.op, kind.type, &bytes);
    if (status == TALLY_OK) status = tally_node_adds(kind.context.context, kind.context.op, kind.type, &adds);
    if (status == TALLY_OK)
        result = Py_BuildValue("nO", (Py_ssize_t)bytes, adds ? Py_True : Py_False);
    else
        result = status == TALLY_UNSUPPORTED ? Py_NewRef(Py_None) : raise_status(status);
    context_release(&kind.context);
    return result;
}

/* ---- making ---- */

static PyObject *nodes_of_rows(const node_kind *kind, const array *in, int64_t rows) {
    const size_t bytes = (size_t)rows * kind->bytes;
    PyObject *nodes = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)bytes);
    if (!nodes) return NULL;
    void *to = PyByteArray_AsString(nodes);
    PyThreadState *thread = release_lock(in);
    const tally_status status =
        tally_reduce_segments_nodes(kind->context.context, kind->context.op, tally_in(in->data, in->type, in->count),
                                    tally_rows(rows, rows > 0 ? in->count / rows : 0, 1), to, bytes);
    if (thread) PyEval_RestoreThread(thread);
    if (status == TALLY_OK) return nodes;
    Py_DECREF(nodes);
    return raise_status(status);
}

/* _make_nodes(x, rows, op, dtype, ...): a bytearray with a node for each of `rows` equal runs of the values of x, a
 * contiguous array of that dtype. */
PyObject *make_nodes(PyObject *self, PyObject *args, PyObject *words) {
    static char *names[] = {"x", "rows", KIND_NAMES};
    kind_arguments given_ones = {0};
    node_kind kind;
    array in;
    PyObject *x, *nodes = NULL;
    long long rows;
    (void)self;
    if (!PyArg_ParseTupleAndKeywords(args, words, "OL" KIND_FORMAT ":_make_nodes", names, &x, &rows,
                                     KIND_PLACES(given_ones)) ||
        !array_open(&in, x, NULL, "the array"))
        return NULL;
    if (open_kind(&kind, &given_ones, &in)) {
        if (in.type != kind.type || !array_is_packed(&in) || rows < 0 ||
            (rows == 0 ? in.count != 0 : in.count % rows != 0))
            PyErr_SetString(PyExc_ValueError, "_make_nodes takes a contiguous array of that dtype and of so many rows");
        else
            nodes = nodes_of_rows(&kind, &in, rows);
        context_release(&kind.context);
    }
    array_close(&in);
    return nodes;
}

/* ---- changing ---- */

static bool count_nodes(const node_kind *kind, const Py_buffer *nodes, int64_t *count) {
    *count = (int64_t)((size_t)nodes->len / kind->bytes);
    if ((size_t)nodes->len % kind->bytes == 0) return true;
    PyErr_Format(PyExc_ValueError, "%zd bytes are no number of nodes of %zu bytes", nodes->len, kind->bytes);
    return false;
}

/* _merge_nodes(into, others, op, dtype, ...): into becomes the nodes of the values of both. */
PyObject *merge_nodes(PyObject *self, PyObject *args, PyObject *words) {
    static char *names[] = {"into", "others", KIND_NAMES};
    kind_arguments given_ones = {0};
    node_kind kind;
    Py_buffer into, from;
    int64_t count;
    PyObject *result = NULL;
    (void)self;
    if (!PyArg_ParseTupleAndKeywords(args, words, "w*y*" KIND_FORMAT ":_merge_nodes", names, &into, &from,
                                     KIND_PLACES(given_ones)))
        return NULL;
    if (open_kind(&kind, &given_ones, NULL)) {
        if (into.len != from.len)
            PyErr_SetString(PyExc_ValueError, "as many nodes are merged into others");
        else if (count_nodes(&kind, &into, &count)) {
            const tally_status status =
                tally_merge_nodes(kind.context.context, kind.context.op, kind.type, count, into.buf, from.buf);
            result = status == TALLY_OK ? Py_NewRef(Py_None) : raise_status(status);
        }
        context_release(&kind.context);
    }
    PyBuffer_Release(&into);
    PyBuffer_Release(&from);
    return result;
}

/* _shift_nodes(nodes, by, op, dtype, ...): `by` values come before those of each node. */
PyObject *shift_nodes(PyObject *self, PyObject *args, PyObject *words) {
    static char *names[] = {"nodes", "by", KIND_NAMES};
    kind_arguments given_ones = {0};
    node_kind kind;
    Py_buffer nodes;
    long long by;
    int64_t count;
    PyObject *result = NULL;
    (void)self;
    if (!PyArg_ParseTupleAndKeywords(args, words, "w*L" KIND_FORMAT ":_shift_nodes", names, &nodes, &by,
                                     KIND_PLACES(given_ones)))
        return NULL;
    if (open_kind(&kind, &given_ones, NULL)) {
        const int64_t distance = by;
        tally_status status = TALLY_OK;
        if (count_nodes(&kind, &nodes, &count)) {
            for (int64_t i = 0; i < count && status == TALLY_OK; i++)
                status = tally_shift_nodes(kind.context.context, kind.context.op, kind.type, 1,
                                           (char *)nodes.buf + (size_t)i * kind.bytes, &distance);
            result = status == TALLY_OK ? Py_NewRef(Py_None) : raise_status(status);
        }
        context_release(&kind.context);
    }
    PyBuffer_Release(&nodes);
    return result;
}

/* ---- finishing ---- */

static PyObject *result_from(tally_op op, const void *result, tally_type type, tally_type input) {
    if (op == TALLY_STATS) {
        tally_stats stats;
        memcpy(&stats, result, sizeof stats);
        return stats_from(&stats, input, false);
    }
    return op == TALLY_MINMAX ? pair_from(result, type, false) : scalar_from(result, type, false);
}

static PyObject *list_results(const node_kind *kind, const char *nodes, int64_t count, tally_type type) {
    const tally_op op = kind->context.op;
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (int64_t i = 0; i < count && list; i++) {
        union {
            tally_stats stats;
            char bytes[128];
        } result;
        const tally_status status = tally_finish_nodes(kind->context.context, op, kind->type, 1,
                                                       nodes + (size_t)i * kind->bytes, tally_out(&result, type, 1));
        PyObject *one = status == TALLY_OK || (status == TALLY_EMPTY && op_gives_nothing(op))
                            ? result_from(op, &result, type, kind->type)
                            : raise_status(status);
        if (!one || PyList_SetItem(list, (Py_ssize_t)i, one) < 0) Py_CLEAR(list);
    }
    return list;
}

/* _finish_nodes(nodes, result_dtype, op, dtype, ...): a list of results; result_dtype None: the usual one. */
PyObject *finish_nodes(PyObject *self, PyObject *args, PyObject *words) {
    static char *names[] = {"nodes", "result_dtype", KIND_NAMES};
    kind_arguments given_ones = {0};
    node_kind kind;
    Py_buffer nodes;
    tally_type type;
    int64_t count;
    PyObject *result_dtype, *list = NULL;
    (void)self;
    if (!PyArg_ParseTupleAndKeywords(args, words, "y*O" KIND_FORMAT ":_finish_nodes", names, &nodes, &result_dtype,
                                     KIND_PLACES(given_ones)))
        return NULL;
    if (open_kind(&kind, &given_ones, NULL)) {
        if (result_type(&kind.context, kind.type, &type) &&
            (result_dtype == Py_None || type_from_object(result_dtype, &type)) && count_nodes(&kind, &nodes, &count))
            list = list_results(&kind, nodes.buf, count, kind.context.op == TALLY_STATS ? TALLY_NATURAL : type);
        context_release(&kind.context);
    }
    PyBuffer_Release(&nodes);
    return list;
}
