/* Makes offsets of lengths and of sorted ids, and checks given ones. */
#define _DEFAULT_SOURCE
#include "grouping.h"

#include <sys/mman.h>

tally_status tally__refuse_place(const tally_segments *segments, int64_t vectors, const char *what, int64_t where) {
    return tally__fail(TALLY_BAD_SEGMENTS,
                       "%s %lld of the segments does not fit (%lld segments of an array of %lld values)", what,
                       (long long)where, (long long)segments->count, (long long)vectors);
}

tally_status tally__check_offsets(const tally_segments *segments, int64_t vectors) {
    for (int64_t s = 0, before = 0; s <= segments->count && segments->count > 0; s++) {
        int64_t offset = tally__index(segments, s);
        if (offset < before || offset > vectors) return tally__refuse_place(segments, vectors, "offset", s);
        before = offset;
    }
    return TALLY_OK;
}

static tally_status sum_lengths(const tally_segments *segments, int64_t vectors, int64_t *offsets) {
    offsets[0] = 0;
    for (int64_t s = 0; s < segments->count; s++) {
        int64_t length = tally__index(segments, s);
        if (length < 0 || length > vectors - offsets[s]) return tally__refuse_place(segments, vectors, "length", s);
        offsets[s + 1] = offsets[s] + length;
    }
    return TALLY_OK;
}

static tally_status find_segment_ids(const tally_segments *segments, int64_t vectors, int64_t *offsets) {
    int64_t begun = 0; /* how many segments have their offset */
    for (int64_t i = 0; i < vectors; i++) {
        int64_t segment_id = tally__index(segments, i);
        if (segment_id < begun - 1 || segment_id < 0 || segment_id >= segments->count)
            return tally__refuse_place(segments, vectors, "segment id", i);
        while (begun <= segment_id) offsets[begun++] = i;
    }
    while (begun <= segments->count) offsets[begun++] = vectors;
    return TALLY_OK;
}

tally_status tally__find_offsets(const tally_segments *segments, int64_t vectors, int64_t *offsets) {
    return (segments->kind == TALLY_LENGTHS ? sum_lengths : find_segment_ids)(segments, vectors, offsets);
}

/* The first touch of a page takes as long as the work on it: larger pages are touched less often. */
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

void tally__ungroup(tally__grouping *g) {
    tally__release(&g->allocator, g->own);
    g->own = NULL;
}
