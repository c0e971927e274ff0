/* Rows of at most 64 values that a thread reduces alone. It has TALLY_ACROSS rows, a block's threads apart, so that
 * neighbouring threads have neighbouring rows: where these lie side by side in memory, a warp reads whole lines, and
 * writes whole lines of results. */
#ifndef TALLY_SHORT_ROWS_H
#define TALLY_SHORT_ROWS_H

#include "order/leaf.h"
#include "partition/row_begins.h"

#ifndef TALLY_ACROSS
#error "define TALLY_ACROSS, the rows that a thread takes"
#endif

enum { short_columns = 8 }; /* columns of a leaf of at most TALLY_DEVICE_SMALL values: the values of a stripe */

/* One input of the thread's rows. */
typedef struct short_input_t {
    tally_source from;
    const char *at[TALLY_ACROSS]; /* the first value of each row; of the thread's first row where it has fewer */
    int64_t step;                 /* bytes from one value of a row to the next */
} short_input_t;
typedef struct short_rows_t {
    short_input_t x, y;
    int64_t first, count; /* the thread's first row, and how many rows there are from there on */
    int32_t length;
} short_rows_t;
/* A stripe of each row. */
typedef struct stripes_t {
    TALLY_T of[TALLY_ACROSS][short_columns];
} stripes_t;

/* The number of the thread's row v; -1: it has no such row. */
TALLY_FN int64_t short_row_of(const short_rows_t *rows, int32_t v) {
    return v * TALLY_THREADS < rows->count ? rows->first + v * TALLY_THREADS : -1;
}
TALLY_FN short_input_t short_input_of(const tally_rows_work *work, const short_rows_t *rows, tally_source from) {
    short_input_t input;
    input.from = from;
    input.step = work->inner * from.stride;
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_ACROSS; v++) {
        const int64_t row = short_row_of(rows, v), there = row < 0 ? rows->first : row;
        input.at[v] = from.values +
                      (work->outer == 1 ? there : tally_begin_of_row(there, work->length, work->inner)) * from.stride;
    }
    return input;
}
TALLY_FN short_rows_t short_rows_of(const tally_rows_work *work) {
    short_rows_t rows;
    rows.first = (int64_t)tally_block() * TALLY_THREADS * TALLY_ACROSS + tally_thread();
    rows.count = work->outer * work->inner - rows.first;
    rows.length = (int32_t)work->length;
    rows.x = short_input_of(work, &rows, tally_source_of(work->x, work->x_stride, TALLY_BYTES));
    rows.y = TALLY_KERNEL_INPUTS == 1
                 ? rows.x
                 : short_input_of(work, &rows, tally_source_of(work->y, work->y_stride, TALLY_BYTES));
    return rows;
}

/* Reads value by value from any address. */
TALLY_RARE stripes_t read_slow_stripes(short_input_t input, int32_t first, int32_t length) {
    stripes_t stripes;
    TALLY_ROLLED
    for (int32_t v = 0; v < TALLY_ACROSS; v++) {
        TALLY_ROLLED
        for (int32_t m = 0; m < short_columns; m++)
            stripes.of[v][m] =
                first + m < length ? read_at(&input.from, input.at[v] + (first + m) * input.step) : (TALLY_T)0;
    }
    return stripes;
}
/* Reads the stripes that begin with value `first` of each row. Their loads are in flight together. */
TALLY_FN stripes_t read_stripes(const short_input_t *input, int32_t first, int32_t length) {
    const char *at[TALLY_ACROSS];
    stripes_t stripes;
    if (!input->from.is_aligned) return read_slow_stripes(*input, first, length);
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_ACROSS; v++) at[v] = input->at[v] + first * input->step;
    TALLY_UNROLL
    for (int32_t m = 0; m < short_columns; m++) {
        TALLY_UNROLL
        for (int32_t v = 0; v < TALLY_ACROSS; v++, at[v - 1] += input->step)
            stripes.of[v][m] = first + m < length ? *(const TALLY_T *)(const void *)at[v] : (TALLY_T)0;
    }
    return stripes;
}

#endif
