/* Rows along an axis that is not the last: the results of a thread, and what it reads. A panel is a group of
 * neighbouring results, TALLY_ACROSS for each thread. Several threads, the panel's subs, may share the same results.
 * The rows of a panel are divided into chunks.
 *
 * Where few results lie side by side, 2, 4 or 8 consecutive rows of memory are joined: they are read as one row, so
 * that threads read whole vectors. Joined rows are neighbouring columns of a leaf, which the canonical tree combines
 * last. */
#ifndef TALLY_PANEL_H
#define TALLY_PANEL_H

#include "rows/vector.h"
#include "partition/row_begins.h"

/* One input, as this thread reads it: the address of its first value, and the bytes from one row to the next (row) and
 * from one of its results to the next (apart). */
typedef struct input_of_t {
    const char *first, *end; /* end: of the array */
    int64_t row, apart;
} input_of_t;

typedef struct panel_t {
    input_of_t x, y;
    int64_t all;      /* values of the array */
    int64_t begin;    /* the first value of the panel's first row */
    int64_t inner, i; /* values from one group of joined rows to the next; this thread's first value in a group */
    int32_t across, sub, subs, lane;
    int32_t is_of_warp;          /* the panel's threads are of one warp */
    int32_t slot;                /* which of the block's panels it is; threads that are left have the next number */
    int64_t outer, index, chunk; /* the panel's outer index and number, and its chunk */
    int32_t is_task;             /* there is such a panel and chunk */
    int32_t log_joined, results; /* log2 of the rows that are joined; results in one of them, or in the panel's row */
    int32_t mine;                /* values of a group of joined rows, or results, that this thread has */
    int32_t apart;               /* the distance between these */
    int32_t over;                /* 65536 / results, rounded up; 0: no rows are joined */
    int32_t reads;               /* TALLY_READS_... */
} panel_t;

/* The place of the thread's value v in a group of joined rows, and which of these rows it is in. */
TALLY_FN int32_t place_in_panel(const panel_t *panel, int32_t v) { return (int32_t)panel->i + v; }
TALLY_FN int32_t row_in_panel(const panel_t *panel, int32_t v) {
    return (int32_t)((uint32_t)place_in_panel(panel, v) * (uint32_t)panel->over >> 16);
}

TALLY_FN input_of_t input_from(const panel_t *panel, const tally_source *from) {
    input_of_t input;
    input.first = from->values + (panel->begin + panel->i) * from->stride;
    input.row = panel->inner * from->stride;
    input.apart = panel->apart * from->stride;
    input.end = from->values + panel->all * from->stride;
    return input;
}

/* How many values of a group of joined rows the thread has. */
TALLY_FN int32_t results_from(const panel_t *panel) {
    const int64_t left = panel->is_task ? (panel->inner - panel->i + panel->apart - 1) / panel->apart : 0;
    return (int32_t)(left < 0 ? 0 : left < TALLY_ACROSS ? left : TALLY_ACROSS);
}
/* The panel of this thread. `thread` is tally_thread(), or tally_thread_again() where a panel made before is not worth
 * its registers. */
TALLY_FN panel_t panel_of(const tally_rows_work *work, int32_t thread) {
    const uint32_t across = (uint32_t)work->across, threads = across << work->log_subs, slots = TALLY_THREADS / threads,
                   slot = (uint32_t)thread / threads, here = (uint32_t)thread - slot * threads;
    const int32_t width = TALLY_ACROSS * work->across;
    const int64_t inner = work->inner << work->log_joined, panels = (inner + width - 1) / width,
                  task = (int64_t)tally_block() * slots + slot;
    const tally_source x = tally_source_of(work->x, work->x_stride, TALLY_BYTES),
                       y = tally_source_of(work->y, work->y_stride, TALLY_BYTES);
    panel_t panel;
    panel.slot = (int32_t)slot;
    /* Blocks that run at the same time have neighbouring panels: together they read whole rows of memory. */
    const int64_t of_panels = tally_divided(task, panels), number = task - of_panels * panels;
    panel.outer = tally_divided(of_panels, work->tiles);
    panel.chunk = of_panels - panel.outer * work->tiles;
    panel.index = panel.outer * panels + number;
    panel.begin = panel.outer * work->length * work->inner;
    panel.inner = inner;
    panel.log_joined = work->log_joined;
    panel.results = work->log_joined > 0 ? (int32_t)work->inner : width;
    panel.across = work->across;
    panel.subs = 1 << work->log_subs;
    panel.sub = (int32_t)(here / across) + (slot < slots ? 0 : panel.subs); /* threads that are left have no sub */
    panel.lane = (int32_t)(here % across);
    panel.is_of_warp = TALLY_WARP % threads == 0;
    panel.reads = work->reads;
    panel.apart = TALLY_ANY_ROWS ? panel.across : 1;
    panel.i = number * width + panel.lane * (TALLY_ANY_ROWS ? 1 : TALLY_ACROSS);
    panel.is_task = panel.outer < work->outer && slot < slots;
    panel.mine = results_from(&panel);
    panel.all = work->outer * work->length * work->inner;
    panel.over = panel.log_joined > 0 ? 65536 / panel.results + 1 : 0;
    panel.x = input_from(&panel, &x);
    panel.y = TALLY_KERNEL_INPUTS == 1 ? panel.x : input_from(&panel, &y);
    return panel;
}
/* The panel of the thread of sub 0 that has that lane. */
TALLY_FN panel_t panel_at(const panel_t *panel, int32_t lane) {
    panel_t its = *panel;
    its.sub = 0;
    its.lane = lane;
    its.i += (lane - panel->lane) * (TALLY_ANY_ROWS ? 1 : TALLY_ACROSS);
    its.mine = results_from(&its);
    return its;
}
/* The index of this thread's result v among all results; -1: there is none. */
TALLY_FN int64_t result_of(const panel_t *panel, int32_t v) {
    if (panel->sub != 0 || v >= panel->mine || row_in_panel(panel, v) > 0) return -1;
    return panel->outer * (panel->inner >> panel->log_joined) + panel->i + v * panel->apart;
}

/* A barrier of the warp, or of the block. */
TALLY_FN void await_threads(int32_t is_of_warp) {
    if (is_of_warp)
        tally_warp_barrier();
    else
        tally_barrier();
}

/* A barrier of the panel's threads. */
TALLY_FN void await_panel(const panel_t *panel) { await_threads(panel->is_of_warp); }

#endif
