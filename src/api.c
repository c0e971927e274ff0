/* The entry points: check what the caller passed, describe it, hand it to a backend, make a status of what comes back.
 */
#include <stdio.h>

#include "backends.h"
#include "extent.h"
#include "fpenv.h"
#include "plan.h"

static tally_status check_array(const tally__spec *spec, tally_array in, const char *which) {
    TALLY_CHECK(in.type == spec->type, BAD_ARGUMENT, "%s has type %s where %s was expected", which,
                tally_type_name(in.type) ? tally_type_name(in.type) : "none",
                tally_type_name(spec->type) ? tally_type_name(spec->type) : "TALLY_STRUCT");
    TALLY_CHECK(in.count >= 0, BAD_ARGUMENT, "%s has a count of %lld", which, (long long)in.count);
    TALLY_CHECK(in.data != NULL || in.count == 0, BAD_ARGUMENT, "%s is NULL but has a count of %lld", which,
                (long long)in.count);
    TALLY_CHECK(tally__fits_memory(in.data, in.count, in.stride ? in.stride : (int64_t)spec->kernel->value_bytes,
                                   spec->kernel->value_bytes),
                BAD_ARGUMENT, "%s: %lld values %lld bytes apart reach beyond the end of memory", which,
                (long long)in.count, (long long)in.stride);
    return TALLY_OK;
}

tally_status tally__check_input(const tally__spec *spec, const tally_array *x, const tally_array *y, tally__input *in) {
    int64_t bytes = (int64_t)spec->kernel->value_bytes;
    TALLY_CHECK(spec->inputs == (y != NULL) + 1, BAD_ARGUMENT, "%s takes %s: call %s", spec->name,
                spec->inputs == 2 ? "two arrays" : "one array",
                spec->inputs == 2 ? "the function that ends in _pair" : "the function without _pair");
    TALLY_TRY(check_array(spec, *x, y ? "the left array" : "the array"));
    if (y != NULL) {
        TALLY_TRY(check_array(spec, *y, "the right array"));
        TALLY_CHECK(x->count == y->count, BAD_ARGUMENT, "the arrays have %lld and %lld values", (long long)x->count,
                    (long long)y->count);
    } else
        y = x;
    in->x = x->data;
    in->y = y->data;
    in->count = x->count;
    in->x_stride = x->stride ? x->stride : bytes;
    in->y_stride = y->stride ? y->stride : bytes;
    in->packed = in->x_stride == bytes && in->y_stride == bytes;
    return TALLY_OK;
}

tally_status tally__check_output(const tally__spec *spec, const tally_output *out, int64_t needed, tally__sink *sink) {
    tally_type type = out->type == TALLY_NATURAL ? spec->result_type : out->type;
    size_t bytes = spec->result_bytes;
    TALLY_CHECK(out->count >= needed, BAD_ARGUMENT, "the output has room for %lld results, %lld are needed",
                (long long)out->count, (long long)needed);
    TALLY_CHECK(out->data != NULL || needed == 0, BAD_ARGUMENT, "the output is NULL");
    TALLY_CHECK(type == spec->result_type || (tally_type_size(type) != 0 && spec->result_type != TALLY_STRUCT),
                BAD_TYPE, "the result of %s cannot be given as %s", spec->name,
                tally_type_name(type) ? tally_type_name(type) : "that type");
    if (type != TALLY_STRUCT) bytes = tally_type_size(type) * (size_t)spec->components;
    sink->data = out->data;
    sink->type = type;
    sink->stride = out->stride ? out->stride : (int64_t)bytes;
    sink->direct = type == spec->result_type && sink->stride == (int64_t)bytes;
    TALLY_CHECK(tally__fits_memory(out->data, needed, sink->stride, bytes), BAD_ARGUMENT,
                "the output: %lld results %lld bytes apart reach beyond the end of memory", (long long)needed,
                (long long)sink->stride);
    return TALLY_OK;
}

tally_status tally__status_of(const tally__spec *spec, const tally__report *report, const char *what) {
    TALLY_CHECK(!(report->flags & TALLY_FLAG_OVERFLOW), OVERFLOW,
                "the exact %s of %s does not fit 64 bits: ask for TALLY_F64, or set the option overflow to "
                "TALLY_OVERFLOW_WRAPS",
                spec->op == TALLY_STATS ? "sum" : spec->name, what);
    TALLY_CHECK(!(report->flags & TALLY_FLAG_UNFIT), OVERFLOW,
                "%s does not fit the type asked for: ask for a wider one, or TALLY_NATURAL", what);
    TALLY_CHECK(!(report->flags & TALLY_FLAG_EMPTY) || !spec->refuses_empty, EMPTY,
                "%s has no value%s, and %s of nothing is not defined", what,
                spec->options.nan == TALLY_NAN_SKIP ? " but NaN" : "", spec->name);
    return TALLY_OK;
}

/* The number of the first empty segment, for a message. -1: the index is in GPU memory, or there is none among its
 * first entries. No more are read, as callers may expect TALLY_EMPTY and should not wait. */
static int64_t first_empty(const tally_segments *segments, int64_t values) {
    enum { BEGINNING = 1 << 16 };
    const int64_t entries = segments->kind == TALLY_SEGMENT_IDS ? values / tally__features(segments) : segments->count,
                  some = entries < BEGINNING ? entries : BEGINNING;
    const tally_segments ends = {.index = segments->ends, .index_type = segments->index_type};
    int64_t next = 0; /* for segment ids: the segment whose values come next */
    if (segments->kind == TALLY_ROWS) return segments->length == 0 ? 0 : -1;
    if (segments->kind == TALLY_PLANNED || segments->kind == TALLY_UNSORTED_IDS ||
        tally__lies_on_gpu(segments->index) || tally__lies_on_gpu(segments->ends))
        return -1;
    for (int64_t i = 0; i < some; i++) {
        int64_t entry = tally__index(segments, i);
        if (segments->kind == TALLY_OFFSETS && entry == tally__index(segments, i + 1)) return i;
        if (segments->kind == TALLY_LENGTHS && entry == 0) return i;
        if (segments->kind == TALLY_BEGIN_END && entry == tally__index(&ends, i)) return i;
        if (segments->kind == TALLY_SEGMENT_IDS && entry > next) return next;
        next = entry + 1;
    }
    return segments->kind == TALLY_SEGMENT_IDS && some == entries && next < segments->count ? next : -1;
}

/* What a message about segments names: one of them by its number, if that is known. */
static void name_segment(const tally__spec *spec, const tally_segments *segments, int64_t values,
                         const tally__report *report, char *name, size_t size) {
    const int others = TALLY_FLAG_OVERFLOW | TALLY_FLAG_UNFIT; /* of any segment; they are reported first */
    bool is_empty = spec->refuses_empty && (report->flags & (TALLY_FLAG_EMPTY | others)) == TALLY_FLAG_EMPTY;
    int64_t empty = is_empty ? first_empty(segments, values) : -1;
    if (empty < 0)
        snprintf(name, size, "a segment");
    else
        snprintf(name, size, "segment %lld", (long long)empty);
}

/* Calls the backend in the floating-point environment that equal bits need. segments: NULL for a whole array. groups:
 * the grouping of the segments, or NULL. */
static tally_status run(const tally__spec *spec, const tally__input *in, const tally_segments *segments,
                        const tally__grouping *groups, const tally__sink *sink) {
    const tally__backend *backend = tally__backend_of(&spec->options);
    tally__report report = {0};
    char what[32] = "the array";
    TALLY_TRY(tally__check_callbacks(spec, backend->kernels != NULL));
    tally__fpenv left = tally__fpenv_enter();
    tally_status status =
        segments == NULL ? backend->reduce(spec, in, sink, &report)
        : groups == NULL ? backend->segments(spec, in, segments, sink, &report)
        : backend->grouped != NULL
            ? backend->grouped(spec, in, groups, tally__features(segments), sink, &report)
            : tally__reduce_copies(backend, spec, in, groups, tally__features(segments), sink, &report);
    tally__fpenv_leave(left);
    TALLY_TRY(status);
    if (segments != NULL) name_segment(spec, segments, in->count, &report, what, sizeof what);
    return tally__status_of(spec, &report, what);
}

static tally_status reduce(tally_context *context, tally_op op, const tally_array *x, const tally_array *y,
                           const tally_output *out) {
    tally__spec spec;
    tally__input in;
    tally__sink sink;
    TALLY_TRY(tally__specify(context, op, x->type, &spec));
    TALLY_TRY(tally__check_input(&spec, x, y, &in));
    tally__aim(&spec, out->type);
    TALLY_TRY(tally__check_output(&spec, out, 1, &sink));
    TALLY_TRY(tally__choose_backend(&spec, &in, NULL, &sink));
    return run(&spec, &in, NULL, NULL, &sink);
}

/* Reduces segments that need a grouping: the plan's, or one that is made here. */
static tally_status reduce_groups(const tally__spec *spec, const tally__input *in, const tally_segments *segments,
                                  const tally_plan *plan, const tally__sink *sink) {
    tally__input moved = *in;
    tally__grouping own;
    if (plan != NULL && plan->grouping != NULL) return run(spec, in, segments, plan->grouping, sink);
    if (tally__backend_of(&spec->options) == &tally__cpu_backend && tally__can_sort_vectors(spec, in, segments))
        TALLY_TRY(tally__sort_vectors(spec, segments, &moved, &own));
    else
        TALLY_TRY(tally__group(&spec->allocator, spec->options.threads, segments, in->count / tally__features(segments),
                               &own));
    const tally_status status = run(spec, &moved, segments, &own, sink);
    tally__ungroup(&own);
    return status;
}

static tally_status reduce_segments(tally_context *context, tally_op op, const tally_array *x, const tally_array *y,
                                    tally_segments segments, const tally_output *out) {
    const tally_plan *plan;
    tally__spec spec;
    tally__input in;
    tally__sink sink;
    int64_t results = 0;
    TALLY_TRY(tally__specify(context, op, x->type, &spec));
    TALLY_TRY(tally__check_input(&spec, x, y, &in));
    TALLY_TRY(tally__look_behind_plan(&segments, in.count, &plan));
    TALLY_TRY(tally__check_segments(&segments, in.count, &results));
    tally__aim(&spec, out->type);
    TALLY_TRY(tally__check_output(&spec, out, results, &sink));
    if (results == 0) return TALLY_OK;
    TALLY_TRY(tally__choose_backend(&spec, &in, &segments, &sink));
    const bool is_planned = plan != NULL && plan->grouping != NULL,
               on_host = !tally__backend_is_gpu(spec.options.backend) || is_planned;
    TALLY_CHECK(!is_planned || !tally__is_far(&in, &sink), BAD_ARGUMENT,
                "the plan was made ready for host memory, and the arrays lie in GPU memory");
    return on_host && tally__is_grouped(&segments) ? reduce_groups(&spec, &in, &segments, plan, &sink)
                                                   : run(&spec, &in, &segments, NULL, &sink);
}

tally_status tally_reduce(tally_context *context, tally_op op, tally_array in, tally_output out) {
    return reduce(context, op, &in, NULL, &out);
}
tally_status tally_reduce_pair(tally_context *context, tally_op op, tally_array left, tally_array right,
                               tally_output out) {
    return reduce(context, op, &left, &right, &out);
}
tally_status tally_reduce_segments(tally_context *context, tally_op op, tally_array in, tally_segments segments,
                                   tally_output out) {
    return reduce_segments(context, op, &in, NULL, segments, &out);
}
tally_status tally_reduce_segments_pair(tally_context *context, tally_op op, tally_array left, tally_array right,
                                        tally_segments segments, tally_output out) {
    return reduce_segments(context, op, &left, &right, segments, &out);
}
