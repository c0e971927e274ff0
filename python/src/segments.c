/* segment_reduce(data, op): segments along one axis, for each value of the other axes. Plans. */
#include "python.h"

#include <stdlib.h>

/* The segments of a call, and the arrays that say where they are. */
typedef struct segmentation {
    tally_segments segments;
    array index[2];
    int indices;
} segmentation;

static void segmentation_close(segmentation *it) {
    while (it->indices > 0) array_close(&it->index[--it->indices]);
}

static bool wrong(PyObject *type, const char *sentence) {
    PyErr_SetString(type, sentence);
    return false;
}

static array *open_next(segmentation *it, const call_arguments *arguments, enum keyword which, const char *name) {
    array *index = &it->index[it->indices];
    PyObject *stream = given(arguments, K_STREAM) ? arguments->value[K_STREAM] : NULL;
    if (!index_open(index, arguments->value[which], stream, name)) return NULL;
    it->indices++;
    return index;
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

static bool from_ranges(segmentation *it, const call_arguments *arguments) {
    array *starts = open_next(it, arguments, K_STARTS, "starts");
    array *ends = starts ? open_next(it, arguments, K_ENDS, "ends") : NULL;
    if (!ends) return false;
    if (starts->count != ends->count) return wrong(PyExc_ValueError, "starts and ends differ in length");
    if (starts->type != ends->type && !index_widen(starts->type == TALLY_I32 ? starts : ends, "starts and ends"))
        return false;
    it->segments = tally_begin_end(starts->data, ends->data, starts->type, starts->count);
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

static bool from_ids(segmentation *it, const call_arguments *arguments, int64_t values) {
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
    it->segments = sorted && !drop ? tally_segment_ids(ids->data, ids->type, segments)
                                   : tally_unsorted_ids(ids->data, ids->type, segments,
                                                        drop ? TALLY_OUTSIDE_LEFT_OUT : TALLY_OUTSIDE_REFUSED);
    return true;
}

static void segmentation_clear(segmentation *it) {
    memset(&it->segments, 0, sizeof it->segments);
    it->indices = 0;
}

/* The lists of an Arrow array. */
static bool lists_open(segmentation *it, const array *in, const call_arguments *arguments) {
    segmentation_clear(it);
    for (int k = K_LENGTHS; k <= K_NUM_SEGMENTS; k++)
        if (given(arguments, (enum keyword)k))
            return wrong(PyExc_TypeError, "the array's lists are its segments; name no others");
    if (given(arguments, K_PLAN)) return wrong(PyExc_TypeError, "the array's lists are its segments; it takes no plan");
    it->segments = tally_offsets(in->lists, in->lists_type, in->lists_count);
    return true;
}

static bool segmentation_open(segmentation *it, const call_arguments *arguments, int64_t values) {
    static const enum keyword ways[] = {K_LENGTHS, K_OFFSETS, K_SEGMENT_IDS, K_STARTS, K_PLAN};
    int ways_given = 0;
    enum keyword way = K_END;
    segmentation_clear(it);
    for (int k = 0; k < 5; k++)
        if (given(arguments, ways[k])) way = ways[k], ways_given++;
    if (ways_given != 1 || given(arguments, K_ENDS) != given(arguments, K_STARTS))
        return wrong(PyExc_TypeError,
                     "name the segments in one way: lengths, offsets, starts and ends, segment_ids, or plan");
    if (way != K_SEGMENT_IDS && (given(arguments, K_NUM_SEGMENTS) || given(arguments, K_OUT_OF_RANGE)))
        return wrong(PyExc_TypeError, "num_segments and out_of_range go with segment_ids");
    if (way == K_STARTS) return from_ranges(it, arguments);
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
    int64_t outer, inner; /* the products of the extents before and behind the axis */
    int64_t width;        /* features that a call reduces at once: `inner`, or 1 */
    tally_segments segments;
    result_set *results;
} problem;

tally_status reduce_segments_of(const call_context *it, int inputs, const tally_array *in, tally_segments segments,
                                tally_output out) {
    return inputs == 1 ? tally_reduce_segments(it->context, it->op, in[0], segments, out)
                       : tally_reduce_segments_pair(it->context, it->op, in[0], in[1], segments, out);
}

/* Whether the axes from `axis` on are values in C order, one stride apart (not 0, which means "side by side" to the
 * library). */
static bool stride_of(const array *it, int axis, int64_t *stride) {
    int64_t next = 0;
    *stride = it->item;
    for (int k = it->axes; k-- > axis;) {
        if (it->shape[k] == 1) continue;
        if (it->strides[k] == 0 || (next && it->strides[k] != next)) return false;
        if (!next) *stride = it->strides[k];
        next = it->strides[k] * it->shape[k];
    }
    return true;
}

static void arrange(problem *it) {
    const array *in = it->in[0];
    it->outer = it->inner = 1;
    for (int k = 0; k < it->axis; k++) it->outer *= in->shape[k];
    for (int k = it->axis + 1; k < in->axes; k++) it->inner *= in->shape[k];
    it->width = it->inner ? it->inner : 1;
    int64_t stride;
    for (int side = 0; side < it->inputs; side++)
        if (!stride_of(it->in[side], it->axis, &stride)) it->width = 1;
}

/* The library takes a stride of 0 for "side by side": an axis whose values share memory is copied. */
static bool repeats(const array *it, int axis) { return it->strides[axis] == 0 && it->shape[axis] > 1; }

/* What a call reads: values from `data` on, or a copy in `scratch`. */
static tally_array values_of(const problem *it, const array *in, const char *data, char *scratch) {
    const int64_t values = in->shape[it->axis];
    for (int64_t k = 0; scratch && k < values; k++) memcpy(scratch + k * in->item, data, (size_t)in->item);
    tally_array read = tally_in(scratch ? scratch : data, in->type, values * it->width);
    if (scratch || read.count <= 1) return read;
    if (it->width == 1)
        read.stride = values > 1 ? in->strides[it->axis] : 0;
    else
        stride_of(in, it->axis, &read.stride);
    return read;
}

/* A call for each value of the axes before the segments' own, and behind it if features do not lie together. */
static tally_status run_all(const problem *it, tally_segments segments, char *const *scratch) {
    const array *shape = it->in[0];
    const int64_t parts = it->inner / it->width, item = it->results->item, results = it->segments.count;
    const int looped = it->width > 1 ? it->axis : shape->axes; /* axes; the segments' own is left out */
    int64_t index[MOST_AXES] = {0};
    tally_status status = TALLY_OK;
    for (int64_t call = 0; call < it->outer * parts; call++) {
        tally_array in[2];
        for (int side = 0; side < it->inputs; side++) {
            const array *from = it->in[side];
            const char *data = from->data;
            for (int k = 0; k < looped; k++) data += index[k] * from->strides[k];
            in[side] = values_of(it, from, data, scratch[side]);
        }
        tally_output out = tally_out(it->results->data + (call / parts * results * it->inner + call % parts) * item,
                                     it->results->type, results * it->width);
        out.stride = parts * item;
        const tally_status one =
            reduce_segments_of(it->context, it->inputs, in, tally_features(segments, it->width), out);
        if (one != TALLY_OK && one != TALLY_EMPTY) status = one;
        if (status != TALLY_OK && status != TALLY_OVERFLOW) return status;
        for (int k = looped; k-- > 0;) {
            if (k == it->axis) continue;
            if (++index[k] < shape->shape[k]) break;
            index[k] = 0;
        }
    }
    return status;
}

/* Several calls share a plan, so that the segments are looked at once. */
static tally_status run_planned(const problem *it, char *const *scratch) {
    tally_segments segments = it->segments;
    if (segments.kind == TALLY_PLANNED) segments.count = 0;
    tally_plan *plan = NULL;
    tally_status status = TALLY_OK;
    if (it->outer * (it->inner / it->width) > 2 && segments.kind != TALLY_PLANNED)
        status = tally_plan_open(it->context->context, it->in[0]->type, it->in[0]->shape[it->axis], segments, &plan);
    if (status == TALLY_OK) status = run_all(it, plan ? tally_planned(plan) : segments, scratch);
    tally_plan_close(plan);
    return status;
}

static bool run(const problem *it) {
    const array *in = it->in[0];
    char *scratch[2] = {NULL, NULL};
    bool room = true;
    PyThreadState *thread = release_lock(in);
    for (int side = 0; side < it->inputs; side++) {
        if (!repeats(it->in[side], it->axis)) continue;
        scratch[side] = malloc((size_t)(in->shape[it->axis] * in->item));
        room = room && scratch[side];
    }
    const tally_status status = room ? run_planned(it, scratch) : TALLY_NO_MEMORY;
    free(scratch[0]), free(scratch[1]);
    if (thread) PyEval_RestoreThread(thread);
    if (!room) return PyErr_NoMemory() != NULL;
    if (status == TALLY_OK) return true;
    if (status != TALLY_BAD_SEGMENTS || it->segments.kind != TALLY_UNSORTED_IDS) return raise_status(status) != NULL;
    PyErr_Format(PyExc_ValueError, "%s; out_of_range='drop' leaves such values out", tally_message());
    return false;
}

static PyObject *reduce_opened(problem *it, PyObject *const *inputs, const call_arguments *arguments) {
    const array *in = it->in[0];
    int64_t axis = 0, shape[MOST_AXES];
    if (in->axes == 0) {
        PyErr_SetString(PyExc_ValueError, "the array has no axis to divide into segments");
        return NULL;
    }
    if (given(arguments, K_AXIS) && !int_argument(arguments->value[K_AXIS], "axis", -in->axes, in->axes - 1, &axis))
        return NULL;
    it->axis = (int)(axis < 0 ? axis + in->axes : axis);
    segmentation by;
    PyObject *result = NULL;
    result_set results;
    if (in->lists ? !lists_open(&by, in, arguments) : !segmentation_open(&by, arguments, in->shape[it->axis]))
        goto done;
    for (int side = 0; side < it->inputs; side++)
        if (it->in[side]->device != HOST && repeats(it->in[side], it->axis)) {
            PyErr_SetString(PyExc_ValueError, "a broadcast axis on a GPU cannot be reduced; copy the array first");
            goto done;
        }
    it->segments = by.segments;
    arrange(it);
    for (int k = 0; k < in->axes; k++) shape[k] = k == it->axis ? by.segments.count : in->shape[k];
    const array *const read[] = {in, it->inputs == 2 ? it->in[1] : NULL, by.indices > 0 ? &by.index[0] : NULL,
                                 by.indices > 1 ? &by.index[1] : NULL};
    if (!results_open(&results, it->context, in, inputs[0], arguments, shape, in->axes, read, 4)) goto done;
    it->results = &results;
    if (run(it))
        result = results_take(&results);
    else
        results_close(&results);
done:
    segmentation_close(&by);
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
    segmentation by;
    call_context context;
} plan_object;

tally_plan *plan_of(PyObject *plan, int64_t *segments) {
    *segments = ((plan_object *)plan)->by.segments.count;
    return ((plan_object *)plan)->plan;
}

static void plan_free(PyObject *self) {
    plan_object *it = (plan_object *)self;
    tally_plan_close(it->plan);
    if (it->opened) {
        segmentation_close(&it->by);
        context_release(&it->context);
    }
    object_free(self);
}

static bool plan_fill(plan_object *it, const call_arguments *arguments) {
    tally_type type = TALLY_F64;
    if (given(arguments, K_DTYPE) && !type_from_object(arguments->value[K_DTYPE], &type)) return false;
    if (!segmentation_open(&it->by, arguments, it->values)) {
        segmentation_close(&it->by);
        return false;
    }
    const array *index = &it->by.index[it->by.indices - 1]; /* a plan is made where the index lies */
    if (it->by.index[0].device != HOST) index = &it->by.index[0];
    if (!context_for(&it->context, TALLY_SUM, NULL, arguments, index)) {
        segmentation_close(&it->by);
        return false;
    }
    it->opened = true;
    PyThreadState *thread = PyEval_SaveThread();
    const tally_status status = tally_plan_open(it->context.context, type, it->values, it->by.segments, &it->plan);
    PyEval_RestoreThread(thread);
    if (status != TALLY_OK) return raise_status(status) != NULL;
    return true;
}

static PyObject *plan_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *values = NULL;
    call_arguments arguments = {{NULL}};
    static char *names[] = {"values",       "lengths",     "offsets",      "starts",
                            "ends",         "segment_ids", "num_segments", "indices_are_sorted",
                            "out_of_range", "dtype",       "stream",       NULL};
    PyObject **to = arguments.value;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$OOOOOOOOOO:Plan", names, &values, &to[K_LENGTHS], &to[K_OFFSETS],
                                     &to[K_STARTS], &to[K_ENDS], &to[K_SEGMENT_IDS], &to[K_NUM_SEGMENTS], &to[K_SORTED],
                                     &to[K_OUT_OF_RANGE], &to[K_DTYPE], &to[K_STREAM]))
        return NULL;
    int64_t count = 0;
    if (!int_argument(values, "values", 0, INT64_MAX >> 6, &count)) return NULL;
    PyObject *self = object_allocate(type);
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
    return PyLong_FromLongLong(((plan_object *)self)->by.segments.count);
}

bool plan_add(PyObject *module) {
    static PyGetSetDef fields[] = {{"values", plan_values, NULL, "the number of values of the axis", NULL},
                                   {"segments", plan_segments, NULL, "the number of segments", NULL},
                                   {NULL, NULL, NULL, NULL, NULL}};
    static PyType_Slot slots[] = {
        {Py_tp_doc,
         "Plan(values, *, lengths=None, offsets=None, starts=None, ends=None, segment_ids=None, num_segments=None,\n"
         "     indices_are_sorted=True, out_of_range='error', dtype='float64', stream=None)\n\n"
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
