/* Rows along an axis that is not the last, by an operator of kernels/exact: of each the true sum, whatever the order (docs/exact.md,
 * docs/design/007). No include guard.
 *
 * Threads stand as lib/panel.h says. All of a panel plan the same levels, from the same sample of its rows, so that what they count joins by
 * integer addition: through shared memory, and from chunk to chunk by the last block of a panel. */
#include "lib/types.h"

#include TALLY_KERNEL_FILE

#include "lib/arrival.h"
#include "lib/leaf.h"
#include "lib/levels.h"
#include "lib/extent.h"
#include "lib/terms.h"
#include "lib/ruler.h"
#include "lib/careful.h"
#include "lib/planned.h"

/* Blocks that a multiprocessor holds: as few as keep registers from spilling (tests/unit/test_compile.c). */
#if defined(TALLY_PRODUCTS) || TALLY_BYTES == 8
#define TALLY_RESIDENT 1
#else
#define TALLY_RESIDENT 2
#endif
#define TALLY_ACROSS TALLY_EXACT_ACROSS_OF(TALLY_BYTES, TALLY_KERNEL_INPUTS)
#include "lib/panel.h"

#define TALLY_TOGETHER 8 /* values of a result on their way at once */

typedef struct TALLY_N(partials) {
    TALLY_N(partial) v[TALLY_ACROSS];
} TALLY_N(partials);

typedef struct TALLY_N(shared) {
    TALLY_N(node) nodes[TALLY_WARPS]; /* for what is not held by levels */
    TALLY_N(partials) upper[TALLY_BLOCK / 2];
    int32_t is_last[TALLY_BLOCK];
} TALLY_N(shared);

/* Values k, k + step, ... of each of the thread's results, as many as are below `end`; with is_plain, a constant, all are there, and the panel
 * is whole. */
typedef struct TALLY_N(strips) {
    TALLY_T x[TALLY_TOGETHER * TALLY_ACROSS], y[TALLY_TOGETHER * TALLY_ACROSS];
    uint64_t there[TALLY_ACROSS];
    int64_t absent[TALLY_ACROSS];
} TALLY_N(strips);
TALLY_FN TALLY_N(strips) TALLY_N(read_strips)(const TALLY_N(panel) *panel, int64_t k, int64_t step, int64_t end,
                                             const int32_t is_plain) {
    TALLY_N(strips) strips;
    const char *from_x = panel->x.first + k * panel->x.row, *from_y = panel->y.first + k * panel->y.row;
    const int32_t is_whole = is_plain || panel->is_whole;
    uint64_t there = 0;
    TALLY_UNROLL
    for (int32_t s = 0; s < TALLY_TOGETHER; s++) {
        TALLY_N(strip) x, y;
        __builtin_memset(&x, 0, sizeof x);
        if (is_plain || (k + s * step < end && panel->mine > 0)) {
            there |= (uint64_t)1 << s;
            x = TALLY_N(read_strip)(panel, from_x, panel->x.apart, is_whole);
        }
        y = x;
        if (TALLY_KERNEL_INPUTS == 2 && (there >> s & 1)) y = TALLY_N(read_strip)(panel, from_y, panel->y.apart, is_whole);
        from_x += step * panel->x.row;
        from_y += step * panel->y.row;
        __builtin_memcpy(strips.x + s * TALLY_ACROSS, &x, sizeof x);
        __builtin_memcpy(strips.y + s * TALLY_ACROSS, &y, sizeof y);
    }
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_ACROSS; v++) {
        strips.absent[v] = 0;
        strips.there[v] = TALLY_N(leave_out)(strips.x + v, strips.y + v, there, &strips.absent[v], TALLY_TOGETHER, TALLY_ACROSS);
    }
    return strips;
}

/* The plan of a panel: from eight of its rows, the same for all of its threads. */
TALLY_FN TALLY_N(ruler) TALLY_N(plan_panel)(const tally_work *work, const TALLY_N(panel) *panel) {
    const int64_t step = work->length <= TALLY_TOGETHER ? 1 : work->length / TALLY_TOGETHER;
    const TALLY_N(strips) strips = TALLY_N(read_strips)(panel, 0, step, work->length, 0);
    TALLY_N(extent) of_x = TALLY_N(measure_warp)(TALLY_N(measure_some)(strips.x, TALLY_TOGETHER * TALLY_ACROSS, 1)), of_y = of_x;
    if (TALLY_KERNEL_INPUTS == 2) of_y = TALLY_N(measure_warp)(TALLY_N(measure_some)(strips.y, TALLY_TOGETHER * TALLY_ACROSS, 1));
    return TALLY_N(plan_of)(of_x, of_y, work->length, 1);
}

/* The sums over the subs of a panel, for sub 0; all threads of the block take part. */
TALLY_FN void TALLY_N(fold_subs)(TALLY_N(partials) *mine, const TALLY_N(panel) *panel, TALLY_N(shared) *shared) {
    for (int32_t half = panel->subs / 2; half > 0; half /= 2) {
        const int32_t place = panel->slot * panel->threads / 2 + panel->sub % half * panel->across + panel->lane;
        tally_barrier();
        if (panel->sub >= half && panel->sub < 2 * half) shared->upper[place] = *mine;
        tally_barrier();
        if (panel->sub < half)
            for (int32_t v = 0; v < TALLY_ACROSS; v++) TALLY_N(join_partials)(&mine->v[v], shared->upper[place].v[v]);
    }
}

/* What the chunks of a panel have counted, added up by the block that is the last of them to come here, for sub 0; elsewhere 0 is given. */
TALLY_FN int32_t TALLY_N(join_chunks)(const tally_work *work, const TALLY_N(panel) *panel, TALLY_N(partials) *mine, TALLY_N(shared) *shared) {
    const int64_t width = (int64_t)TALLY_ACROSS * panel->across;
    TALLY_N(partial) *partials = (TALLY_N(partial) *)(void *)work->nodes + panel->index * work->row_nodes + panel->lane * TALLY_ACROSS;
    int32_t is_last = 0;
    if (panel->is_task && panel->sub == 0)
        for (int32_t v = 0; v < TALLY_ACROSS; v++) partials[panel->chunk * width + v] = mine->v[v];
    tally_fence();
    tally_barrier();
    if (tally_thread() % panel->threads < TALLY_WARP) { /* a panel of several chunks has a warp or more */
        if (panel->is_task) is_last = tally_is_last(work->arrivals + panel->index, (int32_t)work->tiles);
        if (tally_lane() == 0) shared->is_last[panel->slot] = is_last;
    }
    tally_barrier();
    is_last = shared->is_last[panel->slot];
    for (int32_t v = 0; v < TALLY_ACROSS; v++) {
        mine->v[v] = TALLY_N(no_partial)();
        for (int64_t chunk = panel->sub; is_last && chunk < work->tiles; chunk += panel->subs)
            TALLY_N(join_partials)(&mine->v[v], TALLY_N(fetch_partial)(partials + chunk * width + v));
    }
    TALLY_N(fold_subs)(mine, panel, shared);
    return is_last;
}

TALLY_ENTRY(TALLY_N(TALLY_PASTE(exact_columns_, TALLY_KERNEL)), TALLY_RESIDENT) {
    TALLY_SHARED(TALLY_N(shared), shared);
    const TALLY_N(panel) panel = TALLY_N(panel_of)(&work, tally_thread());
    const TALLY_N(ruler) ruler = TALLY_N(plan_panel)(&work, &panel);
    const int64_t chunk = (work.length + work.tiles - 1) / work.tiles, begin = panel.chunk * chunk;
    const int64_t end = begin + chunk < work.length ? begin + chunk : work.length;
    TALLY_N(partials) mine;
    TALLY_N(running) running[TALLY_ACROSS];
    int32_t is_last = 1;
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_ACROSS; v++) {
        mine.v[v] = TALLY_N(no_partial)();
        running[v] = TALLY_N(begin_running)(&ruler);
    }
    for (int64_t k = begin + panel.sub; k < end; k += TALLY_TOGETHER * panel.subs) {
        TALLY_N(strips) strips;
        if (panel.is_whole && panel.mine > 0 && k + (TALLY_TOGETHER - 1) * panel.subs < end)
            strips = TALLY_N(read_strips)(&panel, k, panel.subs, end, 1);
        else
            strips = TALLY_N(read_strips)(&panel, k, panel.subs, end, 0);
        TALLY_UNROLL
        for (int32_t v = 0; v < TALLY_ACROSS; v++) {
            TALLY_N(add_some)(&mine.v[v], &running[v], &ruler, strips.x + v, strips.y + v, strips.there[v], TALLY_TOGETHER, TALLY_ACROSS);
            mine.v[v].absent += strips.absent[v];
        }
    }
    for (int32_t v = 0; v < TALLY_ACROSS; v++) TALLY_N(count_running)(&mine.v[v], &ruler, &running[v]);
    const TALLY_N(panel) again = TALLY_N(panel_of)(&work, tally_thread_again());
    TALLY_N(fold_subs)(&mine, &again, shared);
    if (work.tiles > 1) is_last = TALLY_N(join_chunks)(&work, &again, &mine, shared);
    if (again.threads >= TALLY_WARP && (!is_last || tally_thread() % again.threads >= TALLY_WARP)) return;
    for (int32_t v = 0; v < TALLY_ACROSS; v++)
        TALLY_N(put_partials)(&work, &mine.v[v], &ruler, TALLY_N(result_of)(&again, v), again.begin + again.i + v * again.apart,
                              &shared->nodes[tally_warp()]);
}

#undef TALLY_RESIDENT
#undef TALLY_ACROSS
#undef TALLY_TOGETHER
#undef TALLY_PART
#undef TALLY_DEVICE_COLUMNS
#undef TALLY_DEVICE_LEAF
#include "lib/terms_end.h"
#include "lib/exact_end.h"
#include "lib/types_end.h"
