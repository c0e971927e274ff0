/* One pass over a leaf whose values lie `inner` apart: the folds of docs/order.md. A thread has columns of TALLY_ACROSS
 * neighbouring results. Included once for each kind of column, with
 *
 *     TALLY_RECORD, TALLY_COMBINE, TALLY_NOTHING   what a column is, how two combine, the identity
 *     TALLY_LIFT(x, y, k, v)                       value k of the leaf of result v
 *     TALLY_NAME(name), TALLY_TYPE_NAME(name)      the names of functions and types for it
 *     TALLY_FROM_LAST                              1: from the last columns to the first
 *
 * which are undefined again here. The halves that are folded first are neighbours in bit-reversed order. So a thread
 * takes its columns in that order and keeps one partial result for each bit, as a binary counter keeps digits. */
#include "order/across.h"
#include "order/fold.h"
#include "rows/batch.h"

#if !defined(TALLY_NAME) || !defined(TALLY_RECORD) || !defined(TALLY_COMBINE) || !defined(TALLY_NOTHING) || \
    !defined(TALLY_LIFT) || !defined(TALLY_FROM_LAST)
#error "define what the first comment lists"
#endif

typedef struct TALLY_TYPE_NAME(across) {
    TALLY_RECORD v[TALLY_ACROSS];
} TALLY_TYPE_NAME(across);

/* Adds column number `column` of a thread to its partial results, one for each bit of the number. They are in local
 * memory: in registers, each column would move all of them. If columns come from last to first, they are numbered so,
 * and a column stands before those that it is combined with. */
TALLY_FN void TALLY_NAME(push_column)(TALLY_TYPE_NAME(across) * partial, int32_t column,
                                      TALLY_TYPE_NAME(across) * here) {
    TALLY_ROLLED
    for (int32_t bit = 0; bit < TALLY_FOLD_BITS; bit++) {
        if (!(column >> bit & 1)) {
            partial[bit] = *here;
            return;
        }
        TALLY_UNROLL
        for (int32_t v = 0; v < TALLY_ACROSS; v++)
            here->v[v] = TALLY_FROM_LAST ? TALLY_COMBINE(here->v[v], partial[bit].v[v])
                                         : TALLY_COMBINE(partial[bit].v[v], here->v[v]);
    }
}

TALLY_FN void TALLY_NAME(combine_across)(TALLY_TYPE_NAME(across) * a, const TALLY_TYPE_NAME(across) * later) {
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_ACROSS; v++) a->v[v] = TALLY_COMBINE(a->v[v], later->v[v]);
}
/* Folds the columns of a batch, `values` values each: first each column from its first value to its last, then the
 * columns as a tree, as they are neighbours in bit-reversed order. */
TALLY_FN void TALLY_NAME(fold_columns)(TALLY_TYPE_NAME(across) * a, const int32_t values) {
    TALLY_UNROLL
    for (int32_t b = 0; b < batch_vectors; b++)
        if (b % values != 0) TALLY_NAME(combine_across)(&a[b - b % values], &a[b]);
    TALLY_UNROLL
    for (int32_t step = values; step < batch_vectors; step *= 2) {
        TALLY_UNROLL
        for (int32_t b = 0; b < batch_vectors; b += 2 * step) TALLY_NAME(combine_across)(&a[b], &a[b + step]);
    }
}
/* Value v of vector b of a batch. */
TALLY_FN TALLY_RECORD TALLY_NAME(lift_value)(const batch_t *batch, int32_t b, int32_t v, int32_t place,
                                             int32_t present[TALLY_ACROSS], const aims_t *aims) {
    const TALLY_T x = value_in(&batch->x[b], v), y = TALLY_KERNEL_INPUTS == 1 ? x : value_in(&batch->y[b], v);
    (void)aims;
    (void)place;
    if (present != 0) present[v] += is_present(x) && is_present(y);
    return TALLY_LIFT(x, y, place, v);
}
/* Adds a batch, for an operator whose order does not show. is_full: all values are there. */
TALLY_FN void TALLY_NAME(add_batch)(const panel_t *panel, const leaf_t *leaf, const batch_t *batch,
                                    TALLY_TYPE_NAME(across) * all, int32_t present[TALLY_ACROSS], const aims_t *aims,
                                    const int32_t is_full) {
    TALLY_UNROLL
    for (int32_t b = 0; b < batch_vectors; b++) {
        TALLY_UNROLL
        for (int32_t v = 0; v < TALLY_ACROSS; v++) {
            const int32_t place = leaf->first + place_in_vector(panel, batch->rows[b], v);
            if (is_full || batch->rows[b] < leaf->ends[v])
                all->v[v] = TALLY_COMBINE(all->v[v], TALLY_NAME(lift_value)(batch, b, v, place, present, aims));
        }
    }
}
/* Folds a batch in canonical order. */
TALLY_FN TALLY_TYPE_NAME(across)
    TALLY_NAME(fold_batch)(const panel_t *panel, const leaf_t *leaf, const batch_t *batch,
                           int32_t present[TALLY_ACROSS], const aims_t *aims, const int32_t is_full) {
    TALLY_TYPE_NAME(across) a[batch_vectors];
    TALLY_UNROLL
    for (int32_t b = 0; b < batch_vectors; b++) {
        TALLY_UNROLL
        for (int32_t v = 0; v < TALLY_ACROSS; v++) {
            const int32_t place = leaf->first + place_in_vector(panel, batch->rows[b], v);
            a[b].v[v] = TALLY_NOTHING;
            if (is_full || batch->rows[b] < leaf->ends[v])
                a[b].v[v] = TALLY_NAME(lift_value)(batch, b, v, place, present, aims);
        }
    }
    if (is_full || leaf->log_values == 3)
        TALLY_NAME(fold_columns)(a, 8);
    else if (leaf->log_values == 2)
        TALLY_NAME(fold_columns)(a, 4);
    else /* a column of two values is a pair of the tree */
        TALLY_NAME(fold_columns)(a, 1);
    return a[0];
}

TALLY_FN void TALLY_NAME(begin_columns)(TALLY_TYPE_NAME(across) * all) {
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_ACROSS; v++) all->v[v] = TALLY_NOTHING;
}
/* Folds columns sub, sub + subs, ... of the leaf; joined rows count as one. Where no order shows, adds them to *all. */
TALLY_FN void TALLY_NAME(fold_batches)(const panel_t *panel, const leaf_t *leaf, stage_t *stage,
                                       TALLY_TYPE_NAME(across) * all, int32_t present[TALLY_ACROSS], const aims_t *aims,
                                       const int32_t is_full) {
    TALLY_TYPE_NAME(across) partial[TALLY_FOLD_BITS];
    const int32_t log_taken = is_full ? 0 : 3 - leaf->log_values; /* columns of a batch */
    (void)partial;
    TALLY_ROLLED
    for (int32_t k = 0; k < leaf->mine; k += 1 << log_taken) {
        const int32_t last = leaf->mine - (1 << log_taken), i = TALLY_FROM_LAST && last > 0 ? last - k : k;
        const batch_t batch = is_full ? read_column(panel, leaf, i) : read_batch(panel, leaf, i, stage);
        if (TALLY_IS_FREE)
            TALLY_NAME(add_batch)(panel, leaf, &batch, all, present, aims, is_full);
        else { /* after the last column, whose number has only ones, *all is the result of all columns */
            *all = TALLY_NAME(fold_batch)(panel, leaf, &batch, present, aims, is_full);
            TALLY_NAME(push_column)(partial, k >> log_taken, all);
        }
    }
}
TALLY_FN void TALLY_NAME(fold_leaf)(const panel_t *panel, const leaf_t *leaf, stage_t *stage,
                                    TALLY_TYPE_NAME(across) * all, int32_t present[TALLY_ACROSS], const aims_t *aims) {
    await_panel(panel); /* the stage's memory may hold something else */
    if (panel->reads == TALLY_READS_WHOLE && leaf->is_inside && leaf->n == TALLY_DEVICE_STRIPES << leaf->log_columns)
        TALLY_NAME(fold_batches)(panel, leaf, stage, all, present, aims, 1);
    else
        TALLY_NAME(fold_batches)(panel, leaf, stage, all, present, aims, 0);
}

/* The place in shared memory where a thread leaves its columns for others. Each warp has warp_bytes, enough for its 32
 * lanes. */
TALLY_FN TALLY_TYPE_NAME(across) * TALLY_NAME(place_of)(char *shared, const int32_t warp_bytes, int32_t thread) {
    char *const place = shared + thread / TALLY_WARP * warp_bytes;
    return (TALLY_TYPE_NAME(across) *)(void *)place + thread % TALLY_WARP;
}
/* Folds the columns of all subs and of all joined rows, for the threads of sub 0. All threads of the panel take
 * part. */
TALLY_FN TALLY_TYPE_NAME(across)
    TALLY_NAME(fold_subs)(TALLY_TYPE_NAME(across) mine, const panel_t *panel, char *shared, const int32_t warp_bytes) {
    const int32_t apart = panel->across;
    TALLY_TYPE_NAME(across) *const place = TALLY_NAME(place_of)(shared, warp_bytes, tally_thread());
    if (panel->subs > 1 || panel->log_joined > 0) await_panel(panel); /* the memory may hold something else */
    for (int32_t half = panel->subs / 2; half > 0; half /= 2) {
        const int32_t is_of_warp = 2 * half * apart <= TALLY_WARP;
        *place = mine;
        await_threads(is_of_warp);
        if (panel->sub < half) {
            const TALLY_TYPE_NAME(across) later =
                *TALLY_NAME(place_of)(shared, warp_bytes, tally_thread() + half * apart);
            TALLY_NAME(combine_across)(&mine, &later);
        }
        await_threads(is_of_warp);
    }
    for (int32_t half = 1 << panel->log_joined >> 1; half > 0; half /= 2) { /* joined rows are in lanes of a warp */
        *place = mine;
        tally_warp_barrier();
        TALLY_UNROLL
        for (int32_t v = 0; v < TALLY_ACROSS; v++) {
            const int32_t later = place_in_panel(panel, v) + half * panel->results;
            if (panel->sub == 0 && row_in_panel(panel, v) < half && v < panel->mine)
                mine.v[v] = TALLY_COMBINE(mine.v[v], place[later / TALLY_ACROSS - panel->lane].v[later % TALLY_ACROSS]);
        }
        tally_warp_barrier();
    }
    return mine;
}
#undef TALLY_NAME
#undef TALLY_TYPE_NAME
#undef TALLY_RECORD
#undef TALLY_COMBINE
#undef TALLY_NOTHING
#undef TALLY_LIFT
#undef TALLY_FROM_LAST
