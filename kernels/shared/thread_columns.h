/* A segment of up to 64 values in shared memory, by one thread, which keeps its 8 columns and takes 16 bytes, a part,
 * at a time. Included once for each kind of column, with
 *
 *     TALLY_RECORD, TALLY_COMBINE, TALLY_NOTHING   what a column is, how two combine, the identity
 *     TALLY_LIFT(x, y, k, v)                       a value as a column
 *     TALLY_NAME(name)                             the names of functions for it
 *
 * which are undone here. Gives thread_columns. small_columns and row_parts are those of shared/leaves.h.
 *
 * Both inputs lie alike (shared/values.h). Values have columns by where they lie, not by their places in the segment.
 * The result is the same: all columns are moved on together, so their halves stay halves. Each lane takes the parts of
 * a row in an order of its own, so that lanes whose segments have equal lengths do not all ask for the same banks at
 * once. */
#include "order/across.h"
#include "order/fold.h"
#include "shared/values.h"

#if !defined(TALLY_NAME) || !defined(TALLY_RECORD) || !defined(TALLY_COMBINE) || !defined(TALLY_NOTHING) || \
    !defined(TALLY_LIFT)
#error "define what the first comment lists"
#endif

/* Combines values from ... to - 1 of part k of a row with their columns. */
TALLY_FN void TALLY_NAME(put_in_columns)(TALLY_RECORD *columns, const int32_t k, const TALLY_T *part, const TALLY_T *y,
                                         int32_t from, int32_t to, const aims_t *aims) {
    const tally_quad quad = tally_take16((const char *)part);
    const tally_quad beside = TALLY_KERNEL_INPUTS == 1 ? quad : tally_take16((const char *)y);
    (void)y, (void)aims, (void)beside;
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_PART; v++) {
        TALLY_RECORD *const column = &columns[(k * TALLY_PART + v) % small_columns];
        if (v >= from && v < to)
            *column = TALLY_COMBINE(*column, TALLY_LIFT(value_of_part(&quad, v), value_of_part(&beside, v), 0, 0));
    }
}
/* Few registers, and read once: all rows at once. */
#define TALLY_UNROLL_THREAD_ROWS TALLY_UNROLL_BY(sizeof(TALLY_RECORD) <= 4 && TALLY_PASSES == 1 ? 8 : 1)
TALLY_FN TALLY_RECORD TALLY_NAME(thread_columns)(const TALLY_T *x, const TALLY_T *y, int32_t n, const aims_t *aims) {
    enum { PARTS = row_parts, ROW = PARTS * TALLY_PART };
    const int32_t before = (int32_t)((uint64_t)x % 16 / TALLY_BYTES), until = n > 0 ? before + n : 0,
                  rest = (int32_t)((uint32_t)until % TALLY_PART);
    const int32_t most = (int32_t)tally_warp_max((uint32_t)until), swap = tally_lane() % PARTS;
    TALLY_RECORD columns[small_columns];
    const TALLY_T *x_of[PARTS], *y_of[PARTS];
    int32_t whole[PARTS]; /* values of whole parts, from each part of a row on */
    TALLY_UNROLL
    for (int32_t c = 0; c < small_columns; c++) columns[c] = TALLY_NOTHING;
    TALLY_UNROLL
    for (int32_t k = 0; k < PARTS; k++) {
        const int32_t at = (k ^ swap) * TALLY_PART;
        x_of[k] = x - before + at;
        y_of[k] = y - before + at;
        whole[k] = until - rest - at;
        if (!TALLY_IS_LONG && at < until) {
            TALLY_NAME(put_in_columns)(columns, k, x_of[k], y_of[k], before - at, until - at, aims);
        }
    }
    /* Where code for a value is long, it stands in one place: every part may begin or end the segment. */
    TALLY_ROLLED
    for (int32_t row = 0; TALLY_IS_LONG && row < most; row += ROW) {
        TALLY_UNROLL
        for (int32_t k = 0; k < PARTS; k++) {
            const int32_t from = before - (k ^ swap) * TALLY_PART - row, to = whole[k] + rest - row;
            if (to > 0) {
                TALLY_NAME(put_in_columns)(columns, k, x_of[k] + row, y_of[k] + row, from, to, aims);
            }
        }
    }
    TALLY_UNROLL_THREAD_ROWS
    for (int32_t row = ROW; !TALLY_IS_LONG && row < TALLY_DEVICE_SMALL + TALLY_PART - 1; row += ROW) {
        if (row >= most) break;
        TALLY_UNROLL
        for (int32_t k = 0; k < PARTS; k++) {
            if (row < whole[k]) {
                TALLY_NAME(put_in_columns)(columns, k, x_of[k] + row, y_of[k] + row, 0, TALLY_PART, aims);
            }
        }
    }
    TALLY_UNROLL
    for (int32_t k = 0; k < PARTS && !TALLY_IS_LONG; k++) { /* behind whole rows and PARTS parts comes the rest */
        if (rest != 0 && until > ROW && whole[k] % ROW == 0) {
            TALLY_NAME(put_in_columns)(columns, k, x_of[k] + whole[k], y_of[k] + whole[k], 0, rest, aims);
        }
    }
    TALLY_NAME(halve)(columns, small_columns, 1);
    return columns[0];
}
#undef TALLY_UNROLL_THREAD_ROWS
#undef TALLY_NAME
#undef TALLY_TYPE_NAME
#undef TALLY_RECORD
#undef TALLY_COMBINE
#undef TALLY_NOTHING
#undef TALLY_LIFT
