/* Exact results of short rows, a thread for each row; where rows lie across others, a thread has some neighbours. A sum
 * is three doubles and a bound (sums/bounded.h). A result that these leave uncertain is marked for the stages that
 * follow (docs/design/012). Of f64, a second attempt comes first: the values are scaled by a power of two, so that
 * products neither overflow nor lose digits. */
#ifndef TALLY_FORM_SHORT_EXACT_H
#define TALLY_FORM_SHORT_EXACT_H

#include "types/types.h"

#include TALLY_KERNEL_FILE

#include "segments/partition.h"
#include "order/leaf.h"
#include "exact_sums/extent.h"
#include "exact_sums/terms.h"
#include "exact_sums/pair_results.h"
#include "exact_segments/flat_nodes.h"
#include "exact_segments/thread_sums.h"
#define TALLY_ACROSS TALLY_SHORT_EXACT_ACROSS_OF(TALLY_BYTES, TALLY_KERNEL_INPUTS, TALLY_HAS_SPREAD)
#include "rows/vector.h"

/* Blocks that a multiprocessor holds: as few as keep registers from spilling (tests/unit/test_compile.c). */
#define TALLY_RESIDENT (TALLY_HAS_KEYS ? 2 : 3)
enum { values_together = 4 }; /* of each row, on their way at once */

/* ---- what a thread reads ---- */

typedef struct rows_t {
    tally_source x, y;
    int64_t first[TALLY_ACROSS]; /* the first value of each, or -1 if there is no such row */
    int32_t is_whole;            /* they lie side by side, where 16 bytes or less can be read at once */
} rows_t;

/* The thread's row v, or -1. */
TALLY_FN int64_t row_of(const tally_segments_work *work, int32_t is_whole, int32_t v) {
    const int64_t row = (int64_t)tally_block() * TALLY_BLOCK * TALLY_ACROSS +
                        (is_whole ? tally_thread() * TALLY_ACROSS + v : tally_thread() + v * TALLY_BLOCK);
    return row < work->partition.count ? row : -1;
}
TALLY_FN int64_t first_of_row(const tally_segments_work *work, int64_t row) {
    return work->inner == 1 ? row * work->length : tally_begin_of_row(row, work->length, work->inner);
}
TALLY_FN rows_t rows_of(const tally_segments_work *work) {
    rows_t rows;
    rows.x = tally_source_of(work->x, work->x_stride, TALLY_BYTES);
    rows.y = tally_source_of(work->y, work->y_stride, TALLY_BYTES);
    rows.is_whole = rows.x.is_packed && rows.y.is_packed && work->inner % TALLY_ACROSS == 0;
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_ACROSS; v++) {
        const int64_t row = row_of(work, rows.is_whole, v);
        rows.first[v] = row < 0 ? -1 : first_of_row(work, row);
    }
    return rows;
}
/* Value m of each row. */
TALLY_FN vector_t read_rows(const tally_segments_work *work, const rows_t *rows, const tally_source *from, int64_t m) {
    vector_t vector = no_values();
    if (rows->is_whole && rows->first[0] >= 0)
        return read_whole_vector(from->values + (rows->first[0] + m * work->inner) * TALLY_BYTES);
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_ACROSS; v++)
        if (rows->first[v] >= 0) put_value(&vector, v, read_one(from, rows->first[v] + m * work->inner));
    return vector;
}

/* ---- sums ---- */

typedef struct row_sums_t {
    thread_sums_t of;
    uint32_t most; /* of f64: the size of the largest finite term */
} row_sums_t;

TALLY_FN row_sums_t no_row_sums(void) {
    const row_sums_t a = {no_sums(), 0};
    return a;
}
TALLY_FN void add_to_row(row_sums_t *a, TALLY_T x, TALLY_T y) {
    add_value(&a->of, x, y, 0);
    if (!TALLY_IS_F64 || term_is_special(x, y)) return;
    a->most = term_size(x, y) > a->most ? term_size(x, y) : a->most;
}

/* ---- results ---- */

TALLY_FN int32_t finalize_row(const thread_sums_t *s, int64_t n, int32_t power, const tally_final *final,
                              uint64_t *result) {
    if (lost_of(s) != 0) return finalize_sums(s, n, power, final, result);
    const in_pairs_t a = pairs_of(s, n, power, 0); /* most often: in line */
    return finalize_pairs(&a, final, result);
}
TALLY_FN void mark_row(const tally_segments_work *work, int64_t row) {
    tally_mark(work->partition.unsure, row);
    tally_raise_flags(work->out.flags, TALLY_FLAG_UNSURE);
}
/* A row again, in other units: of f64. */
TALLY_LONG void put_scaled(const tally_segments_work *work, int64_t row, uint32_t most) {
    const tally_source x = tally_source_of(work->x, work->x_stride, TALLY_BYTES),
                       y = tally_source_of(work->y, work->y_stride, TALLY_BYTES);
    const int32_t power = power_for(most);
    const int64_t first = first_of_row(work, row);
    thread_sums_t sums = no_sums();
    uint64_t result[6] = {0, 0, 0, 0, 0, 0};
    TALLY_ROLLED
    for (int64_t m = 0; m < work->length; m++) {
        const TALLY_T a = read_one(&x, first + m * work->inner);
        add_value(&sums, a, TALLY_KERNEL_INPUTS == 1 ? a : read_one(&y, first + m * work->inner), power);
    }
    if (finalize_row(&sums, work->length, power, &work->out.final, result))
        put_bytes(&work->out, row, result, work->length - sums.noted.absent);
    else
        mark_row(work, row);
}
TALLY_FN void put_row(const tally_segments_work *work, int64_t row, const row_sums_t *sums) {
    const int64_t present = work->length - sums->of.noted.absent;
    uint64_t result[6] = {0, 0, 0, 0, 0, 0};
    if (present == 0)
        put_nothing(&work->out, row);
    else if (finalize_row(&sums->of, work->length, 0, &work->out.final, result))
        put_bytes(&work->out, row, result, present);
    else if (TALLY_IS_F64)
        put_scaled(work, row, sums->most);
    else
        mark_row(work, row);
}

TALLY_KERNEL_ENTRY(TALLY_BLOCK, exact_short, tally_segments_work, TALLY_RESIDENT) {
    if (tally_is_idle(work.wanted)) return;
    tally_let_next_start();
    tally_await_before();
    const rows_t rows = rows_of(&work);
    row_sums_t sums[TALLY_ACROSS], done[TALLY_ACROSS];
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_ACROSS; v++) sums[v] = no_row_sums();
    TALLY_ROLLED
    for (int64_t first = 0; first < work.length; first += values_together) {
        vector_t x[values_together], y[values_together];
        TALLY_UNROLL
        for (int32_t k = 0; k < values_together; k++) {
            if (first + k >= work.length) continue;
            x[k] = read_rows(&work, &rows, &rows.x, first + k);
            if (TALLY_KERNEL_INPUTS == 2) y[k] = read_rows(&work, &rows, &rows.y, first + k);
        }
        TALLY_UNROLL
        for (int32_t k = 0; k < values_together; k++) {
            if (first + k >= work.length) continue;
            TALLY_UNROLL
            for (int32_t v = 0; v < TALLY_ACROSS; v++)
                add_to_row(&sums[v], value_in(&x[k], v), value_in(TALLY_KERNEL_INPUTS == 1 ? &x[k] : &y[k], v));
        }
    }
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_ACROSS; v++) done[v] = sums[v];
    TALLY_ROLLED /* what follows is long: it is there once, and reads copies, so that the sums stay in registers */
        for (int32_t v = 0; v < TALLY_ACROSS; v++) {
        const int64_t row = row_of(&work, rows.is_whole, v);
        if (row >= 0) put_row(&work, row, &done[v]);
    }
}

#endif
