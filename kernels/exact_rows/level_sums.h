/* Exact sums of a lane, in levels (sums/levels.h), one for each of its rows, for production/rows/exact_columns.h. The
 * warp measures a share before it adds it, as for whole arrays (exact_sums/exact_block.h). Values beyond the levels
 * choose new levels; those that no levels hold go to digits (exact_rows/block_sums.h). */
#ifndef TALLY_LEVEL_SUMS_H
#define TALLY_LEVEL_SUMS_H

#include "sums/levels.h"
#include "exact_sums/ruler.h"
#include "exact_rows/block_sums.h"

enum {
    levels_held = TALLY_BYTES == 2 ? 1 : 2, /* the most levels, */
    levels_usual = TALLY_IS_F64 ? 2 : 1,    /* and those that are usual */
    log_additions = 8                       /* log2 of the rows that a lane reads, at most */
};
typedef struct level_sums_t {
    double at[TALLY_PART][levels_held];
} level_sums_t;

TALLY_FN void begin_levels(level_sums_t *a, const ruler_t *ruler) {
    TALLY_UNROLL
    for (int32_t k = 0; k < levels_held; k++) {
        TALLY_UNROLL
        for (int32_t v = 0; v < TALLY_PART; v++) a->at[v][k] = tally_anchor(ruler->sum.unit[k]);
    }
}
/* Adds what levels have counted to digits, before levels change. */
TALLY_RARE void flush_values(int32_t high, const level_sums_t *a, const ruler_t *ruler, shared_t *shared) {
    TALLY_ROLLED
    for (int32_t v = 0; v < high; v++) {
        TALLY_UNROLL
        for (int32_t k = 0; k < levels_held; k++) {
            const int32_t unit = ruler->sum.unit[k];
            scatter_count(shared->digits + slot_of_value(v), tally_moved(a->at[v][k], unit), unit - TALLY_ORIGIN);
        }
    }
}
TALLY_FN void flush_levels(const task_t *task, const level_sums_t *a, const ruler_t *ruler, shared_t *shared) {
    const level_sums_t done = *a;
    const ruler_t of_done = *ruler;
    flush_values(task->high, &done, &of_done, shared);
}
/* Notes which of the lane's values in a share are not -0. Usually only the lane's first share is looked at. */
TALLY_FN void note_others(const work_t *work, const task_t *task, int64_t k, const share_t *x, found_t *found) {
    const int32_t all = all_of(task);
    if (!tally_any((found->others & all) != all)) return;
    TALLY_UNROLL
    for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++) {
        const int32_t there = there_of(work, task, k, s);
        TALLY_UNROLL
        for (int32_t v = 0; v < TALLY_PART; v++)
            found->others |= (there >> v & 1 && value_is_other(x->part[s].v[v], x->part[s].v[v])) << v;
    }
}

/* Adds a share to the levels, of which so many are in use. */
TALLY_FN void add_share(level_sums_t *a, const share_t *x, const int32_t levels) {
    TALLY_UNROLL
    for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++) {
        TALLY_UNROLL
        for (int32_t v = 0; v < TALLY_PART; v++) tally_put_term(a->at[v], term_in_double(x->part[s].v[v]), 0, levels);
    }
}
/* Chooses levels for values of this extent and clears their counts. False: no levels hold them. */
TALLY_FN int32_t has_levels(level_sums_t *a, ruler_t *ruler, extent_t x) {
    forget_levels(ruler);
    const int32_t has = choose_ruler(ruler, x, x, log_additions) && ruler->sum.count <= levels_held;
    if (!has) forget_levels(ruler);
    begin_levels(a, ruler);
    return has;
}
/* Adds the values of a share to digits. The function is out of line and is given a copy, so that the original stays in
 * registers; likewise below. */
TALLY_FN void scatter_copy(const work_t *work, const task_t *task, int64_t k, const share_t *x, int32_t there,
                           found_t *found, shared_t *shared) {
    const share_t kept_x = *x;
    const task_t of_task = *task;
    found->others |= scatter_share(work, &of_task, k, &kept_x, shared);
    found->there |= there;
}
/* Adds a share. */
TALLY_FN void take_share(const work_t *work, const task_t *task, int64_t k, share_t *x, level_sums_t *sums,
                         ruler_t *ruler, found_t *found, shared_t *shared) {
    extent_t of_x;
    int32_t there = all_of(task), is_beyond;
    TALLY_ROLLED
    while (1) {
        of_x = measure(x);
        is_beyond = are_beyond(ruler, of_x, of_x);
        if (!is_beyond || !are_special(of_x, of_x)) break;
        forget_share(x);                                        /* or registers spill */
        there = clear_specials(work, task, k, x, of_x, shared); /* and measure what is left */
    }
    if (is_beyond) {
        if (ruler->most_x != 0) flush_levels(task, sums, ruler, shared);
        const extent_t all_x = measure_warp(of_x);
        if (!has_levels(sums, ruler, all_x) && all_x.most != 0) {
            scatter_copy(work, task, k, x, there, found, shared);
            return;
        }
    }
    found->there |= there;
    note_others(work, task, k, x, found);
    if (ruler->sum.count <= levels_usual)
        add_share(sums, x, levels_usual);
    else
        add_share(sums, x, levels_held);
}

#endif
