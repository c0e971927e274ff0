/* How a thread reads a leaf of rows whose values lie across others. It reads batches of 8 vectors of TALLY_ACROSS
 * results each, whose loads are in flight together. A batch has one column of up to 8 values, 2 of up to 4, 4 of up to
 * 2, or 8 of one: short columns keep as many loads in flight as long ones. */
#ifndef TALLY_BATCH_H
#define TALLY_BATCH_H

#include "rows/panel.h"

enum { batch_vectors = 8 };

/* One leaf of each row of a panel: n values (0: none) from value `at` on. */
typedef struct leaf_t {
    int64_t row;   /* the first row of memory */
    int32_t first; /* the place of the first value: 0, but where leaves continue earlier ones */
    int32_t n, log_columns;
    int32_t log_all;             /* log2 of the columns, where joined rows count as one */
    int32_t mine;                /* how many of these the thread has */
    int32_t log_values;          /* log2 of the values that a column has in a batch */
    int32_t rows[batch_vectors]; /* row of each vector of a batch, from the batch's first row; n: no such vector */
    int32_t ends[TALLY_ACROSS];  /* for each of the thread's results, how many rows have a value */
    int32_t is_inside;           /* all vectors of the thread end inside the array */
} leaf_t;
/* Whether the thread's vector in a row of memory ends inside the array. Both inputs have the same extents. */
TALLY_FN int32_t row_is_inside(const panel_t *panel, int64_t row) {
    return panel->x.first + row * panel->x.row + vector_bytes <= panel->x.end;
}
TALLY_FN leaf_t leaf_of(const panel_t *panel, int64_t at, int32_t n, int32_t log_columns) {
    const int32_t log_all = log_columns - panel->log_joined;
    const int64_t last = (at + n - 1) >> panel->log_joined;
    leaf_t leaf;
    leaf.row = at >> panel->log_joined;
    leaf.first = 0;
    leaf.n = n;
    leaf.log_columns = log_columns;
    leaf.log_all = log_all;
    leaf.mine = leaf.log_values = 0;
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_ACROSS; v++)
        leaf.ends[v] = (n - row_in_panel(panel, v) + (1 << panel->log_joined) - 1) >> panel->log_joined;
    if (n > 0 && panel->mine > 0 && leaf.ends[0] > 0 && panel->sub >> log_all == 0)
        leaf.mine = 1 << log_all > panel->subs ? (1 << log_all) / panel->subs : 1;
    while (n > 1 << (log_columns + leaf.log_values)) leaf.log_values++;
    TALLY_UNROLL
    for (int32_t b = 0; b < batch_vectors; b++) {
        const int32_t column = b >> leaf.log_values, stripe = b & ((1 << leaf.log_values) - 1);
        leaf.rows[b] = column < leaf.mine ? (int32_t)tally_reverse((uint32_t)column, log_all) + (stripe << log_all) : n;
    }
    leaf.is_inside = panel->reads == TALLY_READS_APART || row_is_inside(panel, last);
    return leaf;
}

/* Shared memory for vectors that are read value by value. */
typedef struct stage_t {
    vector_t of[batch_vectors][TALLY_WARP];
} stage_t;

/* The vectors of a batch. */
typedef struct batch_t {
    int32_t rows[batch_vectors]; /* row of each, from the leaf's first row; the leaf's n: no such vector */
    vector_t x[batch_vectors], y[batch_vectors];
} batch_t;

/* The first row of the batch that begins with the thread's column i. Columns come in bit-reversed order. */
TALLY_FN int32_t row_of_batch(const panel_t *panel, const leaf_t *leaf, int32_t i) {
    return panel->sub + (int32_t)tally_reverse((uint32_t)i, leaf->log_all);
}
/* The row of vector b of that batch. For loops that are not unrolled: leaf->rows is in registers, which have no
 * index. */
TALLY_FN int32_t row_of_vector(const panel_t *panel, const leaf_t *leaf, int32_t i, int32_t b) {
    const int32_t column = i + (b >> leaf->log_values), stripe = b & ((1 << leaf->log_values) - 1);
    return column < leaf->mine ? row_of_batch(panel, leaf, column) + (stripe << leaf->log_all) : leaf->n;
}
/* The place in the leaf of value v of a vector in `row`. */
TALLY_FN int32_t place_in_vector(const panel_t *panel, int32_t row, int32_t v) {
    return (row << panel->log_joined) + row_in_panel(panel, v);
}
/* Reads a vector from each address. */
TALLY_FN void read_at_once(const panel_t *panel, const input_of_t *input, const char *const *from, vector_t *vectors) {
    enum { abreast = batch_vectors * TALLY_ACROSS > 32 ? 32 / TALLY_ACROSS : batch_vectors }; /* in 32 registers */
    if (panel->reads == TALLY_READS_WHOLE) {
        TALLY_UNROLL
        for (int32_t b = 0; b < batch_vectors; b++) vectors[b] = read_whole_vector(from[b]);
        return;
    }
    int64_t apart[TALLY_ACROSS];
    TALLY_T values[abreast][TALLY_ACROSS];
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_ACROSS; v++) apart[v] = v < panel->mine ? v * input->apart : 0;
    TALLY_UNROLL
    for (int32_t first = 0; first < batch_vectors; first += abreast) {
        TALLY_UNROLL
        for (int32_t b = 0; b < abreast; b++) {
            TALLY_UNROLL
            for (int32_t v = 0; v < TALLY_ACROSS; v++)
                values[b][v] = *(const TALLY_T *)(const void *)(from[first + b] + apart[v]);
        }
        TALLY_UNROLL
        for (int32_t b = 0; b < abreast; b++) {
            vectors[first + b] = no_values();
            TALLY_UNROLL
            for (int32_t v = 0; v < TALLY_ACROSS; v++) put_value(&vectors[first + b], v, values[b][v]);
        }
    }
}
/* Reads the vectors in `rows`. For a vector that does not exist it reads the leaf's first row: a load without a
 * condition starts with the others. */
TALLY_FN void read_vectors(const panel_t *panel, const leaf_t *leaf, const input_of_t *input, const int32_t *rows,
                           vector_t *vectors) {
    const char *const first = input->first + leaf->row * input->row, *from[batch_vectors];
    TALLY_UNROLL
    for (int32_t b = 0; b < batch_vectors; b++) from[b] = first + (rows[b] < leaf->ends[0] ? rows[b] : 0) * input->row;
    read_at_once(panel, input, from, vectors);
}
/* The same, value by value, from any address, through shared memory. */
TALLY_FN void read_slowly(const panel_t *panel, const leaf_t *leaf, const input_of_t *input, int32_t i, stage_t *stage,
                          vector_t *vectors) {
    TALLY_ROLLED
    for (int32_t b = 0; b < batch_vectors; b++) {
        TALLY_T *const slot = (TALLY_T *)(void *)&stage->of[b][tally_lane()];
        const int32_t row = row_of_vector(panel, leaf, i, b);
        const tally_source from =
            tally_source_of(input->first + (leaf->row + row) * input->row, input->apart, TALLY_BYTES);
        TALLY_ROLLED
        for (int32_t v = 0; v < TALLY_ACROSS; v++)
            slot[v] = v < panel->mine && place_in_vector(panel, row, v) < leaf->n ? read_one(&from, v) : (TALLY_T)0;
    }
    TALLY_UNROLL
    for (int32_t b = 0; b < batch_vectors; b++) vectors[b] = take_vector((const char *)&stage->of[b][tally_lane()]);
}
/* Whether a vector that read_vectors would read for the batch ends outside the array. */
TALLY_FN int32_t is_cut(const panel_t *panel, const leaf_t *leaf, int32_t i) {
    int32_t is_cut = 0;
    TALLY_ROLLED
    for (int32_t b = 0; b < batch_vectors; b++) {
        const int32_t row = row_of_vector(panel, leaf, i, b);
        is_cut |= !row_is_inside(panel, leaf->row + (row < leaf->ends[0] ? row : 0));
    }
    return is_cut;
}
/* The batch that begins with the thread's column i. */
TALLY_FN batch_t read_batch(const panel_t *panel, const leaf_t *leaf, int32_t i, stage_t *stage) {
    const int32_t first = row_of_batch(panel, leaf, i);
    batch_t batch;
    TALLY_UNROLL
    for (int32_t b = 0; b < batch_vectors; b++) batch.rows[b] = first + leaf->rows[b];
    if (panel->reads == TALLY_READS_ANYWHERE || (!leaf->is_inside && is_cut(panel, leaf, i))) {
        read_slowly(panel, leaf, &panel->x, i, stage, batch.x);
        if (TALLY_KERNEL_INPUTS == 2) read_slowly(panel, leaf, &panel->y, i, stage, batch.y);
    } else {
        read_vectors(panel, leaf, &panel->x, batch.rows, batch.x);
        if (TALLY_KERNEL_INPUTS == 2) read_vectors(panel, leaf, &panel->y, batch.rows, batch.y);
    }
    return batch;
}
/* The same for a full leaf that is read in whole vectors: the batch is one column. */
TALLY_FN batch_t read_column(const panel_t *panel, const leaf_t *leaf, int32_t i) {
    const int32_t row = row_of_batch(panel, leaf, i);
    const int64_t x_step = panel->x.row * (1 << leaf->log_all), y_step = panel->y.row * (1 << leaf->log_all);
    const char *x = panel->x.first + (leaf->row + row) * panel->x.row,
               *y = panel->y.first + (leaf->row + row) * panel->y.row;
    batch_t batch;
    (void)y_step;
    TALLY_UNROLL
    for (int32_t b = 0; b < batch_vectors; b++, x += x_step, y += y_step) {
        batch.rows[b] = row + (b << leaf->log_all);
        batch.x[b] = read_whole_vector(x);
        if (TALLY_KERNEL_INPUTS == 2) batch.y[b] = read_whole_vector(y);
    }
    return batch;
}

#endif
