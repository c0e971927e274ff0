/* For callers who distribute arrays over processes, besides nodes: lengths of segments, states of segments, and values
 * side by side in host memory. */
#include <string.h>

#include "parts.h"
#include "plan.h"
#include "state.h"
#include "tally/tally_nodes.h"

/* ---- facts ---- */

static tally_status count_results(tally_segments segments, int64_t values, int64_t *results) {
    const tally_plan *plan;
    TALLY_TRY(tally__look_behind_plan(&segments, values, &plan));
    return tally__check_segments(&segments, values, results);
}

tally_status tally_segment_counts(const tally_context *context, int64_t values, tally_segments segments,
                                  int64_t *counts, int64_t space, int64_t *results) {
    tally__parts parts;
    TALLY_CHECK(values >= 0, BAD_ARGUMENT, "the number of values is %lld", (long long)values);
    TALLY_CHECK(results != NULL, BAD_ARGUMENT, "tally_segment_counts needs a place for the number of results");
    if (counts == NULL) return count_results(segments, values, results);
    TALLY_TRY(tally__open_parts(context, &segments, values, &parts));
    *results = parts.count;
    for (int64_t r = 0; r < parts.count && r < space; r++) counts[r] = tally__part_length(&parts, r);
    tally__close_parts(&parts);
    TALLY_CHECK(*results <= space, NO_SPACE, "%lld counts do not fit space for %lld", (long long)*results,
                (long long)space);
    return TALLY_OK;
}

tally_status tally_value_bytes(const tally_context *context, tally_op op, tally_type type, size_t *bytes) {
    tally__spec spec;
    TALLY_CHECK(bytes != NULL, BAD_ARGUMENT, "tally_value_bytes needs a place for the size");
    TALLY_TRY(tally__specify(context, op, type, &spec));
    *bytes = spec.kernel->value_bytes;
    return TALLY_OK;
}

/* ---- states of segments ---- */

/* Values that lie scattered are copied together, a leaf of them at a time. */
static tally_status push_scattered(const tally__parts *parts, const tally__spec *spec, const tally__input *in,
                                   int64_t r, tally_state *state) {
    const int64_t s = r / parts->inner, end = parts->groups->ends[s], leaf = spec->kernel->leaf;
    _Alignas(64) char x[TALLY_LEAF_BYTES], y[TALLY_LEAF_BYTES];
    for (int64_t at = parts->groups->begins[s]; at < end;) {
        const int64_t n = end - at < leaf ? end - at : leaf;
        tally__gather_part(parts, spec, in, r, at, n, x, y);
        TALLY_TRY(spec->inputs == 2 ? tally_state_push_pair(state, (tally_array){x, spec->type, n, 0},
                                                            (tally_array){y, spec->type, n, 0})
                                    : tally_state_push(state, (tally_array){x, spec->type, n, 0}));
        at += n;
    }
    return TALLY_OK;
}

static tally_status push_part(const tally__parts *parts, const tally__spec *spec, const tally__input *in, int64_t r,
                              tally_state *state) {
    tally__input part;
    TALLY_CHECK(state != NULL && state->spec.op == spec->op && state->spec.type == spec->type, BAD_ARGUMENT,
                "state %lld is NULL, or of another operator or type", (long long)r);
    if (!tally__part_input(parts, spec, in, r, &part)) return push_scattered(parts, spec, in, r, state);
    const tally_array x = {part.x, spec->type, part.count, part.x_stride},
                      y = {part.y, spec->type, part.count, part.y_stride};
    return spec->inputs == 2 ? tally_state_push_pair(state, x, y) : tally_state_push(state, x);
}

static tally_status push_segments(tally_context *context, tally_op op, const tally_array *x, const tally_array *y,
                                  const tally_segments *segments, tally_state *const *states, int64_t count) {
    tally__spec spec;
    tally__input in;
    tally__parts parts;
    TALLY_TRY(tally__specify(context, op, x->type, &spec));
    TALLY_TRY(tally__check_input(&spec, x, y, &in));
    TALLY_TRY(tally__open_parts(context, segments, in.count, &parts));
    tally_status status = TALLY_OK;
    if (parts.count != count || (states == NULL && count > 0))
        status = tally__fail(TALLY_BAD_ARGUMENT, "%lld states for %lld segments", states != NULL ? (long long)count : 0,
                             (long long)parts.count);
    else if (tally__parts_are_scattered(&parts, in.count) &&
             (tally__far_backend_of(&spec.options, in.x) != NULL || tally__far_backend_of(&spec.options, in.y) != NULL))
        status = tally__fail(TALLY_UNSUPPORTED, "values with unsorted ids are pushed from host memory only");
    for (int64_t r = 0; r < count && status == TALLY_OK; r++) status = push_part(&parts, &spec, &in, r, states[r]);
    tally__close_parts(&parts);
    return status;
}

tally_status tally_push_segments(tally_context *context, tally_op op, tally_array in, tally_segments segments,
                                 tally_state *const *states, int64_t count) {
    return push_segments(context, op, &in, NULL, &segments, states, count);
}
tally_status tally_push_segments_pair(tally_context *context, tally_op op, tally_array left, tally_array right,
                                      tally_segments segments, tally_state *const *states, int64_t count) {
    return push_segments(context, op, &left, &right, &segments, states, count);
}

/* ---- values ---- */

tally_status tally_copy_values(const tally_context *context, tally_op op, tally_array in, void *values, size_t space) {
    tally__spec spec;
    tally__input from;
    TALLY_TRY(tally__specify(context, op, in.type, &spec));
    spec.inputs = 1;
    TALLY_TRY(tally__check_input(&spec, &in, NULL, &from));
    TALLY_CHECK(values != NULL || in.count == 0, BAD_ARGUMENT, "there is no memory for the values");
    TALLY_CHECK((uint64_t)in.count <= space / spec.kernel->value_bytes, NO_SPACE, "%lld values do not fit %zu bytes",
                (long long)in.count, space);
    const tally__backend *far = tally__far_backend_of(&spec.options, from.x);
    TALLY_CHECK(far != NULL || !tally__lies_on_gpu(from.x), BAD_ARGUMENT,
                "values in GPU memory are copied with TALLY_BACKEND_AUTO or TALLY_BACKEND_CUDA only");
    if (far != NULL) return far->far_values(&spec, &from, 0, from.count, values, NULL);
    tally__gather(&spec, &from, 0, from.count, values, NULL);
    return TALLY_OK;
}
