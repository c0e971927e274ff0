/* Rows of at most 8 values. Each thread has TALLY_ACROSS rows; where rows lie across others, their values are
 * neighbours in memory. */
#ifndef TALLY_SHORT_ROWS_H
#define TALLY_SHORT_ROWS_H

#ifndef TALLY_SHORT_ROWS_SHARED_H
#define TALLY_SHORT_ROWS_SHARED_H
enum { TALLY_SHORT_COLUMNS = 8 }; /* columns of a leaf of at most TALLY_DEVICE_SMALL values; most values of a row */
#endif
#define TALLY_ACROSS TALLY_SHORT_ACROSS_OF(TALLY_BYTES)
#include "rows/vector.h"
#include "segments/row_begins.h"

typedef struct short_rows_t {
    vector_t x[TALLY_SHORT_COLUMNS], y[TALLY_SHORT_COLUMNS]; /* 0 where there are none */
    int64_t first, count;                                    /* the thread's first row, and how many it has */
} short_rows_t;
/* One of these rows. */
typedef struct row_t {
    TALLY_T x[TALLY_SHORT_COLUMNS], y[TALLY_SHORT_COLUMNS];
    int64_t row; /* its number; -1: there is none */
} row_t;

TALLY_FN int64_t begin_of_row(const tally_rows_work *work, int64_t row) {
    return work->outer == 1 ? row : tally_begin_of_row(row, work->length, work->inner);
}

/* Reads value m of each of the thread's rows, from `row` on. is_whole: these TALLY_ACROSS values can be read at once.
 */
TALLY_FN vector_t read_vector_of_rows(const tally_rows_work *work, const tally_source *from, int64_t row, int64_t rows,
                                      int64_t m, int32_t is_whole) {
    vector_t vector = no_values();
    if (is_whole) return read_whole_vector(from->values + (begin_of_row(work, row) + m * work->inner) * TALLY_BYTES);
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_ACROSS; v++)
        if (v < rows) put_value(&vector, v, read_one(from, begin_of_row(work, row + v) + m * work->inner));
    return vector;
}
TALLY_FN short_rows_t read_short_rows(const tally_rows_work *work) {
    const tally_source x = tally_source_of(work->x, work->x_stride, TALLY_BYTES),
                       y = tally_source_of(work->y, work->y_stride, TALLY_BYTES);
    const int32_t is_whole = x.is_packed && y.is_packed && work->inner % TALLY_ACROSS == 0;
    short_rows_t rows;
    rows.first = ((int64_t)tally_block() * TALLY_BLOCK + tally_thread()) * TALLY_ACROSS;
    rows.count = work->outer * work->inner - rows.first;
    __builtin_memset(rows.x, 0, sizeof rows.x);
    __builtin_memset(rows.y, 0, sizeof rows.y);
    TALLY_UNROLL
    for (int32_t m = 0; m < TALLY_SHORT_COLUMNS; m++) {
        if (m >= work->length || rows.count <= 0) continue;
        rows.x[m] = rows.y[m] = read_vector_of_rows(work, &x, rows.first, rows.count, m, is_whole);
        if (TALLY_KERNEL_INPUTS == 2) rows.y[m] = read_vector_of_rows(work, &y, rows.first, rows.count, m, is_whole);
    }
    return rows;
}
/* Row v of the thread. */
TALLY_FN row_t row_of(const short_rows_t *rows, int32_t v) {
    row_t row;
    row.row = v < rows->count ? rows->first + v : -1;
    TALLY_UNROLL
    for (int32_t m = 0; m < TALLY_SHORT_COLUMNS; m++) {
        row.x[m] = value_in(&rows->x[m], 0), row.y[m] = value_in(&rows->y[m], 0);
        TALLY_UNROLL
        for (int32_t w = 1; w < TALLY_ACROSS; w++)
            if (v == w) /* registers have no index */
                row.x[m] = value_in(&rows->x[m], w), row.y[m] = value_in(&rows->y[m], w);
    }
    return row;
}

#endif
