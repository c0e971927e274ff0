/* How the last kernel of production/segments/flat.h adds up numbers of limbs in memory and makes results of them: those
 * of segments that cross tile boundaries. */
#ifndef TALLY_FINISH_NODES_H
#define TALLY_FINISH_NODES_H

#include "compensated/pair_results.h"
#include "exact_segments/flat_nodes.h"

/* Word i of an empty node. Words are added, but those of keys are not. */
TALLY_FN int64_t empty_word(int64_t i) {
    return !TALLY_HAS_KEYS || i < 1 || i > 2 ? 0 : i == 1 ? INT64_MAX : INT64_MIN;
}
TALLY_FN int64_t join_words(int64_t i, int64_t a, int64_t b) {
    if (!TALLY_HAS_KEYS || i < 1 || i > 2) return tally_plus(a, b);
    return (i == 1) == (b < a) ? b : a;
}

/* Adds `count` numbers of limbs of groups to another, by the warp. Each lane has words of its own, several in flight at
 * once. */
TALLY_FN void add_groups(accumulator_t *to, const accumulator_t *others, int64_t count) {
    enum { TOGETHER = 8 };
    const int64_t words = sizeof *to / 8, step = TALLY_FLAT_GROUP * words;
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
    add_groups(node_of(work, first), node_of(work, begin), (last - begin + TALLY_FLAT_GROUP - 1) / TALLY_FLAT_GROUP);
}

/* Numbers of limbs that a block finishes. They are copied to shared memory: a lane takes the words of one number in
 * turn, and would wait for global memory at each. Strides are odd, so that lanes meet different banks. */
enum { finished_most = TALLY_FINISHED_OF((sizeof(accumulator_t) + 15) / 16 * 16) };
typedef char
    narrow_has_limbs[!TALLY_HAS_SUM || !TALLY_HAS_PRODUCTS || TALLY_PRODUCT_LIMBS > 2 * (TALLY_LIMBS - 2) ? 1 : -1];
TALLY_ASSERT(finished_most >= 1 && finished_most <= TALLY_THREADS, "a block has no thread for each number");
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
    for (int32_t i = tally_thread(); i < finished_most * words; i += TALLY_THREADS) {
        const int32_t k = i / words, word = i - k * words;
        if (!shared->has[k]) continue;
        const int64_t value = ((const int64_t *)(const void *)node_of(work, first + k))[word];
        ((int64_t *)(void *)&shared->of[k].node)[word] = value;
        if (value != 0) note_word(shared, k, word);
    }
    tally_barrier();
    if (s >= 0) put_narrow(work, s, n, shared, tally_thread());
}

#endif
