/* How a thread reads a leaf of rows whose values lie across others: in batches of vectors of TALLY_ACROSS results each,
 * whose loads are in flight together. The rows of memory of a batch lie `apart` rows apart, and so do those of the next
 * batch (fold_leaf.h says how far). */
#ifndef TALLY_BATCH_H
#define TALLY_BATCH_H

#include "rows/panel.h"

/* The vectors of a batch. */
enum {
    batch_most = 32 / (TALLY_KERNEL_INPUTS * vector_words),
    batch_vectors = batch_most < TALLY_COLUMNS_BATCH ? batch_most : TALLY_COLUMNS_BATCH,
    batch_half = batch_vectors < 8 ? batch_vectors : 8 /* of 16 vectors, if there are as many */
};
/* The columns of a group (fold_leaf.h): 8 if registers hold them, or one. Both passes have the same, as the second
 * reads what a cache still holds. Where order does not show, all columns are one. */
#if TALLY_READS_TWICE
enum { column_bytes = sizeof(second_t) > sizeof(column_t) ? sizeof(second_t) : sizeof(column_t) };
#else
enum { column_bytes = sizeof(column_t) };
#endif
enum {
    has_groups = !TALLY_IS_FREE && !(TALLY_IS_DEAR && TALLY_BYTES == 8) &&
                 TALLY_ACROSS * column_bytes <= (TALLY_BYTES == 2 ? 24 : 16),
    group_columns = has_groups ? 8 : 1
};

/* One leaf of each row of a panel: n values (0: none) from value `at` on. */
typedef struct leaf_t {
    int64_t row; /* the first row of memory */
    int32_t n;
    int32_t log_all;            /* log2 of the columns, where joined rows count as one */
    int32_t mine;               /* how many of these the thread has */
    int32_t ends[TALLY_ACROSS]; /* for each of the thread's results, how many rows have a value */
} leaf_t;
TALLY_FN leaf_t leaf_of(const panel_t *panel, int64_t at, int32_t n, int32_t log_columns) {
    const int32_t log_all = log_columns - panel->log_joined;
    leaf_t leaf;
    leaf.row = at >> panel->log_joined;
    leaf.n = n;
    leaf.log_all = log_all;
    leaf.mine = 0;
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_ACROSS; v++)
        leaf.ends[v] = (n - row_in_panel(panel, v) + (1 << panel->log_joined) - 1) >> panel->log_joined;
    if (n > 0 && panel->mine > 0 && leaf.ends[0] > 0 && panel->sub >> log_all == 0)
        leaf.mine = 1 << log_all > panel->subs ? (1 << log_all) / panel->subs : 1;
    return leaf;
}

/* Shared memory for vectors that are read value by value. */
typedef struct stage_t {
    vector_t of[batch_vectors][TALLY_WARP];
} stage_t;

/* A batch: vectors of rows row, row + apart, ... of the leaf. */
typedef struct batch_t {
    int32_t row, apart;
    int32_t is_full; /* all its values are there */
    vector_t x[batch_vectors], y[batch_vectors];
} batch_t;

/* The place in the leaf of value v of a vector in `row`. */
TALLY_FN int32_t place_in_vector(const panel_t *panel, int32_t row, int32_t v) {
    return (row << panel->log_joined) + row_in_panel(panel, v);
}
/* A vector whose values lie apart. */
TALLY_FN vector_t read_apart(const panel_t *panel, const char *p, int64_t apart) {
    vector_t vector = no_values();
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_ACROSS; v++)
        set_value(&vector, v, *(const TALLY_T *)(const void *)(p + (v < panel->mine ? v * apart : 0)));
    return vector;
}
/* Reads the vectors of a batch. For one that does not exist it reads the last that does: a load without a condition
 * starts with the others. */
TALLY_FN void read_vectors(const panel_t *panel, const leaf_t *leaf, const input_of_t *input, const batch_t *batch,
                           const int32_t are_whole, const int32_t is_full, vector_t *vectors) {
    const char *at = input->first + (leaf->row + batch->row) * input->row;
    const int64_t step = batch->apart * input->row;
    TALLY_UNROLL
    for (int32_t first = 0; first < batch_vectors; first += batch_half) {
        if (!is_full && batch->row + first * batch->apart >= leaf->ends[0]) {
            TALLY_UNROLL
            for (int32_t b = first; b < first + batch_half; b++) vectors[b] = no_values();
            continue;
        }
        TALLY_UNROLL
        for (int32_t b = first; b < first + batch_half; b++) {
            vectors[b] = are_whole ? read_whole_vector(at) : read_apart(panel, at, input->apart);
            if (is_full || batch->row + (b + 1) * batch->apart < leaf->ends[0]) at += step;
        }
    }
}
/* The same, value by value, from any address, through shared memory. */
TALLY_FN void read_slowly(const panel_t *panel, const leaf_t *leaf, const input_of_t *input, const batch_t *batch,
                          stage_t *stage, vector_t *vectors) {
    TALLY_ROLLED
    for (int32_t b = 0; b < batch_vectors; b++) {
        TALLY_T *const slot = (TALLY_T *)(void *)&stage->of[b][tally_lane()];
        const int32_t row = batch->row + b * batch->apart;
        const tally_source from =
            tally_source_of(input->first + (leaf->row + row) * input->row, input->apart, TALLY_BYTES);
        TALLY_ROLLED
        for (int32_t v = 0; v < TALLY_ACROSS; v++)
            slot[v] = v < panel->mine && place_in_vector(panel, row, v) < leaf->n ? read_one(&from, v) : (TALLY_T)0;
    }
    TALLY_UNROLL
    for (int32_t b = 0; b < batch_vectors; b++) vectors[b] = take_vector((const char *)&stage->of[b][tally_lane()]);
}
/* Reads the vectors of all inputs, by read_vectors. */
TALLY_FN void read_inputs(const panel_t *panel, const leaf_t *leaf, batch_t *batch, const int32_t are_whole,
                          const int32_t is_full) {
    read_vectors(panel, leaf, &panel->x, batch, are_whole, is_full, batch->x);
    if (TALLY_KERNEL_INPUTS == 2) read_vectors(panel, leaf, &panel->y, batch, are_whole, is_full, batch->y);
}
/* Whether a whole vector of the batch ends outside the array. */
TALLY_FN int32_t is_cut(const panel_t *panel, const leaf_t *leaf, const batch_t *batch) {
    int32_t last = batch->row;
    TALLY_UNROLL
    for (int32_t b = 1; b < batch_vectors; b++)
        if (batch->row + b * batch->apart < leaf->ends[0]) last = batch->row + b * batch->apart;
    return panel->x.first + (leaf->row + last) * panel->x.row + vector_bytes > panel->x.end;
}
/* The batch that begins with `row`. */
TALLY_FN batch_t read_batch(const panel_t *panel, const leaf_t *leaf, int32_t row, int32_t apart, stage_t *stage) {
    batch_t batch;
    batch.row = row;
    batch.apart = apart;
    batch.is_full = row + (batch_vectors - 1) * apart < leaf->ends[TALLY_ACROSS - 1];
    if (TALLY_ANY_ROWS ? panel->reads == TALLY_READS_ANYWHERE : !batch.is_full && is_cut(panel, leaf, &batch)) {
        read_slowly(panel, leaf, &panel->x, &batch, stage, batch.x);
        if (TALLY_KERNEL_INPUTS == 2) read_slowly(panel, leaf, &panel->y, &batch, stage, batch.y);
    } else if (TALLY_ANY_ROWS)
        read_inputs(panel, leaf, &batch, 0, 0);
    else if (batch.is_full)
        read_inputs(panel, leaf, &batch, 1, 1);
    else
        read_inputs(panel, leaf, &batch, 1, 0);
    return batch;
}

#endif
