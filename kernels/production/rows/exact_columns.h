/* Exact sums of values of rows that lie across others: an array of extents outer, length and inner, reduced along the
 * middle one. Products have production/rows/columns.h.
 *
 * A lane reads 16 bytes of neighbouring values, each of another row, and walks along the rows. It adds them to levels
 * (sums/levels.h), of which each row has its own. The warp measures what it has read before it adds it, as for whole
 * arrays (exact_sums/exact_block.h): values beyond the levels choose new levels. A value that no levels hold goes to
 * 16-bit digits in shared memory; in the end the counts of levels go there too. Each lane has a column of digits for
 * each of its values, so that no lane waits for another. Infinities and NaNs are noted.
 *
 * If the block has all values of its rows, a thread makes the row's result from its digits. If not, the block adds the
 * digits to a number of limbs in memory, as other blocks do at the same time. production/segments/flat.h clears these
 * numbers before, and makes results of them afterwards.
 *
 * Where rows of memory are short, several are read as one (`width`). Where they may begin at any address, values are
 * read one by one; the values of a lane are then as far apart as there are lanes. */
#ifndef TALLY_FORM_EXACT_COLUMNS_H
#define TALLY_FORM_EXACT_COLUMNS_H

#include "types/types.h"

#include TALLY_KERNEL_FILE

#include "device/idle.h"
#if TALLY_HAS_PRODUCTS /* the kernel is not used */
TALLY_KERNEL_ENTRY(TALLY_THREADS, exact_columns, tally_columns_work, 2) { (void)work; }
#else
#include "exact_rows/level_sums.h"

/* Adds to shared memory what the lane has noted beside its sums. The lane has `high` values. */
TALLY_FN void share_notes(int32_t high, found_t found, shared_t *shared) {
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_PART; v++)
        if (v < high)
            tally_or32(&shared->seen[slot_of_value(v)],
                       (found.there >> v & 1 ? is_there : 0) | (found.others >> v & 1 ? TALLY_NOT_MINUS_ZERO : 0));
}

TALLY_KERNEL_ENTRY(TALLY_THREADS, exact_columns, tally_columns_work, 2) {
    TALLY_SHARED(shared_t, shared);
    if (tally_is_idle(work.wanted)) return;
    tally_let_next_start();
    task_t task;
    ruler_t ruler;
    level_sums_t sums;
    found_t found = {0, 0};
    if (!find_task(&work, &task)) return;
    forget_levels(&ruler);
    begin_levels(&sums, &ruler);
    clear_block(shared);
    tally_barrier();
    const int64_t begin = task.begin + tally_warp() * TALLY_DEVICE_STRIPES * task.subs,
                  step = TALLY_WARPS * TALLY_DEVICE_STRIPES * task.subs;
    if (!is_signed_zero_sum) found.others = all_of(&task);
    TALLY_ROLLED
    for (int64_t k = begin; k < task.end; k += step) {
        share_t x;
        read_rows(&work, &task, k, &x);
        take_share(&work, &task, k, &x, &sums, &ruler, &found, shared);
    }
    flush_levels(&task, &sums, &ruler, shared);
    share_notes(high_of_row(&work, &task, begin + task.sub), found, shared);
    tally_barrier();
    tally_await_before(); /* the launch before clears the numbers */
    put_block(&work, &task, shared);
}
#endif

#endif
