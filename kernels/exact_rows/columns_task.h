/* Which rows and values a block of production/rows/exact_columns.h and its lanes have, and how lanes read them. */
#ifndef TALLY_COLUMNS_TASK_H
#define TALLY_COLUMNS_TASK_H

#include "types/types.h"

#include TALLY_KERNEL_FILE
#include "order/leaf.h"
#include "partition/row_begins.h"
#include "exact_sums/digit_counts.h"
#include "exact_sums/specials.h"

typedef tally_columns_work work_t;
typedef struct task_t {
    int64_t outer, chunk;
    int64_t first;       /* the number of the first value of the outer index */
    int64_t begin, end;  /* the block's rows of memory, from 0 on */
    int64_t plain_end;   /* the rows before this one are whole */
    int32_t from, until; /* the block's values within a row */
    int32_t column;      /* the place of the lane's value 0 */
    int32_t high;        /* how many values the lane has in a row */
    int32_t sub, subs;   /* the lane's row among those that a warp reads at once, and how many these are */
} task_t;

/* The place within a row of a lane's value v. */
TALLY_FN int32_t place_of(const work_t *work, const task_t *task, int32_t lane, int32_t v) {
    const int32_t its = lane & ((1 << work->log_across) - 1);
    return task->from + (work->is_even ? its * TALLY_PART + v : (v << work->log_across) + its);
}
/* How many of the lane's values are at places below a limit. */
TALLY_FN int32_t values_below(const work_t *work, const task_t *task, int64_t limit) {
    const int64_t left = limit - task->column,
                  all = work->is_even ? left : (left + (1 << work->log_across) - 1) >> work->log_across;
    return all < 0 ? 0 : all < TALLY_PART ? (int32_t)all : TALLY_PART;
}
TALLY_FN int32_t high_of_row(const work_t *work, const task_t *task, int64_t row) {
    if (row >= task->end) return 0;
    return row < task->plain_end ? task->high
                                 : values_below(work, task, work->length * work->inner - row * work->width);
}

/* ---- slots (exact_rows/block_sums.h) ---- */

enum {
    lanes_across = TALLY_EXACT_COLUMNS_ACROSS,
    slots = lanes_across * TALLY_PART, /* the most rows of a block */
    between_slots = lanes_across       /* of a lane's neighbouring values */
};
TALLY_FN int32_t slot_of_value(int32_t v) { return v * between_slots + tally_lane() % lanes_across; }
/* A bit for each value v that the lane usually has of a row; and of those in part s of the share from row k on. */
TALLY_FN int32_t all_of(const task_t *task) { return (1 << task->high) - 1; }
TALLY_FN int32_t there_of(const work_t *work, const task_t *task, int64_t k, int32_t s) {
    return (1 << high_of_row(work, task, k + task->sub + s * task->subs)) - 1;
}
/* A slot's row, or -1. */
TALLY_FN int64_t row_of_slot(const work_t *work, const task_t *task, int32_t slot) {
    const int32_t column = place_of(work, task, slot % lanes_across, slot / lanes_across);
    if (column >= task->until) return -1;
    return task->outer * work->inner + (work->width == work->inner ? column : column % (int32_t)work->inner);
}

/* The block's task. False: it has none. */
TALLY_FN int32_t find_task(const work_t *work, task_t *task) {
    const int64_t of_panel = tally_divided(tally_block(), work->panels),
                  panel = tally_block() - of_panel * work->panels;
    task->outer = tally_divided(of_panel, work->chunks);
    task->chunk = of_panel - task->outer * work->chunks;
    task->first = task->outer * work->length * work->inner;
    task->begin = task->chunk * work->chunk_rows;
    task->end = task->begin + work->chunk_rows < work->rows ? task->begin + work->chunk_rows : work->rows;
    task->plain_end = task->end - (task->end == work->rows && work->rows * work->width > work->length * work->inner);
    task->from = (int32_t)panel * work->panel;
    task->until = task->from + work->panel < work->width ? task->from + work->panel : (int32_t)work->width;
    task->column = place_of(work, task, tally_lane(), 0);
    task->high = values_below(work, task, task->until);
    task->sub = tally_lane() >> work->log_across;
    task->subs = TALLY_WARP >> work->log_across;
    return task->outer < work->outer && task->begin < task->end;
}
/* The number in the array of the lane's value 0 in a row. */
TALLY_FN int64_t first_of(const work_t *work, const task_t *task, int64_t row) {
    return task->first + row * work->width + task->column;
}

/* ---- reading ---- */

/* Reads the lane's first `high` values one by one; the others are zeros. */
TALLY_RARE part_t read_some_of(const char *values, int64_t stride, int64_t first, int64_t apart, int32_t high) {
    const tally_source from = tally_source_of(values, stride, TALLY_BYTES);
    part_t part;
    __builtin_memset(&part, 0, sizeof part);
    TALLY_ROLLED
    for (int32_t v = 0; v < high; v++) part.v[v] = read_one(&from, first + v * apart);
    return part;
}
/* Reads the lane's values in 8 of the warp's rows, from row k on. The loads come first, so that all are in flight
 * together. */
TALLY_FN void read_parts(const work_t *work, const task_t *task, int64_t k, const char *values, share_t *share) {
    const int64_t first = first_of(work, task, k + task->sub), plain = task->plain_end - k - task->sub,
                  apart = task->subs * work->width * TALLY_BYTES;
    const char *const at = values + first * TALLY_BYTES;
    const tally_quad none = {{0, 0, 0, 0}};
    tally_quad quads[TALLY_DEVICE_STRIPES];
    TALLY_UNROLL
    for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++) quads[s] = none;
    if (k + TALLY_DEVICE_STRIPES * task->subs <= task->plain_end) { /* the same for all lanes */
        if (task->high > 0) {
            TALLY_UNROLL
            for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++) quads[s] = tally_load16(at + s * apart);
        }
    } else {
        TALLY_UNROLL
        for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++)
            if (task->high > 0 && s * task->subs < plain) quads[s] = tally_load16(at + s * apart);
        part_t part; /* of the last row, which is not whole */
        const int64_t row = task->plain_end;
        __builtin_memset(&part, 0, sizeof part);
        if (row < task->end)
            part = read_some_of(values, TALLY_BYTES, first_of(work, task, row), 1, high_of_row(work, task, row));
        TALLY_UNROLL
        for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++)
            if (row < task->end && s * task->subs == plain) __builtin_memcpy(&quads[s], &part, sizeof part);
    }
    TALLY_UNROLL
    for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++) __builtin_memcpy(&share->part[s], &quads[s], 16);
}
/* The same where values lie apart. For a value that the lane does not have it reads its value 0 again, which is as
 * good: nobody asks for sums of such values. Loads without a condition start together. */
TALLY_FN void read_plain_values(const task_t *task, const char *at, int64_t row_step, int64_t value_step,
                                share_t *share) {
    int64_t steps[TALLY_PART];
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_PART; v++) steps[v] = v < task->high ? v * value_step : 0;
    TALLY_UNROLL
    for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++, at += row_step) {
        TALLY_UNROLL
        for (int32_t v = 0; v < TALLY_PART; v++) share->part[s].v[v] = *(const TALLY_T *)(const void *)(at + steps[v]);
    }
}
/* How many rows are in flight at once: as many as registers hold. */
enum { rows_of_values = TALLY_BYTES == 2 ? 4 : TALLY_DEVICE_STRIPES };
TALLY_FN void read_values(const work_t *work, const task_t *task, int64_t k, const char *values, int64_t stride,
                          share_t *share) {
    const tally_source from = tally_source_of(values, stride, TALLY_BYTES);
    const int64_t apart = task->subs * work->width, across = (int64_t)1 << work->log_across;
    int64_t first = first_of(work, task, k + task->sub);
    share_t read;
    if (!from.is_aligned) {
        share_t slow;
        TALLY_ROLLED
        for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++, first += apart)
            slow.part[s] =
                read_some_of(values, stride, first, across, high_of_row(work, task, k + task->sub + s * task->subs));
        *share = slow;
        return;
    }
    if (k + TALLY_DEVICE_STRIPES * task->subs <= task->plain_end) { /* the same for all lanes */
        __builtin_memset(share, 0, sizeof *share);
        if (task->high > 0) read_plain_values(task, values + first * stride, apart * stride, across * stride, share);
        return;
    }
    TALLY_ROLLED
    for (int32_t begin = 0; begin < TALLY_DEVICE_STRIPES; begin += rows_of_values) {
        TALLY_UNROLL
        for (int32_t i = 0; i < rows_of_values; i++, first += apart) {
            const int32_t s = begin + i, high = high_of_row(work, task, k + task->sub + s * task->subs);
            const char *at = values + first * stride;
            part_t part;
            TALLY_UNROLL
            for (int32_t v = 0; v < TALLY_PART; v++, at += across * stride)
                part.v[v] = v < high ? *(const TALLY_T *)(const void *)at : plus_zero();
            read.part[s] = part;
        }
    }
    *share = read;
}
TALLY_FN void read_rows(const work_t *work, const task_t *task, int64_t k, share_t *share) {
    if (work->is_even)
        read_parts(work, task, k, work->x, share);
    else
        read_values(work, task, k, work->x, work->x_stride, share);
}

#endif
