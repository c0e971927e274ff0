/* Exact results of rows whose values lie side by side, of more values than production/short_exact.h reads one by one,
 * and not too many: some lanes of a warp have a row, or all of a block have a long one, and read it from memory
 * (exact_rows/lanes_row.h). A warp makes the results of its rows at once. Rows whose result two doubles do not decide
 * are added up again (exact_segments/group_sums.h; docs/design/012). */
#ifndef TALLY_FORM_EXACT_LANES_H
#define TALLY_FORM_EXACT_LANES_H

#include "types/types.h"

#include TALLY_KERNEL_FILE
#include "device/work.h"
#include "exact_rows/lanes_row.h"
#define TALLY_LANE_LIMBS TALLY_LIMBS
#define TALLY_LANE_PRODUCT_LIMBS TALLY_PRODUCT_LIMBS
#include "exact_segments/group_sums.h"
#include "segments/results.h"

/* Blocks that a multiprocessor holds: as few as keep registers from spilling (tests/unit/test_compile.c). */
#define TALLY_RESIDENT (TALLY_HAS_KEYS || TALLY_BYTES == 8 || (TALLY_BYTES == 2 && TALLY_HAS_PRODUCTS) ? 2 : 3)

/* Writes the result of a row. False: it is not certain. */
TALLY_FN int32_t put_row(const tally_results *out, int64_t row, node_t node) {
    const int32_t flags = put_unmarked(out, results_from(out, row), 0, node),
                  is_certain = (flags & TALLY_FLAG_UNSURE) == 0;
    if (is_certain && flags != 0 && out->flags != 0) tally_or32(out->flags, flags);
    return is_certain;
}
/* Adds up again the rows of lanes that have one; row: this lane's, or -1. */
TALLY_LONG void put_rows_again(const tally_lanes_work *work, int64_t row) {
    const steps_t steps = {TALLY_BYTES, TALLY_BYTES, 1};
    uint32_t left = tally_ballot(row >= 0);
    TALLY_ROLLED
    for (int32_t k = 0; k < tally_lane(); k++) left &= left - 1; /* the rows of the first lanes, side by side */
    const int64_t its = tally_of_lane64(row, left == 0 ? 0 : __builtin_ffs((int32_t)left) - 1),
                  mine = left == 0 ? -1 : its, at = mine < 0 ? 0 : mine * work->length * TALLY_BYTES;
    const values_t of = {work->x + at, work->y + at, mine < 0 ? 0 : (int32_t)work->length};
    put_group(&work->out, &steps, mine, of);
}

/* ---- a row that all warps of a block share ---- */

/* What each of them has of it, first; and if that does not decide the result: the size of the largest term, and sums.
 */
typedef struct shared_t {
    column_t columns[TALLY_WARPS];
    int32_t present[TALLY_WARPS], is_left;
    uint32_t most[TALLY_WARPS];
    thread_sums_t sums[TALLY_WARPS];
} shared_t;
/* What all warps have folded, of n values; each gets it. */
TALLY_FN folded_t of_block(const folded_t *mine, int32_t n, shared_t *shared) {
    const int32_t lane = tally_lane();
    folded_t all = nothing_folded(n);
    if (lane == 0) shared->columns[tally_warp()] = mine->column, shared->present[tally_warp()] = mine->present;
    tally_barrier();
    if (lane < TALLY_WARPS) {
        all.column = shared->columns[lane];
        if (TALLY_MAY_SKIP) all.present = shared->present[lane];
    }
    meet_lanes(&all, TALLY_WARPS, look_columns);
    return all;
}
/* Adds up the row again, by all warps. */
TALLY_LONG void put_long_again(const tally_lanes_work *work, int64_t row, shared_t *shared) {
    const steps_t steps = {TALLY_BYTES, TALLY_BYTES, 1};
    const int32_t n = (int32_t)work->length, each = (n + TALLY_WARPS - 1) / TALLY_WARPS, first = each * tally_warp(),
                  lane = tally_lane(), is_there = lane < TALLY_WARPS;
    const int64_t at = row * work->length * TALLY_BYTES, skip = (int64_t)first * TALLY_BYTES;
    const values_t all = {work->x + at, work->y + at, n},
                   of = {all.x + skip, all.y + skip, n - first < each ? (n > first ? n - first : 0) : each};
    const uint32_t mine = most_of_values(&steps, &of, 5);
    if (lane == 0) shared->most[tally_warp()] = mine;
    tally_barrier();
    const int32_t power = TALLY_IS_F64 ? power_for(tally_warp_max(is_there ? shared->most[lane] : 0)) : 0;
    thread_sums_t sums = add_values(power, &steps, &of, 5);
    if (lane == 0) shared->sums[tally_warp()] = sums;
    tally_barrier();
    sums = is_there ? shared->sums[lane] : no_sums();
    meet_sums(&sums, 5);
    if (tally_thread() == 0) put_sums(&work->out, &steps, row, &all, &sums, power);
}

TALLY_KERNEL_ENTRY(TALLY_THREADS, exact_lanes, tally_lanes_work, TALLY_RESIDENT) {
    TALLY_SHARED(shared_t, shared);
    if (tally_is_idle(work.wanted)) return;
    tally_let_next_start();
    tally_await_before();
    const int32_t log = work.log_lanes, log_groups = 5 - log, turns = 1 << (work.log_rows - log_groups),
                  is_long = work.are_long, group = tally_lane() >> log, sub = tally_lane() & ((1 << log) - 1);
    const int64_t warp = is_long ? tally_block() : (int64_t)tally_block() * TALLY_WARPS + tally_warp(),
                  begin = warp << work.log_rows;
    int64_t mine = -1;
    node_t node = nothing();
    TALLY_ROLLED
    for (int32_t turn = 0; turn < turns && begin + (turn << log_groups) < work.rows; turn++) {
        const int64_t row = begin + (turn << log_groups) + group;
        const int32_t is_there = row < work.rows;
        const int64_t at = is_there ? row * work.length * TALLY_BYTES : 0;
        row_t its = row_at(work.x + at, work.y + at, is_there ? (int32_t)work.length : 0);
        if (is_long) its = part_of_row(&its, tally_warp());
        folded_t folded = folded_row(&its, log);
        if (is_long) folded = of_block(&folded, (int32_t)work.length, shared);
        if (is_there && sub == turn && !(is_long && tally_warp() > 0))
            node = to_node(folded.column, folded.present), mine = row;
    }
    if (mine >= 0 && put_row(&work.out, mine, node)) mine = -1;
    if (!is_long) {
        if (tally_any(mine >= 0)) put_rows_again(&work, mine);
        return;
    }
    if (tally_thread() == 0) shared->is_left = mine >= 0;
    tally_barrier();
    if (shared->is_left) put_long_again(&work, begin, shared);
}

#endif
