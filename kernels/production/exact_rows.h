/* Exact sums of rows whose values lie side by side.
 *
 * A warp takes a row, a piece of one, or several rows with equally many lanes each. The lanes of a row read 16 bytes
 * each, side by side. A lane adds its values to levels in registers, as for whole arrays (exact_rows/level_sums.h). A
 * value that no levels hold goes to the row's 16-bit digits in shared memory. In the end the counts of levels, added up
 * over the lanes, go there too. Infinities and NaNs are noted.
 *
 * If the block has all values of its rows, a thread makes the row's result from its digits. If not, the block adds the
 * digits to a number of limbs in memory, as other blocks do at the same time. production/flat.h clears these numbers
 * before, and makes results of them afterwards. */
#ifndef TALLY_FORM_EXACT_ROWS_H
#define TALLY_FORM_EXACT_ROWS_H

#include "types/types.h"

#include TALLY_KERNEL_FILE

#include "partition/partition.h"
#include "order/leaf.h"
#include "exact_sums/extent.h"
#include "exact_sums/terms.h"
#include "compensated/pair_results.h"
#include "exact_segments/flat_nodes.h"
#include "exact_rows/rows_task.h"
#include "exact_rows/block_sums.h"
#include "exact_rows/level_sums.h"

/* Blocks that a multiprocessor holds: two, or one where two would have registers spill (tests/unit/test_compile.c). */
#define TALLY_RESIDENT ((TALLY_BYTES == 2 && TALLY_KERNEL_INPUTS == 2) || (TALLY_BYTES == 8 && TALLY_HAS_KEYS) ? 1 : 2)

/* Adds to the row's digits what its lanes have counted together. */
TALLY_FN void put_counts(const work_t *work, const task_t *task, const level_sums_t *a, const ruler_t *ruler,
                         shared_t *shared) {
    int64_t all[levels_held];
    TALLY_UNROLL
    for (int32_t k = 0; k < levels_held; k++) {
        all[k] = 0;
        TALLY_UNROLL
        for (int32_t v = 0; v < sums_held; v++) all[k] += counted(a, ruler, v, k);
    }
    TALLY_ROLLED
    for (int32_t mask = task->lanes / 2; mask > 0; mask /= 2) {
        TALLY_UNROLL
        for (int32_t k = 0; k < levels_held; k++) all[k] += tally_shuffle64(all[k], mask);
    }
    if (task->until == 0) return;
    TALLY_ROLLED
    for (int32_t mine = task->lane; mine < levels_held; mine += task->lanes) { /* a lane for each level */
        int64_t count = 0;
        int32_t unit = 0;
        TALLY_UNROLL
        for (int32_t k = 0; k < levels_held; k++)
            if (k == mine) count = all[k], unit = unit_of_level(ruler, k);
        scatter_level(shared, column_of(work, task, 0), mine >= values_held, unit, power_of(a), count);
    }
}
TALLY_RARE void put_copies(const work_t *work, const task_t *task, const level_sums_t *a, const ruler_t *ruler,
                           shared_t *shared) {
    put_counts(work, task, a, ruler, shared);
}
TALLY_FN void flush_levels(const work_t *work, const task_t *task, const level_sums_t *a, const ruler_t *ruler,
                           shared_t *shared) {
    const task_t of_done = *task;
    const level_sums_t done = *a;
    const ruler_t its_ruler = *ruler;
    put_copies(work, &of_done, &done, &its_ruler, shared);
}

/* A bit for each lane of the row. */
TALLY_FN uint32_t lanes_of_row(const task_t *task) {
    return (uint32_t)(((uint64_t)1 << task->lanes) - 1) << (tally_lane() - task->lane);
}
/* Adds to shared memory what the row's lanes have noted beside their sums. */
TALLY_FN void share_notes(const task_t *task, level_sums_t *a, found_t found, shared_t *shared) {
    const uint32_t own = lanes_of_row(task);
    const int32_t seen = ((tally_ballot(found.there != 0) & own) != 0 ? is_there : 0) |
                         ((tally_ballot(found.others != 0) & own) != 0 ? TALLY_NOT_MINUS_ZERO : 0);
    (void)a;
#if TALLY_HAS_KEYS
    int64_t low = a->low[0], high = a->high[0];
    TALLY_UNROLL
    for (int32_t v = 1; v < sums_held; v++) {
        low = a->low[v] < low ? a->low[v] : low;
        high = a->high[v] > high ? a->high[v] : high;
    }
    TALLY_ROLLED
    for (int32_t mask = task->lanes / 2; mask > 0; mask /= 2) {
        const int64_t other_low = tally_shuffle64(low, mask), other_high = tally_shuffle64(high, mask);
        low = other_low < low ? other_low : low;
        high = other_high > high ? other_high : high;
    }
#endif
    if (task->lane != 0 || task->until == 0) return;
    tally_or32(&shared->seen[task->slot], seen);
    TALLY_IF_KEYS(if (low > high) return; tally_min64(&shared->low[task->slot], low);
                  tally_max64(&shared->high[task->slot], high);)
}

/* Whether one of the lane's values is not -0. Fillers are -0. */
TALLY_FN int32_t has_others(const share_t *x, const share_t *y) {
    int32_t has = 0;
    TALLY_UNROLL
    for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++) {
        TALLY_UNROLL
        for (int32_t v = 0; v < TALLY_PART; v++) has |= value_is_other(x->part[s].v[v], y->part[s].v[v]);
    }
    return has;
}
TALLY_FN void note_others(const work_t *work, const task_t *task, int64_t k, const share_t *x, const share_t *y,
                          extent_t of_x, found_t *found) {
    (void)work, (void)k;
    if (TALLY_KERNEL_INPUTS == 1) found->others |= of_x.most != 0;
    if (tally_any((tally_ballot(found->others) & lanes_of_row(task)) == 0)) found->others |= has_others(x, y);
}
/* Adds up the warp's unit: a piece of a row, or several rows. */
TALLY_FN void take_piece(const work_t *work, const task_t *task, level_sums_t *sums, ruler_t *ruler, shared_t *shared) {
    found_t found = {0, !is_signed_zero_sum};
    TALLY_ROLLED
    for (int64_t k = task->from; tally_any(k < task->until); k += TALLY_DEVICE_STRIPES * task->lanes) {
        const int32_t count = count_parts(work, task, k), whole = (int32_t)tally_warp_min((uint32_t)count);
        share_t x, y;
        read_parts(work, task, k, 0, count, whole, &x);
        if (TALLY_KERNEL_INPUTS == 2)
            read_parts(work, task, k, 1, count, whole, &y);
        else
            y = x;
        take_share(work, task, k, &x, &y, (int32_t)tally_warp_max((uint32_t)count), sums, ruler, &found, shared);
    }
    put_counts(work, task, sums, ruler, shared);
    share_notes(task, sums, found, shared);
}

TALLY_KERNEL_ENTRY(TALLY_THREADS, exact_rows, tally_exact_rows_work, TALLY_RESIDENT) {
    TALLY_SHARED(shared_t, shared);
    if (tally_is_idle(work.wanted)) return;
    tally_let_next_start();
    task_t task;
    ruler_t ruler;
    level_sums_t sums;
    find_task(&work, &task);
    forget_levels(&ruler);
    set_power(&sums, 0);
    clear_block(shared);
    tally_barrier();
    TALLY_ROLLED
    for (int32_t unit = tally_warp(); find_piece(&work, unit, &task); unit += TALLY_WARPS) {
        begin_levels(&sums, &ruler);
        begin_keys(&sums);
        take_piece(&work, &task, &sums, &ruler, shared);
    }
    tally_barrier();
    tally_await_before(); /* the launch before clears the numbers */
    put_block(&work, &task, task.rows, shared);
}

#endif
