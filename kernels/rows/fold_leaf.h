/* One pass down a leaf whose values lie `inner` apart, a column of TALLY_ACROSS results for each thread: the folds of
 * docs/order.md. Included for each kind of column, with
 *
 *     TALLY_RECORD, TALLY_COMBINE, TALLY_NOTHING   what a column is, how two combine, the identity
 *     TALLY_LIFT(x, y, k, v)                       value k of the leaf of result v
 *     TALLY_NAME(name), TALLY_TYPE_NAME(name)      the names of functions and types for it
 *
 * which are undone here. Halves that are folded first hold neighbours in the order of reversed bits: a thread that
 * takes its columns in that order keeps one partial result for each bit, as a binary counter keeps digits. */
#include "order/across.h"
#include "order/fold.h"
#include "rows/ring.h"

#if !defined(TALLY_NAME) || !defined(TALLY_RECORD) || !defined(TALLY_COMBINE) || !defined(TALLY_NOTHING) || \
    !defined(TALLY_LIFT)
#error "define what the first comment lists"
#endif

typedef struct TALLY_TYPE_NAME(across) {
    TALLY_RECORD v[TALLY_ACROSS];
} TALLY_TYPE_NAME(across);

/* Column number `column` of a thread joins those before it, of which there is one partial result for each bit. These
 * lie in local memory: in registers each column would move all of them. */
TALLY_FN void TALLY_NAME(push_column)(TALLY_TYPE_NAME(across) * partial, int32_t column,
                                      TALLY_TYPE_NAME(across) * here) {
    TALLY_ROLLED
    for (int32_t bit = 0; bit < TALLY_FOLD_BITS; bit++) {
        if (!(column >> bit & 1)) {
            partial[bit] = *here;
            return;
        }
        TALLY_UNROLL
        for (int32_t v = 0; v < TALLY_ACROSS; v++) here->v[v] = TALLY_COMBINE(partial[bit].v[v], here->v[v]);
    }
}

TALLY_FN void TALLY_NAME(begin_column)(TALLY_TYPE_NAME(across) * here) {
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_ACROSS; v++) here->v[v] = TALLY_NOTHING;
}
/* Adds value k of the leaf, a vector of them, to a column that begins with it or not. is_joined, is_tail: rows may be
 * joined, and the leaf may lack some of them. */
TALLY_FN void TALLY_NAME(add_vector)(const panel_t *panel, int32_t n, const vector_t *x, const vector_t *y, int32_t k,
                                     int32_t begins, TALLY_TYPE_NAME(across) * here, int32_t present[TALLY_ACROSS],
                                     const aims_t *aims, const int32_t is_joined, const int32_t is_tail) {
    (void)aims;
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_ACROSS; v++) {
        const int32_t place = is_joined ? k + row_in_panel(panel, v) : k;
        if (is_tail && place >= n) continue;
        const TALLY_T its_x = value_in(x, v), its_y = TALLY_KERNEL_INPUTS == 1 ? its_x : value_in(y, v);
        const TALLY_RECORD lifted = TALLY_LIFT(its_x, its_y, place, v);
        if (begins)
            here->v[v] = lifted;
        else
            here->v[v] = TALLY_COMBINE(here->v[v], lifted);
        if (present != 0) present[v] += is_present(its_x) && is_present(its_y);
    }
}
TALLY_FN void TALLY_NAME(add_batch)(const panel_t *panel, const leaf_t *leaf, const batch_t *batch, const ring_t *ring,
                                    TALLY_TYPE_NAME(across) * here, int32_t present[TALLY_ACROSS], const aims_t *aims,
                                    const int32_t is_joined) {
    const uint32_t behind_x = bytes_behind(leaf, batch, &panel->x), behind_y = bytes_behind(leaf, batch, &panel->y);
    (void)behind_y;
    TALLY_UNROLL
    for (int32_t s = 0; s < 4; s++) {
        if (s >= batch->values) continue;
        const vector_t x = take_from_ring(panel, behind_x, ring->of[0][batch->slot + s]),
                       y = TALLY_KERNEL_INPUTS == 1
                               ? x
                               : take_from_ring(panel, behind_y, ring->of[TALLY_KERNEL_INPUTS - 1][batch->slot + s]);
        TALLY_NAME(add_vector)
        (panel, leaf->n, &x, &y, batch->k + (s << leaf->log_columns), !TALLY_IS_FREE && s == 0 && batch->stripe == 0,
         here, present, aims, is_joined, is_joined);
    }
}

/* Columns sub, sub + subs, ... of the leaf, folded, of joined rows so many together. While a batch is added up, those
 * behind it are on their way. */
TALLY_FN TALLY_TYPE_NAME(across)
    TALLY_NAME(fold_leaf_so)(const panel_t *panel, const leaf_t *leaf, ring_t *ring, int32_t present[TALLY_ACROSS],
                             const aims_t *aims, const int32_t is_joined) {
    TALLY_TYPE_NAME(across) here, partial[TALLY_FOLD_BITS];
    const int32_t batches = leaf->n > 0 ? leaf->mine << leaf->log_batches : 0, ahead = ring_slots / leaf->batch;
    (void)partial;
    TALLY_NAME(begin_column)(&here);
    TALLY_ROLLED
    for (int32_t i = -ahead; i < batches; i++) {
        if (i >= 0) {
            const batch_t batch = batch_of(panel, leaf, i);
            await_batch(leaf);
            if (panel->reads == TALLY_READS_SPLIT) tally_warp_barrier();
            if (!TALLY_IS_FREE && batch.stripe == 0 && (is_joined || batch.values == 0)) /* some are not there */
                TALLY_NAME(begin_column)(&here);
            TALLY_NAME(add_batch)(panel, leaf, &batch, ring, &here, present, aims, is_joined);
            if (panel->reads == TALLY_READS_SPLIT) tally_warp_barrier();
            if (!TALLY_IS_FREE && (i & leaf->log_batches) == leaf->log_batches)
                TALLY_NAME(push_column)(partial, i >> leaf->log_batches, &here);
        }
        if (i + ahead < batches) start_batch(panel, leaf, i + ahead, ring);
        TALLY_END_COPIES();
    }
    return here; /* after the last column, whose bits are all 1, all of them */
}
/* The same of a leaf that has all its values, in whole vectors: a column of them is on its way to registers, which
 * takes fewer instructions. */
TALLY_FN TALLY_TYPE_NAME(across)
    TALLY_NAME(fold_full)(const panel_t *panel, const leaf_t *leaf, int32_t present[TALLY_ACROSS], const aims_t *aims) {
    TALLY_TYPE_NAME(across) here, partial[TALLY_FOLD_BITS];
    const int64_t step_x = panel->x.row * (1 << leaf->log_all), step_y = panel->y.row * (1 << leaf->log_all);
    (void)partial;
    (void)step_y;
    TALLY_NAME(begin_column)(&here);
    if (panel->sub >> leaf->log_all > 0 || !panel->is_reader) return here;
    TALLY_ROLLED
    for (int32_t i = 0; i < leaf->mine; i++) {
        const int32_t column = nth_column(panel, leaf, i);
        const char *from_x = panel->x.first + (leaf->row + column) * panel->x.row,
                   *from_y = panel->y.first + (leaf->row + column) * panel->y.row;
        vector_t x[TALLY_DEVICE_STRIPES], y[TALLY_DEVICE_STRIPES];
        TALLY_UNROLL
        for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++, from_x += step_x, from_y += step_y) {
            x[s] = read_whole_vector(from_x);
            if (TALLY_KERNEL_INPUTS == 2) y[s] = read_whole_vector(from_y);
        }
        TALLY_UNROLL
        for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++) {
            const int32_t k = (column << panel->log_joined) + (s << leaf->log_columns);
            if (TALLY_KERNEL_INPUTS == 1) y[s] = x[s];
            TALLY_NAME(add_vector)
            (panel, leaf->n, &x[s], &y[s], k, !TALLY_IS_FREE && s == 0, &here, present, aims, 1, 0);
        }
        if (!TALLY_IS_FREE) TALLY_NAME(push_column)(partial, i, &here);
    }
    return here;
}
TALLY_FN TALLY_TYPE_NAME(across) TALLY_NAME(fold_leaf)(const panel_t *panel, const leaf_t *leaf, ring_t *ring,
                                                       int32_t present[TALLY_ACROSS], const aims_t *aims) {
    tally_barrier(); /* something else may lie where the ring is */
    if (panel->reads == TALLY_READS_WHOLE && leaf->n == TALLY_DEVICE_STRIPES << leaf->log_columns && !TALLY_IS_LONG)
        return TALLY_NAME(fold_full)(panel, leaf, present, aims);
    if (panel->log_joined > 0) return TALLY_NAME(fold_leaf_so)(panel, leaf, ring, present, aims, 1);
    return TALLY_NAME(fold_leaf_so)(panel, leaf, ring, present, aims, 0);
}

/* The same of all subs and of all joined rows, for the threads of sub 0. All threads of the block take part. */
TALLY_FN TALLY_TYPE_NAME(across)
    TALLY_NAME(fold_subs)(TALLY_TYPE_NAME(across) mine, const panel_t *panel, TALLY_TYPE_NAME(across) * shared) {
    const int32_t apart = panel->across;
    if (panel->subs > 1 || panel->log_joined > 0) tally_barrier(); /* something else may lie there */
    for (int32_t half = panel->subs / 2; half > 0; half /= 2) {
        const int32_t is_of_warp = 2 * half * apart <= TALLY_WARP;
        shared[tally_thread()] = mine;
        await_threads(is_of_warp);
        if (panel->sub < half) {
            TALLY_TYPE_NAME(across) later = shared[tally_thread() + half * apart];
            TALLY_UNROLL
            for (int32_t v = 0; v < TALLY_ACROSS; v++) mine.v[v] = TALLY_COMBINE(mine.v[v], later.v[v]);
        }
        await_threads(is_of_warp);
    }
    for (int32_t half = 1 << panel->log_joined >> 1; half > 0; half /= 2) { /* lanes of a warp have them */
        const TALLY_TYPE_NAME(across) *const row = shared + tally_thread() - panel->lane;
        shared[tally_thread()] = mine;
        tally_warp_barrier();
        TALLY_UNROLL
        for (int32_t v = 0; v < TALLY_ACROSS; v++) {
            const int32_t later = place_in_panel(panel, v) + half * panel->results;
            if (panel->sub == 0 && row_in_panel(panel, v) < half && v < panel->mine)
                mine.v[v] = TALLY_COMBINE(mine.v[v], row[later / TALLY_ACROSS].v[later % TALLY_ACROSS]);
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
