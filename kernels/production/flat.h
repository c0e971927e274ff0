/* Exact segments at a flat cost (exact_segments/flat.h): of those that production/segments.h was not sure of, or of
 * all.
 *
 * A warp takes a tile that production/partition.h has shared out. Of a segment that crosses tile boundaries, each of
 * them adds its part to a number of limbs in memory; integers commute, so nobody waits. That number is the one of the
 * tile in which the segment begins; beyond TALLY_FLAT_GROUP tiles each group of them has its own, and the last kernel
 * adds these up. */
#ifndef TALLY_FORM_FLAT_H
#define TALLY_FORM_FLAT_H

#include "types/types.h"

#include TALLY_KERNEL_FILE

#include "segments/partition.h"
#include "order/leaf.h"
#include "sums/levels.h"
#include "exact_sums/pair_results.h"
#define TALLY_COLUMNS_ARE_THERE 2
#include "exact_segments/flat_nodes.h"
#define TALLY_LANE_LIMBS TALLY_LIMBS
#define TALLY_LANE_PRODUCT_LIMBS TALLY_PRODUCT_LIMBS
#include "exact_segments/flat.h"
#include "exact_segments/flat_results.h"

/* Numbers of limbs in memory. */
TALLY_FN int64_t count_nodes(const tally_segments_work *work) {
    return has_pieces(work) ? work->partition.count / work->partition.chunks * work->partition.groups
                            : work->partition.tiles;
}
TALLY_KERNEL_ENTRY(TALLY_BLOCK, flat_clear, tally_segments_work, 1) {
    if (tally_is_idle(work.wanted)) return;
    tally_let_next_start();
    tally_await_before();
    if (tally_any(!block_has_work(&work))) return; /* others may be writing: all lanes of a warp go on, or none */
    const int64_t step = (int64_t)tally_blocks() * TALLY_WARPS, all = count_nodes(&work);
    for (int64_t i = (int64_t)tally_block() * TALLY_WARPS + tally_warp(); i < all; i += step)
        if (has_pieces(&work) || is_node_used(&work, i)) clear_node(node_of(&work, i));
}

/* ---- a tile ---- */

/* Where a warp is in its tile. */
typedef struct cursor_t {
    int64_t at, stop;    /* values */
    int64_t s, until;    /* the open segment; the first that does not end here */
    int64_t tile, first; /* this tile; that in which the segment begins that runs into it, or -1 */
} cursor_t;

TALLY_FN open_t nothing_open(void) {
    const open_t open = {nothing_noted(), 0, 0};
    return open;
}
/* Whether the segment that is open at cursor->at has values before the chunk. */
TALLY_FN int32_t has_begun(const cursor_t *cursor, const open_t *open) { return cursor->first >= 0 || open->n > 0; }

/* Takes up to 32 more ends, a lane's own or INT64_MAX. Gives whether all are within the chunk; else `behind` is the
 * first that is not. `before` is the one before the first, and becomes the last. Of ends out of order `is_bad` tells.
 */
TALLY_FN int32_t take_ends(flat_t *flat, chunk_t *c, int64_t end, int64_t left, int64_t *before, int64_t *behind,
                           int32_t *is_bad) {
    const int64_t previous = tally_of_lane64(end, tally_lane() == 0 ? 0 : tally_lane() - 1),
                  its = tally_lane() == 0 ? *before : previous;
    const uint32_t within = tally_ballot(end <= c->values), filled = tally_ballot(end <= c->values && end > its),
                   lower = ((uint32_t)1 << tally_lane()) - 1;
    const int32_t count = __builtin_popcount(within);
    *is_bad |= end != INT64_MAX && (end < its || end > left);
    if (filled >> tally_lane() & 1) {
        const int32_t number = c->distinct + __builtin_popcount(filled & lower);
        flat->ends[number] = (int16_t)end;
        flat->segments[number] = (int16_t)(c->ends + tally_lane());
    }
    if (tally_lane() == 0) flat->empty[c->ends / TALLY_WARP] = within & ~filled;
    c->distinct += __builtin_popcount(filled);
    c->ends += count;
    *before = tally_of_lane64(end, TALLY_WARP - 1);
    if (count < TALLY_WARP) *behind = tally_of_lane64(end, count);
    return count == TALLY_WARP;
}
/* The chunk behind cursor->at: its ends, and how many values. A segment that a chunk has room for is not begun in one
 * that it runs over. False: the segments are none. */
TALLY_FN int32_t find_ends(const tally_segments_work *work, const cursor_t *cursor, flat_t *flat, chunk_t *c) {
    enum { TOGETHER = 4 };
    const int64_t left = cursor->stop - cursor->at, ends = cursor->until - cursor->s;
    const uint64_t place = (uint64_t)(work->x + cursor->at * TALLY_BYTES) /
                           TALLY_BYTES; /* what is read behind the chunk begins at 16 bytes, if it can */
    int64_t before = 0, behind = 0;     /* of a chunk that is full the next end does not matter */
    int32_t is_bad = 0, goes_on = 1;
    c->values = chunk_values - (int32_t)((place + chunk_values) % TALLY_PART);
    if (left < c->values) c->values = (int32_t)left;
    c->ends = c->distinct = 0;
    TALLY_ROLLED
    while (goes_on) {
        int64_t some[TOGETHER];
        TALLY_UNROLL
        for (int32_t k = 0; k < TOGETHER; k++) {
            const int64_t e = c->ends + k * TALLY_WARP + tally_lane();
            some[k] = e < ends ? tally_apart(begin_of(work, cursor->s + e + 1), cursor->at) : INT64_MAX;
        }
        TALLY_ROLLED
        for (int32_t k = 0; k < TOGETHER; k++) {
            goes_on = goes_on && c->distinct + TALLY_WARP <= ends_most && c->ends < chunk_ends;
            if (!goes_on) break;
            goes_on = take_ends(flat, c, some[0], left, &before, &behind, &is_bad);
            TALLY_UNROLL
            for (int32_t i = 1; i < TOGETHER; i++) some[i - 1] = some[i]; /* they stay in registers */
        }
    }
    if (tally_any(is_bad)) return 0;
    tally_warp_barrier();
    if (c->ends > 0) {
        const int32_t end = c->distinct > 0 ? flat->ends[c->distinct - 1] : 0;
        if (behind - end <= chunk_values) c->values = end;
    }
    return c->values > 0 || c->ends > 0;
}
TALLY_FN int32_t chunk_is_wanted(const tally_segments_work *work, const cursor_t *cursor, const chunk_t *c) {
    int32_t is_wanted = work->partition.unsure == 0;
    for (int32_t e = tally_lane(); !is_wanted && e <= c->ends; e += TALLY_WARP)
        if (cursor->s + e < work->partition.count) is_wanted |= wants_segment(work, cursor->s + e);
    return tally_any(is_wanted);
}

/* Whether some value from `at` on is anything but -0, where the sum is 0. */
TALLY_FN int32_t has_other(const flat_t *flat, int32_t at, int32_t end) {
    for (int32_t i = at; i < end; i++)
        if (value_is_other(flat->x[i], second_of(flat, i))) return 1;
    return 0;
}
/* The same, asked by a warp. */
TALLY_FN int32_t warp_has_other(const flat_t *flat, int32_t at, int32_t end) {
    int32_t is_other = 0;
    for (int32_t i = at; !is_other && i < end; i += TALLY_WARP) {
        const int32_t its = i + tally_lane();
        is_other = tally_any(its < end && has_other(flat, its, its + 1));
    }
    return is_other;
}

/* Adds the sums of a node to another, by the warp. */
TALLY_LONG void deposit_node(const accumulator_t *from, accumulator_t *to) {
    const int64_t *const words = (const int64_t *)(const void *)from;
    const int32_t first = (int32_t)(sizeof *to / 8) - TALLY_HAS_SUM * (TALLY_EVIDENCE + TALLY_LIMBS) -
                          TALLY_HAS_PRODUCTS * (TALLY_EVIDENCE + TALLY_PRODUCT_LIMBS);
    for (int32_t i = first + tally_lane(); i < (int32_t)(sizeof *to / 8); i += TALLY_WARP)
        if (words[i] != 0) tally_add64((int64_t *)(void *)to + i, words[i]);
}

/* ---- the open segment ---- */

/* Adds values of the chunk to the open segment, by the warp. */
TALLY_FN void add_to_open(flat_t *flat, int32_t from, int32_t until, open_t *open) {
    if (open->scattered == 0) clear_digits(flat);
    scatter_values(flat, from, until);
    if (++open->scattered < scattered_most) return;
    drain_digits(flat, &flat->node);
    open->scattered = 0;
}
/* Words may be used for something else. */
TALLY_FN void settle_open(flat_t *flat, open_t *open) {
    if (open->scattered > 0) drain_digits(flat, &flat->node);
    open->scattered = 0;
}
/* The part that the tile has of a segment across its boundaries goes to a node in memory. */
TALLY_FN void give_open(flat_t *flat, open_t *open, accumulator_t *to) {
    settle_open(flat, open);
    deposit_node(&flat->node, to);
    if (tally_lane() == 0) deposit_noted(&open->noted, open->n, to);
    tally_warp_barrier();
}
/* The open segment ends: it goes to its node in memory, if it has one, or gives its result. */
TALLY_FN void end_open(const tally_segments_work *work, const cursor_t *cursor, flat_t *flat, open_t *open) {
    if (has_pieces(work) || cursor->first >= 0) {
        give_open(flat, open, node_for_part(work, cursor->tile, cursor->first, cursor->s));
        return;
    }
    settle_open(flat, open);
    if (tally_lane() == 0) {
        deposit_noted(&open->noted, open->n - open->noted.absent, &flat->node);
        flat->node.n += open->n;
        put_node(work, cursor->s, &flat->node);
    }
    tally_warp_barrier();
}

/* ---- whole segments ---- */

/* What the chunk's end of that number has beside its sums. */
TALLY_FN noted_t noted_of_end(const flat_t *flat, const chunk_t *c, int32_t number) {
    return c->has_notes ? noted_at(flat, number) : nothing_noted();
}
TALLY_FN int32_t begin_of_end(const flat_t *flat, int32_t number) { return number == 0 ? 0 : flat->ends[number - 1]; }
/* The piece with the end of that number is added to its row's node, by the warp. */
TALLY_FN void add_piece(const tally_segments_work *work, int64_t s, flat_t *flat, const chunk_t *c, int32_t number) {
    const int32_t begin = begin_of_end(flat, number), end = flat->ends[number];
    accumulator_t *const node = node_of_piece(work, s);
    noted_t noted = noted_of_end(flat, c, number);
    if (warp_has_other(flat, begin, end)) noted.seen |= TALLY_NOT_MINUS_ZERO;
    clear_digits(flat);
    scatter_values(flat, begin, end);
    drain_digits(flat, node);
    if (tally_lane() == 0) deposit_noted(&noted, end - begin - noted.absent, node);
}
/* A segment's result, from its window if that tells it, by one lane. */
TALLY_FN void put_segment(const tally_segments_work *work, int64_t s, const flat_t *flat, const chunk_t *c,
                          int32_t number) {
    uint64_t result[6] = {0, 0, 0, 0, 0, 0};
    const int32_t begin = begin_of_end(flat, number), end = flat->ends[number], n = end - begin;
    noted_t noted = noted_of_end(flat, c, number);
    if (n == noted.absent) {
        put_nothing(work, s);
        return;
    }
    in_pairs_t a;
    __builtin_memset(&a, 0, sizeof a);
    if (flat->tops[number] != 0 || has_other(flat, begin, end)) noted.seen |= TALLY_NOT_MINUS_ZERO;
    a.present = n - noted.absent;
    a.seen = noted.seen;
    TALLY_IF_KEYS(a.low = (TALLY_K)noted.low; a.high = (TALLY_K)noted.high;)
    if (finalize_window(flat, c, number, n, &a, &work->out.final, result))
        put_bytes(&work->out, s, result, a.present);
    else
        put_by_lane(work, s, flat, begin, end, noted);
}
/* The segments that end in the chunk, but for the first if that has begun before: those that have values from number
 * `first` on. */
TALLY_FN void put_segments(const tally_segments_work *work, const cursor_t *cursor, flat_t *flat, const chunk_t *c,
                           int32_t has_begun_before, int32_t first) {
    if (has_pieces(work)) {
        for (int32_t number = first; number < c->distinct; number++)
            add_piece(work, cursor->s + flat->segments[number], flat, c, number);
        return;
    }
    for (int32_t e = tally_lane(); e < c->ends; e += TALLY_WARP)
        if ((flat->empty[e / TALLY_WARP] >> tally_lane() & 1) && e >= has_begun_before &&
            wants_segment(work, cursor->s + e))
            put_nothing(work, cursor->s + e);
    if (first < c->distinct) add_windows(flat, c);
    for (int32_t number = first + tally_lane(); number < c->distinct; number += TALLY_WARP) {
        const int64_t s = cursor->s + flat->segments[number];
        if (wants_segment(work, s)) put_segment(work, s, flat, c, number);
    }
    tally_warp_barrier();
}

/* A chunk that has segments which are wanted. */
TALLY_FN void take_chunk(const tally_segments_work *work, cursor_t *cursor, flat_t *flat, chunk_t *c, open_t *open) {
    const tally_source x = tally_source_of(work->x, work->x_stride, TALLY_BYTES),
                       y = tally_source_of(work->y, work->y_stride, TALLY_BYTES);
    int32_t is_special = load_values(work, &x, cursor->s, cursor->at, c->values, flat->x);
    if (TALLY_KERNEL_INPUTS == 2) is_special |= load_values(work, &y, cursor->s, cursor->at, c->values, flat->y);
    c->has_notes =
        TALLY_HAS_KEYS || is_special || open->noted.absent != 0 || (open->noted.seen & ~TALLY_NOT_MINUS_ZERO) != 0;
    share_out(flat, c);
    const int32_t is_begun = has_begun(cursor, open), ends_open = is_begun && c->ends > 0,
                  goes_on = ends_open && c->distinct > 0 && flat->segments[0] == 0, until = goes_on ? flat->ends[0] : 0,
                  tail = c->distinct > 0 ? flat->ends[c->distinct - 1] : 0;
    noted_t behind = c->distinct > 0 ? nothing_noted() : open->noted;
    if (c->has_notes) { /* what functions that are not inlined are given are copies: the rest stays in registers */
        const chunk_t its = *c;
        const noted_t before = open->noted;
        behind = note_values(flat, &its, &before);
    }
    if (ends_open) {
        const int32_t seen = open->noted.seen;
        if (goes_on) {
            if (c->has_notes) open->noted = noted_at(flat, 0);
            open->noted.seen |= seen;
            if (warp_has_other(flat, 0, until)) open->noted.seen |= TALLY_NOT_MINUS_ZERO;
            open->n += until;
            add_to_open(flat, 0, until, open);
        }
        if (wants_segment(work, cursor->s)) end_open(work, cursor, flat, open);
    }
    if (c->ends > 0) {
        if (is_begun) clear_node(&flat->node);
        put_segments(work, cursor, flat, c, ends_open, goes_on);
        *open = nothing_open();
        cursor->first = -1;
    }
    if (tail == c->values) return;
    const int32_t seen = open->noted.seen;
    open->noted = behind;
    open->noted.seen |= seen;
    if (warp_has_other(flat, tail, c->values)) open->noted.seen |= TALLY_NOT_MINUS_ZERO;
    open->n += c->values - tail;
    add_to_open(flat, tail, c->values, open);
}

/* The tile's segments that are wanted. */
TALLY_FN void take_tile(const tally_segments_work *work, int64_t t, flat_t *flat) {
    const tally_boundary from = work->partition.boundaries[t], to = work->partition.boundaries[t + 1];
    const int32_t runs_in = from.segment > 0 && from.end > from.value, runs_out = to.segment > 0 && to.end > to.value;
    cursor_t cursor = {from.value, to.value, from.segment - runs_in, to.segment - runs_out, t, -1};
    open_t open = nothing_open();
    int32_t is_good = from.segment >= 0 && to.segment >= from.segment && to.segment <= work->partition.count &&
                      from.value >= 0 && to.value >= from.value && to.value <= work->partition.values;
    is_good = is_good && from.end >= from.value && to.end >= to.value &&
              (to.segment > from.segment ? from.end <= to.value : from.end >= to.value);
    if (!is_good) {
        tally_or32(work->out.flags, TALLY_FLAG_BAD_SEGMENTS);
        return;
    }
    if (runs_in) cursor.first = has_pieces(work) ? 0 : tile_of(work, cursor.s, begin_of(work, cursor.s));
    clear_node(&flat->node);
    while (cursor.at < cursor.stop || cursor.s < cursor.until) {
        chunk_t c;
        if (!find_ends(work, &cursor, flat, &c)) {
            tally_or32(work->out.flags, TALLY_FLAG_BAD_SEGMENTS);
            return;
        }
        if (chunk_is_wanted(work, &cursor, &c))
            take_chunk(work, &cursor, flat, &c, &open);
        else { /* nor is what was open */
            if (open.n > 0) clear_node(&flat->node);
            open = nothing_open();
            if (c.ends > 0) cursor.first = -1;
        }
        cursor.at += c.values;
        cursor.s += c.ends;
        tally_warp_barrier();
    }
    if (runs_out && wants_segment(work, to.segment - 1))
        give_open(flat, &open, node_for_part(work, t, cursor.first >= 0 ? cursor.first : t, to.segment - 1));
    tally_warp_barrier();
}

typedef struct all_flat_t {
    flat_t of[TALLY_FLAT_WARPS];
} all_flat_t;
/* or registers spill */
#define TALLY_FLAT_BLOCKS ((TALLY_HAS_KEYS ? 3 : 4) * TALLY_KERNEL_INPUTS)
TALLY_KERNEL_ENTRY(TALLY_FLAT_WARPS *TALLY_WARP, flat, tally_segments_work, TALLY_FLAT_BLOCKS) {
    TALLY_SHARED(all_flat_t, shared);
    if (tally_is_idle(work.wanted)) return;
    tally_let_next_start();
    tally_await_before();
    const int32_t is_asked = work.partition.far == 0 || (tally_look32(work.out.flags) & TALLY_FLAG_FAR) != 0;
    if (tally_any(!is_asked || !block_has_work(&work)))
        return; /* others may be writing: all lanes of a warp go on, or none */
    const int64_t step = (int64_t)tally_blocks() * TALLY_FLAT_WARPS;
    for (int64_t first = (int64_t)tally_block() * TALLY_FLAT_WARPS + tally_warp(); first < work.partition.tiles;
         first += TALLY_WARP * step) {
        const int64_t its = first + tally_lane() * step; /* lanes look for tiles that were left */
        for (uint32_t left = tally_ballot(its < work.partition.tiles &&
                                          (work.partition.far == 0 || (work.partition.far[its / 32] >> its % 32 & 1)));
             left != 0; left &= left - 1)
            take_tile(&work, first + (__builtin_ffs((int32_t)left) - 1) * step, &shared->of[tally_warp()]);
    }
}

/* ---- segments across boundaries, at last ---- */

/* Word i of a node: all are added up, but for keys. */
TALLY_FN int64_t empty_word(int64_t i) {
    return !TALLY_HAS_KEYS || i < 1 || i > 2 ? 0 : i == 1 ? INT64_MAX : INT64_MIN;
}
TALLY_FN int64_t join_words(int64_t i, int64_t a, int64_t b) {
    if (!TALLY_HAS_KEYS || i < 1 || i > 2) return tally_plus(a, b);
    return (i == 1) == (b < a) ? b : a;
}

/* Adds `count` numbers, `apart` nodes from one to the next, to another, by the warp. Lanes have words of their own,
 * several on their way at once. */
TALLY_FN void gather_nodes(accumulator_t *to, const accumulator_t *others, int64_t count, int64_t apart) {
    enum { TOGETHER = 8 };
    const int64_t words = sizeof *to / 8, step = apart * words;
    int64_t *const own = (int64_t *)(void *)to;
    for (int64_t i = tally_lane(); i < words; i += TALLY_WARP) {
        const int64_t *from = (const int64_t *)(const void *)others + i;
        int64_t sum = own[i];
        for (int64_t first = 0; first < count; first += TOGETHER, from += TOGETHER * step) {
            int64_t some[TOGETHER];
            TALLY_UNROLL
            for (int32_t k = 0; k < TOGETHER; k++) some[k] = first + k < count ? from[k * step] : empty_word(i);
            TALLY_UNROLL
            for (int32_t k = 0; k < TOGETHER; k++) sum = join_words(i, sum, some[k]);
        }
        own[i] = sum;
    }
    tally_fence();
    tally_warp_barrier();
}

/* The numbers of a segment's groups, from tile `first` to `last`. */
TALLY_FN void gather_groups(const tally_segments_work *work, int64_t first, int64_t last) {
    const int64_t begin = (first / TALLY_FLAT_GROUP + 1) * TALLY_FLAT_GROUP;
    gather_nodes(node_of(work, first), node_of(work, begin), (last - begin + TALLY_FLAT_GROUP - 1) / TALLY_FLAT_GROUP,
                 TALLY_FLAT_GROUP);
}

/* Numbers of limbs that a block finishes, in shared memory: a lane takes hundreds of words of one, one after the other,
 * and would wait for memory at each. Their strides are odd, so that lanes meet different banks. */
enum { finished_most = TALLY_FINISHED_OF((sizeof(accumulator_t) + 15) / 16 * 16) };
typedef char a_thread_has_one[finished_most >= 1 && finished_most <= TALLY_BLOCK ? 1 : -1];
typedef struct finished_t {
    struct {
        accumulator_t node;
        int64_t unused[1 + sizeof(accumulator_t) / 8 % 2];
    } of[finished_most];
    int32_t has[finished_most];
} finished_t;

/* Finishes the numbers from `first` on of which threads 0, 1, ... have segment s, or -1, with n values. */
TALLY_FN void finish_nodes(const tally_segments_work *work, int64_t first, int64_t s, int64_t n, finished_t *shared) {
    const int32_t words = sizeof(accumulator_t) / 8;
    if (tally_thread() < finished_most) shared->has[tally_thread()] = s >= 0;
    tally_fence(); /* groups were gathered by other lanes */
    tally_barrier();
    for (int32_t i = tally_thread(); i < finished_most * words; i += TALLY_BLOCK) {
        const int32_t k = i / words, word = i - k * words;
        if (shared->has[k])
            ((int64_t *)(void *)&shared->of[k].node)[word] =
                ((const int64_t *)(const void *)node_of(work, first + k))[word];
    }
    tally_barrier();
    if (s < 0) return;
    accumulator_t *const node = &shared->of[tally_thread()].node;
    node->n += n;
    put_node(work, s, node);
}
/* The results of rows that were cut into pieces: a warp for each where a row has several numbers. */
TALLY_FN void put_rows(const tally_segments_work *work, finished_t *shared) {
    const tally_partition *const partition = &work->partition;
    const int64_t rows = partition->count / partition->chunks;
    if (partition->groups == 1) {
        const int64_t first = (int64_t)tally_block() * finished_most, row = first + tally_thread();
        finish_nodes(work, first, tally_thread() < finished_most && row < rows ? row : -1, partition->length, shared);
        return;
    }
    const int64_t row = (int64_t)tally_block() * TALLY_WARPS + tally_warp();
    if (row >= rows) return;
    accumulator_t *const node = node_of(work, row * partition->groups);
    gather_nodes(node, node + 1, partition->groups - 1, 1);
    if (tally_lane() != 0) return;
    node->n += partition->length;
    put_node(work, row, node);
}

/* The tiles in which a segment begins that crosses its boundary. */
TALLY_KERNEL_ENTRY(TALLY_BLOCK, flat_finish, tally_segments_work, 1) {
    TALLY_SHARED(finished_t, shared);
    if (tally_is_idle(work.wanted)) return;
    tally_let_next_start();
    tally_await_before();
    if (tally_thread() == 0) shared->has[0] = block_has_work(&work);
    tally_barrier(); /* others may be writing: all threads of a block go on, or none */
    const int32_t has_work = shared->has[0];
    tally_barrier();
    if (!has_work) return;
    if (has_pieces(&work)) {
        put_rows(&work, shared);
        return;
    }
    const tally_partition *const partition = &work.partition;
    const int64_t first = (int64_t)tally_block() * finished_most, t = first + tally_thread();
    int64_t s = -1, begin = 0, end = 0, last = 0;
    if (tally_thread() < finished_most && t < partition->tiles &&
        partition->boundaries[t].segment < partition->boundaries[t + 1].segment)
        s = runs_over(&work, &partition->boundaries[t + 1]);
    if (s >= 0) {
        begin = begin_of(&work, s);
        end = partition->boundaries[t + 1].end;
        last = s + 1 < partition->count ? tile_of(&work, s + 1, end) : partition->tiles - 1;
    }
    for (uint32_t some = tally_ballot(s >= 0 && (t / TALLY_FLAT_GROUP + 1) * TALLY_FLAT_GROUP < last); some != 0;
         some &= some - 1) {
        const int32_t lane = __builtin_ffs((int32_t)some) - 1;
        gather_groups(&work, tally_of_lane64(t, lane), tally_of_lane64(last, lane));
    }
    finish_nodes(&work, first, s, end - begin, shared);
}

#endif
