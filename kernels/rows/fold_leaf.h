/* One pass over a leaf whose values lie `inner` apart: the folds of docs/order.md. A thread has columns of TALLY_ACROSS
 * neighbouring results. Included once for each kind of column, with
 *
 *     TALLY_RECORD, TALLY_COMBINE, TALLY_NOTHING   what a column is, how two combine, the identity
 *     TALLY_LIFT(x, y, k, v)                       value k of the leaf of result v
 *     TALLY_NAME(name), TALLY_TYPE_NAME(name)      the names of functions and types for it
 *     TALLY_FROM_LAST                              1: from the last columns to the first
 *
 * which are undefined again here. A thread takes a group of columns at a time, whose distance is the leaf's columns
 * divided by those of a group: the halves that are folded first are in one group. Groups come in bit-reversed order, so
 * those that are folded first are neighbours, and a thread keeps one partial result for each bit of their number, as a
 * binary counter keeps digits. */
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

/* Adds group number `group` of a thread to its partial results, one for each bit of the number. They are in local
 * memory: in registers, each group would move all of them. If groups come from last to first, they are numbered so,
 * and a group stands before those that it is combined with. */
TALLY_FN void TALLY_NAME(push_group)(TALLY_TYPE_NAME(across) * partial, int32_t group, TALLY_TYPE_NAME(across) * here) {
    TALLY_ROLLED
    for (int32_t bit = 0; bit < TALLY_FOLD_BITS; bit++) {
        if (!(group >> bit & 1)) {
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
/* Folds the columns of a group. in_turn: they are consecutive values of one column. */
TALLY_FN void TALLY_NAME(fold_group)(TALLY_TYPE_NAME(across) * columns, int32_t in_turn) {
    if (in_turn) {
        TALLY_UNROLL
        for (int32_t c = 1; c < group_columns; c++) TALLY_NAME(combine_across)(&columns[0], &columns[c]);
        return;
    }
    TALLY_UNROLL
    for (int32_t half = group_columns / 2; half > 0; half /= 2) {
        TALLY_UNROLL
        for (int32_t c = 0; c < half; c++) TALLY_NAME(combine_across)(&columns[c], &columns[c + half]);
    }
}
/* Value v of vector b of a batch, which is in `row`. */
TALLY_FN TALLY_RECORD TALLY_NAME(lift_value)(const panel_t *panel, const batch_t *batch, int32_t b, int32_t row,
                                             int32_t v, int32_t present[TALLY_ACROSS], const aims_t *aims) {
    const TALLY_T x = value_in(&batch->x[b], v), y = TALLY_KERNEL_INPUTS == 1 ? x : value_in(&batch->y[b], v);
    const int32_t place = place_in_vector(panel, row, v);
    (void)aims;
    (void)place;
    if (present != 0) present[v] += is_present(x) && is_present(y);
    return TALLY_LIFT(x, y, place, v);
}
/* Adds a batch, for an operator whose order does not show. is_full: all values are there. */
TALLY_FN void TALLY_NAME(add_batch)(const panel_t *panel, const leaf_t *leaf, const batch_t *batch,
                                    TALLY_TYPE_NAME(across) * all, int32_t present[TALLY_ACROSS], const aims_t *aims,
                                    const int32_t is_full) {
#if TALLY_IS_COMPENSATED
    if (is_full) {
        add_exact_batch(batch, all->v, present);
        return;
    }
#endif
    TALLY_UNROLL
    for (int32_t b = 0; b < batch_vectors; b++) {
        const int32_t row = batch->row + b * batch->apart;
        TALLY_UNROLL
        for (int32_t v = 0; v < TALLY_ACROSS; v++)
            if (is_full || row < leaf->ends[v])
                all->v[v] = TALLY_COMBINE(all->v[v], TALLY_NAME(lift_value)(panel, batch, b, row, v, present, aims));
    }
}
/* Adds a batch to the columns of a group. All values are lifted before columns are combined, so that what lifting waits
 * for overlaps. */
TALLY_FN void TALLY_NAME(add_to_group)(const panel_t *panel, const leaf_t *leaf, const batch_t *batch,
                                       TALLY_TYPE_NAME(across) * columns, int32_t present[TALLY_ACROSS],
                                       const aims_t *aims, const int32_t is_full) {
    TALLY_UNROLL
    for (int32_t first = 0; first < batch_vectors; first += batch_half) {
        TALLY_TYPE_NAME(across) lifted[batch_half];
        TALLY_UNROLL
        for (int32_t b = 0; b < batch_half; b++) {
            const int32_t row = batch->row + (first + b) * batch->apart;
            TALLY_UNROLL
            for (int32_t v = 0; v < TALLY_ACROSS; v++) {
                lifted[b].v[v] = TALLY_NOTHING;
                if (is_full || row < leaf->ends[v])
                    lifted[b].v[v] = TALLY_NAME(lift_value)(panel, batch, first + b, row, v, present, aims);
            }
        }
        TALLY_UNROLL
        for (int32_t b = 0; b < batch_half; b++) TALLY_NAME(combine_across)(&columns[b % group_columns], &lifted[b]);
    }
}

TALLY_FN void TALLY_NAME(begin_columns)(TALLY_TYPE_NAME(across) * all) {
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_ACROSS; v++) all->v[v] = TALLY_NOTHING;
}
/* Folds columns sub, sub + subs, ... of the leaf; joined rows count as one. */
TALLY_FN void TALLY_NAME(fold_groups)(const panel_t *panel, const leaf_t *leaf, stage_t *stage,
                                      TALLY_TYPE_NAME(across) * all, int32_t present[TALLY_ACROSS],
                                      const aims_t *aims) {
    TALLY_TYPE_NAME(across) partial[TALLY_FOLD_BITS], columns[group_columns];
    const int32_t are_few = leaf->mine < group_columns; /* then a group is one column */
    const int32_t count = are_few ? 1 : group_columns, groups = leaf->mine / count;
    const int32_t apart = (1 << leaf->log_all) / count;
    TALLY_ROLLED
    for (int32_t g = 0; g < groups; g++) {
        const int32_t number = TALLY_FROM_LAST ? groups - 1 - g : g,
                      begin = panel->sub + (int32_t)tally_reverse((uint32_t)(number * count), leaf->log_all);
        TALLY_UNROLL
        for (int32_t c = 0; c < group_columns; c++) TALLY_NAME(begin_columns)(&columns[c]);
        TALLY_ROLLED
        for (int32_t row = begin; row < leaf->ends[0]; row += batch_vectors * apart) {
            const batch_t batch = read_batch(panel, leaf, row, apart, stage);
            if (batch.is_full)
                TALLY_NAME(add_to_group)(panel, leaf, &batch, columns, present, aims, 1);
            else
                TALLY_NAME(add_to_group)(panel, leaf, &batch, columns, present, aims, 0);
        }
        TALLY_NAME(fold_group)(columns, are_few);
        *all = columns[0];
        TALLY_NAME(push_group)(partial, g, all); /* the last group's number has only ones: *all is all of them */
    }
}
/* Adds the same columns to *all, where no order shows. */
TALLY_FN void TALLY_NAME(add_rows)(const panel_t *panel, const leaf_t *leaf, stage_t *stage,
                                   TALLY_TYPE_NAME(across) * all, int32_t present[TALLY_ACROSS], const aims_t *aims) {
    const int32_t columns = 1 << leaf->log_all, apart = panel->subs < columns ? panel->subs : columns;
    TALLY_ROLLED
    for (int32_t row = panel->sub; leaf->mine > 0 && row < leaf->ends[0]; row += batch_vectors * apart) {
        const batch_t batch = read_batch(panel, leaf, row, apart, stage);
        if (batch.is_full)
            TALLY_NAME(add_batch)(panel, leaf, &batch, all, present, aims, 1);
        else
            TALLY_NAME(add_batch)(panel, leaf, &batch, all, present, aims, 0);
    }
}
TALLY_FN void TALLY_NAME(fold_leaf)(const panel_t *panel, const leaf_t *leaf, stage_t *stage,
                                    TALLY_TYPE_NAME(across) * all, int32_t present[TALLY_ACROSS], const aims_t *aims) {
    if (!TALLY_ROWS_GO_ON) await_panel(panel); /* the stage's memory may hold something else */
    if (TALLY_IS_FREE)
        TALLY_NAME(add_rows)(panel, leaf, stage, all, present, aims);
    else
        TALLY_NAME(fold_groups)(panel, leaf, stage, all, present, aims);
}

/* The place in shared memory where a thread leaves its columns for others. Each warp has warp_bytes, enough for its 32
 * lanes. */
TALLY_FN TALLY_TYPE_NAME(across) * TALLY_NAME(place_of)(char *shared, const int32_t warp_bytes, int32_t thread) {
    char *const place = shared + thread / TALLY_WARP * warp_bytes;
    return (TALLY_TYPE_NAME(across) *)(void *)(place + (uint32_t)thread % TALLY_WARP *
                                                           TALLY_APART(sizeof(TALLY_TYPE_NAME(across))));
}
/* Folds the columns of all subs and of all joined rows, for the threads of sub 0. All threads of the panel take
 * part. */
TALLY_FN TALLY_TYPE_NAME(across)
    TALLY_NAME(fold_subs)(TALLY_TYPE_NAME(across) mine, const panel_t *panel, char *shared, const int32_t warp_bytes) {
    const int32_t apart = panel->across, are_of_warp = TALLY_WARP % apart == 0; /* the lanes of sub 0 */
    TALLY_TYPE_NAME(across) *const place = TALLY_NAME(place_of)(shared, warp_bytes, tally_thread());
    if (panel->subs > 1 || panel->log_joined > 0) await_panel(panel); /* the memory may hold something else */
    for (int32_t half = panel->subs / 2; half > 0; half /= 2) {
        const int32_t is_of_warp = TALLY_WARP % (2 * half * apart) == 0;
        *place = mine;
        await_threads(is_of_warp);
        if (panel->sub < half) {
            const TALLY_TYPE_NAME(across) later =
                *TALLY_NAME(place_of)(shared, warp_bytes, tally_thread() + half * apart);
            TALLY_NAME(combine_across)(&mine, &later);
        }
        await_threads(is_of_warp);
    }
    for (int32_t half = 1 << panel->log_joined >> 1; half > 0; half /= 2) {
        *place = mine;
        await_threads(are_of_warp);
        TALLY_UNROLL
        for (int32_t v = 0; v < TALLY_ACROSS; v++) {
            const int32_t later = place_in_panel(panel, v) + half * panel->results;
            const int32_t there = tally_thread() - panel->lane + later / TALLY_ACROSS;
            if (panel->sub == 0 && row_in_panel(panel, v) < half && v < panel->mine)
                mine.v[v] =
                    TALLY_COMBINE(mine.v[v], TALLY_NAME(place_of)(shared, warp_bytes, there)->v[later % TALLY_ACROSS]);
        }
        await_threads(are_of_warp);
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
