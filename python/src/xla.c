/* Handlers of XLA's typed FFI, for tally_reduce.jax: XLA calls them on its own threads, without the interpreter's lock,
 * with buffers in C order. No Python is run here. */
#include "xla.h"

#include "python.h"

#define MOST_BATCH_AXES 32

typedef struct xla_call {
    const xla_frame *frame;
    bool on_gpu;
    call_context context;
    int64_t segmentation, outside;
} xla_call;

static xla_error *fail(const xla_frame *frame, int code, const char *message) {
    xla_error_arguments arguments = {sizeof arguments, NULL, message, code};
    return frame->api->make_error(&arguments);
}

static xla_error *refuse(const xla_frame *frame) {
    return fail(frame, XLA_ERROR_INVALID_ARGUMENT,
                "tally_reduce: these arrays and attributes are not what tally_reduce.jax hands over");
}

static xla_error *fail_by(const xla_frame *frame, tally_status status) {
    const int code = status == TALLY_NO_MEMORY                                    ? XLA_ERROR_RESOURCE_EXHAUSTED
                     : status == TALLY_DEVICE_FAILED || status == TALLY_NO_DEVICE ? XLA_ERROR_INTERNAL
                                                                                  : XLA_ERROR_INVALID_ARGUMENT;
    return fail(frame, code, tally_message());
}

/* ---- what a call has ---- */

static tally_type type_of(const xla_buffer *buffer) {
    switch (buffer->type) {
#define TYPE(id, number) \
    case number: return TALLY_##id;
        XLA_TYPES(TYPE)
#undef TYPE
    default: return TALLY_NATURAL;
    }
}

static bool attribute(const xla_frame *frame, const char *name, int64_t *value) {
    const xla_attributes *it = &frame->attributes;
    for (int64_t k = 0; k < it->count; k++) {
        if (it->names[k]->length != strlen(name) || memcmp(it->names[k]->data, name, strlen(name)) != 0) continue;
        const xla_scalar *scalar = it->values[k];
        if (it->kinds[k] != XLA_ATTRIBUTE_SCALAR || scalar->type != XLA_S64) return false;
        memcpy(value, scalar->value, sizeof *value);
        return true;
    }
    return false;
}

/* Whether there are so many, of types that Tally has. */
static bool has_buffers(const xla_buffers *it, int64_t count) {
    bool right = it->count == count;
    for (int64_t k = 0; right && k < count; k++)
        right = it->kinds[k] == XLA_ARGUMENT_BUFFER && type_of(it->buffers[k]) != TALLY_NATURAL;
    return right;
}

/* XLA asks first what a handler is: the version of its structs. */
static bool is_question(const xla_frame *frame) {
    if (!frame->extension || frame->extension->type != XLA_EXTENSION_METADATA) return false;
    xla_metadata *metadata = ((xla_metadata_extension *)frame->extension)->metadata;
    metadata->version = (xla_version){sizeof metadata->version, NULL, XLA_API_MAJOR, XLA_API_MINOR};
    metadata->traits = 0;
    return true;
}

/* The operator and options of a call, in a context that is kept for the next one. */
static xla_error *open_call(xla_call *it) {
    const xla_frame *frame = it->frame;
    int64_t op = 0, nan = 0, accuracy = 0, ddof = 0;
    if (frame->api->version.major != XLA_API_MAJOR || frame->stage != XLA_STAGE_EXECUTE ||
        !attribute(frame, "op", &op) || !attribute(frame, "nan", &nan) || !attribute(frame, "accuracy", &accuracy) ||
        !attribute(frame, "ddof", &ddof))
        return refuse(frame);
    tally_options options = TALLY_OPTIONS_INIT;
    options.nan = (tally_nan)nan;
    options.accuracy = (tally_accuracy)accuracy;
    options.ddof = (int)ddof;
    if (it->on_gpu) {
        xla_stream_arguments stream = {sizeof stream, NULL, frame->context, NULL};
        xla_error *error = frame->api->get_stream(&stream);
        if (error) return error;
        options.backend = TALLY_BACKEND_CUDA;
        options.stream = stream.stream;
    }
    const tally_status status = context_borrow(&it->context, (tally_op)op, &options);
    return status == TALLY_OK ? NULL : fail_by(frame, status);
}

static xla_error *close_call(xla_call *it, tally_status status) {
    xla_error *error = status == TALLY_OK || status == TALLY_EMPTY ? NULL : fail_by(it->frame, status);
    context_release(&it->context);
    return error;
}

static xla_error *close_wrong(xla_call *it) {
    context_release(&it->context);
    return fail(it->frame, XLA_ERROR_INVALID_ARGUMENT, "tally_reduce: the shapes of this call do not fit");
}

static int64_t parts_of(const xla_call *it) { return it->context.op == TALLY_MINMAX ? 2 : 1; }

/* The product of the extents of some axes. */
static int64_t product(const xla_buffer *it, int64_t first, int64_t end) {
    int64_t values = 1;
    for (int64_t k = first; k < end; k++) values *= it->extents[k];
    return values;
}

/* ---- reduce: x is (..., length, inner), and so are the results, with a length of 1 ---- */

static xla_error *reduce_rows(const xla_frame *frame, bool on_gpu) {
    if (is_question(frame)) return NULL;
    xla_call it = {.frame = frame, .on_gpu = on_gpu};
    if (!has_buffers(&frame->arguments, 1) || !has_buffers(&frame->results, 1)) return refuse(frame);
    const xla_buffer *x = frame->arguments.buffers[0], *results = frame->results.buffers[0];
    if (x->rank < 2) return refuse(frame);
    const int64_t inner = x->extents[x->rank - 1], length = x->extents[x->rank - 2];
    const int64_t outer = product(x, 0, x->rank - 2);
    if (outer * inner == 0) return NULL;
    xla_error *error = open_call(&it);
    if (error) return error;
    if (product(results, 0, results->rank) != outer * inner * parts_of(&it)) return close_wrong(&it);
    const tally_array in = tally_in(x->data, type_of(x), outer * length * inner);
    const tally_output out = tally_out(results->data, type_of(results), outer * inner);
    const tally_segments rows = tally_rows(outer, length, inner);
    return close_call(&it, outer * inner == 1 ? tally_reduce(it.context.context, it.context.op, in, out)
                                              : reduce_segments_of(&it.context, 1, &in, rows, out));
}

/* ---- segments: data is (..., outer, values, inner), the results are (..., outer, segments, inner), with one axis more
 * for pairs; the index is (..., its length). The axes before these are those of vmap; one of them is 1 where an array
 * serves the whole batch. ---- */

typedef struct segment_shape {
    int64_t outer, values, inner, segments, parts;
    tally_array in;   /* the first feature of a batch */
    tally_output out; /* its results */
} segment_shape;

/* All features at once. */
static tally_status reduce_features(const xla_call *it, const segment_shape *shape, tally_segments segments) {
    const int64_t values = shape->values * shape->inner, results = shape->segments * shape->inner;
    const int64_t item = (int64_t)tally_type_size(shape->in.type);
    const int64_t result = (int64_t)tally_type_size(shape->out.type) * shape->parts;
    tally_plan *plan = NULL;
    tally_status status = TALLY_OK;
    if (shape->outer > 2) status = tally_plan_open(it->context.context, shape->in.type, shape->values, segments, &plan);
    for (int64_t o = 0; o < shape->outer && (status == TALLY_OK || status == TALLY_EMPTY); o++) {
        const tally_array in = tally_in((const char *)shape->in.data + o * values * item, shape->in.type, values);
        const tally_output out = tally_out((char *)shape->out.data + o * results * result, shape->out.type, results);
        status = reduce_segments_of(&it->context, 1, &in,
                                    tally_features(plan ? tally_planned(plan) : segments, shape->inner), out);
    }
    tally_plan_close(plan);
    return status;
}

static tally_segments segments_of(const xla_call *it, const xla_buffer *index, const char *data, int64_t count) {
    tally_segments segments = tally_offsets(data, type_of(index), count);
    segments.kind = (tally_segmentation)it->segmentation;
    segments.outside = (tally_outside)it->outside;
    return segments;
}

/* Where the part of a batch lies in a buffer whose last `axes` axes are one part. */
static char *part_of(const xla_buffer *it, const int64_t *batch, int64_t batch_axes, int64_t axes) {
    int64_t place = 0;
    for (int64_t k = 0; k < batch_axes; k++) place = place * it->extents[k] + (it->extents[k] == 1 ? 0 : batch[k]);
    return (char *)it->data + place * product(it, it->rank - axes, it->rank) * (int64_t)tally_type_size(type_of(it));
}

static tally_status reduce_batches(const xla_call *it, segment_shape *shape) {
    const xla_buffer *data = it->frame->arguments.buffers[0], *index = it->frame->arguments.buffers[1];
    const xla_buffer *results = it->frame->results.buffers[0];
    const int64_t axes = index->rank - 1;
    int64_t batch[MOST_BATCH_AXES] = {0}, batches = product(results, 0, axes);
    tally_status status = TALLY_OK;
    for (; batches > 0 && (status == TALLY_OK || status == TALLY_EMPTY); batches--) {
        shape->in.data = part_of(data, batch, axes, data->rank - axes);
        shape->out.data = part_of(results, batch, axes, results->rank - axes);
        status = reduce_features(it, shape, segments_of(it, index, part_of(index, batch, axes, 1), shape->segments));
        for (int64_t k = axes; k-- > 0;) {
            if (++batch[k] < results->extents[k]) break;
            batch[k] = 0;
        }
    }
    return status;
}

static int64_t index_length(const xla_call *it, const segment_shape *shape) {
    switch (it->segmentation) {
    case TALLY_OFFSETS: return shape->segments + 1;
    case TALLY_LENGTHS: return shape->segments;
    case TALLY_SEGMENT_IDS:
    case TALLY_UNSORTED_IDS: return shape->values;
    default: return -1;
    }
}

static bool batches_fit(const xla_buffer *it, const xla_buffer *results, int64_t axes) {
    bool fit = true;
    for (int64_t k = 0; k < axes; k++) fit = fit && (it->extents[k] == 1 || it->extents[k] == results->extents[k]);
    return fit;
}

static xla_error *reduce_segments(const xla_frame *frame, bool on_gpu) {
    if (is_question(frame)) return NULL;
    xla_call it = {.frame = frame, .on_gpu = on_gpu};
    if (!has_buffers(&frame->arguments, 2) || !has_buffers(&frame->results, 1) ||
        !attribute(frame, "segmentation", &it.segmentation) || !attribute(frame, "outside", &it.outside))
        return refuse(frame);
    const xla_buffer *data = frame->arguments.buffers[0], *index = frame->arguments.buffers[1];
    const xla_buffer *results = frame->results.buffers[0];
    const int64_t axes = index->rank - 1;
    if (axes < 0 || axes > MOST_BATCH_AXES || data->rank != axes + 3 || results->rank < axes + 3) return refuse(frame);
    segment_shape shape = {data->extents[axes],
                           data->extents[axes + 1],
                           data->extents[axes + 2],
                           results->extents[axes + 1],
                           product(results, axes + 3, results->rank),
                           {0},
                           {0}};
    shape.in = tally_in(NULL, type_of(data), shape.values);
    shape.out = tally_out(NULL, type_of(results), shape.segments);
    if (product(results, 0, results->rank) == 0) return NULL;
    xla_error *error = open_call(&it);
    if (error) return error;
    const bool fits = results->extents[axes] == shape.outer && results->extents[axes + 2] == shape.inner &&
                      shape.parts == parts_of(&it) && index->extents[axes] == index_length(&it, &shape) &&
                      batches_fit(data, results, axes) && batches_fit(index, results, axes);
    return fits ? close_call(&it, reduce_batches(&it, &shape)) : close_wrong(&it);
}

/* ---- the handlers ---- */

static xla_error *rows_on_cpu(const xla_frame *frame) { return reduce_rows(frame, false); }
static xla_error *rows_on_gpu(const xla_frame *frame) { return reduce_rows(frame, true); }
static xla_error *segments_on_cpu(const xla_frame *frame) { return reduce_segments(frame, false); }
static xla_error *segments_on_gpu(const xla_frame *frame) { return reduce_segments(frame, true); }

PyObject *xla_handlers(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    static const struct {
        const char *name, *platform;
        xla_error *(*handler)(const xla_frame *frame);
    } all[] = {{"tally_reduce_rows", "cpu", rows_on_cpu},
               {"tally_reduce_rows", "CUDA", rows_on_gpu},
               {"tally_reduce_segments", "cpu", segments_on_cpu},
               {"tally_reduce_segments", "CUDA", segments_on_gpu}};
    PyObject *list = PyList_New(0);
    for (size_t k = 0; k < sizeof all / sizeof *all && list; k++) {
        void *address;
        memcpy(&address, &all[k].handler, sizeof address);
        PyObject *capsule = PyCapsule_New(address, NULL, NULL);
        PyObject *row = capsule ? Py_BuildValue("ssO", all[k].name, all[k].platform, capsule) : NULL;
        if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(capsule), Py_XDECREF(row);
    }
    return list;
}
