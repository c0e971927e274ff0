/* The consumers find where the segments of a tile end (segments/copy_tile.h): segment ids, and offsets that cannot be
 * used as they were copied, become places in shared memory. */
#ifndef TALLY_TILE_ENDS_H
#define TALLY_TILE_ENDS_H

#include "segments/open_tile.h"
#include "partition/segment_id_row.h"

TALLY_FN void copy_ends(const tally_segments_work *work, const opening_t *o, char *shared) {
    const tally_partition *partition = &work->partition;
    int32_t *places = (int32_t *)(void *)(shared + o->ends.buffer);
    if (o->are_segment_ids || ends_are_offsets(partition, o->from.value))
        tally_copy_piece(&o->ends, shared, 4, TALLY_CONSUMERS); /* an entry of 8 bytes counts as two of 4 */
    else if (partition->offsets == 0) {                         /* rows */
        const int64_t before = tally_apart(o->from.segment * partition->row, o->from.value);
        for (int32_t i = tally_thread(); i <= o->begun; i += TALLY_CONSUMERS)
            places[i] = tally_place_of(before + i * partition->row);
    } else {
        TALLY_ROLLED
        for (int32_t i = tally_thread(); i <= o->begun; i += TALLY_CONSUMERS)
            places[i] = tally_place_of(tally_apart(tally_offset(partition, o->from.segment + i), o->from.value));
    }
}

/* Replaces entries of 8 bytes by their distances from `origin`, in 4 bytes each, in the first half of their space. A
 * round is read by all threads before any of it is overwritten; rounds still to be read lie behind that. */
TALLY_FN void narrow_entries(char *entries, int32_t count, int64_t origin) {
    enum { EACH = 4 };
    TALLY_ROLLED
    for (int32_t first = tally_thread(); first - tally_thread() < count; first += EACH * TALLY_CONSUMERS) {
        int32_t places[EACH];
        TALLY_UNROLL
        for (int32_t k = 0; k < EACH; k++) {
            const int32_t i = first + k * TALLY_CONSUMERS;
            places[k] =
                i < count ? tally_place_of(tally_apart(((const int64_t *)(const void *)entries)[i], origin)) : 0;
        }
        tally_consumer_barrier(TALLY_CONSUMERS);
        TALLY_UNROLL
        for (int32_t k = 0; k < EACH; k++)
            if (first + k * TALLY_CONSUMERS < count)
                ((int32_t *)(void *)entries)[first + k * TALLY_CONSUMERS] = places[k];
    }
    tally_consumer_barrier(TALLY_CONSUMERS);
}

/* ---- segment ids ---- */

/* Four ids in the tile's first or last row. Places before `begin` count as those of the segment before the tile; from
 * `until` on no segment begins. */
TALLY_FN tally_four_segment_ids segment_ids_at_end(const uint32_t *here, int32_t i, int32_t begin, int32_t until,
                                                   uint32_t segment) {
    tally_four_segment_ids segment_ids;
    segment_ids.left = i > begin && i < until ? here[i - 1] : segment - 1;
    TALLY_UNROLL
    for (int32_t k = 0; k < TALLY_SEGMENT_IDS_EACH; k++)
        segment_ids.w[k] = i + k >= begin && i + k < until ? here[i + k] : TALLY_LEFT_OF(&segment_ids, k);
    return segment_ids;
}
/* Writes the places of lanes that have many to write, one lane's after the other's by the whole warp. Such a lane then
 * has none left. */
TALLY_FN void place_gaps(int32_t *places, tally_four_segment_ids *segment_ids, int32_t at) {
    enum { MANY = 16, LAST = TALLY_SEGMENT_IDS_EACH - 1 };
    for (uint32_t some = tally_ballot(segment_ids->w[LAST] - segment_ids->left > MANY); some != 0; some &= some - 1) {
        const int32_t lane = __builtin_ffs((int32_t)some) - 1, left = (int32_t)tally_shuffle(segment_ids->left, lane),
                      first = (int32_t)tally_shuffle((uint32_t)at, lane);
        uint32_t its[TALLY_SEGMENT_IDS_EACH];
        TALLY_UNROLL
        for (int32_t k = 0; k < TALLY_SEGMENT_IDS_EACH; k++) its[k] = tally_shuffle(segment_ids->w[k], lane);
        for (int32_t s = left + 1 + tally_lane(); s <= (int32_t)its[LAST]; s += TALLY_WARP)
            places[s] = tally_place_in_four(its, (uint32_t)s, first);
        if (tally_lane() == lane) segment_ids->left = segment_ids->w[LAST];
    }
}
/* Writes the places for a lane's four ids, the first of which is that of value `at`. True: the ids are invalid. */
TALLY_FN int32_t place_four(int32_t *places, tally_four_segment_ids segment_ids, int32_t at, uint32_t segment,
                            uint32_t begun) {
    segment_ids.left -= segment;
    TALLY_UNROLL
    for (int32_t k = 0; k < TALLY_SEGMENT_IDS_EACH; k++)
        segment_ids.w[k] -= segment; /* -1: the segment that began before the tile */
    int32_t fits = segment_ids.left + 1 <= begun && segment_ids.w[TALLY_SEGMENT_IDS_EACH - 1] + 1 <= begun;
    if (!tally_any(tally_segment_ids_step(&segment_ids) > 1 || !fits)) {
        tally_put_stepping(places, &segment_ids, at);
        return 0;
    }
    fits = fits && tally_segment_ids_rise(&segment_ids, begun);
    if (!fits) segment_ids.left = segment_ids.w[TALLY_SEGMENT_IDS_EACH - 1] = 0; /* so that nothing is written */
    place_gaps(places, &segment_ids, at);
    tally_put_rising(places, &segment_ids, at);
    return !fits;
}
/* Writes the places for all rows of a warp. Many rows only continue the segment before them, and are skipped at once.
 * True: the ids are invalid. */
TALLY_FN int32_t place_rows(const opening_t *o, const uint32_t *here, int32_t *places, int32_t begin,
                            uint32_t segment) {
    const int32_t until = begin + o->values;
    int32_t is_bad = 0;
    TALLY_ROLLED
    for (int32_t first = TALLY_SEGMENT_IDS_ROW * tally_warp(); first < until;
         first += TALLY_SEGMENT_IDS_EACH * TALLY_CONSUMERS) {
        const int32_t i = first + TALLY_SEGMENT_IDS_EACH * tally_lane();
        tally_four_segment_ids segment_ids;
        if (first > 0 && first + TALLY_SEGMENT_IDS_ROW <= until) {
            const tally_quad quad = tally_take16((const char *)(here + i));
            const tally_four_segment_ids its = {here[i - 1], {quad.w[0], quad.w[1], quad.w[2], quad.w[3]}};
            if (!tally_any(tally_segment_ids_differ(&its) != 0)) continue;
            segment_ids = its;
        } else
            segment_ids = segment_ids_at_end(here, i, begin, until, segment);
        is_bad |= place_four(places, segment_ids, i - begin, segment, (uint32_t)o->begun);
    }
    return is_bad;
}
/* Writes the places behind the last segment that has values: the end of the tile. Also checks that nothing comes before
 * the first segment of all. For one warp. */
TALLY_FN int32_t place_rest(const opening_t *o, const uint32_t *its, int32_t *places, uint32_t segment) {
    int32_t last = -1, is_bad = 0;
    if (o->values > 0) {
        last = (int32_t)(its[o->values - 1] - segment);
        is_bad = o->from.segment == 0 && its[0] - segment == UINT32_MAX;
    }
    if (last < -1 || last > o->begun) return 1;
    for (int32_t s = last + 1 + tally_lane(); s <= o->begun; s += TALLY_WARP) places[s] = o->values;
    return is_bad;
}
TALLY_FN void place_segment_ids(const tally_segments_work *work, const opening_t *o, char *buffer) {
    const int32_t skew = tally_skew(&o->ends);
    const uint32_t *const here = (const uint32_t *)(const void *)(buffer + o->ends.buffer),
                          segment = o->are_wide ? 0 : (uint32_t)o->from.segment;
    int32_t *const places = (int32_t *)(void *)(buffer + o->ends_at);
    if (o->are_wide) narrow_entries(buffer + o->ends.buffer + skew, o->values, o->from.segment);
    int32_t is_bad = place_rows(o, here, places, skew / 4, segment);
    if (tally_warp() == TALLY_CONSUMER_WARPS - 1) is_bad |= place_rest(o, here + skew / 4, places, segment);
    if (is_bad) tally_or32(work->out.flags, TALLY_FLAG_BAD_SEGMENTS);
    if (o->begun > 0) tally_consumer_barrier(TALLY_CONSUMERS);
}

#endif
