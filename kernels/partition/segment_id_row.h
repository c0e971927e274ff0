/* Rows of segment ids, four for each lane of a warp, and where their segments begin: at the first value of a segment
 * or, if it is empty, of the next one that is not. The places go to shared memory (segments/tile_ends.h), or to memory
 * as offsets (production/segments/partition.h). */
#ifndef TALLY_SEGMENT_ID_ROW_H
#define TALLY_SEGMENT_ID_ROW_H

#include "partition/partition.h"

enum { TALLY_SEGMENT_IDS_EACH = 4, TALLY_SEGMENT_IDS_ROW = TALLY_SEGMENT_IDS_EACH * TALLY_WARP };
/* A lane's segment ids, and the one before them. */
typedef struct tally_four_segment_ids {
    uint32_t left, w[TALLY_SEGMENT_IDS_EACH];
} tally_four_segment_ids;
#define TALLY_LEFT_OF(segment_ids, k) ((k) == 0 ? (segment_ids)->left : (segment_ids)->w[(k) == 0 ? 0 : (k)-1])

/* Not 0: some are of other segments than the one before. */
TALLY_FN uint32_t tally_segment_ids_differ(const tally_four_segment_ids *segment_ids) {
    uint32_t differ = 0;
    TALLY_UNROLL
    for (int32_t k = 0; k < TALLY_SEGMENT_IDS_EACH; k++) differ |= segment_ids->w[k] ^ TALLY_LEFT_OF(segment_ids, k);
    return differ;
}
/* Above 1: they step up by more than 1, or down. */
TALLY_FN uint32_t tally_segment_ids_step(const tally_four_segment_ids *segment_ids) {
    uint32_t steps = 0;
    TALLY_UNROLL
    for (int32_t k = 0; k < TALLY_SEGMENT_IDS_EACH; k++) steps |= segment_ids->w[k] - TALLY_LEFT_OF(segment_ids, k);
    return steps;
}
/* Whether they step up by `most` at most. */
TALLY_FN int32_t tally_segment_ids_rise(const tally_four_segment_ids *segment_ids, uint32_t most) {
    int32_t rise = 1;
    TALLY_UNROLL
    for (int32_t k = 0; k < TALLY_SEGMENT_IDS_EACH; k++)
        rise &= segment_ids->w[k] - TALLY_LEFT_OF(segment_ids, k) <= most;
    return rise;
}
/* Place s of the four values from `at` on, s above `left` and not above the last. */
TALLY_FN int32_t tally_place_in_four(const uint32_t *w, uint32_t s, int32_t at) {
    return at + ((int32_t)w[0] < (int32_t)s) + ((int32_t)w[1] < (int32_t)s) + ((int32_t)w[2] < (int32_t)s);
}
/* Places left + 1 ... last, of each lane's own, where none steps up by more than 1; or of any that do not descend. */
TALLY_FN void tally_put_stepping(int32_t *places, const tally_four_segment_ids *segment_ids, int32_t at) {
    TALLY_UNROLL
    for (int32_t k = 0; k < TALLY_SEGMENT_IDS_EACH; k++)
        if (segment_ids->w[k] != TALLY_LEFT_OF(segment_ids, k)) places[(int32_t)segment_ids->w[k]] = at + k;
}
TALLY_FN void tally_put_rising(int32_t *places, const tally_four_segment_ids *segment_ids, int32_t at) {
    const uint32_t left = segment_ids->left, last = segment_ids->w[TALLY_SEGMENT_IDS_EACH - 1];
    int32_t rises_once = 1, before = 0; /* values before the first that is of another segment */
    TALLY_UNROLL
    for (int32_t k = 0; k < TALLY_SEGMENT_IDS_EACH - 1; k++) {
        rises_once &= segment_ids->w[k] == left || segment_ids->w[k] == last;
        before += segment_ids->w[k] == left;
    }
    if (!tally_any(!rises_once))
        for (uint32_t s = left + 1; s != last + 1; s++) places[(int32_t)s] = at + before;
    else
        for (uint32_t s = left + 1; s != last + 1; s++) places[(int32_t)s] = tally_place_in_four(segment_ids->w, s, at);
}

#endif
