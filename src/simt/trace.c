/* Traces: events as they come, and requests made of them. */
#include "simt/trace.h"

#include <stdlib.h>
#include <string.h>

#include "simt/tracing.h"

enum { MOST_LANES = 32, MOST_WORDS = MOST_LANES * 64 };

static tally__simt_trace current;
static int64_t capacity;

void tally__simt_trace_begin(void) {
    current = (tally__simt_trace){.is_whole = true};
    capacity = 0;
}

void tally__simt_trace_add(const tally__simt_event *event) {
    if (current.count == capacity) {
        int64_t wanted = capacity == 0 ? 4096 : 2 * capacity;
        tally__simt_event *more = current.is_whole ? realloc(current.events, (size_t)wanted * sizeof *more) : NULL;
        current.is_whole = more != NULL;
        if (more == NULL) return;
        current.events = more;
        capacity = wanted;
    }
    current.events[current.count++] = *event;
}

void tally__simt_trace_end(tally__simt_trace *trace) {
    *trace = current;
    current = (tally__simt_trace){0};
}

/* ---- requests ---- */

static _Thread_local int lanes_of_warp; /* for compare_events, to which qsort passes nothing */

#define COMPARE(a, b) \
    if ((a) != (b)) return (a) < (b) ? -1 : 1
static int compare_places(const tally__simt_event *a, const tally__simt_event *b) {
    COMPARE(a->launch, b->launch);
    COMPARE(a->block, b->block);
    COMPARE(a->thread / lanes_of_warp, b->thread / lanes_of_warp);
    COMPARE(a->step, b->step);
    COMPARE((uintptr_t)a->site, (uintptr_t)b->site);
    COMPARE(a->sight, b->sight);
    return 0;
}
/* By place in the text, then by thread, then in the order in which they happened. */
static int compare_events(const void *left, const void *right) {
    const tally__simt_event *a = *(const tally__simt_event *const *)left, *b = *(const tally__simt_event *const *)right;
    int order = compare_places(a, b);
    if (order != 0) return order;
    COMPARE(a->thread, b->thread);
    COMPARE((uintptr_t)a, (uintptr_t)b);
    return 0;
}

/* Lists the units of `unit` bytes that a request touches, ascending; returns how many. */
static int units_touched(const tally__simt_event *const *lanes, int count, int unit, int64_t *units) {
    int touched = 0;
    for (int i = 0; i < count; i++)
        for (int64_t u = lanes[i]->at / unit; u <= (lanes[i]->at + lanes[i]->bytes - 1) / unit && touched < MOST_WORDS;
             u++) {
            int place = touched;
            while (place > 0 && units[place - 1] > u) place--;
            if (place > 0 && units[place - 1] == u) continue;
            memmove(units + place + 1, units + place, (size_t)(touched - place) * sizeof *units);
            units[place] = u;
            touched++;
        }
    return touched;
}

static int64_t turns_beyond_need(const tally__simt_event *const *lanes, int count, int banks, int word) {
    int64_t words[MOST_WORDS + 1];
    int in_bank[MOST_LANES] = {0}, most = 0, touched = units_touched(lanes, count, word, words);
    for (int w = 0; w < touched; w++) {
        int turns = ++in_bank[words[w] % banks];
        most = turns > most ? turns : most;
    }
    return most - (touched + banks - 1) / banks;
}

static void count_request(const tally__simt_trace *trace, const tally__simt_event *const *lanes, int count,
                          tally__simt_counts *counts) {
    const tally__simt_event *first = lanes[0];
    int64_t lines[MOST_WORDS + 1];
    int taken = 0;
    for (int i = 0; i < count; i++) taken += lanes[i]->taken;
    if (first->sight == TALLY_SIMT_BRANCH) {
        counts->branches++;
        counts->divergent += taken != 0 && taken != count;
    } else if (first->object == TALLY_SIMT_GLOBAL) {
        counts->global_requests++;
        counts->accesses += count;
        counts->transactions += units_touched(lanes, count, trace->lanes * trace->word, lines);
    } else {
        counts->shared_requests++;
        counts->bank_conflicts += turns_beyond_need(lanes, count, trace->lanes, trace->word);
    }
}

/* Divides the events of a place into requests: the first ones of all lanes are one request, the second ones another,
 * and so on. */
static void count_place(const tally__simt_trace *trace, const tally__simt_event *const *events, int64_t count,
                        tally__simt_counts *counts) {
    int64_t begins[MOST_LANES + 1];
    int threads = 0, visitors;
    for (int64_t i = 0; i < count; i++)
        if (i == 0 || events[i - 1]->thread != events[i]->thread) begins[threads++] = i;
    begins[threads] = count;
    for (int64_t repetition = 0;; repetition++) {
        const tally__simt_event *lanes[MOST_LANES];
        visitors = 0;
        for (int t = 0; t < threads; t++)
            if (begins[t] + repetition < begins[t + 1]) lanes[visitors++] = events[begins[t] + repetition];
        if (visitors == 0) return;
        count_request(trace, lanes, visitors, counts);
    }
}

static bool is_counted(const tally__simt_event *event) {
    return event->sight == TALLY_SIMT_READ || event->sight == TALLY_SIMT_WRITE || event->sight == TALLY_SIMT_BRANCH;
}

bool tally__simt_counts_of(const tally__simt_trace *trace, bool (*wanted)(const tally__simt_event *, const void *),
                           const void *with, tally__simt_counts *counts) {
    const tally__simt_event **events = malloc((size_t)(trace->count + 1) * sizeof *events);
    int64_t count = 0;
    *counts = (tally__simt_counts){0};
    lanes_of_warp = trace->lanes;
    if (events == NULL) return false;
    for (int64_t i = 0; i < trace->count; i++) {
        const tally__simt_event *event = &trace->events[i];
        if (is_counted(event) && (wanted == NULL || wanted(event, with))) events[count++] = event;
    }
    qsort(events, (size_t)count, sizeof *events, compare_events);
    for (int64_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && compare_places(events[i], events[end]) == 0;) end++;
        count_place(trace, events + i, end - i, counts);
    }
    free(events);
    return true;
}
