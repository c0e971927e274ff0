/* Exact results of rows whose values lie side by side, of more values than production/rows/short_exact.h reads one by
 * one, and not too many: some lanes of a warp have a row and read it from memory (exact_rows/lanes_row.h). A warp makes
 * the results of its rows at once. It adds up again rows whose result two doubles do not decide
 * (exact_segments/group_sums.h; docs/design/012). */
#ifndef TALLY_FORM_EXACT_LANES_H
#define TALLY_FORM_EXACT_LANES_H

#include "types/types.h"

#include TALLY_KERNEL_FILE
#include "device/work.h"
#include "exact_rows/lanes_row.h"
#include "exact_rows/row_results.h"

TALLY_KERNEL_ENTRY(TALLY_THREADS, exact_lanes, tally_lanes_work, TALLY_RESIDENT) {
    if (tally_is_idle(work.wanted)) return;
    tally_let_next_start();
    tally_await_before();
    const int32_t log = work.log_lanes, log_groups = 5 - log, turns = 1 << (work.log_rows - log_groups),
                  group = tally_lane() >> log, sub = tally_lane() & ((1 << log) - 1);
    const int64_t begin = ((int64_t)tally_block() * TALLY_WARPS + tally_warp()) << work.log_rows;
    int64_t mine = -1;
    node_t node = nothing();
    TALLY_ROLLED
    for (int32_t turn = 0; turn < turns && begin + (turn << log_groups) < work.rows; turn++) {
        const int64_t row = begin + (turn << log_groups) + group;
        const int32_t is_there = row < work.rows;
        const int64_t at = is_there ? row * work.length * TALLY_BYTES : 0;
        const row_t its = row_at(work.x + at, work.y + at, is_there ? (int32_t)work.length : 0);
        const folded_t folded = folded_row(&its, log);
        if (is_there && sub == turn) node = to_node(folded.column, folded.present), mine = row;
    }
    if (mine >= 0 && put_row(&work.out, mine, node)) mine = -1;
    if (tally_any(mine >= 0))
        put_rows_again(&work.out, work.x, work.y, mine, mine < 0 ? 0 : mine * work.length * TALLY_BYTES,
                       (int32_t)work.length);
}

#endif
