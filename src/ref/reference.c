/* The reference backend: each segment copied out and reduced by the obvious kernel, one after another. */
#include <stdlib.h>
#include <string.h>

#include "grouping.h"
#include "kernel_list.h"

#define TALLY_ROW(kernel) extern const tally__kernel_set tally__ref_##kernel;
TALLY_KERNELS(TALLY_ROW)
#undef TALLY_ROW

static const tally__kernel_set *reference_kernels(int kernel) {
    static const tally__kernel_set *const sets[] = {
#define TALLY_ROW(kernel) &tally__ref_##kernel,
        TALLY_KERNELS(TALLY_ROW)
#undef TALLY_ROW
    };
    return sets[kernel];
}

#define TALLY_ROW(kernel) extern const tally__kernel_set tally__ref_exact_##kernel;
TALLY_EXACT_KERNELS(TALLY_ROW)
#undef TALLY_ROW

static const tally__kernel_set *reference_exact_kernels(int kernel) {
    static const tally__kernel_set *const sets[] = {
#define TALLY_ROW(kernel) &tally__ref_exact_##kernel,
        TALLY_EXACT_KERNELS(TALLY_ROW)
#undef TALLY_ROW
    };
    return sets[kernel];
}

/* The tree over values begin, begin + step, ... (n of them), copied side by side first. */
static tally_status slice_tree(const tally__spec *spec, const tally__input *in, int64_t begin, int64_t n, int64_t step,
                               int64_t first, tally__node *node) {
    size_t bytes = spec->kernel->value_bytes;
    char *x = tally__allocate(&spec->allocator, 2 * (size_t)n * bytes + 1);
    TALLY_CHECK(x != NULL, NO_MEMORY, "no memory for a copy of %lld values", (long long)n);
    char *y = x + (size_t)n * bytes;
    tally__input apart = *in;
    apart.x_stride *= step;
    apart.y_stride *= step;
    if (n > 0) { /* else x may be NULL */
        apart.x += begin * in->x_stride;
        if (spec->inputs == 2) apart.y += begin * in->y_stride;
        tally__gather(spec, &apart, 0, n, x, y);
    }
    spec->kernel->run(spec->kernel, x, spec->inputs == 2 ? y : x, n, first, node);
    tally__release(&spec->allocator, x);
    return TALLY_OK;
}

static tally_status reduce_slice(const tally__spec *spec, const tally__input *in, int64_t begin, int64_t n,
                                 int64_t step, const tally__sink *sink, int64_t place, tally__report *report) {
    unsigned char result[TALLY_RESULT_BYTES];
    tally__node_storage storage;
    TALLY_TRY(slice_tree(spec, in, begin, n, step, 0, &storage.node));
    report->flags |= spec->kernel->finish_node(spec->kernel, &storage.node, &spec->final, result);
    report->flags |= tally__store(spec, sink, place, 1, result);
    return TALLY_OK;
}

/* One leaf. Not inlined, so that its buffer is on the stack once, not for each level of the tree. */
static __attribute__((noinline)) void reference_leaf(const tally__spec *spec, const tally__input *in, int64_t begin,
                                                     int64_t n, int64_t first, tally__node *node) {
    _Alignas(64) char x[TALLY_LEAF_BYTES], y[TALLY_LEAF_BYTES];
    tally__gather(spec, in, begin, n, x, y);
    spec->kernel->run(spec->kernel, x, spec->inputs == 2 ? y : x, n, first, node);
}

/* For states: leaf by leaf, so that no memory is needed. */
static void reference_tree(const tally__spec *spec, const tally__input *in, int64_t begin, int64_t n, int64_t first,
                           tally__node *node) {
    const tally__kernel *kernel = spec->kernel;
    tally__node_storage right;
    int64_t left = kernel->leaf;
    if (n <= kernel->leaf) {
        reference_leaf(spec, in, begin, n, first, node);
        return;
    }
    while (2 * left < n) left *= 2;
    reference_tree(spec, in, begin, left, first, node);
    reference_tree(spec, in, begin + left, n - left, first + left, &right.node);
    kernel->merge_nodes(kernel, node, &right.node);
}

static tally_status reference_reduce(const tally__spec *spec, const tally__input *in, const tally__sink *sink,
                                     tally__report *report) {
    return reduce_slice(spec, in, 0, in->count, 1, sink, 0, report);
}

/* Segment s is the values from *begin to *end; at is where the segment before it ended. */
static tally_status bounds(const tally_segments *segments, const tally__input *in, int64_t s, int64_t at,
                           int64_t *begin, int64_t *end) {
    *begin = at;
    if (segments->kind == TALLY_OFFSETS) {
        *begin = tally__index(segments, s);
        *end = tally__index(segments, s + 1);
    } else if (segments->kind == TALLY_LENGTHS) {
        int64_t length = tally__index(segments, s);
        TALLY_CHECK(length >= 0 && length <= in->count - at, BAD_SEGMENTS,
                    "length %lld of segment %lld is negative or reaches beyond the array of %lld values",
                    (long long)length, (long long)s, (long long)in->count);
        *end = at + length;
    } else {
        for (*end = at; *end < in->count && tally__index(segments, *end) <= s; ++*end)
            TALLY_CHECK(tally__index(segments, *end) == s, BAD_SEGMENTS,
                        "segment id %lld of value %lld is out of order or out of range",
                        (long long)tally__index(segments, *end), (long long)*end);
        TALLY_CHECK(s + 1 < segments->count || *end == in->count, BAD_SEGMENTS,
                    "segment id %lld of value %lld is not below %lld", (long long)tally__index(segments, *end),
                    (long long)*end, (long long)segments->count);
    }
    TALLY_CHECK(0 <= *begin && *begin <= *end && *end <= in->count, BAD_SEGMENTS,
                "segment %lld goes from value %lld to %lld of an array of %lld", (long long)s, (long long)*begin,
                (long long)*end, (long long)in->count);
    return TALLY_OK;
}

static tally_status reference_segments(const tally__spec *spec, const tally__input *in, const tally_segments *segments,
                                       const tally__sink *sink, tally__report *report) {
    if (segments->kind == TALLY_ROWS) {
        for (int64_t o = 0; o < segments->count; o++)
            for (int64_t i = 0; i < segments->inner; i++)
                TALLY_TRY(reduce_slice(spec, in, o * segments->length * segments->inner + i, segments->length,
                                       segments->inner, sink, o * segments->inner + i, report));
    } else {
        int64_t begin, end = 0;
        TALLY_CHECK(segments->kind != TALLY_SEGMENT_IDS || segments->count > 0 || in->count == 0, BAD_SEGMENTS,
                    "there are segment ids of values but no segments");
        for (int64_t s = 0; s < segments->count; s++) {
            TALLY_TRY(bounds(segments, in, s, end, &begin, &end));
            TALLY_TRY(reduce_slice(spec, in, begin, end - begin, 1, sink, s, report));
        }
    }
    return TALLY_OK;
}

static tally_status reference_grouped(const tally__spec *spec, const tally__input *in, const tally__grouping *g,
                                      int64_t inner, const tally__sink *sink, tally__report *report) {
    for (int64_t s = 0; s < g->count; s++)
        for (int64_t f = 0; f < inner; f++) {
            const int64_t n = g->ends[s] - g->begins[s], bytes = (int64_t)spec->kernel->value_bytes;
            char *x = tally__allocate(&spec->allocator, 2 * (size_t)(n * bytes) + 1);
            TALLY_CHECK(x != NULL, NO_MEMORY, "no memory for a copy of %lld values", (long long)n);
            const tally__input copy = {x, spec->inputs == 2 ? x + n * bytes : x, bytes, bytes, n, true};
            tally__gather_features(spec, in, g, inner, g->begins[s], n, f, 1, x, x + n * bytes, n);
            const tally_status status = reduce_slice(spec, &copy, 0, n, 1, sink, s * inner + f, report);
            tally__release(&spec->allocator, x);
            TALLY_TRY(status);
        }
    return TALLY_OK;
}

const tally__backend tally__reference_backend = {
    .name = "reference",
    .kernels = reference_kernels,
    .exact_kernels = reference_exact_kernels,
    .tree = reference_tree,
    .reduce = reference_reduce,
    .segments = reference_segments,
    .grouped = reference_grouped,
};
