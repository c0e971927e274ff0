/* Groupings (grouping.h): makes places of begins and ends, unsorted ids and features. */
#include "grouping.h"

#include <string.h>

/* ---- groupings ---- */

/* An index as 64-bit numbers: used where it lies, or else copied to `to`. */
static bool lies_ready(const void *index, tally_type type) {
    return type == TALLY_I64 && (uintptr_t)index % sizeof(int64_t) == 0;
}
static const int64_t *numbers_of(const void *index, tally_type type, int64_t count, int64_t *to) {
    const tally_segments as = {.index = index, .index_type = type};
    if (lies_ready(index, type)) return index;
    for (int64_t i = 0; i < count; i++) to[i] = tally__index(&as, i);
    return to;
}

static tally_status group_sequence(const tally_segments *segments, int64_t vectors, tally__grouping *g) {
    const bool are_offsets = segments->kind == TALLY_OFFSETS;
    if (are_offsets) TALLY_TRY(tally__check_offsets(segments, vectors));
    if (!are_offsets || !lies_ready(segments->index, segments->index_type))
        TALLY_TRY(tally__own_places(g, segments->count + 1));
    if (!are_offsets) TALLY_TRY(tally__find_offsets(segments, vectors, g->own));
    g->begins = are_offsets ? numbers_of(segments->index, segments->index_type, segments->count + 1, g->own) : g->own;
    g->ends = g->begins + 1;
    return TALLY_OK;
}

static tally_status group_begins(const tally_segments *segments, int64_t vectors, tally__grouping *g) {
    if (!lies_ready(segments->index, segments->index_type) || !lies_ready(segments->ends, segments->index_type))
        TALLY_TRY(tally__own_places(g, 2 * segments->count));
    g->begins = numbers_of(segments->index, segments->index_type, segments->count, g->own);
    g->ends = numbers_of(segments->ends, segments->index_type, segments->count,
                         g->own != NULL ? g->own + segments->count : NULL);
    for (int64_t s = 0; s < segments->count; s++)
        TALLY_CHECK(0 <= g->begins[s] && g->begins[s] <= g->ends[s] && g->ends[s] <= vectors, BAD_SEGMENTS,
                    "segment %lld goes from value %lld to %lld of an array of %lld", (long long)s,
                    (long long)g->begins[s], (long long)g->ends[s], (long long)vectors);
    return TALLY_OK;
}

tally_status tally__group(const tally_allocator *allocator, int threads, const tally_segments *segments,
                          int64_t vectors, tally__grouping *g) {
    tally_status status;
    *g = (tally__grouping){.allocator = *allocator, .count = segments->count};
    if (segments->kind == TALLY_UNSORTED_IDS)
        status = tally__sort_ids(segments, vectors, threads, g);
    else
        status = (segments->kind == TALLY_BEGIN_END ? group_begins : group_sequence)(segments, vectors, g);
    if (status != TALLY_OK) tally__ungroup(g);
    return status;
}

/* ---- backends without a way of their own ---- */

typedef struct copies {
    char *x, *y;
    int64_t *offsets;
} copies;

/* Counts the values of all segments, for offsets. -1: more than memory has room for. */
static int64_t count_copies(const tally__grouping *g, int64_t inner, int64_t *offsets) {
    int64_t total = 0;
    for (int64_t s = 0; s < g->count; s++)
        for (int64_t f = 0; f < inner; f++) {
            if (offsets != NULL) offsets[s * inner + f] = total;
            if (__builtin_add_overflow(total, g->ends[s] - g->begins[s], &total)) return -1;
        }
    if (offsets != NULL) offsets[g->count * inner] = total;
    return total;
}

static tally_status make_copies(const tally__spec *spec, const tally__input *in, const tally__grouping *g,
                                int64_t inner, copies *c) {
    const int64_t total = count_copies(g, inner, NULL);
    const size_t bytes = spec->kernel->value_bytes, both = bytes * (size_t)spec->inputs;
    if (total >= 0 && (uint64_t)total < SIZE_MAX / both - 1)
        c->x = tally__allocate(&spec->allocator, (size_t)total * both + 1);
    c->offsets = tally__allocate(&spec->allocator, (size_t)(g->count * inner + 1) * sizeof *c->offsets);
    TALLY_CHECK(c->x != NULL && c->offsets != NULL, NO_MEMORY, "no memory to copy the values of %lld segments",
                (long long)g->count);
    c->y = spec->inputs == 2 ? c->x + (size_t)total * bytes : c->x;
    count_copies(g, inner, c->offsets);
    for (int64_t s = 0; s < g->count; s++) {
        const size_t at = (size_t)c->offsets[s * inner] * bytes;
        const int64_t length = g->ends[s] - g->begins[s];
        tally__gather_features(spec, in, g, inner, g->begins[s], length, 0, inner, c->x + at, c->y + at, length);
    }
    return TALLY_OK;
}

tally_status tally__reduce_copies(const tally__backend *backend, const tally__spec *spec, const tally__input *in,
                                  const tally__grouping *g, int64_t inner, const tally__sink *sink,
                                  tally__report *report) {
    const int64_t bytes = (int64_t)spec->kernel->value_bytes, results = g->count * inner;
    copies c = {NULL, NULL, NULL};
    tally_status status = make_copies(spec, in, g, inner, &c);
    if (status == TALLY_OK) {
        const tally__input copy = {c.x, c.y, bytes, bytes, c.offsets[results], true};
        const tally_segments segments = tally_offsets(c.offsets, TALLY_I64, results);
        status = backend->segments(spec, &copy, &segments, sink, report);
    }
    tally__release(&spec->allocator, c.x);
    tally__release(&spec->allocator, c.offsets);
    return status;
}
