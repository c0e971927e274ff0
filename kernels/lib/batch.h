/* Rows of at most 64 values, as a warp reads them: a batch of rows, of which each has some lanes, and a lane at most 8 values. No include guard;
 * behind lib/leaf.h. */
#ifndef TALLY_BATCH_H
#define TALLY_BATCH_H
enum { TALLY_SHORT_COLUMNS = 8 }; /* of a leaf of at most TALLY_DEVICE_SMALL values */
#endif

typedef struct TALLY_N(batch) {
    TALLY_T x[TALLY_SHORT_COLUMNS], y[TALLY_SHORT_COLUMNS]; /* values mine, mine + lanes, ...; 0 where there are none */
    int64_t row, at; /* this lane's row and its first value; -1: there is none */
} TALLY_N(batch);

/* The first value of row r, which is at outer index r / inner and inner index r % inner. Dividing 64 bits would take longer than the rest. */
TALLY_FN int64_t TALLY_N(begin_of_row)(const tally_work *work, int64_t row) {
    int64_t outer;
    if (work->inner == 1) return row * work->length;
    if (work->outer == 1) return row;
    outer = (row | work->inner) >> 32 == 0 ? (int64_t)((uint32_t)row / (uint32_t)work->inner) : row / work->inner;
    return outer * work->length * work->inner + (row - outer * work->inner);
}

/* Batch k of the warp, `lanes` lanes for each row, a constant. */
TALLY_FN TALLY_N(batch) TALLY_N(read_batch)(const tally_work *work, int32_t k, const int32_t lanes) {
    const tally_source x = tally_source_of(work->x, work->x_stride, TALLY_BYTES), y = tally_source_of(work->y, work->y_stride, TALLY_BYTES);
    const int64_t warp = (int64_t)tally_block() * TALLY_WARPS + tally_warp();
    const int32_t together = TALLY_WARP / lanes, length = (int32_t)work->length;
    TALLY_N(batch) batch;
    batch.row = ((warp << work->run) + k) * together + tally_lane() / lanes;
    if (batch.row >= work->outer * work->inner) batch.row = -1;
    batch.at = TALLY_N(begin_of_row)(work, batch.row);
    TALLY_UNROLL
    for (int32_t m = 0; m < TALLY_SHORT_COLUMNS; m++) {
        const int32_t i = tally_lane() % lanes + lanes * m;
        batch.x[m] = batch.y[m] = 0;
        if (lanes * m >= length) continue; /* of no row */
        if (i < length && batch.row >= 0) batch.x[m] = batch.y[m] = TALLY_N(read_one)(&x, batch.at + i * work->inner);
        if (TALLY_KERNEL_INPUTS == 2 && i < length && batch.row >= 0) batch.y[m] = TALLY_N(read_one)(&y, batch.at + i * work->inner);
    }
    return batch;
}
/* Whether the lane has an m-th value. */
TALLY_FN int32_t TALLY_N(lane_has)(const TALLY_N(batch) *batch, int32_t length, int32_t m, const int32_t lanes) {
    return batch->row >= 0 && tally_lane() % lanes + lanes * m < length;
}
