/* Exact segments of any values: those that two doubles for each sum did not decide (exact_sums/compensated_nodes.h,
 * rows/pair_sums.h), or all.
 *
 * A thread or a warp adds up a segment that lies in one tile (exact_segments/whole_segments.h). If a segment crosses
 * tile boundaries, each tile adds its part to a number of limbs in memory (exact_segments/digits.h): the number of the
 * tile in which the segment begins. If it crosses more than TALLY_FLAT_GROUP tiles, each group of tiles has a number of
 * its own, and the last kernel adds these up. */
#ifndef TALLY_FORM_FLAT_H
#define TALLY_FORM_FLAT_H

#include "types/types.h"

#include TALLY_KERNEL_FILE

#include "segments/partition.h"
#include "order/leaf.h"
#include "exact_sums/extent.h"
#include "exact_sums/terms.h"
#include "exact_sums/pair_results.h"
#include "exact_segments/flat_nodes.h"
#define TALLY_LANE_LIMBS TALLY_LIMBS
#define TALLY_LANE_PRODUCT_LIMBS TALLY_PRODUCT_LIMBS
#include "exact_segments/digits.h"
#include "exact_segments/whole_segments.h"

/* Whether the numbers of limbs are of rows, which production/exact_rows.h or exact_columns.h adds up. */
TALLY_FN int32_t are_of_rows(const tally_segments_work *work) { return work->partition.groups > 0; }
/* How many numbers of limbs there are. */
TALLY_FN int64_t count_nodes(const tally_segments_work *work) {
    return are_of_rows(work) ? work->partition.count * work->partition.groups : work->partition.tiles;
}
TALLY_KERNEL_ENTRY(TALLY_BLOCK, flat_clear, tally_segments_work, 1) {
    if (tally_is_idle(work.wanted)) return;
    tally_let_next_start();
    tally_await_before();
    if (tally_any(!block_has_work(&work))) return; /* others may be writing: all lanes of a warp go on, or none */
    const int64_t step = (int64_t)tally_blocks() * TALLY_WARPS, all = count_nodes(&work);
    for (int64_t i = (int64_t)tally_block() * TALLY_WARPS + tally_warp(); i < all; i += step)
        if (are_of_rows(&work) || is_node_used(&work, i)) clear_node(node_of(&work, i));
}

/* ---- tiles ---- */

/* A tile: the segment that enters it (or -1), the segments that lie in it, and the segment that leaves it (or -1). */
typedef struct tile_t {
    int64_t value, end; /* its values */
    int64_t runs_in, first, until, runs_out;
} tile_t;
/* False: the boundaries are not those of a segmentation. */
TALLY_FN int32_t place_tile(const tally_segments_work *work, int64_t t, tile_t *tile) {
    const tally_boundary from = work->partition.boundaries[t], to = work->partition.boundaries[t + 1];
    const int32_t runs_in = from.segment > 0 && from.end > from.value, runs_out = to.segment > 0 && to.end > to.value;
    tile->value = from.value;
    tile->end = to.value;
    tile->runs_in = runs_in ? from.segment - 1 : -1;
    tile->first = from.segment;
    tile->until = to.segment - runs_out;
    tile->runs_out = runs_out ? to.segment - 1 : -1;
    return from.segment >= 0 && to.segment >= from.segment && to.segment <= work->partition.count && from.value >= 0 &&
           to.value >= from.value && to.value <= work->partition.values && from.end >= from.value &&
           to.end >= to.value && (to.segment > from.segment ? from.end <= to.value : from.end >= to.value);
}

/* Reduces a warp's share of the segments in a tile. If there are many, each warp of the block has a share; a few are
 * best sorted by one warp, and tiles take warps in turn. False: the offsets are bad. */
TALLY_FN int32_t put_share(const tally_segments_work *work, const tile_t *tile, const steps_t *steps, int32_t number,
                           by_length_t *sorted) {
    const int64_t count = tile->until - tile->first;
    const int32_t shares = count > whole_few ? TALLY_FLAT_WARPS : 1, its = number % TALLY_FLAT_WARPS;
    const int64_t each = (count + shares - 1) / shares, first = tile->first + its * each, end = first + each;
    const whole_t whole = {first, end < tile->until ? end : tile->until, tile->value, tile->end};
    return its >= shares || first >= whole.until || put_by_length(work, &whole, steps, sorted);
}
/* Adds a tile's parts of the segments that enter and leave it to their numbers of limbs. False: the offsets are bad. */
TALLY_FN int32_t add_parts(const tally_segments_work *work, int64_t t, const tile_t *tile, const steps_t *steps,
                           digits_t *digits) {
    const int64_t in = tile->runs_in, out = tile->runs_out, last = out >= 0 ? out : tile->until - 1;
    for (int64_t s = in >= 0 ? in : tile->first; s <= last; s = s == last ? s + 1 : last) {
        if (!(s == in || s == out) || !wants_segment(work, s)) continue;
        const int64_t begin = begin_of(work, s), at = s == in ? tile->value : begin,
                      end = s == out ? tile->end : begin_of(work, s + 1);
        if (at < tile->value || end < at || end > tile->end) return 0;
        const values_t of = values_from(work, s, at, (int32_t)(end - at));
        add_part(steps, &of, digits, node_for(work, t, s != in ? t : tile_of(work, s, begin)));
    }
    return 1;
}

/* Whether any segment is to be reduced. Others may be writing: all lanes of a warp go on, or none. */
TALLY_FN int32_t warp_has_work(const tally_segments_work *work) { return !tally_any(!block_has_work(work)); }

/* The segments that lie in tiles: a block takes a tile. */
typedef struct all_by_length_t {
    by_length_t of[TALLY_FLAT_WARPS];
} all_by_length_t;
#define TALLY_WHOLE_BLOCKS (TALLY_HAS_KEYS || TALLY_IS_F64 ? 4 : 5) /* or registers spill */
TALLY_KERNEL_ENTRY(TALLY_FLAT_THREADS, flat_whole, tally_segments_work, TALLY_WHOLE_BLOCKS) {
    TALLY_SHARED(all_by_length_t, shared);
    if (tally_is_idle(work.wanted)) return;
    tally_let_next_start();
    tally_await_before();
    if (!warp_has_work(&work)) return;
    const steps_t steps = steps_of(&work);
    int32_t turn = tally_warp();
    for (int64_t t = tally_block(); t < work.partition.tiles; t += tally_blocks()) {
        tile_t tile;
        if (place_tile(&work, t, &tile) && (!wants_any(&work, tile.first, tile.until) ||
                                            put_share(&work, &tile, &steps, turn++, &shared->of[tally_warp()])))
            continue;
        tally_or32(work.out.flags, TALLY_FLAG_BAD_SEGMENTS);
    }
}

/* The parts of segments that cross tile boundaries: a warp takes a tile. */
typedef struct all_digits_t {
    digits_t of[TALLY_FLAT_WARPS];
} all_digits_t;
TALLY_KERNEL_ENTRY(TALLY_FLAT_THREADS, flat, tally_segments_work, 4) {
    TALLY_SHARED(all_digits_t, shared);
    if (tally_is_idle(work.wanted)) return;
    tally_let_next_start();
    tally_await_before();
    if (!warp_has_work(&work)) return;
    digits_t *const digits = &shared->of[tally_warp()];
    const steps_t steps = steps_of(&work);
    const int64_t step = (int64_t)tally_blocks() * TALLY_FLAT_WARPS;
    clear_digits(digits);
    for (int64_t t = (int64_t)tally_block() * TALLY_FLAT_WARPS + tally_warp(); t < work.partition.tiles; t += step) {
        tile_t tile;
        if (!place_tile(&work, t, &tile) || !add_parts(&work, t, &tile, &steps, digits))
            tally_or32(work.out.flags, TALLY_FLAG_BAD_SEGMENTS);
    }
}

/* ---- segments across tile boundaries: the last kernel ---- */

/* Word i of an empty node. Words are added, but those of keys are not. */
TALLY_FN int64_t empty_word(int64_t i) {
    return !TALLY_HAS_KEYS || i < 1 || i > 2 ? 0 : i == 1 ? INT64_MAX : INT64_MIN;
}
TALLY_FN int64_t join_words(int64_t i, int64_t a, int64_t b) {
    if (!TALLY_HAS_KEYS || i < 1 || i > 2) return tally_plus(a, b);
    return (i == 1) == (b < a) ? b : a;
}

/* Adds `count` numbers of limbs to another, by the warp; from one to the next it is `apart` nodes. Each lane has words
 * of its own, several in flight at once. */
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

/* Adds up the numbers of a segment's groups, from tile `first` to `last`. */
TALLY_FN void gather_groups(const tally_segments_work *work, int64_t first, int64_t last) {
    const int64_t begin = (first / TALLY_FLAT_GROUP + 1) * TALLY_FLAT_GROUP;
    gather_nodes(node_of(work, first), node_of(work, begin), (last - begin + TALLY_FLAT_GROUP - 1) / TALLY_FLAT_GROUP,
                 TALLY_FLAT_GROUP);
}

/* Numbers of limbs that a block finishes. They are copied to shared memory: a lane takes the words of one number in
 * turn, and would wait for global memory at each. Strides are odd, so that lanes meet different banks. */
enum { finished_most = TALLY_FINISHED_OF((sizeof(accumulator_t) + 15) / 16 * 16) };
typedef char
    narrow_has_limbs[!TALLY_HAS_SUM || !TALLY_HAS_PRODUCTS || TALLY_PRODUCT_LIMBS > 2 * (TALLY_LIMBS - 2) ? 1 : -1];
typedef char a_thread_has_one[finished_most >= 1 && finished_most <= TALLY_BLOCK ? 1 : -1];
typedef struct finished_t {
    struct {
        accumulator_t node;
        int64_t unused[1 + sizeof(accumulator_t) / 8 % 2];
    } of[finished_most];
    int32_t has[finished_most];
    int32_t below[finished_most]; /* negated: how many of the sum's lowest limbs, and half the products', are 0 */
    int32_t sum_end[finished_most], products_end[finished_most]; /* from which limb on all are 0 */
} finished_t;

/* Notes that word i of number k is not 0, if it is a limb. */
TALLY_FN void note_word(finished_t *shared, int32_t k, int32_t i) {
    const accumulator_t *const node = &shared->of[k].node;
    (void)node;
#if TALLY_HAS_SUM
    const int32_t of_sum = i - (int32_t)(node->sum - (const int64_t *)(const void *)node) - TALLY_EVIDENCE;
    if (of_sum >= 0 && of_sum < TALLY_LIMBS) {
        tally_max32(&shared->below[k], -of_sum);
        tally_max32(&shared->sum_end[k], of_sum + 1);
    }
#endif
#if TALLY_HAS_PRODUCTS
    const int32_t of_products = i - (int32_t)(node->products - (const int64_t *)(const void *)node) - TALLY_EVIDENCE;
    if (of_products >= 0 && of_products < TALLY_PRODUCT_LIMBS) {
        tally_max32(&shared->below[k], -(of_products / 2));
        tally_max32(&shared->products_end[k], of_products + 1);
    }
#endif
}
/* Narrows the number of `count` limbs at words[TALLY_EVIDENCE], and settles it: the `below` lowest limbs, which are 0,
 * are left out, and of those from `end` on the limbs that no carry reaches. The evidence moves with it. */
TALLY_FN tally_number narrow_number(int64_t *words, int32_t count, int32_t origin, int32_t below, int32_t end) {
    enum { CARRIES = 2, LEAST = 4 };
    const int32_t wanted = end - below + CARRIES < LEAST ? LEAST : end - below + CARRIES,
                  all = count - below < wanted ? count - below : wanted;
    TALLY_ROLLED
    for (int32_t i = TALLY_EVIDENCE - 1; i >= 0; i--) words[below + i] = words[i];
    tally_settle(words + below, all);
    const tally_number number = {words + below, all, origin + 32 * below};
    return number;
}
TALLY_FN void put_narrow(const tally_segments_work *work, int64_t s, int64_t n, finished_t *shared, int32_t k) {
    accumulator_t *const node = &shared->of[k].node;
    const int32_t below = -shared->below[k];
    uint64_t result[6] = {0, 0, 0, 0, 0, 0};
    total_t total = {node->n + n, 0, 0, {0, 0, 0}, {0, 0, 0}};
    TALLY_IF_KEYS(total.low = node->low; total.high = node->high;)
    TALLY_IF_SUM(total.sum = narrow_number(node->sum, TALLY_LIMBS, TALLY_ORIGIN, below, shared->sum_end[k]);)
    TALLY_IF_PRODUCTS(total.products = narrow_number(node->products, TALLY_PRODUCT_LIMBS, 2 * TALLY_ORIGIN, 2 * below,
                                                     shared->products_end[k]);)
    round_total(&total, &work->out.final, result);
    put_bytes(&work->out, s, result, total.n);
}
/* Finishes the numbers from `first` on. Thread k of the block has the segment s (or -1) of number first + k, with n
 * values. */
TALLY_FN void finish_nodes(const tally_segments_work *work, int64_t first, int64_t s, int64_t n, finished_t *shared) {
    const int32_t words = sizeof(accumulator_t) / 8, lowest = TALLY_HAS_SUM ? TALLY_LIMBS : TALLY_PRODUCT_LIMBS / 2;
    if (tally_thread() < finished_most) {
        shared->has[tally_thread()] = s >= 0;
        shared->below[tally_thread()] = -(lowest - 2);
        shared->sum_end[tally_thread()] = shared->products_end[tally_thread()] = 0;
    }
    tally_fence(); /* other lanes gathered the groups */
    tally_barrier();
    for (int32_t i = tally_thread(); i < finished_most * words; i += TALLY_BLOCK) {
        const int32_t k = i / words, word = i - k * words;
        if (!shared->has[k]) continue;
        const int64_t value = ((const int64_t *)(const void *)node_of(work, first + k))[word];
        ((int64_t *)(void *)&shared->of[k].node)[word] = value;
        if (value != 0) note_word(shared, k, word);
    }
    tally_barrier();
    if (s >= 0) put_narrow(work, s, n, shared, tally_thread());
}
/* Writes the results of rows. Where a row has several numbers, a warp has a row. */
TALLY_FN void put_rows(const tally_segments_work *work, finished_t *shared) {
    const tally_partition *const partition = &work->partition;
    const int64_t rows = partition->count;
    if (partition->groups == 1) {
        const int64_t first = (int64_t)tally_block() * finished_most, row = first + tally_thread();
        const int32_t is_one = tally_thread() < finished_most && row < rows;
        finish_nodes(work, first, is_one ? row : -1, partition->row, shared);
        return;
    }
    const int64_t row = (int64_t)tally_block() * TALLY_WARPS + tally_warp();
    if (row >= rows) return;
    accumulator_t *const node = node_of(work, row * partition->groups);
    gather_nodes(node, node + 1, partition->groups - 1, 1);
    if (tally_lane() != 0) return;
    node->n += partition->row;
    put_node(&work->out, row, node);
}

/* Finishes the segments that cross tile boundaries, each from the tile in which it begins. */
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
    if (are_of_rows(&work)) {
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
