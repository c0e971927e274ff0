/* Segments as inputs of their own (parts.h). */
#include "parts.h"

#include "plan.h"

tally_status tally__open_parts(const tally_allocator *allocator, int threads, const tally_segments *given,
                               int64_t values, tally__parts *parts) {
    tally_segments segments = *given;
    const tally_plan *plan;
    *parts = (tally__parts){.own.allocator = *allocator};
    TALLY_TRY(tally__look_behind_plan(&segments, values, &plan));
    TALLY_TRY(tally__check_segments(&segments, values, &parts->count));
    TALLY_CHECK(segments.kind != TALLY_PLANNED &&
                    (segments.kind == TALLY_ROWS ||
                     (!tally__lies_on_gpu(segments.index) && !tally__lies_on_gpu(segments.ends))),
                UNSUPPORTED, "segments are reduced to nodes by an index, or a plan, in host memory");
    parts->inner = segments.kind == TALLY_ROWS ? (segments.inner > 0 ? segments.inner : 1) : tally__features(&segments);
    parts->length = segments.length;
    if (segments.kind == TALLY_ROWS || parts->count == 0) return TALLY_OK;
    parts->groups = plan != NULL && plan->grouping != NULL ? plan->grouping : &parts->own;
    if (parts->groups != &parts->own) return TALLY_OK;
    return tally__group(allocator, threads, &segments, values / parts->inner, &parts->own);
}

void tally__close_parts(tally__parts *parts) { tally__ungroup(&parts->own); }

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
    tally__room leaf;
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
