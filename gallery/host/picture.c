/* Pictures of a run, made of its trace: which elements it makes, of which others, and when. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gallery/host/flow.h"
#include "gallery/host/track.h"
#include "gallery/host/traces.h"

enum { ELEMENT = 8, MOST_BLOCKS = TALLY_MOST_PICTURED, MOST_THREADS = TALLY_PICTURED_THREADS };

typedef struct artist {
    const tally__track *track;
    bool merges; /* lists of i32, in elements (value, list), in place of sets of inputs */
    tally__picture *picture;
    const tally__simt_trace *trace;
    int *frame_of; /* of each event */
    int frame_capacity;
    int epochs[MOST_THREADS], steps[MOST_THREADS]; /* steps: that a thread had begun at its last barrier */
    tally__flow flow;
} artist;

/* ---- cells ---- */

static bool is_in(int64_t at, tally__cu_address start, int64_t count, int32_t bytes, int *i) {
    int64_t number = (at - (int64_t)start) / bytes;
    *i = (int)number;
    return at >= (int64_t)start && number < count;
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
static bool cell_of(artist *a, const tally__simt_event *event, int *place, int *at) {
    const tally__track *track = a->track;
    if (event->bytes != (a->merges && event->object == TALLY_SIMT_GLOBAL ? (int32_t)track->value_bytes : ELEMENT))
        return false;
    if (event->object != TALLY_SIMT_GLOBAL) {
        *place = TALLY_PLACE_SHARED + event->object;
        *at = (int)(event->at / ELEMENT);
        if (*place >= TALLY_MOST_PLACES || *at >= TALLY_MOST_AT) return false;
        name_place(a->picture, *place, event->object_site);
        return true;
    }
    *place = TALLY_PLACE_INPUT;
    if (is_in(event->at, track->values, track->count, event->bytes, at)) return true;
    *place = TALLY_PLACE_OUTPUT;
    if (track->segments > 0 && is_in(event->at, track->output, track->segments, event->bytes, at)) return true;
    for (int i = 0; i < 2; i++) {
        *place = i == 0 ? TALLY_PLACE_LEFT : TALLY_PLACE_LEFT_NEXT;
        if (is_in(event->at, track->elements[i], track->count, event->bytes, at)) return true;
    }
    return false;
}

/* ---- frames ---- */

/* The frame of an event; -1: no memory. */
static int frame_of(artist *a, const tally__simt_event *event) {
    tally__picture *picture = a->picture;
    int epoch = a->epochs[event->thread], step = event->step - a->steps[event->thread];
    for (int f = picture->frames - 1; f >= 0; f--)
        if (picture->frame[f].launch == event->launch && picture->frame[f].epoch == epoch &&
            picture->frame[f].step == step)
            return f;
    if (picture->frames == a->frame_capacity) {
        int capacity = 2 * a->frame_capacity + 64;
        tally__frame *more = realloc(picture->frame, (size_t)capacity * sizeof *more);
        if (more == NULL) return -1;
        picture->frame = more;
        a->frame_capacity = capacity;
    }
    picture->frame[picture->frames] = (tally__frame){
        .launch = event->launch, .epoch = epoch, .step = step, .label = step > 0 ? event->label : -1, .last = -1};
    return picture->frames++;
}

static void see_guard(const artist *a, const tally__simt_event *event, tally__frame *frame) {
    frame->fences += event->sight == TALLY_SIMT_FENCE;
    if (event->sight != TALLY_SIMT_ATOMIC) return;
    frame->arrivals++;
    if ((uint32_t)event->value + 1 == (uint32_t)a->picture->blocks) frame->last = event->block;
}

/* 16 bytes of the input. */
static void see_vector(artist *a, const tally__simt_event *event, int frame) {
    int at;
    if (!is_in(event->at, a->track->values, a->track->count, ELEMENT, &at)) return;
    for (int i = at; i < at + 2 && i < a->track->count; i++)
        tally__flow_read(&a->flow, event->thread, frame, TALLY_PLACE_INPUT, i, UINT64_C(1) << i);
}

static bool see(artist *a, const tally__simt_event *event) {
    int frame = frame_of(a, event), place, at, thread = event->thread;
    if (frame < 0) return false;
    a->frame_of[event - a->trace->events] = frame;
    see_guard(a, event, &a->picture->frame[frame]);
    if (event->sight == TALLY_SIMT_BARRIER) {
        tally__flow_rest(&a->flow, thread);
        a->epochs[thread]++;
        a->steps[thread] = event->step;
    } else if (event->sight == TALLY_SIMT_MEETING && event->taken)
        tally__flow_shuffle(&a->flow, thread, frame, (uint32_t)event->value,
                            thread / TALLY_PICTURED_LANES * TALLY_PICTURED_LANES + (int)event->at);
    else if (event->sight == TALLY_SIMT_READ && event->bytes == 2 * ELEMENT)
        see_vector(a, event, frame);
    else if (event->sight == TALLY_SIMT_READ && cell_of(a, event, &place, &at))
        tally__flow_read(&a->flow, thread, frame, place, at, inputs_in(a, event));
    else if (event->sight == TALLY_SIMT_WRITE && cell_of(a, event, &place, &at))
        tally__flow_write(&a->flow, thread, frame, place, at, inputs_in(a, event));
    return !a->flow.no_memory;
}

/* ---- blocks ---- */

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

static void end_block(artist *a) {
    for (int t = 0; t < MOST_THREADS; t++) tally__flow_rest(&a->flow, t);
}

static bool see_all(artist *a) {
    for (int64_t i = 0; i < a->trace->count; i++) {
        const tally__simt_event *event = &a->trace->events[i];
        if (i == 0 || !same_block(event, event - 1)) {
            if (i > 0) end_block(a);
            tally__flow_begin_block(&a->flow, event->block);
            memset(a->epochs, 0, sizeof a->epochs);
            memset(a->steps, 0, sizeof a->steps);
        }
        if (!see(a, event)) return false;
    }
    end_block(a);
    return !a->flow.no_memory;
}

/* ---- counting ---- */

/* Elements have 8 bytes in pictures, and count as one word of a bank. So do the segment ids beside them, of 4. */
static void widen(tally__simt_trace *trace) {
    trace->word = ELEMENT;
    for (int64_t i = 0; i < trace->count; i++)
        if (trace->events[i].bytes == ELEMENT / 2) {
            trace->events[i].bytes = ELEMENT;
            trace->events[i].at *= 2;
        }
}

typedef struct of_frame {
    const artist *artist;
    int frame;
} of_frame;
static bool is_of_frame(const tally__simt_event *event, const void *with) {
    const of_frame *of = with;
    return of->artist->frame_of[event - of->artist->trace->events] == of->frame;
}

/* Meetings of the thread that has most of them. */
static void count_meetings(const artist *a, int f) {
    int barriers[MOST_THREADS] = {0}, meetings[MOST_THREADS] = {0};
    tally__frame *frame = &a->picture->frame[f];
    for (int64_t i = 0; i < a->trace->count; i++) {
        const tally__simt_event *event = &a->trace->events[i];
        if (i == 0 || !same_block(event, event - 1)) {
            memset(barriers, 0, sizeof barriers);
            memset(meetings, 0, sizeof meetings);
        }
        if (a->frame_of[i] != f) continue;
        if (event->sight == TALLY_SIMT_BARRIER && ++barriers[event->thread] > frame->barriers)
            frame->barriers = barriers[event->thread];
        if (event->sight == TALLY_SIMT_MEETING && ++meetings[event->thread] > frame->warp_barriers)
            frame->warp_barriers = meetings[event->thread];
    }
}

static bool count_frames(const artist *a) {
    tally__picture *picture = a->picture;
    for (int f = 0; f < picture->frames; f++) {
        const of_frame of = {a, f};
        tally__simt_counts counts;
        if (!tally__simt_counts_of(a->trace, is_of_frame, &of, &counts)) return false;
        picture->frame[f].branches = (int)counts.branches;
        picture->frame[f].divergent = (int)counts.divergent;
        picture->frame[f].bank_conflicts = (int)counts.bank_conflicts;
        picture->frame[f].transactions = (int)counts.transactions;
        count_meetings(a, f);
    }
    return true;
}

/* ---- frames in order ---- */

static bool comes_before(const artist *a, int f, int g) {
    const tally__frame *x = &a->picture->frame[f], *y = &a->picture->frame[g];
    if (x->launch != y->launch) return x->launch < y->launch;
    if (x->epoch != y->epoch) return x->epoch < y->epoch;
    return x->step < y->step;
}

static void add_frame(tally__frame *to, const tally__frame *from) {
    to->branches += from->branches;
    to->divergent += from->divergent;
    to->bank_conflicts += from->bank_conflicts;
    to->transactions += from->transactions;
    to->barriers += from->barriers;
    to->warp_barriers += from->warp_barriers;
    to->fences += from->fences;
    to->arrivals += from->arrivals;
    to->last = from->last >= 0 ? from->last : to->last;
}

/* A barrier ends the last frame of those before it, whoever has waited there. */
static void end_epochs(tally__picture *picture, const int *order) {
    for (int k = 0; k + 1 < picture->frames; k++) {
        tally__frame *frame = &picture->frame[order[k]], *next = &picture->frame[order[k + 1]];
        if (frame->launch != next->launch || frame->epoch != next->epoch) continue;
        if (frame->barriers > next->barriers) next->barriers = frame->barriers;
        frame->barriers = 0;
    }
}

/* Frames in which nothing is made belong to the one before; at the beginning to the first. `place`: what becomes of
 * each frame's number. */
static bool order_frames(artist *a) {
    tally__picture *picture = a->picture;
    int *order = malloc(2 * (size_t)(picture->frames + 1) * sizeof *order), *place = order + picture->frames, kept = 0;
    tally__frame *sorted = malloc((size_t)(picture->frames + 1) * sizeof *sorted);
    for (int f = 0; order != NULL && sorted != NULL && f < picture->frames; f++) {
        int at = f;
        for (; at > 0 && comes_before(a, f, order[at - 1]); at--) order[at] = order[at - 1];
        order[at] = f;
    }
    if (order != NULL && sorted != NULL) end_epochs(picture, order);
    for (int k = 0; order != NULL && sorted != NULL && k < picture->frames; k++) {
        const tally__frame *frame = &picture->frame[order[k]];
        bool begins = kept == 0 || sorted[kept - 1].boxes > 0;
        if (begins && (frame->boxes > 0 || kept == 0 || sorted[kept - 1].launch != frame->launch))
            sorted[kept++] = *frame;
        else {
            tally__frame *to = &sorted[kept - 1];
            if (to->boxes == 0) to->epoch = frame->epoch, to->step = frame->step, to->label = frame->label;
            to->boxes += frame->boxes;
            add_frame(to, frame);
        }
        place[order[k]] = kept - 1;
    }
    bool done = order != NULL && sorted != NULL;
    for (int b = picture->count; done && b < picture->boxes; b++) picture->box[b].frame = place[picture->box[b].frame];
    if (done) memcpy(picture->frame, sorted, (size_t)kept * sizeof *sorted);
    if (done) picture->frames = kept;
    free(order);
    free(sorted);
    return done;
}

static int compare_numbers(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

/* A box lies below those of its frame that it is made of. Which operand is read first is the compiler's choice: it does
 * not show. */
static void place_boxes(tally__picture *picture) {
    for (int b = picture->count; b < picture->boxes; b++) {
        tally__box *box = &picture->box[b];
        qsort(picture->from + box->first_from, (size_t)box->froms, sizeof *picture->from, compare_numbers);
        for (int k = 0; k < box->froms; k++) {
            const tally__box *from = &picture->box[picture->from[box->first_from + k]];
            if (from->frame == box->frame && from->level >= box->level) box->level = from->level + 1;
        }
    }
}

static void count_boxes(tally__picture *picture, bool active) {
    for (int f = 0; f < picture->frames; f++) {
        bool seen[MOST_BLOCKS][MOST_THREADS] = {{false}};
        tally__frame *frame = &picture->frame[f];
        for (int b = picture->count; b < picture->boxes; b++) {
            const tally__box *box = &picture->box[b];
            if (box->frame != f) continue;
            bool *mark = &seen[box->block % MOST_BLOCKS][box->thread];
            frame->boxes += !active;
            frame->active += active && !*mark;
            *mark = true;
        }
    }
}

/* ---- the picture ---- */

static bool draw(artist *a, tally__simt_trace *trace) {
    tally__picture *picture = a->picture;
    a->trace = trace;
    a->frame_of = malloc((size_t)(trace->count + 1) * sizeof *a->frame_of);
    tally__flow_begin(&a->flow, picture);
    if (a->frame_of == NULL || a->flow.no_memory || !sort_blocks(trace) || !see_all(a)) return false;
    widen(trace);
    if (!count_frames(a)) return false;
    count_boxes(picture, false);
    if (!order_frames(a)) return false;
    place_boxes(picture);
    count_boxes(picture, true);
    return true;
}

static void name_places(tally__picture *picture) {
    static const char *const names[] = {"x", "registers", "left", "left", "output"};
    picture->places = TALLY_PLACE_SHARED;
    for (int p = 0; p < TALLY_PLACE_SHARED; p++)
        snprintf(picture->place_name[p], sizeof picture->place_name[p], "%s", names[p]);
}

static tally_status draw_run(tally__track *track, const tally__gallery_row *row, int64_t count,
                             const int32_t *segment_ids, int64_t segments, tally__picture *picture) {
    uint64_t sets[TALLY_MOST_PICTURED], results[TALLY_MOST_PICTURED];
    int32_t numbers[TALLY_MOST_PICTURED];
    bool merges = row->plan == TALLY_PLAN_MERGE, drawn;
    tally__simt_trace trace;
    tally__lap lap;
    for (int i = 0; i < TALLY_MOST_PICTURED; i++) {
        sets[i] = UINT64_C(1) << i;
        numbers[i] = i;
    }
    TALLY_TRY(tally__track_load(track, merges ? (void *)numbers : (void *)sets, NULL, count, 1));
    if (segment_ids != NULL) TALLY_TRY(tally__track_segments(track, segment_ids, segments));
    TALLY_TRY(tally__track_run(track, row, results, &lap)); /* what there is to know before, and whether it can run */
    *picture = (tally__picture){
        .count = (int)count, .threads = lap.threads, .launches = lap.launches, .blocks = lap.blocks[0]};
    name_places(picture);
    TALLY_TRY(tally__track_trace(track, row, &trace));
    artist *a = calloc(1, sizeof *a);
    if (a != NULL) {
        a->track = track;
        a->merges = merges;
        a->picture = picture;
    }
    drawn = a != NULL && draw(a, &trace);
    if (a != NULL) free(a->frame_of);
    free(a);
    free(trace.events);
    TALLY_CHECK(drawn, NO_MEMORY, "no memory for a picture");
    return TALLY_OK;
}

tally_status tally__picture_draw(const tally__gallery_row *row, int64_t count, const int32_t *segment_ids,
                                 int64_t segments, tally__picture *picture) {
    tally__track *track;
    tally_status status;
    tally__simt_settings before = tally__simt_configured(), small = before;
    *picture = (tally__picture){0};
    bool merges = row->plan == TALLY_PLAN_MERGE;
    TALLY_CHECK(row->plan != TALLY_PLAN_READ, UNSUPPORTED, "%s combines nothing: there is nothing to draw", row->name);
    TALLY_CHECK(count >= 1 && count <= TALLY_MOST_PICTURED, BAD_ARGUMENT, "a picture is of 1 to %d values, not %lld",
                TALLY_MOST_PICTURED, (long long)count);
    TALLY_TRY(tally__track_open_pictured(merges, &track));
    small.lanes = TALLY_PICTURED_LANES;
    tally__simt_configure(&small);
    status = draw_run(track, row, count, segment_ids, segments, picture);
    tally__simt_configure(&before);
    tally__track_close(track);
    if (status != TALLY_OK) tally__picture_free(picture);
    return status;
}

void tally__picture_free(tally__picture *picture) {
    free(picture->frame);
    free(picture->box);
    free(picture->from);
    *picture = (tally__picture){0};
}

int tally__picture_usual_count(const tally__gallery_row *row) {
    if (row->plan == TALLY_PLAN_MERGE) return 8;
    return row->plan == TALLY_PLAN_PERSISTENT || row->plan == TALLY_PLAN_TREE ? 32 : 16;
}
