/* Exact results of short rows whose values lie side by side: rows of more values than production/short_exact.h reads
 * one by one. Values go through shared memory, and a row has one thread or a few (exact_rows/row_tile.h). A sum is two
 * doubles and a bound, as in short_exact.h. Rows without a certain result are marked for the stages that follow
 * (docs/design/012). */
#ifndef TALLY_FORM_SHORT_TILE_H
#define TALLY_FORM_SHORT_TILE_H

#include "types/types.h"

#include TALLY_KERNEL_FILE

#include "order/leaf.h"
#define TALLY_JOINED 128 /* 4 sums of each of 16 threads */
#include "exact_rows/row_tile.h"

TALLY_FN void put_row(const tally_segments_work *work, int64_t row, const row_sums_t *sums) {
    const tally_results *const out = &work->out;
    const double share = error_of((double)(int32_t)work->length);
    const compensated_t all = compensated_of_row(sums, work->length, share);
    uint64_t result[6] = {0, 0, 0, 0, 0, 0};
    const int32_t is_quick = are_quick(work->length, &out->final) && finalize_quickly(&all, &out->final, result);
    if (all.present == 0)
        put_nothing(out, row);
    else if ((is_quick || finalize_in_pairs(&all, &out->final, result)) && !sums->is_small)
        put_bytes(out, row, result, all.present);
    else
        mark_row(work, row);
}

TALLY_KERNEL_ENTRY(TALLY_THREADS, exact_tile, tally_segments_work, TALLY_RESIDENT) {
    TALLY_SHARED(row_tile_t, tile);
    if (tally_is_idle(work.wanted)) return;
    tally_let_next_start();
    tally_await_before();
    const int32_t length = (int32_t)work.length,
                  log = tally_log_sharers(work.length * TALLY_BYTES * TALLY_KERNEL_INPUTS, TALLY_THREADS);
    const int64_t first = (int64_t)tally_block() * (TALLY_THREADS >> log);
    const tile_part_t mine = take_rows(&work, tile, first, log);
    row_sums_t sums[TALLY_ACROSS];
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_ACROSS; v++) sums[v] = no_row_sums();
    add_part_of_row(sums, &mine, length);
    if (mine.part == 0 && first + mine.row < work.partition.count) put_row(&work, first + mine.row, &sums[0]);
}

#endif
