/* Groupings: how begins and ends, unsorted ids and features become places (grouping.h). */
#define _DEFAULT_SOURCE
#include "grouping.h"

#include <sys/mman.h>

#include <string.h>

tally_status tally__refuse_place(const tally_segments *cut, int64_t vectors, const char *what, int64_t where) {
    return tally__fail(TALLY_BAD_SEGMENTS, "%s %lld of the cut does not fit (%lld segments of an array of %lld values)",
                       what, (long long)where, (long long)cut->count, (long long)vectors);
}

/* ---- segments that follow one another ---- */

tally_status tally__check_offsets(const tally_segments *cut, int64_t vectors) {
    for (int64_t s = 0, before = 0; s <= cut->count && cut->count > 0; s++) {
        int64_t offset = tally__index(cut, s);
        if (offset < before || offset > vectors) return tally__refuse_place(cut, vectors, "offset", s);
        before = offset;
    }
    return TALLY_OK;
}

static tally_status sum_lengths(const tally_segments *cut, int64_t vectors, int64_t *offsets) {
    offsets[0] = 0;
    for (int64_t s = 0; s < cut->count; s++) {
        int64_t length = tally__index(cut, s);
        if (length < 0 || length > vectors - offsets[s]) return tally__refuse_place(cut, vectors, "length", s);
        offsets[s + 1] = offsets[s] + length;
    }
    return TALLY_OK;
}

static tally_status find_segment_ids(const tally_segments *cut, int64_t vectors, int64_t *offsets) {
    int64_t begun = 0; /* segments whose offset is known */
    for (int64_t i = 0; i < vectors; i++) {
        int64_t segment_id = tally__index(cut, i);
        if (segment_id < begun - 1 || segment_id < 0 || segment_id >= cut->count)
            return tally__refuse_place(cut, vectors, "segment id", i);
        while (begun <= segment_id) offsets[begun++] = i;
    }
    while (begun <= cut->count) offsets[begun++] = vectors;
    return TALLY_OK;
}

tally_status tally__find_offsets(const tally_segments *cut, int64_t vectors, int64_t *offsets) {
    return (cut->kind == TALLY_LENGTHS ? sum_lengths : find_segment_ids)(cut, vectors, offsets);
}

/* ---- groupings ---- */

/* Fresh memory costs a fault for each page, which takes as long as the work on it. */
static void ask_for_huge_pages(void *memory, size_t bytes) {
#ifdef MADV_HUGEPAGE
    const uintptr_t page = (uintptr_t)1 << 21, begin = ((uintptr_t)memory + page - 1) / page * page,
                    end = ((uintptr_t)memory + bytes) / page * page;
    if (begin < end) (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE);
#else
    (void)memory, (void)bytes;
#endif
}

tally_status tally__own_places(tally__grouping *g, int64_t numbers) {
    g->own = tally__allocate(&g->allocator, (size_t)numbers * sizeof *g->own);
    TALLY_CHECK(g->own != NULL, NO_MEMORY, "no memory for the places of %lld segments", (long long)g->count);
    ask_for_huge_pages(g->own, (size_t)numbers * sizeof *g->own);
    return TALLY_OK;
}

/* An index as 64-bit numbers: where it lies, or copied to `to`. */
static bool lies_ready(const void *index, tally_type type) {
    return type == TALLY_I64 && (uintptr_t)index % sizeof(int64_t) == 0;
}
static const int64_t *numbers_of(const void *index, tally_type type, int64_t count, int64_t *to) {
    const tally_segments as = {.index = index, .index_type = type};
    if (lies_ready(index, type)) return index;
    for (int64_t i = 0; i < count; i++) to[i] = tally__index(&as, i);
    return to;
}

static tally_status group_sequence(const tally_segments *cut, int64_t vectors, tally__grouping *g) {
    const bool are_offsets = cut->kind == TALLY_OFFSETS;
    if (are_offsets) TALLY_TRY(tally__check_offsets(cut, vectors));
    if (!are_offsets || !lies_ready(cut->index, cut->index_type)) TALLY_TRY(tally__own_places(g, cut->count + 1));
    if (!are_offsets) TALLY_TRY(tally__find_offsets(cut, vectors, g->own));
    g->begins = are_offsets ? numbers_of(cut->index, cut->index_type, cut->count + 1, g->own) : g->own;
    g->ends = g->begins + 1;
    return TALLY_OK;
}

static tally_status group_begins(const tally_segments *cut, int64_t vectors, tally__grouping *g) {
    if (!lies_ready(cut->index, cut->index_type) || !lies_ready(cut->ends, cut->index_type))
        TALLY_TRY(tally__own_places(g, 2 * cut->count));
    g->begins = numbers_of(cut->index, cut->index_type, cut->count, g->own);
    g->ends = numbers_of(cut->ends, cut->index_type, cut->count, g->own != NULL ? g->own + cut->count : NULL);
    for (int64_t s = 0; s < cut->count; s++)
        TALLY_CHECK(0 <= g->begins[s] && g->begins[s] <= g->ends[s] && g->ends[s] <= vectors, BAD_SEGMENTS,
                    "segment %lld goes from value %lld to %lld of an array of %lld", (long long)s,
                    (long long)g->begins[s], (long long)g->ends[s], (long long)vectors);
    return TALLY_OK;
}

tally_status tally__group(const tally_allocator *allocator, int threads, const tally_segments *cut, int64_t vectors,
                          tally__grouping *g) {
    tally_status status;
    *g = (tally__grouping){.allocator = *allocator, .count = cut->count};
    if (cut->kind == TALLY_UNSORTED_IDS)
        status = tally__sort_ids(cut, vectors, threads, g);
    else
        status = (cut->kind == TALLY_BEGIN_END ? group_begins : group_sequence)(cut, vectors, g);
    if (status != TALLY_OK) tally__ungroup(g);
    return status;
}

void tally__ungroup(tally__grouping *g) {
    tally__release(&g->allocator, g->own);
    g->own = NULL;
}

/* ---- backends without a way of their own ---- */

typedef struct copies {
    char *x, *y;
    int64_t *offsets;
} copies;

/* Offsets of the segments' features; -1: more values than memory has. */
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
        const tally_segments cut = tally_offsets(c.offsets, TALLY_I64, results);
        status = backend->segments(spec, &copy, &cut, sink, report);
    }
    tally__release(&spec->allocator, c.x);
    tally__release(&spec->allocator, c.offsets);
    return status;
}
