/* The segments whose exact results production/segments.h was not sure of, each by a block as a whole array is (production/reduce_exact.h): any
 * range of values, infinities and NaN, any format of results. There are few in ordinary data. No include guard. */
#include "lib/types.h"

#include TALLY_KERNEL_FILE

#include "lib/cut.h"
#include "lib/exact_block.h"

/* Thread 0 has the result of the block's numbers; it goes to place s. */
TALLY_FN void TALLY_N(put_total)(const tally_work *work, int64_t s, TALLY_N(node) *node) {
    TALLY_N(total) total;
    uint8_t bytes[64];
    volatile uint8_t *to = (volatile uint8_t *)work->result + s * work->cut.result_stride;
    TALLY_N(settle)(node);
    total = TALLY_N(total_of)(node);
    TALLY_N(conclude)(&total, &work->final, bytes);
#ifdef TALLY_KEYS
    const int32_t size = 48; /* a tally_stats */
#else
    const int32_t size = work->final.format.digits == 53 ? 8 : 4;
#endif
    for (int32_t b = 0; b < size; b++) to[b] = bytes[b];
}

TALLY_FN void TALLY_N(take_segment)(const tally_work *work, int64_t s, TALLY_N(shared) *shared) {
    int64_t begin = tally_begin_of(work, s), count = tally_begin_of(work, s + 1) - begin;
    TALLY_N(state) state = TALLY_N(begin)();
    tally_barrier(); /* the segment before is done with */
    TALLY_N(clear_shared)(shared);
    TALLY_N(take_leaves)(tally_source_of(work->x + begin * work->x_stride, work->x_stride, TALLY_BYTES),
                         tally_source_of(work->y + begin * work->y_stride, work->y_stride, TALLY_BYTES), tally_warp() * TALLY_DEVICE_LEAF,
                         TALLY_WARPS * TALLY_DEVICE_LEAF, count, &state, shared);
    TALLY_N(gather_warps)(&state, shared);
    if (tally_thread() != 0) return;
    shared->node.n += count;
#ifdef TALLY_KEYS
    shared->node.low = shared->low[0];
    shared->node.high = shared->high[0];
#endif
    TALLY_N(put_total)(work, s, &shared->node);
}

/* Words of marks that a block looks through at once, and those that it found. */
enum { TALLY_N(words_each) = 4, TALLY_N(words_together) = TALLY_N(words_each) * TALLY_BLOCK };
typedef struct TALLY_N(marks) {
    uint32_t found;
    uint32_t place[TALLY_N(words_together)], word[TALLY_N(words_together)];
} TALLY_N(marks);

TALLY_ENTRY(TALLY_N(TALLY_PASTE(careful_, TALLY_KERNEL)), 1) {
    TALLY_SHARED(TALLY_N(shared), shared);
    TALLY_SHARED(TALLY_N(marks), marks);
    tally_await_before();
    int64_t words = (work.cut.count + 31) / 32, step = (int64_t)tally_blocks() * TALLY_N(words_together);
    int32_t saw = *work.saw; /* no kernel of the call writes it any more */
    if ((saw & TALLY_SAW_UNSURE) == 0 || (saw & TALLY_SAW_BAD_CUT) != 0) return;
    for (int64_t first = (int64_t)tally_block() * TALLY_N(words_together); first < words; first += step) {
        uint32_t word[TALLY_N(words_each)];
        TALLY_UNROLL
        for (int32_t k = 0; k < TALLY_N(words_each); k++) {
            int64_t mine = first + k * TALLY_BLOCK + tally_thread();
            word[k] = mine < words ? work.cut.unsure[mine] : 0;
        }
        tally_barrier();
        if (tally_thread() == 0) marks->found = 0;
        tally_barrier();
        TALLY_UNROLL
        for (int32_t k = 0; k < TALLY_N(words_each); k++) {
            if (word[k] == 0) continue;
            uint32_t at = tally_arrive(&marks->found, UINT32_MAX);
            marks->place[at] = (uint32_t)(k * TALLY_BLOCK + tally_thread());
            marks->word[at] = word[k];
        }
        tally_barrier();
        const uint32_t found = marks->found;
        for (uint32_t w = 0; w < found; w++)
            for (uint32_t mark = marks->word[w]; mark != 0; mark &= mark - 1)
                TALLY_N(take_segment)(&work, (first + marks->place[w]) * 32 + __builtin_ffs((int32_t)mark) - 1, shared);
    }
}

#include "lib/exact_block_end.h"
#include "lib/exact_end.h"
#include "lib/types_end.h"
