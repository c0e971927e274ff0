/* Short rows in shared memory: a block copies all values of its rows, and a few threads share each row. The order of an
 * exact sum does not show, so neighbouring rows start at different values, in different banks. */
#ifndef TALLY_ROW_TILE_H
#define TALLY_ROW_TILE_H

#include "exact_rows/pair_sums.h"

typedef struct row_tile_t {
    tally_quad quads[TALLY_SHORT_TILE / sizeof(tally_quad)];
} row_tile_t;

/* Copies bytes to shared memory, by all threads of the block; `from` is a multiple of 16 bytes. */
TALLY_FN void copy_to_tile(char *to, const char *from, int32_t bytes) {
    const int32_t whole = bytes / 16 * 16;
    TALLY_ROLLED
    for (int32_t at = tally_thread() * 16; at < whole; at += TALLY_THREADS * 16) tally_copy16(to + at, from + at);
    for (int32_t at = whole + tally_thread(); at < bytes; at += TALLY_THREADS) to[at] = from[at];
}
/* The thread's part of its row: values part, part + 2^log, ... of the row's `length`, or none. */
typedef struct tile_part_t {
    const char *x, *y;
    int32_t row, part, log, count;
} tile_part_t;

/* Copies the block's rows, from row `first` on; at the end there may be fewer. */
TALLY_FN tile_part_t take_rows(const tally_segments_work *work, row_tile_t *tile, int64_t first, int32_t log) {
    const int32_t most = TALLY_THREADS >> log, length = (int32_t)work->length, row = tally_thread() >> log,
                  part = tally_thread() & ((1 << log) - 1);
    const int64_t left = work->partition.count - first;
    const int32_t rows = left < most ? (int32_t)left : most, bytes = rows * length * TALLY_BYTES;
    char *const x = (char *)tile, *const y = TALLY_KERNEL_INPUTS == 1 ? x : x + TALLY_SHORT_TILE / 2;
    copy_to_tile(x, work->x + first * length * TALLY_BYTES, bytes);
    if (TALLY_KERNEL_INPUTS == 2) copy_to_tile(y, work->y + first * length * TALLY_BYTES, bytes);
    tally_copied();
    tally_barrier();
    const int32_t at = row * length * TALLY_BYTES, count = (length - part + (1 << log) - 1) >> log;
    const tile_part_t mine = {x + at, y + at, row, part, log, row < rows ? count : 0};
    return mine;
}
/* Adds up the thread's row: its own part, then those of the threads that share it. Each of them gets the row's sums in
 * sums[0]. */
TALLY_FN void add_part_of_row(row_sums_t *sums, const tile_part_t *mine, int32_t length) {
    enum { batch = together * TALLY_ACROSS };
    const int32_t most = (length + (1 << mine->log) - 1) >> mine->log, batches = (most + batch - 1) / batch;
    sizes_t sizes = no_sizes();
    int32_t first = mine->row / batch % batches * batch; /* the first value of the batch */
    TALLY_ROLLED
    for (int32_t b = 0; b < batches; b++) {
        values_t values;
        TALLY_UNROLL
        for (int32_t k = 0; k < together; k++) {
            values.x[k] = values.y[k] = no_values();
            TALLY_UNROLL
            for (int32_t v = 0; v < TALLY_ACROSS; v++) {
                const int32_t i = first + ((k * TALLY_ACROSS + v + mine->row) & (batch - 1)),
                              is_there = i < mine->count, at = ((i << mine->log) + mine->part) * TALLY_BYTES;
                const TALLY_T x = is_there ? *(const TALLY_T *)(const void *)(mine->x + at) : absent_value();
                put_value(&values.x[k], v, x);
                if (TALLY_KERNEL_INPUTS == 2)
                    put_value(&values.y[k], v, is_there ? *(const TALLY_T *)(const void *)(mine->y + at) : plus_zero());
                add_key(&sums[v], x, is_there);
            }
            if (TALLY_KERNEL_INPUTS == 1) values.y[k] = values.x[k];
        }
        add_values_to_rows(sums, &sizes, &values);
        first = first + batch >= batches * batch ? 0 : first + batch;
    }
    take_largest(sums, &sizes);
    TALLY_UNROLL
    for (int32_t v = 1; v < TALLY_ACROSS; v++) join_row_sums(&sums[0], &sums[v]);
    TALLY_ROLLED
    for (int32_t mask = (1 << mine->log) / 2; mask > 0; mask /= 2) {
        const row_sums_t other = row_sums_of_lane(&sums[0], tally_lane() ^ mask);
        join_row_sums(&sums[0], &other);
    }
}

#endif
