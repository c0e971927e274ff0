/* Segments of every shape and form. */
#include "ragged_segments.h"

#include <string.h>

const char *const shape_names[SHAPES] = {"one",          "ones",      "threes",          "10 to 50",
                                         "power law",    "80% empty", "empty ends",      "huge and threes",
                                         "around edges", "leaves",    "few of a warp's", "all empty"};

static int64_t next_length(shape which, int64_t leaf, int64_t left, int64_t i, uint64_t *random) {
    static const int64_t around[] = {0, 1, 8, 9, 63, 64, 65};
    int64_t pick = random_below(random, 7);
    switch (which) {
    case ONE: return left;
    case ONES: return 1;
    case THREES: return 3;
    case TENS: return 10 + random_below(random, 41);
    case POWER: return 1 + (leaf * 8 >> random_below(random, 24));
    case EIGHTY: return random_below(random, 5) ? 0 : 1 + random_below(random, 63);
    case ENDS: return i < 3000 ? 0 : 1 + random_below(random, 100);
    case HUGE_AND_THREES: return i == 5 ? left / 2 + 1 : 3;
    case EDGES: return around[pick] + (random_below(random, 3) ? 0 : leaf);
    case LEAVES: return leaf * (pick - 1 > 0 ? pick - 1 : 0) + random_below(random, 3) - (pick > 1);
    case FEW:
        return i / 32 % 2 == 0 ? 2 * (i % 32 < 3)
               : i % 32 == 7   ? 20 + random_below(random, 41)
                               : i % 32 == 9; /* of 32: three of two, or a longer one */
    default: return 0;
    }
}

ragged make_ragged(shape which, tally_type type, int64_t values, int trial) {
    int64_t leaf = tally_leaf_length(type),
            space = which == EMPTY  ? 9000
                    : which == ENDS ? 12000
                                    : 5 * values + 10000,
            total = 0;
    uint64_t random = seed + (uint64_t)trial;
    ragged r = {
        .skip = trial % 4 * 3, .slack = trial % 3 * 7, .lengths = scratch(LENGTHS, (size_t)space * sizeof(int64_t))};
    while (r.count < space && (total < values || which == EMPTY)) {
        int64_t length = next_length(which, leaf, values - total, r.count, &random);
        length = length < 0 ? 0 : length > values - total ? values - total : length;
        r.lengths[r.count++] = length;
        total += length;
    }
    for (int i = 0; which == ENDS && i < 2500; i++) r.lengths[r.count++] = 0;
    r.values = r.skip + total + r.slack;
    return r;
}

void put_index(tally_type type, char *to, int64_t i, int64_t value) {
    int32_t narrow = (int32_t)value;
    if (type == TALLY_I32)
        memcpy(to + 4 * i, &narrow, 4);
    else
        memcpy(to + 8 * i, &value, 8);
}

const char *const segmentation_names[] = {"offsets", "lengths", "segment_ids"};
tally_segments make_segments(tally_segmentation form, tally_type type, const ragged *r, int misalign, int64_t *skip,
                             int64_t *count, size_t *bytes) {
    char *index = (char *)scratch(INDEX, (size_t)(r->values + r->count + 2) * 8 + 8) + misalign;
    int64_t at = form == TALLY_OFFSETS ? r->skip : 0, entries = form == TALLY_SEGMENT_IDS ? 0 : r->count;
    *skip = form == TALLY_OFFSETS ? 0 : r->skip;
    *count = r->values - *skip - (form == TALLY_SEGMENT_IDS ? r->slack : 0);
    for (int64_t s = 0; s < r->count; s++) {
        if (form == TALLY_OFFSETS) put_index(type, index, s, at);
        if (form == TALLY_LENGTHS) put_index(type, index, s, r->lengths[s]);
        for (int64_t i = 0; form == TALLY_SEGMENT_IDS && i < r->lengths[s]; i++) put_index(type, index, entries++, s);
        at += r->lengths[s];
    }
    if (form == TALLY_OFFSETS) put_index(type, index, entries++, at);
    *bytes = (size_t)entries * tally_type_size(type);
    now.segments = segmentation_names[form];
    now.index_type = type;
    return (tally_segments){form, index, type, r->count, 0, 0, NULL, TALLY_OUTSIDE_REFUSED, NULL};
}
