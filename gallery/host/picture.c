/* Pictures: what each thread does in each step, out of the trace of a run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gallery/host/track.h"
#include "gallery/host/traces.h"

enum {
    WARP = 32,
    ELEMENT = 8,
    MOST_THREADS = TALLY_SIMT_MOST_THREADS,
    MOST_BLOCKS = TALLY_MOST_PICTURED,
    PICTURED_LISTS = 4
};

/* What a thread has read and not yet put anywhere. */
typedef struct hand {
    tally__cell read[TALLY_MOST_PICTURED];
    int count;
    uint64_t holds;
    bool put; /* what it holds is somewhere: the next read begins anew */
} hand;

typedef struct artist {
    const tally__track *track;
    bool merges; /* lists of i32, in elements (value, list), in place of elements that are sets of inputs */
    tally__picture *picture;
    const tally__simt_event *from, *end; /* of one block of one launch, in the order of time */
    int step_room, move_room;
    hand hands[MOST_THREADS];
    uint64_t held[MOST_THREADS]; /* by registers when the step began: what shuffles read */
} artist;

/* ---- making room ---- */

static bool add_step(artist *a, tally__picture_step step) {
    tally__picture *picture = a->picture;
    if (picture->steps == a->step_room) {
        tally__picture_step *more = realloc(picture->step, (size_t)(2 * a->step_room + 64) * sizeof *more);
        if (more == NULL) return false;
        picture->step = more;
        a->step_room = 2 * a->step_room + 64;
    }
    picture->step[picture->steps++] = step;
    return true;
}

static bool add_move(artist *a, const tally__move *move) {
    tally__picture *picture = a->picture;
    if (picture->moves == a->move_room) {
        tally__move *more = realloc(picture->move, (size_t)(2 * a->move_room + 64) * sizeof *more);
        if (more == NULL) return false;
        picture->move = more;
        a->move_room = 2 * a->move_room + 64;
    }
    picture->move[picture->moves++] = *move;
    picture->step[picture->steps - 1].moves++;
    return true;
}

/* ---- cells ---- */

static bool is_in(int64_t at, tally__cu_address start, int64_t count, int32_t bytes, int *i) {
    *i = (int)((at - (int64_t)start) / bytes);
    return at >= (int64_t)start && *i < count;
}

/* The inputs in an element. */
static uint64_t inputs_in(const artist *a, const tally__simt_event *event) {
    bool is_empty = event->bytes == ELEMENT && event->value >> 32 == INT32_MAX;
    if (!a->merges) return event->value;
    return is_empty ? 0 : UINT64_C(1) << (event->value % TALLY_MOST_PICTURED);
}

/* "FILE:LINE (partial_all)" as "partial" */
static void name_place(tally__picture *picture, int place, const char *site) {
    const char *name = strrchr(site, '(');
    int length = name != NULL ? (int)strcspn(name + 1, ")") : 0;
    if (length > 4 && memcmp(name + 1 + length - 4, "_all", 4) == 0) length -= 4;
    if (length > 31) length = 31;
    snprintf(picture->place_name[place], sizeof picture->place_name[place], "%.*s", length, name + 1);
    if (place >= picture->places) picture->places = place + 1;
}

/* The element that is read or written; false: it is none. */
static bool cell_of(artist *a, const tally__simt_event *event, tally__cell *cell) {
    const tally__track *track = a->track;
    if (event->bytes != (a->merges && event->object == TALLY_SIMT_GLOBAL ? (int32_t)track->value_bytes : ELEMENT))
        return false;
    if (event->object != TALLY_SIMT_GLOBAL) {
        *cell = (tally__cell){TALLY_PLACE_SHARED + event->object, (int)(event->at / ELEMENT)};
        if (cell->place >= TALLY_MOST_PLACES) return false;
        name_place(a->picture, cell->place, event->object_site);
        return true;
    }
    cell->place = TALLY_PLACE_INPUT;
    if (is_in(event->at, track->values, track->count, event->bytes, &cell->at)) return true;
    cell->place = TALLY_PLACE_OUTPUT;
    if (track->segments > 0 && is_in(event->at, track->output, track->segments, event->bytes, &cell->at)) return true;
    cell->place = TALLY_PLACE_LEFT;
    return is_in(event->at, track->elements[0], track->count, event->bytes, &cell->at) ||
           is_in(event->at, track->elements[1], track->count, event->bytes, &cell->at);
}

/* ---- one thread ---- */

static bool has_read(const hand *h, tally__cell cell) {
    int i = 0;
    while (i < h->count && (h->read[i].place != cell.place || h->read[i].at != cell.at)) i++;
    return i < h->count;
}
static void take(hand *h, tally__cell cell, uint64_t holds) {
    if (h->put) *h = (hand){.put = false};
    if (h->count < TALLY_MOST_PICTURED) h->read[h->count++] = cell;
    h->holds |= holds;
}

/* The thread's hand goes to a cell; false: no memory. */
static bool put(artist *a, int thread, tally__cell to, uint64_t holds) {
    hand *h = &a->hands[thread];
    tally__move move = {.thread = thread, .to = to, .holds = holds, .from_count = h->count};
    memcpy(move.from, h->read, (size_t)h->count * sizeof *h->read);
    if (!add_move(a, &move)) return false;
    h->count = 0;
    if (to.place == TALLY_PLACE_REGISTERS) return true;
    h->put =
        to.place !=
        TALLY_PLACE_OUTPUT; /* what goes to the output is less than what it has read, where a segment ends in between */
    h->holds &= ~holds;
    return true;
}

static bool see(artist *a, const tally__simt_event *event) {
    hand *h = &a->hands[event->thread];
    tally__cell cell;
    if (event->sight == TALLY_SIMT_MEETING && event->taken) { /* twice for an element of two words */
        cell = (tally__cell){TALLY_PLACE_REGISTERS, event->thread / WARP * WARP + (int)event->at};
        if (cell.at != event->thread && !has_read(h, cell)) take(h, cell, a->held[cell.at]);
        return true;
    }
    if (event->sight > TALLY_SIMT_WRITE || !cell_of(a, event, &cell)) return true;
    if (event->sight == TALLY_SIMT_WRITE) return put(a, event->thread, cell, inputs_in(a, event));
    if (inputs_in(a, event) != 0) take(h, cell, inputs_in(a, event));
    return true;
}

/* ---- one step ---- */

static bool is_of_step(const tally__simt_event *event, const void *with) {
    const tally__simt_event *of = with;
    return event->launch == of->launch && event->block == of->block && event->step == of->step;
}

static bool begin_step(artist *a, const tally__simt_trace *trace, const tally__simt_event *first) {
    tally__simt_counts counts;
    if (!tally__simt_counts_of(trace, is_of_step, first, &counts)) return false;
    return add_step(a, (tally__picture_step){.launch = first->launch,
                                             .block = first->block,
                                             .label = first->label,
                                             .first_move = a->picture->moves,
                                             .warps = (int)counts.branches,
                                             .divergent = (int)counts.divergent,
                                             .bank_conflicts = (int)counts.bank_conflicts});
}

/* By thread; what one thread does stays in order. */
static void sort_moves(tally__move *moves, int count) {
    for (int m = 1; m < count; m++) {
        const tally__move move = moves[m];
        int place = m;
        for (; place > 0 && moves[place - 1].thread > move.thread; place--) moves[place] = moves[place - 1];
        moves[place] = move;
    }
}

/* What was read in a step and put nowhere is in registers. */
static bool end_step(artist *a) {
    const tally__picture_step *step = &a->picture->step[a->picture->steps - 1];
    for (int t = 0; t < MOST_THREADS; t++) {
        hand *h = &a->hands[t];
        if (a->merges) *h = (hand){.count = 0}; /* what was compared and lost is forgotten */
        if (h->count > 0 && !put(a, t, (tally__cell){TALLY_PLACE_REGISTERS, t}, h->holds)) return false;
        a->held[t] = h->holds;
    }
    if (step->moves > 0) sort_moves(a->picture->move + step->first_move, step->moves);
    return true;
}

/* Meetings of the thread that has most of them. */
static void count_meetings(artist *a, int step) {
    int barriers[MOST_THREADS] = {0}, meetings[MOST_THREADS] = {0};
    tally__picture_step *of = &a->picture->step[a->picture->steps - 1];
    for (const tally__simt_event *event = a->from; event < a->end; event++) {
        if (event->step != step) continue;
        if (event->sight == TALLY_SIMT_BARRIER && ++barriers[event->thread] > of->barriers)
            of->barriers = barriers[event->thread];
        if (event->sight == TALLY_SIMT_MEETING && ++meetings[event->thread] > of->warp_barriers)
            of->warp_barriers = meetings[event->thread];
    }
}

static bool draw_block(artist *a, const tally__simt_trace *trace) {
    int last = 0;
    memset(a->hands, 0, sizeof a->hands);
    memset(a->held, 0, sizeof a->held);
    for (const tally__simt_event *event = a->from; event < a->end; event++)
        last = event->step > last ? event->step : last;
    for (int step = 0; step <= last; step++) {
        const tally__simt_event *first = a->from;
        while (first < a->end && first->step != step) first++;
        if (first == a->end) continue;
        if (!begin_step(a, trace, first)) return false;
        for (const tally__simt_event *event = first; event < a->end; event++)
            if (event->step == step && !see(a, event)) return false;
        if (!end_step(a)) return false;
        count_meetings(a, step);
    }
    return true;
}

/* ---- the picture ---- */

/* An event, when it was, and when its block ended. */
typedef struct timed {
    tally__simt_event event;
    int64_t time, end;
} timed;
static bool same_block(const tally__simt_event *a, const tally__simt_event *b) {
    return a->launch == b->launch && a->block == b->block;
}
static int compare_blocks(const void *left, const void *right) {
    const timed *a = left, *b = right;
    if (a->event.launch != b->event.launch) return a->event.launch < b->event.launch ? -1 : 1;
    if (a->end != b->end) return a->end < b->end ? -1 : 1;
    return a->time < b->time ? -1 : a->time > b->time;
}

/* Launches follow one another, so that the first event from the end on is the last of its block. */
static void tell_ends(timed *events, int64_t count) {
    int64_t ends[MOST_BLOCKS] = {0};
    for (int64_t i = count - 1; i >= 0; i--) {
        if (i + 1 == count || events[i].event.launch != events[i + 1].event.launch) memset(ends, 0, sizeof ends);
        int64_t *end = &ends[events[i].event.block % MOST_BLOCKS];
        if (*end == 0) *end = i + 1;
        events[i].end = *end;
    }
}

/* Events of one block behind one another, in the order of time; blocks as they ended, so that what finishes comes last.
 */
static bool sort_blocks(tally__simt_trace *trace) {
    timed *events = malloc((size_t)(trace->count + 1) * sizeof *events);
    if (events == NULL) return false;
    for (int64_t i = 0; i < trace->count; i++) events[i] = (timed){trace->events[i], i, 0};
    tell_ends(events, trace->count);
    qsort(events, (size_t)trace->count, sizeof *events, compare_blocks);
    for (int64_t i = 0; i < trace->count; i++) trace->events[i] = events[i].event;
    free(events);
    return true;
}

static tally_status draw(const tally__track *track, tally__simt_trace *trace, tally__picture *picture) {
    artist *a = calloc(1, sizeof *a);
    bool drawn = a != NULL && sort_blocks(trace);
    picture->places = TALLY_PLACE_SHARED;
    snprintf(picture->place_name[TALLY_PLACE_INPUT], sizeof picture->place_name[TALLY_PLACE_INPUT], "x");
    snprintf(picture->place_name[TALLY_PLACE_REGISTERS], sizeof picture->place_name[TALLY_PLACE_REGISTERS],
             "registers");
    snprintf(picture->place_name[TALLY_PLACE_LEFT], sizeof picture->place_name[TALLY_PLACE_LEFT], "left");
    snprintf(picture->place_name[TALLY_PLACE_OUTPUT], sizeof picture->place_name[TALLY_PLACE_OUTPUT], "output");
    for (int64_t i = 0; drawn && i < trace->count;) {
        const tally__simt_event *first = &trace->events[i];
        while (i < trace->count && same_block(&trace->events[i], first)) i++;
        a->track = track;
        a->merges = track->operator.op == TALLY_MIN;
        a->picture = picture;
        a->from = first;
        a->end = trace->events + i;
        drawn = draw_block(a, trace);
    }
    free(a);
    TALLY_CHECK(drawn, NO_MEMORY, "no memory for a picture");
    return TALLY_OK;
}

static tally_status draw_run(tally__track *track, const tally__gallery_row *row, int64_t count,
                             const int32_t *segment_ids, int64_t segments, tally__picture *picture) {
    uint64_t sets[TALLY_MOST_PICTURED], results[TALLY_MOST_PICTURED];
    int32_t numbers[TALLY_MOST_PICTURED];
    bool merges = row->plan == TALLY_PLAN_MERGE;
    tally__simt_trace trace;
    tally__lap lap;
    tally_status status;
    for (int i = 0; i < TALLY_MOST_PICTURED; i++) {
        sets[i] = UINT64_C(1) << i;
        numbers[i] = i;
    }
    tally__track_shrink(track);
    tally__track_lists(track, PICTURED_LISTS);
    TALLY_TRY(tally__track_load(track, merges ? (void *)numbers : (void *)sets, NULL, count, 1));
    if (segment_ids != NULL) TALLY_TRY(tally__track_cut(track, segment_ids, segments));
    TALLY_TRY(tally__track_run(track, row, results, &lap)); /* what there is to know before, and whether it can run */
    picture->threads = lap.threads;
    picture->launches = lap.launches;
    picture->blocks = lap.blocks[0];
    TALLY_TRY(tally__track_trace(track, row, &trace));
    status = draw(track, &trace, picture);
    free(trace.events);
    return status;
}

tally_status tally__picture_draw(const tally__gallery_row *row, int64_t count, const int32_t *segment_ids,
                                 int64_t segments, tally__picture *picture) {
    tally__track *track;
    tally_status status;
    *picture = (tally__picture){0};
    bool merges = row->plan == TALLY_PLAN_MERGE;
    TALLY_CHECK(row->plan != TALLY_PLAN_READ, UNSUPPORTED, "%s combines nothing: there is nothing to draw", row->name);
    TALLY_CHECK(count >= 1 && count <= TALLY_MOST_PICTURED, BAD_ARGUMENT, "a picture is of 1 to %d values, not %lld",
                TALLY_MOST_PICTURED, (long long)count);
    TALLY_TRY(tally__track_open(TALLY_BACKEND_SIMT, 0, merges ? "min" : "or", merges ? TALLY_I32 : TALLY_U64, &track));
    status = draw_run(track, row, count, segment_ids, segments, picture);
    tally__track_close(track);
    if (status != TALLY_OK) tally__picture_free(picture);
    return status;
}

void tally__picture_free(tally__picture *picture) {
    free(picture->step);
    free(picture->move);
    *picture = (tally__picture){0};
}
