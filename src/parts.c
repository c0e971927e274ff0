/* Segments as inputs of their own (parts.h). */
#include "parts.h"

#include "plan.h"

/* An index of `entries` entries in GPU memory is copied to host memory, *copy, which the parts own. */
static tally_status fetch_index(const tally_context *context, tally_type type, int64_t entries, const void **index,
                                void **copy) {
    const size_t bytes = (size_t)entries * tally_type_size(type);
    tally__spec spec;
    TALLY_TRY(tally__specify(context, TALLY_MIN, type, &spec));
    const tally__backend *far = tally__far_backend_of(&spec.options, *index);
    TALLY_CHECK(far != NULL || !tally__lies_on_gpu(*index), BAD_ARGUMENT,
                "an index in GPU memory is for TALLY_BACKEND_AUTO or TALLY_BACKEND_CUDA only");
    if (far == NULL) return TALLY_OK;
    *copy = tally__allocate(&spec.allocator, bytes + 1);
    TALLY_CHECK(*copy != NULL, NO_MEMORY, "no memory for an index of %zu bytes", bytes);
    const tally__input in = {*index, *index, (int64_t)tally_type_size(type), 0, entries, true};
    *index = *copy;
    return far->far_values(&spec, &in, 0, entries, *copy, NULL);
}

static tally_status fetch_indexes(const tally_context *context, int64_t values, tally_segments *segments,
                                  tally__parts *parts) {
    const int64_t entries = tally__index_entries(segments, values);
    TALLY_TRY(fetch_index(context, segments->index_type, entries, &segments->index, &parts->copies[0]));
    return segments->kind == TALLY_BEGIN_END
               ? fetch_index(context, segments->index_type, entries, &segments->ends, &parts->copies[1])
               : TALLY_OK;
}

static tally_status read_parts(const tally_context *context, tally_segments *segments, int64_t values,
                               tally__parts *parts) {
    const tally_plan *plan;
    TALLY_TRY(tally__look_behind_plan(segments, values, &plan));
    TALLY_TRY(tally__check_segments(segments, values, &parts->count));
    TALLY_CHECK(segments->kind != TALLY_PLANNED, UNSUPPORTED,
                "the plan was made ready for a GPU, and these segments are read by the host");
    parts->inner =
        segments->kind == TALLY_ROWS ? (segments->inner > 0 ? segments->inner : 1) : tally__features(segments);
    parts->length = segments->length;
    if (segments->kind == TALLY_ROWS || parts->count == 0) return TALLY_OK;
    parts->groups = plan != NULL && plan->grouping != NULL ? plan->grouping : &parts->own;
    if (parts->groups != &parts->own) return TALLY_OK;
    TALLY_TRY(fetch_indexes(context, values, segments, parts));
    return tally__group(&parts->allocator, tally__context(context)->options.threads, segments, values / parts->inner,
                        &parts->own);
}

bool tally__is_for_gpu(const tally_options *options, const tally_segments *segments) {
    if (segments->kind == TALLY_PLANNED) return segments->plan != NULL && segments->plan->gpu != NULL;
    return (segments->kind == TALLY_UNSORTED_IDS && segments->index != NULL) ||
           (segments->kind != TALLY_ROWS && tally__far_backend_of(options, segments->index) != NULL);
}

tally_status tally__open_parts(const tally_context *context, const tally_segments *given, int64_t values,
                               tally__parts *parts) {
    const tally_allocator allocator = tally__context(context)->allocator;
    tally_segments segments = *given;
    *parts = (tally__parts){.allocator = allocator, .own.allocator = allocator};
    const tally_status status = read_parts(context, &segments, values, parts);
    if (status != TALLY_OK) tally__close_parts(parts);
    return status;
}

void tally__close_parts(tally__parts *parts) {
    tally__ungroup(&parts->own);
    for (int k = 0; k < 2; k++) tally__release(&parts->allocator, parts->copies[k]);
}

void tally__gather_part(const tally__parts *parts, const tally__spec *spec, const tally__input *in, int64_t r,
                        int64_t at, int64_t n, void *x, void *y) {
    const int64_t next = at + n;
    const tally__grouping some = {.count = 1, .begins = &at, .ends = &next, .order = parts->groups->order};
    tally__gather_features(spec, in, &some, parts->inner, at, n, r % parts->inner, 1, x, y, n);
}

void tally__run_scattered(const tally__parts *parts, const tally__spec *spec, const tally__input *in, int64_t r,
                          tally__node *node) {
    const tally__kernel *kernel = spec->kernel;
    const int64_t s = r / parts->inner, end = parts->groups->ends[s];
    _Alignas(64) char x[TALLY_LEAF_BYTES], y[TALLY_LEAF_BYTES];
    tally__node_storage leaf;
    kernel->give_nothing(kernel, node);
    for (int64_t at = parts->groups->begins[s], first = 0; at < end;) {
        const int64_t n = end - at < kernel->leaf ? end - at : kernel->leaf;
        tally__gather_part(parts, spec, in, r, at, n, x, y);
        kernel->run(kernel, x, spec->inputs == 2 ? y : x, n, first, &leaf.node);
        kernel->merge_nodes(kernel, node, &leaf.node);
        first += n;
        at += n;
    }
}
