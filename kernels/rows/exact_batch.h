/* Adds a batch of vectors to the exact sums of a thread, one for each of its results. What a batch has of a result is
 * folded as a batch of a row side by side (exact_rows/lanes_row.h): in one double, or doubles beside an anchor, if that
 * is exact, or else in two. */
#ifndef TALLY_EXACT_BATCH_H
#define TALLY_EXACT_BATCH_H

#include "rows/batch.h"

#if TALLY_IS_COMPENSATED
#include "shared/parts.h"

enum { log_vectors = 4 /* log2 of the vectors of a batch, at most */ };
TALLY_ASSERT(batch_vectors <= 1 << log_vectors, "log_vectors is too small");

/* Folds value v of all vectors in one way; look: a constant. */
TALLY_FN void fold_result(folded_t *to, const batch_t *batch, int32_t v, const int32_t look) {
    TALLY_UNROLL
    for (int32_t b = 0; b < batch_vectors; b++) {
        const TALLY_T x = value_in(&batch->x[b], v);
        put_value(to, x, TALLY_KERNEL_INPUTS == 1 ? x : value_in(&batch->y[b], v), look);
    }
}
/* The same in the best way. */
TALLY_FN void fold_best(folded_t *to, const batch_t *batch, int32_t v) {
#if TALLY_MEASURES
    to->measured = nothing_measured();
    fold_result(to, batch, v, look_sizes);
    if (has_anchor(&to->measured, log_vectors, &to->anchor)) {
        to->anchored = nothing_anchored(to->anchor);
        fold_result(to, batch, v, look_anchored);
        to->column = combine(to->column, column_of_anchored(&to->anchored, to->anchor, to->measured.of[0].least));
        return;
    }
#elif TALLY_IS_SPLIT
    to->anchored = nothing_anchored(TALLY_SPLIT_ANCHOR);
    fold_result(to, batch, v, look_anchored);
    to->column = combine(to->column, column_of_anchored(&to->anchored, TALLY_SPLIT_ANCHOR, 0));
    return;
#elif TALLY_IS_RANGED && !TALLY_MAY_SKIP
    to->ranged = nothing_ranged();
    fold_result(to, batch, v, look_ranged);
    if (ranged_is_exact(&to->ranged, batch_vectors)) {
        to->column = combine(to->column, column_of_ranged(&to->ranged));
        return;
    }
#endif
    fold_result(to, batch, v, look_columns);
}
TALLY_FN void add_exact_batch(const batch_t *batch, column_t *columns, int32_t *present) {
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_ACROSS; v++) {
        folded_t folded = nothing_folded(0);
        folded.column = columns[v];
        fold_best(&folded, batch, v);
        columns[v] = folded.column;
        if (TALLY_MAY_SKIP) present[v] += folded.present;
    }
}
#endif

#endif
