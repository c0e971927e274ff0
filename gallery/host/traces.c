/* What the simulator counts of a run. */
#include "gallery/host/traces.h"

#include <stdlib.h>

#include "gallery/host/track.h"

enum { WARP = 32 };

tally_status tally__track_trace(tally__track *track, const tally__gallery_row *row, tally__simt_trace *trace) {
    size_t count = (size_t)tally__track_result_count(track, row) + 1,
           bytes = tally__track_result_bytes(track) + track->value_bytes;
    void *results = malloc(count * bytes);
    tally_status status;
    TALLY_CHECK(results != NULL, NO_MEMORY, "no memory for results");
    if (track->backend != TALLY_BACKEND_SIMT)
        status = tally__fail(TALLY_UNSUPPORTED,
                             "a GPU does not tell what its threads do: the simulator counts (--device simt)");
    else {
        tally__simt_trace_start();
        status = tally__track_run(track, row, results, &track->lap);
        tally__simt_trace_stop(trace);
        if (status == TALLY_OK && !trace->is_whole)
            status = tally__fail(TALLY_NO_MEMORY, "no memory for what %s does with so many values", row->name);
        if (status != TALLY_OK) free(trace->events);
    }
    free(results);
    return status;
}

static tally_status count(const tally__simt_trace *trace, bool (*wanted)(const tally__simt_event *, const void *),
                          const void *with, tally__simt_counts *counts) {
    TALLY_CHECK(tally__simt_counts_of(trace, wanted, with, counts), NO_MEMORY, "no memory to count %lld events",
                (long long)trace->count);
    return TALLY_OK;
}

/* What is counted of single threads. */
static void count_threads(const tally__track *track, const tally__simt_trace *trace, tally__counts *counts) {
    int64_t reads = 0, threads = 0;
    int64_t start = (int64_t)track->values, end = start + track->count * (int64_t)track->value_bytes;
    for (int64_t i = 0; i < trace->count; i++) {
        const tally__simt_event *event = &trace->events[i];
        if (event->launch != 0) continue;
        bool reads_value = event->sight == TALLY_SIMT_READ && event->at >= start && event->at < end;
        reads += event->object == TALLY_SIMT_GLOBAL && reads_value;
        if (event->thread != 0 || event->block != 0) continue;
        counts->barriers += event->sight == TALLY_SIMT_BARRIER;
        counts->warp_barriers += event->sight == TALLY_SIMT_MEETING;
    }
    threads = (int64_t)track->lap.blocks[0] * track->lap.threads;
    counts->loads = threads > 0 ? (double)reads / (double)threads : 0;
}

tally_status tally__track_count(tally__track *track, const tally__gallery_row *row, tally__counts *counts) {
    tally__simt_trace trace;
    tally__simt_counts seen;
    tally_status status;
    TALLY_TRY(tally__track_trace(track, row, &trace));
    status = count(&trace, NULL, NULL, &seen);
    *counts = (tally__counts){.branches = seen.branches,
                              .divergent = seen.divergent,
                              .shared_requests = seen.shared_requests,
                              .bank_conflicts = seen.bank_conflicts,
                              .accesses = seen.accesses,
                              .transactions = seen.transactions};
    count_threads(track, &trace, counts);
    free(trace.events);
    return status;
}

/* ---- divergence ---- */

static bool is_of_launch(const tally__simt_event *event, const void *launch) {
    return event->launch == *(const int *)launch;
}

tally_status tally__track_divergence(tally__track *track, const tally__gallery_row *row, tally__divergence *table) {
    tally__simt_trace trace;
    tally__simt_counts seen;
    tally_status status = TALLY_OK;
    TALLY_TRY(tally__track_trace(track, row, &trace));
    table->launches = track->lap.launches;
    for (int launch = 0; launch < table->launches && status == TALLY_OK; launch++) {
        status = count(&trace, is_of_launch, &launch, &seen);
        table->of[launch].branches = seen.branches;
        table->of[launch].divergent = seen.divergent;
    }
    free(trace.events);
    return status;
}

/* ---- irregular accesses ---- */

/* Reads of [start, end) by the first warp of the first block, in one step. */
typedef struct irregular {
    int64_t start, end;
    int32_t step;
} irregular;
static bool is_irregular(const tally__simt_event *event, const void *with) {
    const irregular *of = with;
    return event->launch == 0 && event->block == 0 && event->thread < WARP && event->step == of->step &&
           event->sight == TALLY_SIMT_READ && event->object == TALLY_SIMT_GLOBAL && event->at >= of->start &&
           event->at < of->end;
}

/* The first step of that label that the first thread takes; -1: there is none. */
static int32_t step_of(const tally__simt_trace *trace, int32_t label) {
    for (int64_t i = 0; i < trace->count; i++) {
        const tally__simt_event *event = &trace->events[i];
        if (event->sight == TALLY_SIMT_STEP && event->launch == 0 && event->block == 0 && event->thread == 0 &&
            event->label == label)
            return event->step;
    }
    return -1;
}

tally_status tally__track_irregular(tally__track *track, const tally__gallery_row *row, tally__irregular *table) {
    tally__simt_trace trace;
    tally__simt_counts seen;
    tally_status status = TALLY_OK;
    irregular of;
    table->levels = 0;
    TALLY_TRY(tally__track_trace(track, row, &trace));
    of.start = (int64_t)track->output;
    of.end = of.start + track->segments * (int64_t)track->host->element_bytes;
    while (status == TALLY_OK && table->levels < TALLY_MOST_LEVELS && (of.step = step_of(&trace, table->levels)) >= 0) {
        status = count(&trace, is_irregular, &of, &seen);
        table->of[table->levels].accesses = seen.accesses;
        table->of[table->levels++].transfers = seen.transactions;
    }
    free(trace.events);
    return status;
}
