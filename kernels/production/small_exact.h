/* A small whole array by an operator of kernels/exact, in one launch and little time: the same true sum as
 * production/reduce_exact.h gives, by few doubles in each thread (lib/quick.h), warp and block, and then of all blocks
 * by the last that arrives. What a block's doubles do not hold (hundreds of binades, infinities) it adds as limbs to
 * the scratch memory; then, and where the result of the doubles is not certain, the last block rounds limbs. No include
 * guard. */
#include "lib/types.h"

#include "lib/whole.h"
#include "lib/types.h" /* by these names, too */

#include TALLY_KERNEL_FILE

#include "lib/leaf.h"
#include "lib/levels.h"
#include "lib/extent.h"
#include "lib/terms.h"
#include "lib/by_limbs.h"

/* What the warp has counted is added to what all have: `pool`, in memory. */
TALLY_FN void TALLY_N(pour)(const TALLY_N(node) *from, TALLY_N(node) *pool) {
    TALLY_IF_SUM(for (int32_t i = tally_lane(); i < TALLY_EVIDENCE + TALLY_LIMBS;
                      i += TALLY_WARP) if (from->sum[i] != 0) tally_add64(pool->sum + i, from->sum[i]);)
    TALLY_IF_PRODUCTS(for (int32_t i = tally_lane(); i < TALLY_EVIDENCE + TALLY_PRODUCT_LIMBS;
                           i += TALLY_WARP) if (from->products[i] != 0)
                          tally_add64(pool->products + i, from->products[i]);)
}
TALLY_FN void TALLY_N(take_words)(int64_t *to, int64_t *pool, int32_t count) {
    for (int32_t i = tally_lane(); i < count; i += TALLY_WARP) {
        to[i] = tally_plus(to[i], (int64_t)tally_load_fresh((const uint64_t *)(pool + i)));
        pool[i] = 0;
    }
}
/* The same to the warp's node; the pool is empty then. */
TALLY_FN void TALLY_N(scoop)(TALLY_N(node) *pool, TALLY_N(node) *to) {
    TALLY_IF_SUM(TALLY_N(take_words)(to->sum, pool->sum, TALLY_EVIDENCE + TALLY_LIMBS);)
    TALLY_IF_PRODUCTS(TALLY_N(take_words)(to->products, pool->products, TALLY_EVIDENCE + TALLY_PRODUCT_LIMBS);)
}

/* Values at ... at + n - 1 of the block, whatever they are, by all of its warps. */
TALLY_RARE void TALLY_N(add_by_limbs)(const tally_work *work, int64_t at, int64_t n, TALLY_N(node) *numbers) {
    const int64_t share = (n + TALLY_WARPS - 1) / TALLY_WARPS, begin = tally_warp() * share, left = n - begin;
    TALLY_N(node) *mine = numbers + tally_warp();
    TALLY_N(reduce_by_limbs)(tally_source_of(work->x, work->x_stride, TALLY_BYTES),
                             tally_source_of(work->y, work->y_stride, TALLY_BYTES), at + begin, 1,
                             left < 0       ? 0
                             : left < share ? left
                                            : share,
                             mine);
    tally_warp_barrier();
    TALLY_N(pour)(mine, (TALLY_N(node) *)(void *)work->nodes);
    tally_fence();
}

/* Adds doubles, one behind the other; what is 0 says which zeros there were, if it is the first. For one thread. */
TALLY_FN void TALLY_N(add_parts)(int64_t *words, int32_t origin, const double *parts, int32_t count) {
    for (int32_t k = 0; k < count; k++)
        if (k == 0 || parts[k] != 0) tally_add_value(words, origin, parts[k]);
}

#include "lib/terms_end.h"
#include "lib/whole_end.h"

#define TALLY_QUICK_PARTS
#include "lib/quick.h"

#include "lib/leaf.h" /* by these names */
#include "lib/pairs.h"
#include "lib/node_boxes.h"

enum { TALLY_N(parts) = TALLY_IS_F64 ? 3 : 2 };
typedef char
    TALLY_N(boxes_fit)[TALLY_SMALL_BLOCKS * 8 * TALLY_N(node_words) <= TALLY_KEYS_AT - TALLY_BOXES_AT ? 1 : -1];

typedef struct TALLY_N(shared) {
    TALLY_N(node) nodes[TALLY_WARPS];
    TALLY_WHOLE(node) numbers[TALLY_WARPS]; /* for what doubles do not hold */
    int32_t is_lost;
} TALLY_N(shared);

TALLY_FN int32_t TALLY_N(is_lost)(const TALLY_N(node) *a) {
    int32_t lost = 0;
#ifdef TALLY_SUM_TERM
    lost |= a->sum.lost;
#endif
#ifdef TALLY_PRODUCTS
    lost |= a->products.lost;
#endif
    return lost;
}

/* ---- a block ---- */

/* Of each input, 16 bytes for each thread, of which n values are left; 0 beyond them. */
TALLY_RARE TALLY_N(part) TALLY_N(read_singly)(tally_source from, int64_t at, int64_t n) {
    TALLY_N(part) part;
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_PART; v++) part.v[v] = v < n ? TALLY_N(read_one)(&from, at + v) : (TALLY_T)0;
    return part;
}
TALLY_FN TALLY_N(part) TALLY_N(read_round)(const tally_source *from, int64_t at, int64_t n) {
    TALLY_N(part) part;
    if (!from->is_packed || n < TALLY_PART) return TALLY_N(read_singly)(*from, at, n);
    tally_quad quad = tally_load16(from->values + at * TALLY_BYTES);
    __builtin_memcpy(&part, &quad, sizeof part);
    return part;
}

/* What the thread has of values at ... at + n - 1. */
TALLY_FN TALLY_N(node) TALLY_N(thread_sum)(const tally_work *work, int64_t at, int64_t n) {
    enum { TOGETHER = TALLY_BYTES == 2 ? 2 : 4, ROUND = TALLY_SMALL_ROUND_BYTES / TALLY_BYTES };
    const tally_source x = tally_source_of(work->x, work->x_stride, TALLY_BYTES),
                       y = tally_source_of(work->y, work->y_stride, TALLY_BYTES);
    TALLY_N(column) columns[TALLY_PART], column;
    int64_t present = 0;
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_PART; v++) columns[v] = TALLY_N(identity)();
    TALLY_ROLL
    for (int64_t first = tally_thread() * TALLY_PART; first < n; first += TOGETHER * ROUND) {
        TALLY_N(part) px[TOGETHER], py[TOGETHER];
        TALLY_UNROLL
        for (int32_t t = 0; t < TOGETHER; t++) {
            const int64_t i = first + t * ROUND;
            if (i >= n) continue;
            px[t] = TALLY_N(read_round)(&x, at + i, n - i);
            if (TALLY_KERNEL_INPUTS == 2) py[t] = TALLY_N(read_round)(&y, at + i, n - i);
        }
        TALLY_UNROLL
        for (int32_t t = 0; t < TOGETHER; t++) {
            const int64_t i = first + t * ROUND;
            if (i >= n) continue;
            TALLY_UNROLL
            for (int32_t v = 0; v < TALLY_PART; v++) {
                const TALLY_T vx = px[t].v[v], vy = TALLY_KERNEL_INPUTS == 2 ? py[t].v[v] : vx;
                if (i + v >= n) continue;
                columns[v] = TALLY_N(combine)(columns[v], TALLY_N(lift)(TALLY_N(item_of)(vx), TALLY_N(item_of)(vy)));
                present += TALLY_N(present)(vx) && TALLY_N(present)(vy);
            }
        }
    }
    column = columns[0];
    TALLY_UNROLL
    for (int32_t v = 1; v < TALLY_PART; v++) column = TALLY_N(combine)(column, columns[v]);
    return TALLY_N(seal)(column, present);
}

/* The node of the block's values, in lane 0 of warp 0. If doubles do not hold it, limbs do then. */
TALLY_FN TALLY_N(node) TALLY_N(block_sum)(const tally_work *work, int64_t at, int64_t n, TALLY_N(shared) *shared) {
    TALLY_N(node) node = TALLY_N(pair_lanes)(TALLY_N(thread_sum)(work, at, n), TALLY_WARP);
    if (tally_lane() == 0) shared->nodes[tally_warp()] = node;
    tally_barrier();
    if (tally_warp() == 0) {
        node = TALLY_N(pair_lanes)(shared->nodes[tally_lane() % TALLY_WARPS], TALLY_WARPS);
        if (tally_lane() == 0) shared->is_lost = TALLY_N(is_lost)(&node);
    }
    tally_barrier();
    if (shared->is_lost) {
        TALLY_WHOLE(add_by_limbs)(work, at, n, shared->numbers);
        tally_barrier();
    }
    return node;
}

/* ---- the result ---- */

TALLY_FN void TALLY_N(put_total)(const tally_work *work, const TALLY_N(result) *result) {
#ifdef TALLY_KEYS
    __builtin_memcpy(work->result, result, sizeof *result);
#else
    tally_put(work->result, *result, work->final.format);
#endif
}

/* A block's node to limbs, by one thread; of what it did not hold the pool has them. The -0 of no values is forgotten
 * beside any other. */
TALLY_FN void TALLY_N(add_node)(const TALLY_N(node) *a, TALLY_WHOLE(node) * number) {
    if (TALLY_N(is_lost)(a)) return;
#ifdef TALLY_SUM_TERM
    TALLY_WHOLE(add_parts)(number->sum, TALLY_ORIGIN, a->sum.p, TALLY_N(parts));
#endif
#ifdef TALLY_PRODUCTS
    TALLY_WHOLE(add_parts)(number->products, 2 * TALLY_ORIGIN, a->products.p, TALLY_N(parts));
#endif
}
/* From the nodes that lanes have, two each, and the pool; `all` is what they are together, but for sums that are lost.
 */
TALLY_RARE void TALLY_N(finish_by_limbs)(const tally_work *work, TALLY_N(node) first, TALLY_N(node) second,
                                         TALLY_N(node) all, TALLY_WHOLE(node) * number) {
    if (tally_lane() == 0) TALLY_WHOLE(clear)(number);
    tally_warp_barrier();
    for (int32_t lane = 0; lane < TALLY_WARP; lane++) {
        if (tally_lane() == lane) {
            TALLY_N(add_node)(&first, number);
            TALLY_N(add_node)(&second, number);
        }
        tally_warp_barrier();
    }
    tally_fence();
    TALLY_WHOLE(scoop)((TALLY_WHOLE(node) *)(void *)work->nodes, number);
    tally_warp_barrier();
    if (tally_lane() != 0) return;
    number->n = all.n;
#ifdef TALLY_KEYS
    TALLY_WHOLE(notes) notes = TALLY_WHOLE(no_notes)();
    if (all.n > 0) TALLY_WHOLE(widen_range)(&notes, all.low, all.high);
    number->low = notes.low;
    number->high = notes.high;
#endif
    TALLY_WHOLE(settle)(number);
    TALLY_WHOLE(total) total = TALLY_WHOLE(total_of)(number);
    TALLY_WHOLE(conclude)(&total, &work->final, work->result);
    if (work->saw != 0 && all.n == 0) tally_or32(work->saw, TALLY_SAW_EMPTY);
}

/* The node in lane 0 is left for the last block. True: that is this one, and lanes have the nodes of two blocks each,
 * or nothing. */
TALLY_FN int32_t TALLY_N(meet)(const tally_work *work, TALLY_N(node) *first, TALLY_N(node) *second) {
    uint64_t *boxes = (uint64_t *)(void *)(work->nodes + TALLY_BOXES_AT);
    const int32_t blocks = tally_blocks(), mine = 2 * tally_lane();
    if (!TALLY_N(post_node)(boxes, tally_block(), *first, work->arrivals, (uint32_t)blocks - 1)) return 0;
    *first = *second = TALLY_N(nothing)();
    if (mine < blocks) *first = TALLY_N(take_node)(boxes, mine);
    if (mine + 1 < blocks) *second = TALLY_N(take_node)(boxes, mine + 1);
    return 1;
}

TALLY_ENTRY(TALLY_N(TALLY_PASTE(exact_small_, TALLY_KERNEL)), 1) {
    TALLY_SHARED(TALLY_N(shared), shared);
    const int64_t share = (int64_t)work.run * (TALLY_SMALL_ROUND_BYTES / TALLY_BYTES), at = tally_block() * share,
                  left = work.count - at;
    TALLY_N(node) first = TALLY_N(block_sum)(&work, at, left < share ? left : share, shared),
                  second = TALLY_N(nothing)(), all;
    int32_t saw = TALLY_SAW_UNSURE;
    if (tally_warp() != 0) return;
    if (tally_blocks() == 1) {
        if (tally_lane() != 0) first = second;
    } else if (!TALLY_N(meet)(&work, &first, &second))
        return;
    all = TALLY_N(pair_lanes)(TALLY_N(merge)(first, second), (tally_blocks() + 1) / 2);
    if (tally_lane() == 0 && !TALLY_N(is_lost)(&all)) {
        TALLY_N(result) result;
        saw = TALLY_N(conclude)(all, &work.final, &result);
        if ((saw & TALLY_SAW_UNSURE) == 0) {
            TALLY_N(put_total)(&work, &result);
            if (work.saw != 0 && saw != 0) tally_or32(work.saw, saw);
        }
    }
    if (tally_shuffle((uint32_t)saw, 0) & TALLY_SAW_UNSURE)
        TALLY_N(finish_by_limbs)(&work, first, second, all, &shared->numbers[0]);
}

#undef TALLY_WHOLE
#undef TALLY_PART
#undef TALLY_SLOT
#undef TALLY_DEVICE_COLUMNS
#undef TALLY_DEVICE_LEAF
#include "lib/quick_end.h"
#include "lib/operator_end.h"
#include "lib/types_end.h"
