/* Rows along an axis that is not the last: where a thread stands, and what it reads. A panel is neighbouring results,
 * TALLY_ACROSS for each thread. Several threads, its subs, may share them. The rows of a panel are cut into chunks. */
#ifndef TALLY_PANEL_H
#define TALLY_PANEL_H

#include "rows/vector.h"

/* One input, as this thread sees it: its first value, and bytes from one row to the next, and from one of its results
 * to the next. */
typedef struct input_of_t {
    const char *first;
    int64_t row, apart;
} input_of_t;

typedef struct panel_t {
    input_of_t x, y;
    int64_t begin;    /* the first value of the panel's first row */
    int64_t inner, i; /* values from one row to the next; this thread's first result among them */
    int32_t across, sub, subs, lane;
    int32_t slot, threads;       /* of the panels that the block takes; threads of each */
    int64_t outer, index, chunk; /* the panel's outer index, its number, and the chunk of it */
    int32_t is_task;             /* there is such a panel and chunk */
    int32_t mine;                /* results that it has for this thread */
    int32_t apart;               /* of this thread's results */
    int32_t is_whole;   /* they lie side by side, at an address that is a multiple of their bytes, and all are there */
    int32_t is_aligned; /* or each value lies at a multiple of its size */
} panel_t;

/* A value at any address. */
TALLY_RARE TALLY_T read_anywhere(const char *p) {
    const tally_source from = tally_source_of(p, 1, TALLY_BYTES);
    return read_one(&from, 0);
}
/* One value of each of the thread's results, at p and behind it; is_whole as the panel says, where that can be a
 * constant. */
TALLY_FN vector_t read_vector(const panel_t *panel, const char *p, int64_t apart, const int32_t is_whole) {
    vector_t vector;
    if (is_whole) return read_whole_vector(p);
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_ACROSS; v++, p += apart)
        vector.v[v] = v >= panel->mine    ? (TALLY_T)0
                      : panel->is_aligned ? *(const TALLY_T *)(const void *)p
                                          : read_anywhere(p);
    return vector;
}

TALLY_FN input_of_t input_from(const panel_t *panel, const tally_source *from) {
    input_of_t input;
    input.first = from->values + (panel->begin + panel->i) * from->stride;
    input.row = panel->inner * from->stride;
    input.apart = panel->apart * from->stride;
    return input;
}

/* Of that thread, the running one: of tally_thread_again() where nothing of it is worth being kept from before. */
TALLY_FN panel_t panel_of(const tally_rows_work *work, int32_t thread) {
    const int32_t threads = 1 << (work->log_across + work->log_subs), here = thread % threads,
                  width = TALLY_ACROSS << work->log_across;
    const int64_t panels = (work->inner + width - 1) / width,
                  task = (int64_t)tally_block() * (TALLY_BLOCK / threads) + thread / threads;
    const tally_source x = tally_source_of(work->x, work->x_stride, TALLY_BYTES),
                       y = tally_source_of(work->y, work->y_stride, TALLY_BYTES);
    panel_t panel;
    panel.threads = threads;
    panel.slot = thread / threads;
    panel.index = task / work->tiles;
    panel.chunk = task % work->tiles;
    panel.outer = panel.index / panels;
    panel.begin = panel.outer * work->length * work->inner;
    panel.inner = work->inner;
    panel.across = 1 << work->log_across;
    panel.subs = 1 << work->log_subs;
    panel.sub = here >> work->log_across;
    panel.lane = here & (panel.across - 1);
    panel.is_whole = x.is_packed && y.is_packed && work->inner % TALLY_ACROSS == 0;
    panel.is_aligned = x.is_aligned && y.is_aligned;
    panel.apart = panel.is_whole ? 1 : panel.across;
    panel.i = panel.index % panels * width + (panel.is_whole ? panel.lane * TALLY_ACROSS : panel.lane);
    panel.is_task = panel.outer < work->outer;
    const int64_t left = panel.is_task ? (work->inner - panel.i + panel.apart - 1) / panel.apart : 0;
    panel.mine = (int32_t)(left < 0 ? 0 : left < TALLY_ACROSS ? left : TALLY_ACROSS);
    panel.x = input_from(&panel, &x);
    panel.y = TALLY_KERNEL_INPUTS == 1 ? panel.x : input_from(&panel, &y);
    return panel;
}
/* The number among all results of this thread's result v; -1: there is none. */
TALLY_FN int64_t result_of(const panel_t *panel, int32_t v) {
    return panel->sub == 0 && v < panel->mine ? panel->outer * panel->inner + panel->i + v * panel->apart : -1;
}

#endif
