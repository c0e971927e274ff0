#include "grouped_problems.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_VALUES = 6000 };

const char *const grouped_forms[GROUPED_FORMS] = {"offsets",       "lengths",      "sorted ids",
                                                  "begin and end", "unsorted ids", "unsorted ids, some left out"};

static void put(tally_type type, void *index, int64_t i, int64_t value) {
    if (type == TALLY_I32)
        ((int32_t *)index)[i] = (int32_t)value;
    else
        ((int64_t *)index)[i] = value;
}

static int64_t draw_length(uint64_t *random, int64_t most) {
    const int64_t kind = random_below(random, 4);
    return kind == 0   ? 0
           : kind == 1 ? random_below(random, most + 1)
                       : random_below(random, (most < 30 ? most : 30) + 1);
}

/* Segments that follow one another; those that name no id behind the last are sorted ids alone. */
static void draw_sequence(grouped *p, tally_type type, void *index, uint64_t *random) {
    int64_t at = 0;
    for (int64_t s = 0; s < p->count; s++) {
        const bool takes_rest = s + 1 == p->count && p->form == 2;
        const int64_t length = takes_rest ? p->vectors - at : draw_length(random, p->vectors - at);
        p->begins[s] = at;
        if (p->form == 0) put(type, index, s, at);
        if (p->form == 1) put(type, index, s, length);
        for (int64_t i = at; i < at + length; i++) {
            if (p->form == 2) put(type, index, i, s);
            p->members[i] = i;
        }
        at += length;
    }
    p->begins[p->count] = at;
    if (p->form == 0) put(type, index, p->count, at);
    p->segments = p->form == 0   ? tally_offsets(index, type, p->count)
                  : p->form == 1 ? tally_lengths(index, type, p->count)
                                 : tally_segment_ids(index, type, p->count);
}

/* Gaps, overlaps and repeats. */
static void draw_begins(grouped *p, tally_type type, void *index, void *ends, uint64_t *random) {
    int64_t total = 0;
    for (int64_t s = 0; s < p->count; s++) {
        const int64_t begin = random_below(random, p->vectors + 1), length = draw_length(random, p->vectors - begin);
        put(type, index, s, begin);
        put(type, ends, s, begin + length);
        p->begins[s] = total;
        p->members = realloc(p->members, (size_t)(total + length + 1) * sizeof *p->members);
        for (int64_t i = 0; i < length; i++) p->members[total++] = begin + i;
    }
    p->begins[p->count] = total;
    p->segments = tally_begin_end(index, ends, type, p->count);
}

static void draw_ids(grouped *p, tally_type type, void *index, uint64_t *random) {
    int64_t *ids = malloc((size_t)(p->vectors + 1) * sizeof *ids), total = 0;
    const bool ascend = random_below(random, 4) == 0; /* by chance they are sorted */
    for (int64_t i = 0; i < p->vectors; i++) {
        ids[i] = ascend ? i * p->count / p->vectors : random_below(random, p->count);
        if (p->form == 5 && random_below(random, 5) == 0)
            ids[i] = random_below(random, 2) ? p->count + random_below(random, 9) : -1 - random_below(random, 9);
        put(type, index, i, ids[i]);
    }
    for (int64_t s = 0; s < p->count; s++) {
        p->begins[s] = total;
        for (int64_t i = 0; i < p->vectors; i++)
            if (ids[i] == s) p->members[total++] = i;
    }
    p->begins[p->count] = total;
    p->segments =
        tally_unsorted_ids(index, type, p->count, p->form == 5 ? TALLY_OUTSIDE_LEFT_OUT : TALLY_OUTSIDE_REFUSED);
    free(ids);
}

void draw_grouped(grouped *p, int form, int64_t inner, uint64_t *random) {
    const tally_type type = random_below(random, 2) ? TALLY_I32 : TALLY_I64;
    *p = (grouped){.form = form, .inner = inner, .begins = scratch(BEGINS, (MOST_SEGMENTS + 1) * 8)};
    p->vectors = random_below(random, 8) ? 1 + random_below(random, MOST_VALUES / inner + 2) : random_below(random, 3);
    p->count = p->vectors == 0 ? random_below(random, 3) : 1 + random_below(random, 12 * (form == 3 ? 2 : 8));
    if (p->vectors == 0 && (form == 2 || form >= 4)) p->count = 1;
    p->members = malloc((size_t)(p->vectors + 1) * sizeof *p->members);
    void *const index = scratch(INDEX, (size_t)(p->vectors + MOST_SEGMENTS + 1) * 8), *const ends = scratch(
                                                                                          ENDS,
                                                                                          (MOST_SEGMENTS + 1) * 8);
    if (form <= 2)
        draw_sequence(p, type, index, random);
    else if (form == 3)
        draw_begins(p, type, index, ends, random);
    else
        draw_ids(p, type, index, random);
    p->segments = tally_features(p->segments, inner == 1 && random_below(random, 2) ? 0 : inner);
    now.segments = grouped_forms[form];
    now.index_type = type;
    now.inner = inner;
    now.outer = p->count;
    now.size = p->vectors * inner;
}

/* The values of feature f of segment s, copied. */
static tally_array member_values(const grouped *p, tally_array from, size_t width, int64_t s, int64_t f, int slot) {
    const int64_t n = p->begins[s + 1] - p->begins[s];
    char *const copy = scratch(slot, (size_t)n * width + 1);
    for (int64_t i = 0; i < n; i++)
        memcpy(copy + (size_t)i * width,
               (const char *)from.data +
                   (p->members[p->begins[s] + i] * p->inner + f) * (from.stride != 0 ? from.stride : (int64_t)width),
               width);
    return (tally_array){copy, from.type, n, 0};
}

tally_status expect_each_feature(const grouped *p, tally_context *context, tally_op op, tally_array x, tally_array y,
                                 size_t width, const char *got, size_t bytes) {
    bool is_empty = false, is_overflow = false;
    for (int64_t s = 0; s < p->count; s++)
        for (int64_t f = 0; f < p->inner; f++) {
            char wanted[256];
            memset(wanted, 0x5a, sizeof wanted);
            const tally_status status =
                perform(context, op, member_values(p, x, width, s, f, COPY), member_values(p, y, width, s, f, COPY_Y),
                        NULL, tally_out(wanted, TALLY_NATURAL, 1));
            is_empty |= status == TALLY_EMPTY;
            is_overflow |= status == TALLY_OVERFLOW;
            EXPECT(status == TALLY_OK || status == TALLY_EMPTY || status == TALLY_OVERFLOW, "%s", tally_message());
            now.segment = s;
            EXPECT_BITS(got + (size_t)(s * p->inner + f) * bytes, wanted, bytes, "a result");
        }
    return is_overflow ? TALLY_OVERFLOW : is_empty ? TALLY_EMPTY : TALLY_OK;
}

static const int64_t inners[] = {1, 2, 3, 7, 8, 16, 31, 64, 100, 257, 4096};
int64_t draw_inner(uint64_t *random) {
    return inners[random_below(random, random_below(random, 6) ? 8 : (int64_t)(sizeof inners / sizeof *inners))];
}
