/* A row whose values lie side by side in memory, folded by some neighbouring lanes of a warp (compensated/nodes.h).
 * Lanes read 16 bytes at a time, a quad. What order the values come in does not show. */
#ifndef TALLY_LANES_ROW_H
#define TALLY_LANES_ROW_H

#include "device/device.h"
#include "shared/parts.h"

/* Blocks of exact_lanes.h and exact_parts.h that a multiprocessor holds: as few as keep registers from spilling
 * (tests/unit/test_compile.c). Of exact_tiles.h twice as many, of half the threads. */
#define TALLY_RESIDENT (TALLY_HAS_KEYS || TALLY_BYTES == 8 || (TALLY_BYTES == 2 && TALLY_HAS_PRODUCTS) ? 2 : 3)

enum { batch_quads = 4 }; /* that a lane has on their way at once */
typedef struct batch_t {
    tally_quad x[batch_quads], y[batch_quads];
} batch_t;

/* What lanes share: the row's values from a multiple of 16 bytes on, `count` quads of them, and some values before and
 * behind these. */
typedef struct row_t {
    const char *x, *y;            /* the first quad */
    int32_t count, before, after; /* quads; values */
} row_t;
TALLY_FN row_t row_at(const char *x, const char *y, int32_t n) {
    const int32_t off = (int32_t)((uint64_t)x % 16) / TALLY_BYTES, most = off == 0 ? 0 : TALLY_PART - off,
                  before = most < n ? most : n;
    const row_t row = {x + before * TALLY_BYTES, y + before * TALLY_BYTES, (n - before) / TALLY_PART, before,
                       (n - before) % TALLY_PART};
    return row;
}

/* Folds `there` quads of a batch in one way; look: a constant. */
TALLY_FN void fold_quads(folded_t *to, const batch_t *batch, int32_t there, const int32_t look) {
    TALLY_UNROLL
    for (int32_t k = 0; k < batch_quads; k++) {
        if (k >= there) continue;
        TALLY_UNROLL
        for (int32_t v = 0; v < TALLY_PART; v++)
            put_value(to, value_of_part(&batch->x[k], v), value_of_part(&batch->y[k], v), look);
    }
}
#if TALLY_MEASURES
enum { log_batch = 4 /* log2 of its values */ };
TALLY_ASSERT(batch_quads *TALLY_PART == 1 << log_batch, "log_batch is no logarithm of a batch");
/* The same as a chunk is folded (chunks/measured_chunk.h): beside an anchor, if there is one. */
TALLY_FN void fold_batch(folded_t *to, const batch_t *batch, int32_t there, const int32_t look) {
    to->measured = nothing_measured();
    fold_quads(to, batch, there, look_sizes);
    if (!has_anchor(&to->measured, log_batch, &to->anchor)) {
        fold_quads(to, batch, there, look);
        return;
    }
    to->anchored = nothing_anchored(to->anchor);
    fold_quads(to, batch, there, look_anchored);
    to->column = combine(to->column, column_of_anchored(&to->anchored, to->anchor, to->measured.of[0].least));
}
#elif TALLY_IS_RANGED && !TALLY_IS_SPLIT && !TALLY_MAY_SKIP
/* The same in one double, if its range says that this was exact. */
TALLY_FN void fold_batch(folded_t *to, const batch_t *batch, int32_t there, const int32_t look) {
    to->ranged = nothing_ranged();
    fold_quads(to, batch, there, look_ranged);
    if (ranged_is_exact(&to->ranged, batch_quads * TALLY_PART))
        to->column = combine(to->column, column_of_ranged(&to->ranged));
    else
        fold_quads(to, batch, there, look);
}
#else
TALLY_FN void fold_batch(folded_t *to, const batch_t *batch, int32_t there, const int32_t look) {
    fold_quads(to, batch, there, look);
}
#endif

/* Reads the lane's next quads, `there` of them at most, which are `apart` bytes from each other. */
TALLY_FN void read_batch(batch_t *batch, const char *x, const char *y, int32_t there, int32_t apart) {
    TALLY_UNROLL
    for (int32_t k = 0; k < batch_quads; k++) {
        if (k < there) batch->x[k] = tally_load16_again(x + k * apart);
        if (TALLY_KERNEL_INPUTS == 1)
            batch->y[k] = batch->x[k];
        else if (k < there)
            batch->y[k] = tally_load16_again(y + k * apart);
    }
}
/* Values before and behind the quads: of each lane so many are on their way while it folds quads. */
enum { odd_values = TALLY_BYTES == 2 ? 2 : 1 };
typedef struct odds_t {
    TALLY_T x[odd_values], y[odd_values];
} odds_t;
/* Reads the lane's odd values from number i on, every lanes-th. */
TALLY_FN void read_odds(odds_t *odds, const row_t *row, int32_t i, int32_t lanes) {
    TALLY_UNROLL
    for (int32_t k = 0; k < odd_values; k++, i += lanes) {
        if (i >= row->before + row->after) continue;
        const int64_t at = i < row->before ? i - row->before : i - row->before + (int64_t)row->count * TALLY_PART;
        odds->x[k] = ((const TALLY_T *)(const void *)row->x)[at];
        odds->y[k] = TALLY_KERNEL_INPUTS == 1 ? odds->x[k] : ((const TALLY_T *)(const void *)row->y)[at];
    }
}
TALLY_FN void fold_odds(folded_t *to, const odds_t *odds, const row_t *row, int32_t i, int32_t lanes,
                        const int32_t look) {
    TALLY_UNROLL
    for (int32_t k = 0; k < odd_values; k++, i += lanes)
        if (i < row->before + row->after) put_value(to, odds->x[k], odds->y[k], look);
}
/* Folds this lane's share of a row that 2^log_lanes lanes share. If a value costs much, the next quads are on their way
 * meanwhile; elsewhere more warps are worth more than these registers. Measured. */
enum { reads_ahead = TALLY_MEASURES || TALLY_IS_F64 };
TALLY_FN void fold_row(folded_t *to, const row_t *row, int32_t log_lanes, const int32_t look) {
    const int32_t lanes = 1 << log_lanes, sub = tally_lane() & (lanes - 1), apart = 16 * lanes;
    const char *x = row->x + 16 * sub, *y = row->y + 16 * sub;
    int32_t left = (row->count - sub + lanes - 1) >> log_lanes;
    batch_t batch, next;
    odds_t odds;
    read_odds(&odds, row, sub, lanes);
    if (reads_ahead) read_batch(&next, x, y, left, apart);
    TALLY_ROLLED
    for (; left > 0; left -= batch_quads) {
        if (!reads_ahead) read_batch(&next, x, y, left, apart);
        batch = next;
        x += batch_quads * apart, y += batch_quads * apart;
        if (reads_ahead) read_batch(&next, x, y, left - batch_quads, apart);
        fold_batch(to, &batch, left, look);
    }
    TALLY_ROLLED
    for (int32_t i = sub; i < row->before + row->after; i += odd_values * lanes) {
        if (i != sub) read_odds(&odds, row, i, lanes);
        fold_odds(to, &odds, row, i, lanes, look);
    }
}
/* What the lanes of a row fold it to; each of them gets that. All lanes of the warp call this. */
TALLY_FN folded_t folded_row(const row_t *row, int32_t log_lanes) {
    const int32_t n = row->before + row->count * TALLY_PART + row->after;
    folded_t folded = nothing_folded(n);
#if TALLY_IS_SPLIT
    folded.anchored = nothing_anchored(TALLY_SPLIT_ANCHOR);
    fold_row(&folded, row, log_lanes, look_anchored);
    folded.column = column_of_anchored(&folded.anchored, TALLY_SPLIT_ANCHOR, 0);
#else
    fold_row(&folded, row, log_lanes, look_columns);
#endif
    meet_lanes(&folded, 1 << log_lanes, look_columns);
    return folded;
}
/* The part of a row that a warp has where all warps of a block share it. */
TALLY_FN row_t part_of_row(const row_t *row, int32_t warp) {
    const int32_t each = (row->count + TALLY_WARPS - 1) / TALLY_WARPS,
                  first = warp * each < row->count ? warp * each : row->count, left = row->count - first,
                  is_last = warp == TALLY_WARPS - 1;
    const row_t part = {row->x + 16 * (int64_t)first, row->y + 16 * (int64_t)first, left < each ? left : each,
                        warp == 0 ? row->before : 0, is_last ? row->after : 0};
    return part;
}

#endif
