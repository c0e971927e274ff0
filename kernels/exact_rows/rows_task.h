/* Which rows and values a block of production/exact_rows.h and its lanes have, and how lanes read them. */
#ifndef TALLY_ROWS_TASK_H
#define TALLY_ROWS_TASK_H
#define TALLY_HAS_TASK
#define TALLY_SCALES \
    (TALLY_IS_F64 && TALLY_HAS_PRODUCTS && TALLY_KERNEL_INPUTS == 1) /* two inputs leave no registers */

#include "order/leaf.h"
#include "exact_sums/digit_counts.h"

/* A part is 16 bytes at a multiple of 16. A row's parts are all parts that hold a value of it: the first and the last
 * may also hold values of other rows. */
typedef tally_exact_rows_work work_t;
typedef struct task_t {
    int64_t first, chunk; /* the block's first row, and the chunk that it has of each row's parts */
    int32_t rows;         /* how many rows the block has */
    int32_t lanes, lane;  /* how many lanes a row has, and this one's number */
    /* a row's piece: */
    int32_t slot;        /* the row's slot in the block; there is one if `until` is not 0 */
    int32_t before;      /* how many values of another row are in part 0 */
    int64_t parts;       /* how many parts the row has */
    int64_t from, until; /* the parts of the piece */
    int64_t at;          /* where part 0 is, counted from the array's first part */
} task_t;

/* ---- slots (exact_rows/block_sums.h), and sums (exact_rows/level_sums.h) ---- */

enum {
    slots = TALLY_EXACT_ROWS_OF(TALLY_BYTES, TALLY_HAS_SUM, TALLY_HAS_PRODUCTS),
    between_digits = 1, /* a row's digits are neighbours: lanes that add to it seldom meet in a bank */
    between_columns = all_digits | 1,
    between_slots = 0,
    digit_words = slots * between_columns,
    sums_held = 2, /* more take registers, and gain nothing */
    adds_rest = 1,
    clears_nans = !(TALLY_IS_F64 && (TALLY_HAS_SPREAD || TALLY_KERNEL_INPUTS == 2)) &&
                  !(TALLY_BYTES == 4 && TALLY_HAS_KEYS), /* there registers would spill */
    log_additions = 8                                    /* TALLY_EXACT_ROWS_SHARES of a share */
};
TALLY_FN int32_t slot_of(const task_t *task, int32_t v) {
    (void)v;
    return task->slot;
}
TALLY_FN int32_t copies_of(const work_t *work) { return 1 << work->log_copies; }
TALLY_FN int32_t column_of(const work_t *work, const task_t *task, int32_t v) {
    (void)v;
    return (task->slot << work->log_copies) + (tally_lane() & (copies_of(work) - 1));
}
TALLY_FN int64_t row_of_slot(const work_t *work, const task_t *task, int32_t slot) {
    (void)work;
    return slot < task->rows ? task->first + slot : -1;
}

/* ---- pieces ---- */

TALLY_FN void find_task(const work_t *work, task_t *task) {
    const int64_t of_rows = tally_divided(tally_block(), work->chunks);
    task->chunk = tally_block() - of_rows * work->chunks;
    task->first = of_rows * work->rows_each;
    task->rows = task->first + work->rows_each < work->rows ? work->rows_each : (int32_t)(work->rows - task->first);
    task->lanes = 1 << work->log_lanes;
    task->lane = tally_lane() & (task->lanes - 1);
}
/* Finds the warp's unit: a piece of a row, or several rows. False: there is no such unit. */
TALLY_FN int32_t find_piece(const work_t *work, int32_t unit, task_t *task) {
    const int32_t of_rows = work->pieces == 1 ? unit : unit / work->pieces, piece = unit - of_rows * work->pieces;
    if (of_rows << (5 - work->log_lanes) >= task->rows) return 0;
    task->slot = (of_rows << (5 - work->log_lanes)) + (tally_lane() >> work->log_lanes);
    const int32_t is_there = task->slot < task->rows;
    const int64_t first = (is_there ? task->first + task->slot : 0) * work->length + work->before,
                  end = first + work->length;
    task->before = (int32_t)(first & (TALLY_PART - 1));
    task->at = first / TALLY_PART;
    task->parts = (end + TALLY_PART - 1) / TALLY_PART - task->at;
    task->from = task->chunk * work->chunk_parts + piece * work->piece_parts;
    const int64_t all = (task->chunk + 1) * work->chunk_parts, most = all < task->parts ? all : task->parts,
                  until = task->from + work->piece_parts;
    task->until = !is_there ? 0 : until < most ? until : most;
    return 1;
}
/* Which values part s of the share from part k on has: from..until - 1. */
typedef struct within_t {
    int32_t from, until;
} within_t;
TALLY_FN within_t values_within(const work_t *work, const task_t *task, int64_t k, int32_t s) {
    const int64_t part = k + s * task->lanes + task->lane, last = task->before + work->length - part * TALLY_PART;
    within_t within = {0, 0};
    if (part >= task->until) return within;
    within.from = part == 0 ? task->before : 0;
    within.until = last < TALLY_PART ? (int32_t)last : TALLY_PART;
    return within;
}
TALLY_FN int32_t all_of(const task_t *task) {
    (void)task;
    return 1; /* bit 0 stands for all values: they are of one row */
}
TALLY_FN int32_t there_of(const work_t *work, const task_t *task, int64_t k, int32_t s) {
    const within_t within = values_within(work, task, k, s);
    return (1 << within.until) - (1 << within.from);
}

/* ---- reading ---- */

/* What replaces values of other rows, in x and in y: adding it changes neither the value nor the sign of a sum. */
TALLY_FN TALLY_T filler(int32_t is_second) { return from_bits((TALLY_K)(is_second ? 0 : TALLY_K_LOW)); }
TALLY_FN tally_quad quad_of_fillers(int32_t is_second) {
    part_t part;
    tally_quad quad;
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_PART; v++) part.v[v] = filler(is_second);
    __builtin_memcpy(&quad, &part, sizeof quad);
    return quad;
}
/* Reads a part of which some values are the row's, one by one. */
TALLY_RARE tally_quad read_within(const char *at, within_t within, int32_t is_second) {
    part_t part;
    tally_quad quad = quad_of_fillers(is_second);
    __builtin_memcpy(&part, &quad, sizeof part);
    TALLY_ROLLED
    for (int32_t v = within.from; v < within.until; v++) part.v[v] = ((const TALLY_T *)(const void *)at)[v];
    __builtin_memcpy(&quad, &part, sizeof quad);
    return quad;
}
/* Replaces the values of a part that are of other rows. */
TALLY_FN tally_quad keep_within(tally_quad quad, within_t within, int32_t is_second) {
    part_t part;
    __builtin_memcpy(&part, &quad, sizeof part);
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_PART; v++)
        if (v < within.from || v >= within.until) part.v[v] = filler(is_second);
    __builtin_memcpy(&quad, &part, sizeof quad);
    return quad;
}
/* Whether the share from part k on has the first or the last part of a row. */
TALLY_FN int32_t has_end(const task_t *task, int64_t k) {
    return k == 0 || k + TALLY_DEVICE_STRIPES * task->lanes >= task->parts;
}
/* Whether it has one that reaches beyond the array, and so cannot be read as a whole. */
TALLY_FN int32_t has_edge(const work_t *work, const task_t *task, int64_t k) {
    const int64_t row = task->first + task->slot;
    return (row == 0 && k == 0 && work->before > 0) ||
           (row == work->rows - 1 && k + TALLY_DEVICE_STRIPES * task->lanes >= task->parts &&
            (task->before + work->length) % TALLY_PART != 0);
}
/* How many parts the lane has of the share from part k on. */
TALLY_FN int32_t count_parts(const work_t *work, const task_t *task, int64_t k) {
    const int64_t left = task->until - k - task->lane, all = (left + task->lanes - 1) >> work->log_lanes;
    return left <= 0 ? 0 : all < TALLY_DEVICE_STRIPES ? (int32_t)all : TALLY_DEVICE_STRIPES;
}
/* Reads the lane's `count` parts: k, k + task->lanes, ... Every lane of the warp has at least `whole` parts; their
 * loads are in flight together. */
TALLY_FN void read_parts(const work_t *work, const task_t *task, int64_t k, int32_t is_second, int32_t count,
                         int32_t whole, share_t *share) {
    const char *const at = (is_second ? work->y : work->x) + 16 * (task->at + k + task->lane);
    const int32_t apart = 16 * task->lanes, is_end = !work->is_even && tally_any(has_end(task, k));
    const tally_quad none = quad_of_fillers(is_second);
    tally_quad quads[TALLY_DEVICE_STRIPES];
    if (is_end && tally_any(has_edge(work, task, k))) {
        tally_quad slow[TALLY_DEVICE_STRIPES];
        TALLY_ROLLED
        for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++)
            slow[s] = read_within(at + s * apart, values_within(work, task, k, s), is_second);
        __builtin_memcpy(share, slow, sizeof slow);
        return;
    }
    if (whole == TALLY_DEVICE_STRIPES) { /* without conditions between them */
        TALLY_UNROLL
        for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++) quads[s] = tally_load16(at + s * apart);
    } else {
        TALLY_UNROLL
        for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++) quads[s] = s < count ? tally_load16(at + s * apart) : none;
    }
    if (is_end) {
        TALLY_UNROLL
        for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++) {
            const int64_t part = k + task->lane + s * task->lanes;
            if ((s == 0 && part == 0) || part == task->parts - 1)
                quads[s] = keep_within(quads[s], values_within(work, task, k, s), is_second);
        }
    }
    __builtin_memcpy(share, quads, sizeof quads);
}

#endif
