/* Exact results of long rows whose values lie side by side: all warps of a block have a row, or one of its parts, and
 * read it from memory (exact_rows/lanes_row.h). Blocks leave the nodes of parts in memory; the last of a row's to
 * arrive combines them. Rows whose result two doubles do not decide are added up again: by the block that has all of
 * one (exact_segments/group_sums.h), or else by the next kernel (production/rows/left_rows.h). The method:
 * docs/design/012. */
#ifndef TALLY_FORM_EXACT_PARTS_H
#define TALLY_FORM_EXACT_PARTS_H

#include "types/types.h"

#include TALLY_KERNEL_FILE
#include "device/work.h"
#include "exact_rows/lanes_row.h"
#include "exact_rows/row_results.h"
#include "order/nodes.h"
#include "partition/row_begins.h"

/* What each warp has of the row: a column; and where that does not decide the result, the largest term's size, and
 * sums.
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
TALLY_LONG void put_again(const tally_parts_work *work, int64_t row, shared_t *shared) {
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

/* ---- a row that several blocks share ---- */

/* Takes the node of a part up the row's tree, by a warp. True: it is the last to arrive, and lane 0 has the row's node.
 */
TALLY_FN int32_t close_part(const tally_parts_work *work, int64_t row, int32_t part, node_t *node) {
    char *const nodes = work->nodes + row * work->row_nodes * (int64_t)sizeof *node;
    uint32_t *const arrivals = work->left.arrivals + row * work->left.counters;
    return climb(ladder_of_run(nodes, arrivals, work->parts), node, part, work->parts);
}
/* Says whether a row is left to production/rows/left_rows.h, by a warp. */
TALLY_FN void note_unsure(const tally_parts_work *work, int64_t row, int32_t is_unsure) {
    if (is_unsure && work->left.limbs != 0) clear_node((accumulator_t *)(void *)work->left.limbs + row);
    if (tally_lane() > 0) return;
    work->left.unsure[row] = is_unsure;
    if (is_unsure && work->out.flags != 0) tally_raise_flags(work->out.flags, TALLY_FLAG_UNSURE);
}

TALLY_KERNEL_ENTRY(TALLY_THREADS, exact_parts, tally_parts_work, TALLY_RESIDENT) {
    TALLY_SHARED(shared_t, shared);
    if (tally_is_idle(work.wanted)) return;
    tally_let_next_start();
    tally_await_before();
    const int64_t row = work.parts == 1 ? tally_block() : tally_divided(tally_block(), work.parts);
    const int32_t part = (int32_t)(tally_block() - row * work.parts), is_shared = work.parts > 1,
                  n = part == work.parts - 1 ? work.last_values : work.part_values;
    const int64_t at = (row * work.length + (int64_t)part * work.part_values) * TALLY_BYTES;
    const row_t all = row_at(work.x + at, work.y + at, n), mine = part_of_row(&all, tally_warp());
    folded_t folded = folded_row(&mine, 5);
    folded = of_block(&folded, n, shared);
    int32_t is_left = 0;
    if (tally_warp() == 0) {
        node_t node = to_node(folded.column, folded.present);
        if (is_shared && !close_part(&work, row, part, &node)) return;
        is_left = tally_any(tally_lane() == 0 && !put_row(&work.out, row, node));
        if (is_shared) note_unsure(&work, row, is_left);
    }
    if (is_shared) return;
    if (tally_thread() == 0) shared->is_left = is_left;
    tally_barrier();
    if (shared->is_left) put_again(&work, row, shared);
}

#endif
