/* A small whole array by an operator of kernels/exact, in one short launch. The result is that of
 * production/arrays/reduce_exact.h. Threads, warps and blocks add in a few doubles (compensated/expansions.h), and the
 * last block to arrive adds those of all blocks. A block whose values its doubles cannot hold (hundreds of binades,
 * infinities) adds them as limbs to scratch memory. If there are such limbs, or if the doubles leave the result
 * uncertain, the last block rounds limbs. */
#ifndef TALLY_FORM_SMALL_EXACT_H
#define TALLY_FORM_SMALL_EXACT_H

#define TALLY_EXPANSION_PARTS 1
#include "accumulators/operator.h"

#include "exact_sums/by_limbs.h"
#include "order/fold.h"
#include "order/leaf.h"
#include "order/node_boxes.h"
#include "order/pairs.h"

/* Adds the warp's number to that of all blocks: `pool`, in memory. */
TALLY_FN void pour(const accumulator_t *from, accumulator_t *pool) {
    TALLY_IF_SUM(for (int32_t i = tally_lane(); i < TALLY_EVIDENCE + TALLY_LIMBS;
                      i += TALLY_WARP) if (from->sum[i] != 0) tally_add64(pool->sum + i, from->sum[i]);)
    TALLY_IF_PRODUCTS(for (int32_t i = tally_lane(); i < TALLY_EVIDENCE + TALLY_PRODUCT_LIMBS;
                           i += TALLY_WARP) if (from->products[i] != 0)
                          tally_add64(pool->products + i, from->products[i]);)
}
TALLY_FN void take_words(int64_t *to, int64_t *pool, int32_t count) {
    for (int32_t i = tally_lane(); i < count; i += TALLY_WARP) {
        to[i] = tally_plus(to[i], (int64_t)tally_load_fresh((const uint64_t *)(pool + i)));
        pool[i] = 0;
    }
}
/* Moves the pool to the warp's number, and leaves zeros. */
TALLY_FN void scoop(accumulator_t *pool, accumulator_t *to) {
    TALLY_IF_SUM(take_words(to->sum, pool->sum, TALLY_EVIDENCE + TALLY_LIMBS);)
    TALLY_IF_PRODUCTS(take_words(to->products, pool->products, TALLY_EVIDENCE + TALLY_PRODUCT_LIMBS);)
}

/* Adds values at ... at + n - 1 of the block in limbs, whatever they are; by all warps. */
TALLY_RARE void add_by_limbs(const tally_array_work *work, int64_t at, int64_t n, accumulator_t *numbers) {
    const int64_t share = (n + TALLY_WARPS - 1) / TALLY_WARPS, begin = tally_warp() * share, left = n - begin;
    accumulator_t *mine = numbers + tally_warp();
    reduce_by_limbs(tally_source_of(work->x, work->x_stride, TALLY_BYTES),
                    tally_source_of(work->y, work->y_stride, TALLY_BYTES), at + begin,
                    left < 0       ? 0
                    : left < share ? left
                                   : share,
                    mine);
    tally_warp_barrier();
    pour(mine, (accumulator_t *)(void *)work->nodes);
    tally_fence();
}

/* Adds doubles, one after another, by one thread. If the first is 0, its sign says which zeros there were. */
TALLY_FN void add_parts(int64_t *words, int32_t origin, const double *parts, int32_t count) {
    for (int32_t k = 0; k < count; k++)
        if (k == 0 || parts[k] != 0) tally_add_value(words, origin, parts[k]);
}

enum { part_count = TALLY_IS_F64 ? 3 : 2 };
TALLY_ASSERT(TALLY_SMALL_BLOCKS * 8 * node_words <= TALLY_KEYS_AT - TALLY_BOXES_AT, "boxes reach into keys");

typedef struct shared_t {
    node_t nodes[TALLY_WARPS];
    accumulator_t numbers[TALLY_WARPS]; /* for values that doubles do not hold */
    int32_t is_lost;
} shared_t;

TALLY_FN int32_t node_is_lost(const node_t *a) {
    int32_t lost = 0;
    TALLY_IF_SUM(lost |= a->sum.lost;)
    TALLY_IF_PRODUCTS(lost |= a->products.lost;)
    return lost;
}

/* ---- a block ---- */

/* Reads the thread's 16 bytes of an input, value by value: n values are left, and the others are 0. */
TALLY_RARE part_t read_singly(tally_source from, int64_t at, int64_t n) {
    part_t part;
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_PART; v++) part.v[v] = v < n ? read_one(&from, at + v) : (TALLY_T)0;
    return part;
}
TALLY_FN part_t read_vector_of(const tally_source *from, int64_t at, int64_t n) {
    part_t part;
    if (!from->is_packed || n < TALLY_PART) return read_singly(*from, at, n);
    tally_quad quad = tally_load16(from->values + at * TALLY_BYTES);
    __builtin_memcpy(&part, &quad, sizeof part);
    return part;
}

/* The sum of the thread's values of at ... at + n - 1. */
TALLY_FN node_t thread_sum(const tally_array_work *work, int64_t at, int64_t n) {
    enum { TOGETHER = TALLY_BYTES == 2 ? 2 : 4, ITERATION = TALLY_SMALL_ITERATION_BYTES / TALLY_BYTES };
    const tally_source x = tally_source_of(work->x, work->x_stride, TALLY_BYTES),
                       y = tally_source_of(work->y, work->y_stride, TALLY_BYTES);
    column_t columns[TALLY_PART];
    int64_t present = 0;
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_PART; v++) columns[v] = identity();
    TALLY_ROLL
    for (int64_t first = tally_thread() * TALLY_PART; first < n; first += TOGETHER * ITERATION) {
        part_t px[TOGETHER], py[TOGETHER];
        TALLY_UNROLL
        for (int32_t t = 0; t < TOGETHER; t++) {
            const int64_t i = first + t * ITERATION;
            if (i >= n) continue;
            px[t] = read_vector_of(&x, at + i, n - i);
            if (TALLY_KERNEL_INPUTS == 2) py[t] = read_vector_of(&y, at + i, n - i);
        }
        TALLY_UNROLL
        for (int32_t t = 0; t < TOGETHER; t++) {
            const int64_t i = first + t * ITERATION;
            if (i >= n) continue;
            TALLY_UNROLL
            for (int32_t v = 0; v < TALLY_PART; v++) {
                const TALLY_T vx = px[t].v[v], vy = TALLY_KERNEL_INPUTS == 2 ? py[t].v[v] : vx;
                if (i + v >= n) continue;
                columns[v] = combine(columns[v], lift(item_of(vx), item_of(vy)));
                present += is_present(vx) && is_present(vy);
            }
        }
    }
    halve(columns, TALLY_PART, 1);
    return to_node(columns[0], present);
}

/* The node of the block's values, in lane 0 of warp 0. Values that doubles do not hold are added in limbs. */
TALLY_FN node_t block_sum(const tally_array_work *work, int64_t at, int64_t n, shared_t *shared) {
    node_t node = pair_lanes(thread_sum(work, at, n), TALLY_WARP);
    if (tally_lane() == 0) shared->nodes[tally_warp()] = node;
    tally_barrier();
    if (tally_warp() == 0) {
        if (n > TALLY_WARP * TALLY_PART) /* else the others have nothing */
            node = pair_lanes(shared->nodes[tally_lane() % TALLY_WARPS], TALLY_WARPS);
        if (tally_lane() == 0) shared->is_lost = node_is_lost(&node);
    }
    tally_barrier();
    if (shared->is_lost) {
        add_by_limbs(work, at, n, shared->numbers);
        tally_barrier();
    }
    return node;
}

/* ---- the result ---- */

TALLY_FN void put_total(const tally_array_work *work, const result_t *result) {
#if TALLY_HAS_KEYS
    __builtin_memcpy(work->out.result, result, sizeof *result);
#else
    tally_put(work->out.result, *result, work->out.final.format);
#endif
}

/* Adds a block's node to limbs, by one thread; the pool has the values that it does not hold. The -0 of a node of no
 * values does not count. */
TALLY_FN void add_node(const node_t *a, accumulator_t *number) {
    if (node_is_lost(a)) return;
    TALLY_IF_SUM(add_parts(number->sum, TALLY_ORIGIN, a->sum.p, part_count);)
    TALLY_IF_PRODUCTS(add_parts(number->products, 2 * TALLY_ORIGIN, a->products.p, part_count);)
}
/* Rounds limbs: the sum of the pool and of the nodes that lanes have, two each. `all` is the combination of these
 * nodes: its count and keys are right, its sums may be lost. */
TALLY_RARE void finish_by_limbs(const tally_array_work *work, node_t first, node_t second, node_t all,
                                accumulator_t *number) {
    if (tally_lane() == 0) clear_accumulator(number);
    tally_warp_barrier();
    for (int32_t lane = 0; lane < TALLY_WARP; lane++) {
        if (tally_lane() == lane) {
            add_node(&first, number);
            add_node(&second, number);
        }
        tally_warp_barrier();
    }
    tally_fence();
    scoop((accumulator_t *)(void *)work->nodes, number);
    tally_warp_barrier();
    if (tally_lane() != 0) return;
    number->n = all.n;
#if TALLY_HAS_KEYS
    notes_t notes = no_notes();
    if (all.n > 0) widen_range(&notes, all.low, all.high);
    number->low = notes.low;
    number->high = notes.high;
#endif
    settle_accumulator(number);
    total_t total = total_of(number);
    round_total(&total, &work->out.final, work->out.result);
    if (work->out.flags != 0 && all.n == 0) tally_or32(work->out.flags, TALLY_FLAG_EMPTY);
}

/* Leaves the node in lane 0 for the last block to arrive. True: this block is the last, and each lane has the nodes of
 * two blocks, or empty ones. */
TALLY_FN int32_t meet_blocks(const tally_array_work *work, node_t *first, node_t *second) {
    uint64_t *boxes = (uint64_t *)(void *)(work->nodes + TALLY_BOXES_AT);
    const int32_t blocks = tally_blocks(), mine = 2 * tally_lane();
    if (!post_node(boxes, tally_block(), *first, work->arrivals, (uint32_t)blocks - 1)) return 0;
    *first = *second = nothing();
    if (mine < blocks) *first = take_node(boxes, mine);
    if (mine + 1 < blocks) *second = take_node(boxes, mine + 1);
    return 1;
}

TALLY_KERNEL_ENTRY(TALLY_THREADS, exact_small, tally_array_work, 1) {
    TALLY_SHARED(shared_t, shared);
    const int64_t share = (int64_t)work.iterations * (TALLY_SMALL_ITERATION_BYTES / TALLY_BYTES),
                  at = tally_block() * share, left = work.count - at;
    node_t first = block_sum(&work, at, left < share ? left : share, shared), second = nothing(), all;
    int32_t flags = TALLY_FLAG_UNSURE;
    if (tally_warp() != 0) return;
    if (tally_blocks() == 1) {
        if (tally_lane() != 0) first = second;
    } else if (!meet_blocks(&work, &first, &second))
        return;
    all = tally_blocks() == 1 ? first : pair_lanes(merge(first, second), (tally_blocks() + 1) / 2);
    if (tally_lane() == 0 && !node_is_lost(&all)) {
        result_t result;
        flags = finalize(all, &work.out.final, &result);
        if ((flags & TALLY_FLAG_UNSURE) == 0) {
            put_total(&work, &result);
            if (work.out.flags != 0 && flags != 0) tally_or32(work.out.flags, flags);
        }
    }
    if (tally_shuffle((uint32_t)flags, 0) & TALLY_FLAG_UNSURE)
        finish_by_limbs(&work, first, second, all, &shared->numbers[0]);
}

#endif
