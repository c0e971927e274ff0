/* Exact sums of f32 and f64 of all segments of a tile, at a price that hardly depends on their lengths. A thread adds
 * up the values of its chunk from left to right, whatever their segments, and keeps the sum of those left of each head.
 * The sum of a segment is the difference of two such sums, plus what lies between (sums of runs by differences:
 * Blelloch, "Prefix sums and their applications", 1990). Nothing is rounded if all values of the tile are multiples of
 * some 2^u and small enough (docs/exact.md). A tile of other values is read again, and goes the way of all other
 * operators. */
#ifndef TALLY_CHUNKS_H
#define TALLY_CHUNKS_H

#include "segments/tile.h"

typedef struct chunks_t chunks_t;
#if TALLY_IN_CHUNKS

/* A tile in chunks (chunks/chunk_places.h). */
struct chunks_t {
    char *values;
    uint32_t *heads, *others; /* head flags of this tile; and of the one before, which are no longer needed */
    int32_t before;           /* the place of the first value */
    range_t range;
    int32_t last; /* of f64: the anchor's last bit */
};
TALLY_FN chunk_sums_t *sums_of(const chunks_t *chunks, int32_t chunk) {
    return (chunk_sums_t *)(void *)(chunks->values + chunk * chunk_bytes);
}

/* Whether sums of 2^log2_n values are exact; and of as many as meet where one thread adds up more, or in a tile. */
TALLY_FN int32_t meet_exactly(const chunks_t *chunks, int32_t log2_n) {
    if (!TALLY_IS_ANCHORED) return width_of(chunks->range) + log2_n <= 53;
    return high_of_range(chunks->range) + log2_n - 53 <= chunks->last &&
           range_holds(chunks->range, chunks->last, log2_n);
}
TALLY_FN int32_t are_more_alone(const chunks_t *chunks) { return !TALLY_IS_ANCHORED && meet_exactly(chunks, log_many); }
TALLY_FN int32_t log_in_tile(int32_t values) {
    return TALLY_IS_ANCHORED ? log2_meeting(values) : log_meet + (values >= few_chunks * chunk_values);
}

/* ---- first: head flags, and segments of at most two values ---- */

/* Sets head flags of this warp's segments of more than 2 values, and lists these in `list`, *count of them. Segments of
 * up to two values get their results at once, if that takes no more than an addition (put_plain_few); otherwise
 * *is_none is set: the tile is not for chunks. Returns status flags. */
TALLY_FN int32_t mark_own(const tally_segments_work *work, const tile_t *tile, uint32_t *heads, int32_t before,
                          uint16_t *list, int32_t *count, int32_t *is_none) {
    const int32_t own = tile->own;
    const iterations_t iterations = iterations_of(own);
    int32_t flags = 0;
    for (int32_t first = iterations.first; first < own; first += TALLY_CONSUMERS) {
        const int32_t i = first + tally_lane() * iterations.apart, is_there = i < own;
        const slice_t slice = slice_of(tile, i, is_there);
        const uint32_t some = tally_ballot(slice.n > 2);
        flags |= slice.flags;
        if (slice.n > 2) {
            set_head(heads, before + slice.at + slice.n);
            if (i == 0 || (uint32_t)slice.at - end_of(tile, i - 1) <= 2)
                set_head(heads, before + slice.at);                /* the segment before did not */
            list[*count + tally_lanes_before(some)] = (uint16_t)i; /* put_in_list takes more registers */
        } else if (is_there && is_plain(work->out.digits))
            flags |= put_plain_few(place_of(tile->opening->results, i, (int32_t)sizeof(TALLY_PLAIN)),
                                   tile->x + slice.at, slice.n, work->out.final.mean);
        else
            *is_none |= is_there; /* put_result would be too much code here */
        *count += __builtin_popcount(some);
    }
    return flags;
}

/* ---- then: chunks ---- */

TALLY_FN void add_chunk(const chunks_t *chunks, int32_t chunk, uint32_t heads, range_t *range) {
    chunk_sums_t *const sums = sums_of(chunks, chunk);
    chunk_sum_t *left = sums->left, sum = no_chunk_sum();
    const chunk_words_t all = read_chunk((const uint32_t *)(const void *)sums); /* sums will take their place */
    uint32_t size = 0; /* of two values at a time: the largest of three is one instruction */
#if !TALLY_HEADS_BESIDE
    sums->heads = heads;
#endif
    TALLY_UNROLL
    for (int32_t v = 0; v < chunk_values; v++) {
        const TALLY_T x = value_of_chunk(&all, v);
        const double term = term_of(x);
        const range_t its = range_of_value(x);
        if (v > 0 && (heads >> v & 1) != 0) {
            *left = sum;
            left += 1;
        }
        add_term(&sum, term, chunks->last);
        size = v % 2 == 0 || its.most > size ? its.most : size;
        if (v % 2 != 0) range->most = size > range->most ? size : range->most;
        range->least = its.least < range->least ? its.least : range->least;
    }
    sums->left[sums_capacity] = sum;
}
/* Adds up all chunks, and finds the range of their values. */
TALLY_FN void add_chunks(const chunks_t *chunks, int32_t count, int32_t count_before, range_t *range) {
    if (TALLY_HEADS_BESIDE)
        for (int32_t chunk = count + tally_thread(); chunk < count_before; chunk += TALLY_CONSUMERS)
            chunks->others[chunk] = 0;
    for (int32_t chunk = tally_thread(); chunk < count; chunk += TALLY_CONSUMERS) {
        uint32_t mine = chunks->heads[chunk];
        chunks->others[chunk] = 0;
        if (__builtin_popcount(mine) > sums_capacity) range->most = UINT32_MAX, mine = 0;
        add_chunk(chunks, chunk, mine, range);
    }
}

/* ---- at last: results ---- */

/* The sum of the chunk's values before place `to`, at which is a head or the end of the chunk. */
TALLY_FN chunk_sum_t sum_left_of(const chunks_t *chunks, int32_t chunk, int32_t to) {
    const chunk_sums_t *const sums = sums_of(chunks, chunk);
#if TALLY_HEADS_BESIDE
    const uint32_t heads = chunks->heads[chunk];
#else
    const uint32_t heads = sums->heads;
#endif
    return sums->left[to == chunk_values ? sums_capacity : __builtin_popcount(heads & (((uint32_t)1 << to) - 1))];
}
/* Whether values i, i + step, ... before `end` are all -0, so that their sum is -0: a difference of sums does not
 * tell. */
TALLY_FN int32_t are_minus_zero(const tally_segments_work *work, int64_t i, int64_t end, int32_t step) {
    const TALLY_T *x = (const TALLY_T *)(const void *)work->x;
    TALLY_ROLLED
    for (; i < end; i += step) {
        if (tally_bits_f64(term_of(x[i])) != INT64_MIN) return 0;
    }
    return 1;
}

/* Of `lanes` lanes side by side, a power of two. */
TALLY_FN double sum_of_lanes(double sum, int32_t lanes) {
    for (int32_t mask = lanes / 2; mask > 0; mask /= 2) sum += tally_shuffle_f64(sum, mask);
    return sum;
}
/* A sum, from two doubles that are it exactly. */
TALLY_FN tally_compensated exact_pair(double sum, double rest) {
    tally_compensated pair = {sum, rest, 0};
    if (!is_told) pair.lost = rest != 0;
    return pair;
}
/* The node of n values of the tile, but for their sum. */
TALLY_FN node_t node_of_chunks(const chunks_t *chunks, int32_t n) {
    node_t node = nothing();
    node.n = n;
    TALLY_IF_LARGEST(node.largest = chunks->range.most;)
    (void)chunks;
    return node;
}
/* The sum of n > 0 values from the tile's value `at` on, by one thread. */
TALLY_FN tally_compensated sum_alone(const tally_segments_work *work, const opening_t *o, const chunks_t *chunks,
                                     int32_t at, int32_t n) {
    const int32_t begin = chunks->before + at, end = begin + n;
    const int32_t first = chunk_of(begin), last = chunk_of(end - 1);
    const int32_t from = begin - first * chunk_values, to = end - last * chunk_values;
    chunk_sum_t sum = sum_left_of(chunks, last, to);
    if (from != 0) add_sum(&sum, sum_left_of(chunks, first, from), -1);
    TALLY_ROLL
    for (int32_t chunk = first; chunk < last; chunk++) add_sum(&sum, sums_of(chunks, chunk)->left[sums_capacity], 1);
    tally_compensated all = parts_of(sum);
    if (all.sum == 0 && all.rest == 0 && are_minus_zero(work, o->from.value + at, o->from.value + at + n, 1))
        all = tally_compensated_of(-0.0);
    return all;
}
/* Of n values, or none, by `lanes` lanes side by side, for all of them; all lanes of the warp take part. Where lanes'
 * sums are too far apart for one f64 each part has its own sum. */
TALLY_FN tally_compensated sum_by_lanes(const tally_segments_work *work, const opening_t *o, const chunks_t *chunks,
                                        int32_t at, int32_t n, int32_t lanes) {
    const int32_t begin = chunks->before + at, end = begin + n, sub = tally_lane() & (lanes - 1);
    const int32_t first = chunk_of(begin), last = n > 0 ? chunk_of(end - 1) : -1;
    chunk_sum_t sum = no_chunk_sum();
    TALLY_ROLLED
    for (int32_t chunk = first + sub; chunk <= last; chunk += lanes) {
        const int32_t here = chunk * chunk_values, to = end - here < chunk_values ? end - here : chunk_values;
        add_sum(&sum, sum_left_of(chunks, chunk, to), 1);
        if (begin > here) add_sum(&sum, sum_left_of(chunks, chunk, begin - here), -1);
    }
    tally_compensated all = parts_of(sum);
    const int32_t log2_n = log2_of(n > 0 ? n : 1);
    if (!TALLY_IS_ANCHORED && !meet_exactly(chunks, log2_n)) {
        const double anchor = tally_anchor(last_bit(high_of_range(chunks->range), log2_n)),
                     above = (all.sum + anchor) - anchor;
        all.rest = all.sum - above;
        all.sum = above;
    }
    if (tally_any(all.rest != 0)) all.rest = sum_of_lanes(all.rest, lanes);
    all.sum = sum_of_lanes(all.sum, lanes);
    const int32_t is_zero = all.sum == 0 && all.rest == 0;
    if (tally_any(n > 0 && is_zero)) {
        const uint32_t others =
            tally_ballot(!are_minus_zero(work, o->from.value + at + sub, o->from.value + at + n, lanes));
        const int32_t has_others = (others >> (tally_lane() - sub) & (uint32_t)(((uint64_t)1 << lanes) - 1)) != 0;
        if (is_zero) all = tally_compensated_of(has_others ? 0 : -0.0);
    }
    return exact_pair(all.sum, all.rest);
}
/* Of the segments of `many` lanes, each of n values from `at` on, into `*node` of these: up to four at once, and as
 * many lanes for each as there are. */
TALLY_FN void sum_several(const tally_segments_work *work, const opening_t *o, const chunks_t *chunks, uint32_t many,
                          slice_t slice, node_t *node) {
    TALLY_ROLLED
    while (many != 0) {
        const int32_t count = __builtin_popcount(many),
                      log_lanes = count == 1   ? 5
                                  : count == 2 ? 4
                                               : 3,
                      lanes = 1 << log_lanes, group = tally_lane() >> log_lanes;
        const int32_t rank = tally_lanes_before(many),
                      is_mine = (many >> tally_lane() & 1) != 0 && rank < TALLY_WARP >> log_lanes;
        uint32_t left = many;
        TALLY_UNROLL
        for (int32_t k = 0; k < 3; k++) left = k < group ? left & (left - 1) : left;
        const int32_t from = left == 0 ? 0 : __builtin_ffs((int32_t)left) - 1;
        const slice_t its = slice_of_lane(slice, from);
        const tally_compensated sum = sum_by_lanes(work, o, chunks, its.at, left == 0 ? 0 : its.n, lanes);
        const int32_t there = (rank << log_lanes) & (TALLY_WARP - 1);
        const int64_t above = tally_of_lane64(tally_bits_f64(sum.sum), there),
                      below = tally_of_lane64(tally_bits_f64(sum.rest), there);
        if (is_mine) {
            node->sum = exact_pair(tally_from_bits_f64(above), tally_from_bits_f64(below));
        }
        many &= ~tally_ballot(is_mine);
    }
}

/* Makes results of the segments that this warp has listed. Returns status flags. */
TALLY_FN int32_t close_own(const tally_segments_work *work, const tile_t *tile, const uint16_t *list, int32_t count,
                           const chunks_t *chunks) {
    const opening_t *const o = tile->opening; /* loaded here, so that it takes no registers elsewhere */
    const int32_t alone = are_more_alone(chunks) ? many_alone : most_alone;
    int32_t flags = 0;
    TALLY_ROLLED
    for (int32_t k = tally_lane(); k - tally_lane() < count; k += TALLY_WARP) {
        const int32_t is_there = k < count, i = is_there ? list[k] : 0;
        const slice_t slice = slice_of(tile, i, is_there);
        node_t mine = node_of_chunks(chunks, slice.n);
        if (slice.n > 2 && slice.n <= alone) mine.sum = sum_alone(work, o, chunks, slice.at, slice.n);
        sum_several(work, o, chunks, tally_ballot(slice.n > alone), slice, &mine);
        if (!is_there) continue;
        flags |= put_result(work, o, i, mine);
    }
    return flags;
}
TALLY_FN node_t leaf_of_chunks(const tally_segments_work *work, const opening_t *o, const chunks_t *chunks, int32_t at,
                               int32_t n) {
    node_t node = node_of_chunks(chunks, n);
    node.sum = sum_by_lanes(work, o, chunks, at, n, TALLY_WARP);
    return node;
}
#else
TALLY_FN node_t leaf_of_chunks(const tally_segments_work *work, const opening_t *o, const chunks_t *chunks, int32_t at,
                               int32_t n) {
    return (void)work, (void)o, (void)chunks, (void)at, (void)n, nothing();
}
#endif

#endif
