/* segment_reduce(data, op): segments along one axis, for each value of the other axes. Plans. */
#include "python.h"

#include <stdlib.h>

/* The segments of a call. Where the library cannot take them as they are (ids that are not sorted, or that are left
 * out, and begins with ends), `order` has the positions of the values that are reduced, and `offsets` cuts them. */
typedef struct segment_cut {
    tally_segments segments;
    array index[2];
    int indices;
    int64_t *order, *offsets;
    int64_t ordered; /* how many positions */
} segment_cut;

static void cut_close(segment_cut *it) {
    while (it->indices > 0) array_close(&it->index[--it->indices]);
    free(it->order), free(it->offsets);
    it->order = it->offsets = NULL;
}

static bool wrong(PyObject *type, const char *sentence) {
    PyErr_SetString(type, sentence);
    return false;
}

static array *open_next(segment_cut *it, const call_arguments *arguments, enum keyword which, const char *name) {
    array *index = &it->index[it->indices];
    PyObject *stream = given(arguments, K_STREAM) ? arguments->value[K_STREAM] : NULL;
    if (!index_open(index, arguments->value[which], stream, name)) return NULL;
    it->indices++;
    return index;
}

static bool make_room(segment_cut *it, int64_t ordered, int64_t segments) {
    it->ordered = ordered;
    it->order = malloc((size_t)(ordered + 1) * sizeof *it->order);
    it->offsets = calloc((size_t)(segments + 2), sizeof *it->offsets);
    if (it->order && it->offsets) {
        it->segments = tally_offsets(it->offsets, TALLY_I64, segments);
        return true;
    }
    PyErr_NoMemory();
    return false;
}

static int64_t integer_at(const array *index, int64_t k) {
    if (index->type == TALLY_I32) {
        int32_t value;
        memcpy(&value, index->data + 4 * k, sizeof value);
        return value;
    }
    int64_t value;
    memcpy(&value, index->data + 8 * k, sizeof value);
    return value;
}

static bool from_ranges(segment_cut *it, const call_arguments *arguments, int64_t values) {
    const array *starts = open_next(it, arguments, K_STARTS, "starts");
    const array *ends = starts ? open_next(it, arguments, K_ENDS, "ends") : NULL;
    if (!ends) return false;
    if (starts->count != ends->count) return wrong(PyExc_ValueError, "starts and ends differ in length");
    if (starts->device != HOST || ends->device != HOST)
        return wrong(PyExc_ValueError, "starts and ends must be in host memory");
    int64_t total = 0;
    for (int64_t s = 0; s < starts->count; s++) {
        const int64_t begin = integer_at(starts, s), end = integer_at(ends, s);
        if (begin < 0 || end < begin || end > values) {
            PyErr_Format(PyExc_ValueError, "segment %lld is %lld to %lld, and must lie within 0 to %lld", (long long)s,
                         (long long)begin, (long long)end, (long long)values);
            return false;
        }
        if (end - begin > (INT64_MAX >> 6) - total) return PyErr_NoMemory() != NULL;
        total += end - begin;
    }
    if (!make_room(it, total, starts->count)) return false;
    int64_t *to = it->order;
    for (int64_t s = 0; s < starts->count; s++) {
        for (int64_t k = integer_at(starts, s); k < integer_at(ends, s); k++) *to++ = k;
        it->offsets[s + 1] = to - it->order;
    }
    return true;
}

/* A stable counting sort: the values of a segment keep their order. */
static bool sort_ids(segment_cut *it, const array *ids, int64_t segments, bool drop) {
    if (ids->device != HOST)
        return wrong(PyExc_ValueError, "segment ids that are not sorted, or out of range, must be in host memory");
    if (!make_room(it, ids->count, segments)) return false;
    for (int64_t k = 0; k < ids->count; k++) {
        const int64_t id = integer_at(ids, k);
        if (id >= 0 && id < segments) {
            it->offsets[id + 1]++;
        } else if (!drop) {
            PyErr_Format(PyExc_ValueError,
                         "segment_ids: value %lld has id %lld, and there are %lld segments; "
                         "out_of_range='drop' leaves such values out",
                         (long long)k, (long long)id, (long long)segments);
            return false;
        }
    }
    for (int64_t s = 0; s < segments; s++) it->offsets[s + 1] += it->offsets[s];
    it->ordered = it->offsets[segments];
    for (int64_t k = 0; k < ids->count; k++) {
        const int64_t id = integer_at(ids, k);
        if (id >= 0 && id < segments) it->order[it->offsets[id]++] = k;
    }
    memmove(it->offsets + 1, it->offsets, (size_t)segments * sizeof *it->offsets);
    it->offsets[0] = 0;
    return true;
}

static bool flag(const call_arguments *arguments, enum keyword which, bool otherwise, bool *value) {
    const int truth = given(arguments, which) ? PyObject_IsTrue(arguments->value[which]) : otherwise;
    *value = truth > 0;
    return truth >= 0;
}

static bool drops(const call_arguments *arguments, bool *drop) {
    PyObject *word = arguments->value[K_OUT_OF_RANGE];
    *drop = false;
    if (!given(arguments, K_OUT_OF_RANGE)) return true;
    if (PyUnicode_Check(word) && PyUnicode_CompareWithASCIIString(word, "drop") == 0) return *drop = true;
    if (PyUnicode_Check(word) && PyUnicode_CompareWithASCIIString(word, "error") == 0) return true;
    return wrong(PyExc_ValueError, "out_of_range must be 'error' or 'drop'");
}

static bool from_ids(segment_cut *it, const call_arguments *arguments, int64_t values) {
    const array *ids = open_next(it, arguments, K_SEGMENT_IDS, "segment_ids");
    bool sorted, drop;
    int64_t segments = 0;
    if (!ids || !flag(arguments, K_SORTED, true, &sorted) || !drops(arguments, &drop)) return false;
    if (ids->count != values) {
        PyErr_Format(PyExc_ValueError, "segment_ids has %lld ids, and the axis has %lld values", (long long)ids->count,
                     (long long)values);
        return false;
    }
    if (given(arguments, K_NUM_SEGMENTS)) {
        if (!int_argument(arguments->value[K_NUM_SEGMENTS], "num_segments", 0, INT64_MAX >> 6, &segments)) return false;
    } else if (ids->device != HOST) {
        return wrong(PyExc_ValueError, "num_segments is needed where segment_ids are on a GPU");
    } else {
        const int64_t first = sorted && ids->count ? ids->count - 1 : 0;
        for (int64_t k = first; k < ids->count; k++) {
            const int64_t id = integer_at(ids, k);
            if (id >= segments) segments = id + 1;
        }
        if (segments > INT64_MAX >> 6) return PyErr_NoMemory() != NULL;
    }
    if (!sorted || drop) return sort_ids(it, ids, segments, drop);
    it->segments = tally_segment_ids(ids->data, ids->type, segments);
    return true;
}

static void cut_clear(segment_cut *it) {
    memset(&it->segments, 0, sizeof it->segments);
    it->indices = 0;
    it->order = it->offsets = NULL;
}

/* The lists of an Arrow array. */
static bool lists_open(segment_cut *it, const array *in, const call_arguments *arguments) {
    cut_clear(it);
    for (int k = K_LENGTHS; k <= K_NUM_SEGMENTS; k++)
        if (given(arguments, (enum keyword)k))
            return wrong(PyExc_TypeError, "the array's lists are its segments; name no others");
    if (given(arguments, K_PLAN)) return wrong(PyExc_TypeError, "the array's lists are its segments; it takes no plan");
    it->segments = tally_offsets(in->lists, in->lists_type, in->lists_count);
    return true;
}

static bool cut_open(segment_cut *it, const call_arguments *arguments, int64_t values) {
    static const enum keyword ways[] = {K_LENGTHS, K_OFFSETS, K_SEGMENT_IDS, K_STARTS, K_PLAN};
    int ways_given = 0;
    enum keyword way = K_END;
    cut_clear(it);
    for (int k = 0; k < 5; k++)
        if (given(arguments, ways[k])) way = ways[k], ways_given++;
    if (ways_given != 1 || given(arguments, K_ENDS) != given(arguments, K_STARTS))
        return wrong(PyExc_TypeError,
                     "name the segments in one way: lengths, offsets, starts and ends, segment_ids, or plan");
    if (way != K_SEGMENT_IDS && (given(arguments, K_NUM_SEGMENTS) || given(arguments, K_OUT_OF_RANGE)))
        return wrong(PyExc_TypeError, "num_segments and out_of_range go with segment_ids");
    if (way == K_STARTS) return from_ranges(it, arguments, values);
    if (way == K_SEGMENT_IDS) return from_ids(it, arguments, values);
    if (way == K_PLAN) {
        if (Py_TYPE(arguments->value[K_PLAN]) != plan_type) return wrong(PyExc_TypeError, "plan must be a Plan");
        int64_t segments = 0;
        it->segments = tally_planned(plan_of(arguments->value[K_PLAN], &segments));
        it->segments.count = segments; /* for the shape of the results; the library knows it */
        return true;
    }
    const array *index = open_next(it, arguments, way, way == K_LENGTHS ? "lengths" : "offsets");
    if (!index) return false;
    if (way == K_LENGTHS) {
        it->segments = tally_lengths(index->data, index->type, index->count);
        return true;
    }
    if (index->count == 0) return wrong(PyExc_ValueError, "offsets has no values; for no segments it is [0]");
    it->segments = tally_offsets(index->data, index->type, index->count - 1);
    return true;
}

/* ---- a call ---- */

typedef struct problem {
    const call_context *context;
    const array *in[2];
    int inputs, axis;
    segment_cut *cut;
    result_set *results;
} problem;

static void copy_ordered(char *to, const char *from, const array *in, int axis, const segment_cut *cut) {
    const int64_t stride = in->strides[axis];
    for (int64_t k = 0; k < cut->ordered; k++, to += in->item)
        memcpy(to, from + cut->order[k] * stride, (size_t)in->item);
}

tally_status reduce_cut(const call_context *it, int inputs, const tally_array *in, tally_segments cut,
                        tally_output out) {
    return inputs == 1 ? tally_reduce_segments(it->context, it->op, in[0], cut, out)
                       : tally_reduce_segments_pair(it->context, it->op, in[0], in[1], cut, out);
}

/* One call for each value of the other axes: data where it lies, results `inner` apart. */
static tally_status run_all(const problem *it, tally_segments segments, char *const *scratch) {
    const array *shape = it->in[0];
    int64_t inner = 1, outer = 1, index[MOST_AXES] = {0};
    for (int k = 0; k < shape->axes; k++) *(k < it->axis ? &outer : &inner) *= k == it->axis ? 1 : shape->shape[k];
    const int64_t values = it->cut->order ? it->cut->ordered : shape->shape[it->axis];
    const int64_t item = it->results->item, results = it->cut->segments.count;
    tally_status status = TALLY_OK;
    for (int64_t call = 0; call < outer * inner; call++) {
        tally_array in[2];
        for (int side = 0; side < it->inputs; side++) {
            const array *from = it->in[side];
            char *data = from->data;
            for (int k = 0; k < from->axes; k++) data += index[k] * from->strides[k];
            if (scratch[side]) copy_ordered(scratch[side], data, from, it->axis, it->cut);
            in[side] = tally_in(scratch[side] ? scratch[side] : data, from->type, values);
            if (!scratch[side] && values > 1) in[side].stride = from->strides[it->axis];
        }
        tally_output out = tally_out(it->results->data + (call / inner * results * inner + call % inner) * item,
                                     it->results->type, results);
        out.stride = inner * item;
        const tally_status one = reduce_cut(it->context, it->inputs, in, segments, out);
        if (one != TALLY_OK && one != TALLY_EMPTY) status = one;
        if (status != TALLY_OK && status != TALLY_OVERFLOW) return status;
        for (int k = shape->axes; k-- > 0;) {
            if (k == it->axis) continue;
            if (++index[k] < shape->shape[k]) break;
            index[k] = 0;
        }
    }
    return status;
}

/* Several features share a plan, so that lengths and ids are looked at once. false: no memory. */
static bool run(const problem *it, tally_status *status) {
    char *scratch[2] = {NULL, NULL};
    const array *in = it->in[0];
    for (int side = 0; side < it->inputs; side++)
        if (it->cut->order) {
            scratch[side] = malloc((size_t)(it->cut->ordered * in->item) + 1);
            if (!scratch[side]) {
                free(scratch[0]);
                return false;
            }
        }
    tally_segments segments = it->cut->segments;
    if (segments.kind == TALLY_PLANNED) segments.count = 0;
    tally_plan *plan = NULL;
    const bool many = in->count > 2 * in->shape[it->axis] && segments.kind != TALLY_PLANNED;
    const int64_t values = it->cut->order ? it->cut->ordered : in->shape[it->axis];
    *status = many ? tally_plan_open(it->context->context, in->type, values, segments, &plan) : TALLY_OK;
    if (*status == TALLY_OK) *status = run_all(it, plan ? tally_planned(plan) : segments, scratch);
    tally_plan_close(plan);
    free(scratch[0]), free(scratch[1]);
    return true;
}

/* The library takes a stride of 0 for "side by side": values that share memory are copied. */
static bool repeats(const problem *it) {
    for (int side = 0; side < it->inputs; side++)
        if (it->in[side]->strides[it->axis] == 0 && it->in[side]->shape[it->axis] > 1) return true;
    return false;
}

static bool order_all(segment_cut *cut, int64_t values) {
    cut->order = malloc((size_t)(values + 1) * sizeof *cut->order);
    if (!cut->order) return PyErr_NoMemory() != NULL;
    for (int64_t k = 0; k < values; k++) cut->order[k] = k;
    cut->ordered = values;
    return true;
}

static PyObject *reduce_opened(problem *it, PyObject *const *inputs, const call_arguments *arguments) {
    const array *in = it->in[0];
    int64_t axis = 0, shape[MOST_AXES];
    if (in->axes == 0) {
        PyErr_SetString(PyExc_ValueError, "the array has no axis to cut into segments");
        return NULL;
    }
    if (given(arguments, K_AXIS) && !int_argument(arguments->value[K_AXIS], "axis", -in->axes, in->axes - 1, &axis))
        return NULL;
    it->axis = (int)(axis < 0 ? axis + in->axes : axis);
    const int64_t values = in->shape[it->axis];
    segment_cut cut;
    it->cut = &cut;
    PyObject *result = NULL;
    result_set results;
    if (in->lists ? !lists_open(&cut, in, arguments) : !cut_open(&cut, arguments, values)) goto done;
    if (repeats(it) && !cut.order) {
        if (in->device != HOST) {
            PyErr_SetString(PyExc_ValueError, "a broadcast axis on a GPU cannot be reduced; copy the array first");
            goto done;
        }
        if (!order_all(&cut, values)) goto done;
    }
    if (cut.order && in->device != HOST) {
        PyErr_SetString(PyExc_ValueError, "an array on a GPU takes lengths, offsets or sorted segment_ids");
        goto done;
    }
    for (int k = 0; k < in->axes; k++) shape[k] = k == it->axis ? cut.segments.count : in->shape[k];
    const array *const read[] = {in, it->inputs == 2 ? it->in[1] : NULL, cut.indices > 0 ? &cut.index[0] : NULL,
                                 cut.indices > 1 ? &cut.index[1] : NULL};
    if (!results_open(&results, it->context, in, inputs[0], arguments, shape, in->axes, read, 4)) goto done;
    it->results = &results;
    tally_status status = TALLY_OK;
    PyThreadState *thread = release_lock(in);
    const bool room = run(it, &status);
    if (thread) PyEval_RestoreThread(thread);
    if (!room) {
        PyErr_NoMemory();
        results_close(&results);
    } else if (status != TALLY_OK) {
        raise_status(status);
        results_close(&results);
    } else {
        result = results_take(&results);
    }
done:
    cut_close(&cut);
    return result;
}

PyObject *segments_call(tally_op op, PyObject *user, PyObject *const *inputs, const call_arguments *arguments) {
    array in[2];
    call_context context;
    PyObject *result = NULL, *stream = given(arguments, K_STREAM) ? arguments->value[K_STREAM] : NULL;
    problem it = {.context = &context, .inputs = op_inputs(op)};
    if (!inputs_open(in, it.inputs, inputs, stream, true)) return NULL;
    for (int k = 0; k < it.inputs; k++) it.in[k] = &in[k];
    if (context_for(&context, op, user, arguments, &in[0])) {
        result = reduce_opened(&it, inputs, arguments);
        context_release(&context);
    }
    for (int k = it.inputs; k-- > 0;) array_close(&in[k]);
    return result;
}

/* ---- plans ---- */

typedef struct plan_object {
    PyObject ob_base;
    tally_plan *plan;
    int64_t values;
    bool opened;
    segment_cut cut;
    call_context context;
} plan_object;

tally_plan *plan_of(PyObject *plan, int64_t *segments) {
    *segments = ((plan_object *)plan)->cut.segments.count;
    return ((plan_object *)plan)->plan;
}

static void plan_free(PyObject *self) {
    plan_object *it = (plan_object *)self;
    PyTypeObject *type = Py_TYPE(self);
    tally_plan_close(it->plan);
    if (it->opened) {
        cut_close(&it->cut);
        context_release(&it->context);
    }
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static bool plan_fill(plan_object *it, const call_arguments *arguments) {
    tally_type type = TALLY_F64;
    if (given(arguments, K_DTYPE) && !type_from_object(arguments->value[K_DTYPE], &type)) return false;
    if (!cut_open(&it->cut, arguments, it->values) || it->cut.order) {
        cut_close(&it->cut);
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "a plan is of lengths, offsets, or sorted segment_ids");
        return false;
    }
    const array *index = it->cut.indices ? &it->cut.index[0] : NULL;
    if (!context_for(&it->context, TALLY_SUM, NULL, arguments, index)) {
        cut_close(&it->cut);
        return false;
    }
    it->opened = true;
    PyThreadState *thread = PyEval_SaveThread();
    const tally_status status = tally_plan_open(it->context.context, type, it->values, it->cut.segments, &it->plan);
    PyEval_RestoreThread(thread);
    if (status != TALLY_OK) return raise_status(status) != NULL;
    return true;
}

static PyObject *plan_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *values = NULL;
    call_arguments arguments = {{NULL}};
    static char *names[] = {"values", "lengths", "offsets", "segment_ids", "num_segments", "dtype", "stream", NULL};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$OOOOOO:Plan", names, &values, &arguments.value[K_LENGTHS],
                                     &arguments.value[K_OFFSETS], &arguments.value[K_SEGMENT_IDS],
                                     &arguments.value[K_NUM_SEGMENTS], &arguments.value[K_DTYPE],
                                     &arguments.value[K_STREAM]))
        return NULL;
    int64_t count = 0;
    if (!int_argument(values, "values", 0, INT64_MAX >> 6, &count)) return NULL;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    PyObject *self = allocate(type, 0);
    if (!self) return NULL;
    ((plan_object *)self)->values = count;
    if (plan_fill((plan_object *)self, &arguments)) return self;
    Py_DECREF(self);
    return NULL;
}

static PyObject *plan_values(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromLongLong(((plan_object *)self)->values);
}

static PyObject *plan_segments(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromLongLong(((plan_object *)self)->cut.segments.count);
}

bool plan_add(PyObject *module) {
    static PyGetSetDef fields[] = {{"values", plan_values, NULL, "the number of values of the axis", NULL},
                                   {"segments", plan_segments, NULL, "the number of segments", NULL},
                                   {NULL, NULL, NULL, NULL, NULL}};
    static PyType_Slot slots[] = {
        {Py_tp_doc,
         "Plan(values, *, lengths=None, offsets=None, segment_ids=None, num_segments=None, dtype='float64', "
         "stream=None)\n\n"
         "Segments that are checked and prepared once, for many reductions of arrays with `values` values along the\n"
         "axis. dtype is the dtype that most of them have. The arrays of indices are borrowed while the plan lives.\n"
         "Raises ValueError if the segments do not fit, TypeError for other arguments.\n\n"
         ">>> import tally_reduce\n"
         ">>> from array import array\n"
         ">>> plan = tally_reduce.Plan(5, lengths=[2, 0, 3])\n"
         ">>> tally_reduce.segment_reduce(array('d', [1, 2, 3, 4, 5]), 'sum', plan=plan).tolist()\n"
         "[3.0, 0.0, 12.0]\n"},
        {Py_tp_new, plan_new},
        {Py_tp_dealloc, plan_free},
        {Py_tp_getset, fields},
        {0, NULL}};
    static PyType_Spec spec = {"tally_reduce.Plan", sizeof(plan_object), 0, Py_TPFLAGS_DEFAULT, slots};
    plan_type = (PyTypeObject *)PyType_FromSpec(&spec);
    return plan_type && PyModule_AddObjectRef(module, "Plan", (PyObject *)plan_type) == 0;
}
