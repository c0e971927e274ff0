/* Vectors of a leaf on their way to shared memory, by asynchronous copies, one column of a thread after another. A
 * thread's vectors are its own: it waits for no other thread. But where vectors begin anywhere (TALLY_READS_SPLIT),
 * each thread copies the aligned vector that its own begins in, and takes the end from the next thread's. That may read
 * up to 15 bytes in front of the array, of the same 16 that its first value is in. Needs, for each thread and input,
 * the bytes on their way at once, TALLY_RING_BYTES. */
#ifndef TALLY_RING_H
#define TALLY_RING_H

#include "rows/panel.h"

enum { ring_slots = TALLY_RING_BYTES / vector_bytes < 16 ? TALLY_RING_BYTES / vector_bytes : 16 };
typedef struct ring_t {
    vector_t of[TALLY_KERNEL_INPUTS][ring_slots][TALLY_BLOCK];
} ring_t;

/* The leaf of n values (0: none) that begins with value `at` of each row of a panel, as a thread goes through it. */
typedef struct leaf_t {
    int64_t row; /* the first of memory */
    int32_t n, log_columns;
    int32_t log_all, mine;      /* columns of joined rows so many together; those of the thread */
    int32_t batch, log_batches; /* values of a column that are taken together, 2 or 4; how many times that */
    int32_t is_inside;          /* no vector of the thread ends behind the array: both inputs end alike */
} leaf_t;
TALLY_FN leaf_t leaf_of(const panel_t *panel, int64_t at, int32_t n, int32_t log_columns) {
    const int32_t log_all = log_columns - panel->log_joined;
    const int64_t row = at >> panel->log_joined, last = (at + n - 1) >> panel->log_joined;
    leaf_t leaf = {row, n, log_columns, log_all, 1, n > 2 << log_columns ? 4 : 2, n > 4 << log_columns, 0};
    if (1 << log_all > panel->subs) leaf.mine = (1 << log_all) / panel->subs;
    leaf.is_inside =
        panel->reads != TALLY_READS_APART && panel->x.first + last * panel->x.row + vector_bytes <= panel->x.end;
    return leaf;
}

/* A batch: some values of a column, which are a stripe apart. */
typedef struct batch_t {
    int32_t k, row, slot; /* the first one's place in the leaf, its row behind the leaf's first, and its slot */
    int32_t values;       /* those that are there */
    int32_t stripe;       /* the first one's */
} batch_t;
/* Number i of the thread's columns, which come in the order of reversed bits. */
TALLY_FN int32_t nth_column(const panel_t *panel, const leaf_t *leaf, int32_t i) {
    return panel->sub + (int32_t)tally_reverse((uint32_t)i, leaf->log_all);
}
/* Number i of the thread's batches. */
TALLY_FN batch_t batch_of(const panel_t *panel, const leaf_t *leaf, int32_t i) {
    const int32_t column = nth_column(panel, leaf, i >> leaf->log_batches);
    batch_t batch;
    batch.stripe = i & leaf->log_batches ? 4 : 0;
    batch.k = (column << panel->log_joined) + (batch.stripe << leaf->log_columns);
    batch.row = column + (batch.stripe << leaf->log_all);
    batch.slot = i * leaf->batch % ring_slots;
    batch.values = (leaf->n - batch.k + (1 << leaf->log_columns) - 1) >> leaf->log_columns;
    if (batch.values > leaf->batch) batch.values = leaf->batch;
    if (column >> leaf->log_all > 0) batch.values = 0;
    return batch;
}

/* Where the aligned vector begins that p is in. */
TALLY_FN const char *begin_of_vector(const char *p) {
    return (const char *)((uint64_t)p & ~(uint64_t)(vector_bytes - 1));
}
/* Some of what ends behind the array: values up to its end, zeros behind it. */
TALLY_FN vector_t read_end(const char *p, const char *end) {
    vector_t vector = no_values();
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_ACROSS; v++, p += TALLY_BYTES)
        if (p < end) put_value(&vector, v, *(const TALLY_T *)(const void *)p);
    return vector;
}
/* Vectors one by one, where not all is there, or not side by side. */
TALLY_FN void start_some(const panel_t *panel, const input_of_t *input, const char *p, int64_t step, int32_t values,
                         vector_t (*to)[TALLY_BLOCK]) {
    TALLY_ROLLED
    for (int32_t s = 0; s < values; s++, p += step, to++) {
        vector_t *const slot = &(*to)[tally_thread()];
        const char *const from = begin_of_vector(p);
        if (panel->reads == TALLY_READS_APART)
            *slot = read_values(panel, p, input->apart);
        else if (from + vector_bytes <= input->end)
            TALLY_COPY_AGAIN(vector_bytes, slot, from);
        else
            *slot = read_end(from, input->end);
    }
}
TALLY_FN void start_vectors(const panel_t *panel, const leaf_t *leaf, const batch_t *batch, const input_of_t *input,
                            vector_t (*to)[TALLY_BLOCK]) {
    const char *p = input->first + (leaf->row + batch->row) * input->row;
    const int64_t step = input->row * (1 << leaf->log_all); /* which may be negative */
    if (!leaf->is_inside) {
        start_some(panel, input, p, step, batch->values, to);
        return;
    }
    TALLY_UNROLL
    for (int32_t s = 0; s < 4; s++, p += step)
        if (s < batch->values) TALLY_COPY_AGAIN(vector_bytes, &to[s][tally_thread()], begin_of_vector(p));
}
TALLY_FN void start_batch(const panel_t *panel, const leaf_t *leaf, int32_t i, ring_t *ring) {
    const batch_t batch = batch_of(panel, leaf, i);
    if (!panel->is_reader) return;
    start_vectors(panel, leaf, &batch, &panel->x, &ring->of[0][batch.slot]);
    if (TALLY_KERNEL_INPUTS == 2)
        start_vectors(panel, leaf, &batch, &panel->y, &ring->of[TALLY_KERNEL_INPUTS - 1][batch.slot]);
}
/* All batches but those that fit into the ring behind one are there. */
TALLY_FN void await_batch(const leaf_t *leaf) {
    if (leaf->batch == 4)
        TALLY_AWAIT_COPIES(ring_slots / 4 - 1);
    else
        TALLY_AWAIT_COPIES(ring_slots / 2 - 1);
}
/* The bytes by which the batch's vectors are behind a multiple of theirs. Its rows are as many apart as there are
 * columns, 8 or more, and TALLY_ACROSS is at most 8: all are as far behind as the first. */
TALLY_FN uint32_t bytes_behind(const leaf_t *leaf, const batch_t *batch, const input_of_t *input) {
    const uint32_t row = (uint32_t)(leaf->row + batch->row);
    return ((uint32_t)(uint64_t)input->first + row * (uint32_t)input->row) % vector_bytes;
}
/* A vector of the batch, so many bytes behind. */
TALLY_FN vector_t take_from_ring(const panel_t *panel, uint32_t behind, const vector_t *slot) {
    const vector_t first = take_vector((const char *)(slot + tally_thread()));
    if (panel->reads != TALLY_READS_SPLIT) return first;
    const vector_t *const next = slot + tally_thread() + (panel->lane < panel->across - 1);
    const vector_t second = take_vector((const char *)next);
    return shift_vector(&first, &second, behind);
}

#endif
