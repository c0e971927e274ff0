/* Rows of at most 64 values that lie across others, by any operator of kernels/operators, in the canonical order
 * (docs/order.md): leaves of 8 columns. A thread has all columns of its rows, and adds a stripe of 8 values of each at
 * a time. An operator with a second pass reads the row again, which a cache still holds. */
#ifndef TALLY_FORM_STRIPES_H
#define TALLY_FORM_STRIPES_H

#include "types/types.h"

#include "order/put_result.h"

enum { rows_of_thread = TALLY_STRIPES_ACROSS > 0 ? TALLY_STRIPES_ACROSS : 1 }; /* 0: the kernel is not used */
#define TALLY_ACROSS rows_of_thread
#include "rows/short_rows.h"
#include "order/fold.h"

/* What a column of the first pass holds. */
#if TALLY_HAS_INDEX
#include "rows/found.h"
typedef found_t partial_t;
TALLY_FN partial_t nothing_partial(void) { return nothing_found(); }
TALLY_FN partial_t lift_partial(TALLY_T x, TALLY_T y, int32_t k) { return (void)y, lift_found(item_of(x), k); }
TALLY_FN partial_t combine_partial(partial_t a, partial_t b) { return combine_found(a, b); }
#else
typedef column_t partial_t;
TALLY_FN partial_t nothing_partial(void) { return identity(); }
TALLY_FN partial_t lift_partial(TALLY_T x, TALLY_T y, int32_t k) { return (void)k, lift(item_of(x), item_of(y)); }
TALLY_FN partial_t combine_partial(partial_t a, partial_t b) { return combine(a, b); }
#endif

/* Blocks that a multiprocessor holds: as few as keep registers from spilling (tests/unit/test_compile.c). */
#define TALLY_RESIDENT (TALLY_FLOAT && TALLY_BYTES <= 4 && TALLY_PASSES == 2 ? 3 : sizeof(column_t) > 32 ? 1 : 2)

/* The columns of a row, and how many of its values count. */
typedef struct row_columns_t {
    partial_t of[short_columns];
    int32_t present;
} row_columns_t;

TALLY_FN row_columns_t no_columns(int32_t length) {
    row_columns_t columns;
    TALLY_UNROLL
    for (int32_t m = 0; m < short_columns; m++) columns.of[m] = nothing_partial();
    columns.present = TALLY_MAY_SKIP ? 0 : length;
    return columns;
}
/* Adds a stripe that begins with value `first` of the row. */
TALLY_FN void add_stripe(row_columns_t *columns, const TALLY_T *x, const TALLY_T *y, int32_t first, int32_t length) {
    TALLY_UNROLL
    for (int32_t m = 0; m < short_columns; m++) {
        if (first + m >= length) continue;
        columns->of[m] = combine_partial(columns->of[m], lift_partial(x[m], y[m], first + m));
        if (TALLY_MAY_SKIP) columns->present += is_present(x[m]) && is_present(y[m]);
    }
}
/* Not by halve of order/halves.h, which is for columns alone: these may be found_t. */
TALLY_FN partial_t fold_stripes(row_columns_t columns) {
    TALLY_UNROLL
    for (int32_t half = short_columns / 2; half > 0; half /= 2) {
        TALLY_UNROLL
        for (int32_t k = 0; k < half; k++) columns.of[k] = combine_partial(columns.of[k], columns.of[k + half]);
    }
    return columns.of[0];
}

#if TALLY_READS_TWICE
typedef struct row_seconds_t {
    second_t of[short_columns];
} row_seconds_t;

TALLY_FN row_seconds_t no_seconds(void) {
    row_seconds_t seconds;
    TALLY_UNROLL
    for (int32_t m = 0; m < short_columns; m++) seconds.of[m] = identity2();
    return seconds;
}
TALLY_FN void add_stripe2(row_seconds_t *seconds, const TALLY_T *x, int32_t first, int32_t length, aim_t aim) {
    TALLY_UNROLL
    for (int32_t m = 0; m < short_columns; m++)
        if (first + m < length) seconds->of[m] = combine2(seconds->of[m], lift2(item_of(x[m]), first + m, aim));
}
TALLY_FN second_t fold_stripes2(row_seconds_t seconds) {
    halve2(seconds.of, short_columns, 1);
    return seconds.of[0];
}
#endif

TALLY_KERNEL_ENTRY(TALLY_THREADS, stripes, tally_rows_work, TALLY_RESIDENT) {
    const short_rows_t rows = short_rows_of(&work);
    const int32_t length = rows.length;
    row_columns_t columns[TALLY_ACROSS];
    if (rows.count <= 0) return;
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_ACROSS; v++) columns[v] = no_columns(length);
    TALLY_ROLLED
    for (int32_t first = 0; first < length; first += short_columns) {
        const stripes_t x = read_stripes(&rows.x, first, length),
                        y = TALLY_KERNEL_INPUTS == 1 ? x : read_stripes(&rows.y, first, length);
        TALLY_UNROLL
        for (int32_t v = 0; v < TALLY_ACROSS; v++) add_stripe(&columns[v], x.of[v], y.of[v], first, length);
    }
#if TALLY_READS_TWICE
    column_t column[TALLY_ACROSS];
    aim_t aims[TALLY_ACROSS];
    row_seconds_t seconds[TALLY_ACROSS];
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_ACROSS; v++) {
        column[v] = fold_stripes(columns[v]);
        aims[v] = take_aim(column[v], columns[v].present);
        seconds[v] = no_seconds();
    }
    TALLY_ROLLED
    for (int32_t first = 0; first < length; first += short_columns) {
        const stripes_t x = read_stripes(&rows.x, first, length);
        TALLY_UNROLL
        for (int32_t v = 0; v < TALLY_ACROSS; v++) add_stripe2(&seconds[v], x.of[v], first, length, aims[v]);
    }
#endif
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_ACROSS; v++) {
        const int64_t row = short_row_of(&rows, v), present = columns[v].present;
#if TALLY_READS_TWICE
        const node_t node = to_node(column[v], aims[v], fold_stripes2(seconds[v]), present, 0);
#elif TALLY_HAS_INDEX
        const found_t found = fold_stripes(columns[v]);
        const node_t node = to_node(found.best, take_aim(found.best, present), found.where, present, 0);
#else
        const node_t node = to_node(fold_stripes(columns[v]), present);
#endif
        if (row >= 0) put_result(&work.out, row, node);
    }
}

#endif
