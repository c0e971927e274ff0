/* The machine: blocks that live at once, the places where their threads meet, and what is wrong with how they do. One
 * launch at a time has it; its threads are fibers of the OS thread that launches. This file runs on them: see
 * sanitizers.h. */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/driver.h"
#include "simt/device.h"
#include "simt/fibers.h"
#include "simt/sanitizers.h"
#include "simt/schedule.h"
#include "simt/tracing.h"

enum {
    POISON = 0xA5,
    GAP = 32,
    MOST_OBJECTS = 32,
    MOST_WARPS = TALLY_SIMT_MOST_THREADS / TALLY_WARP,
    MOST_ALIGNMENT = 128
};

typedef struct thread {
    tally__simt_place place; /* what the kernel sees as words.here */
    int number;              /* to the schedule */
    struct block *block;
    struct warp *warp;
    tally__fiber *fiber;
    uint32_t result;     /* of the last meeting */
    int32_t step, label; /* for traces */
} thread;

/* Lanes come one by one; the last to come works out everybody's result. A set of lanes is a word of bits. */
typedef struct warp {
    uint32_t lanes, arrived, at_barrier, ended;
    tally__simt_meeting meeting;
    const char *site;
    uint32_t values[TALLY_WARP];
    int32_t sources[TALLY_WARP];
    /* What orders memory at warp barriers, in turns: a lane that is ahead already releases the other when the last
     * acquires one. */
    char order[2];
    int turn;
} warp;

typedef struct object {
    const char *site;
    char *start;
    size_t bytes;
} object;

typedef struct block {
    bool live;
    int index, threads, ended, waiting, awaited; /* of the barrier where some wait */
    const char *barrier;
    char order[2];
    int turn;
    warp warps[MOST_WARPS];
    thread members[TALLY_SIMT_MOST_THREADS];
    int object_count;
    object objects[MOST_OBJECTS];
    size_t shared_bytes;
    char *shared_end; /* of what is laid out */
    char shared[TALLY_SIMT_SHARED_BYTES + TALLY_SIMT_MOST_ROOM + MOST_OBJECTS * (GAP + MOST_ALIGNMENT) + 2 * GAP];
} block;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static tally__simt_settings settings = TALLY_SIMT_SETTINGS_INIT;
static bool configured;
static tally__simt_counters counters;
static block *slots; /* TALLY_SIMT_MOST_BLOCKS of them, kept */

static struct {
    const tally__simt_job *job;
    tally__fiber *host;
    thread *now; /* who runs, or ran last */
    int64_t quiet_steps;
    bool failed;
    char began, ended, fence; /* what orders memory: the launch with its threads, and they with its end */
    char sentence[320];
} machine;

static tally__simt_words words; /* defined below, where its functions are */
const tally__simt_words *tally__simt = &words;

/* ---- messages ---- */

static const char *const meeting_names[] = {"warp barrier", "shuffle",  "shuffle_xor", "any",
                                            "ballot",       "warp_max", "warp_min"};

/* "/a/b/production/reduce.h:40" as "production/reduce.h:40" */
static const char *short_site(const char *site) {
    const char *kept[2] = {site, site};
    for (const char *c = site; *c != '\0' && *c != ' '; c++)
        if (*c == '/') kept[0] = kept[1], kept[1] = c + 1;
    return kept[0];
}

static int first_of(uint32_t lanes) { return __builtin_ctz(lanes); }

/* Ends the launch from a thread of it, which never goes on. */
static _Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void fail(const char *format, ...) {
    const tally__simt_place *place = &machine.now->place;
    int length =
        snprintf(machine.sentence, sizeof machine.sentence, "block %d, thread %d: ", place->block, place->thread);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(machine.sentence + length, sizeof machine.sentence - (size_t)length, format, arguments);
    va_end(arguments);
    machine.failed = true;
    TALLY_RELEASE(&machine.ended); /* of the sentence */
    tally__fiber_switch(machine.now->fiber, machine.host);
    abort();
}

/* ---- who runs ---- */

static thread *member(int number) {
    return &slots[number / TALLY_SIMT_MOST_THREADS].members[number % TALLY_SIMT_MOST_THREADS];
}

static void run(tally__fiber *from, thread *next) {
    machine.now = next;
    words.here = &next->place;
    counters.switches++;
    tally__fiber_switch(from, next->fiber);
}

static void step(tally__step why) {
    thread *self = machine.now;
    int next;
    if (++machine.quiet_steps > settings.patience)
        fail("livelock: %lld steps and no thread ended", (long long)settings.patience);
    next = tally__schedule_next(self->number, why);
    if (next == self->number) return;
    if (next >= 0)
        run(self->fiber, member(next));
    else
        tally__fiber_switch(self->fiber, machine.host);
}

/* ---- traces ---- */

static int32_t launches_traced;

static tally__simt_event event_of(tally__simt_sight sight, const char *site) {
    const thread *self = machine.now;
    return (tally__simt_event){.sight = sight,
                               .launch = launches_traced - 1,
                               .block = self->block->index,
                               .thread = self->place.thread,
                               .step = self->step,
                               .label = self->label,
                               .object = TALLY_SIMT_GLOBAL,
                               .site = site};
}

static void see_meeting(tally__simt_meeting meeting, uint32_t value, int32_t source, const char *site) {
    tally__simt_event event = event_of(TALLY_SIMT_MEETING, site);
    if (!words.traces) return;
    event.taken = meeting == TALLY_SIMT_SHUFFLE || meeting == TALLY_SIMT_SHUFFLE_XOR;
    event.at = source;
    event.value = value;
    tally__simt_trace_add(&event);
}

static void see(tally__simt_sight sight, const void *p, size_t bytes, const char *site) {
    thread *self = machine.now;
    const block *b = self->block;
    tally__simt_event event;
    if (sight == TALLY_SIMT_STEP) {
        self->step++;
        self->label = (int32_t)bytes;
    }
    event = event_of(sight, site);
    if (p != NULL) __builtin_memcpy(&event.value, p, bytes < sizeof event.value ? bytes : sizeof event.value);
    event.bytes = p != NULL ? (int32_t)bytes : 0;
    event.taken = sight == TALLY_SIMT_BRANCH && bytes != 0;
    event.at = (int64_t)(uintptr_t)p;
    for (int i = 0; i < b->object_count; i++) {
        const object *o = &b->objects[i];
        if ((uintptr_t)p - (uintptr_t)o->start >= o->bytes) continue;
        event.object = i;
        event.object_site = o->site;
        event.at = (const char *)p - o->start;
    }
    tally__simt_trace_add(&event);
}

void tally__simt_trace_all(bool on) {
    pthread_mutex_lock(&mutex);
    words.traces = on;
    launches_traced = 0;
    pthread_mutex_unlock(&mutex);
}

/* ---- the block's barrier ---- */

/* The first that has ended; behind all: none. */
static int ended_thread(const block *b) {
    int w = 0;
    while (w < MOST_WARPS && b->warps[w].ended == 0) w++;
    return w * settings.lanes + (w < MOST_WARPS ? first_of(b->warps[w].ended) : 0);
}

static void wait_for_threads(int32_t threads, const char *site) {
    thread *self = machine.now;
    block *b = self->block;
    warp *w = self->warp;
    char *order = &b->order[b->turn];
    if (self->place.thread >= threads || threads > b->threads)
        fail("divergent barrier: it waits at %s for %d threads, whose it is not", short_site(site), threads);
    if (ended_thread(b) < threads)
        fail("divergent barrier: it waits at %s for thread %d, which has ended", short_site(site), ended_thread(b));
    if (w->arrived != 0)
        fail("deadlock: it waits at the barrier of %s, lane %d of its warp at the %s of %s", short_site(site),
             first_of(w->arrived), meeting_names[w->meeting], short_site(w->site));
    if (b->waiting != 0 && b->barrier != site)
        fail("divergent barrier: it waits at %s, others at %s", short_site(site), short_site(b->barrier));
    b->barrier = site;
    b->awaited = threads;
    tally__simt_seen(TALLY_SIMT_BARRIER, NULL, 0, site);
    w->at_barrier |= UINT32_C(1) << self->place.thread % settings.lanes;
    TALLY_RELEASE(order);
    tally__schedule_wait(self->number);
    if (++b->waiting == threads) {
        counters.barriers++;
        b->waiting = 0;
        b->turn ^= 1;
        for (int i = 0; i < threads; i++) tally__schedule_ready(b->members[i].number);
        for (int i = 0; i < (threads + settings.lanes - 1) / settings.lanes; i++) b->warps[i].at_barrier = 0;
        step(TALLY_STEP_MET);
    } else
        step(TALLY_STEP_WAIT);
    TALLY_ACQUIRE(order);
}

/* ---- meetings of a warp ---- */

static void check_source(const thread *self, const char *name, int32_t source, const char *site) {
    const warp *w = self->warp;
    if (source < 0 || source >= settings.lanes)
        fail("the %s of %s reads lane %d of %d", name, short_site(site), source, settings.lanes);
    if ((w->lanes >> source & 1) == 0)
        fail("the %s of %s reads lane %d, which a block of %d threads does not have", name, short_site(site), source,
             self->block->threads);
    if (w->ended >> source & 1) fail("the %s of %s reads lane %d, which has ended", name, short_site(site), source);
}

static uint32_t vote(const warp *w) {
    uint32_t result = w->meeting == TALLY_SIMT_MIN ? UINT32_MAX : 0;
    for (int i = 0; i < settings.lanes; i++) {
        uint32_t value = w->values[i];
        if ((w->lanes >> i & 1) == 0) continue;
        if (w->meeting == TALLY_SIMT_MIN)
            result = value < result ? value : result;
        else if (w->meeting == TALLY_SIMT_BALLOT)
            result |= value << i;
        else
            result = value > result ? value : result;
    }
    return result;
}

static void hand_out(warp *w, thread *first) {
    bool shuffles = w->meeting == TALLY_SIMT_SHUFFLE || w->meeting == TALLY_SIMT_SHUFFLE_XOR;
    uint32_t same = shuffles ? 0 : vote(w);
    counters.meetings++;
    for (int i = 0; i < settings.lanes && w->lanes >> i & 1; i++) {
        first[i].result = shuffles ? w->values[w->sources[i]] : same;
        tally__schedule_ready(first[i].number);
    }
    w->arrived = 0;
    w->turn ^= 1;
}

static uint32_t meet(tally__simt_meeting meeting, uint32_t value, int32_t argument, const char *site) {
    thread *self = machine.now;
    warp *w = self->warp;
    const char *name = meeting_names[meeting];
    int lane = self->place.thread % settings.lanes;
    char *order = &w->order[w->turn];
    if (meeting == TALLY_SIMT_SHUFFLE) argument &= settings.lanes - 1; /* as __shfl_sync does */
    if (meeting == TALLY_SIMT_SHUFFLE_XOR) argument ^= lane;
    if (meeting == TALLY_SIMT_SHUFFLE || meeting == TALLY_SIMT_SHUFFLE_XOR) check_source(self, name, argument, site);
    if (w->ended != 0)
        fail("the %s of %s is for all lanes, but lane %d has ended", name, short_site(site), first_of(w->ended));
    if (w->at_barrier != 0)
        fail("deadlock: it waits at the %s of %s, lane %d of its warp at the barrier of %s", name, short_site(site),
             first_of(w->at_barrier), short_site(self->block->barrier));
    if (w->arrived != 0 && (w->meeting != meeting || w->site != site))
        fail("divergent warp: it is at the %s of %s, lane %d at the %s of %s", name, short_site(site),
             first_of(w->arrived), meeting_names[w->meeting], short_site(w->site));
    see_meeting(meeting, value, argument, site);
    w->meeting = meeting;
    w->site = site;
    w->values[lane] = value;
    w->sources[lane] = argument;
    w->arrived |= UINT32_C(1) << lane;
    /* Of these, only the barrier orders memory: CUDA C++ Programming Guide, "Warp Shuffle Functions", "Warp Vote
     * Functions". */
    if (meeting == TALLY_SIMT_WARP_BARRIER) TALLY_RELEASE(order);
    tally__schedule_wait(self->number);
    if (w->arrived == w->lanes) {
        hand_out(w, self - lane);
        step(TALLY_STEP_MET);
    } else
        step(TALLY_STEP_WAIT);
    if (meeting == TALLY_SIMT_WARP_BARRIER) TALLY_ACQUIRE(order);
    return self->result;
}

/* ---- memory ---- */

static void fence(void) {
    counters.fences++;
    tally__simt_seen(TALLY_SIMT_FENCE, NULL, 0, "a fence");
    TALLY_RELEASE(&machine.fence);
    TALLY_ACQUIRE(&machine.fence);
}

static void check_alignment(const void *p, size_t bytes, const char *what) {
    if ((uintptr_t)p % bytes != 0) fail("%s at %p, which is not a multiple of %zu", what, p, bytes);
}

static void before_atomic(const void *p, size_t bytes) {
    check_alignment(p, bytes, "an atomic operation");
    counters.atomics++;
    step(TALLY_STEP_ATOMIC);
    tally__simt_seen(TALLY_SIMT_ATOMIC, p, bytes, "an atomic operation"); /* which nobody comes before */
}

static void before_fresh(const void *p) {
    check_alignment(p, sizeof(uint64_t), "a fresh load");
    counters.fresh_loads++;
    step(TALLY_STEP_SPIN);
    TALLY_ACQUIRE(&machine.fence);
}

static void before_load16(const void *p) {
    check_alignment(p, sizeof(tally_quad), "a 16-byte load");
    counters.loads16++;
    tally__simt_seen(TALLY_SIMT_READ, p, sizeof(tally_quad), "a 16-byte load");
}

static char *aligned(char *p, size_t alignment) { return p + (alignment - (uintptr_t)p % alignment) % alignment; }

/* Not memset: the thread sanitizer would take it for a write of the running thread, which others race with. */
static void poison(char *from, const char *to) {
    for (volatile char *p = from; p < to; p++) *p = (char)POISON;
}

/* Objects lie in gaps that nobody may write. */
static void *lay_out(block *b, size_t bytes, size_t alignment, const char *site) {
    object *o = &b->objects[b->object_count];
    char *gap = b->shared_end, *start = aligned(gap + GAP, alignment);
    if (alignment > MOST_ALIGNMENT) fail("shared memory at %s: an alignment of %zu", short_site(site), alignment);
    if (b->object_count == MOST_OBJECTS)
        fail("shared memory at %s: more than %d objects", short_site(site), MOST_OBJECTS);
    b->object_count++;
    *o = (object){site, start, bytes};
    b->shared_end = start + bytes;
    TALLY_SHOW(gap, (size_t)(b->shared_end + GAP - gap));
    poison(gap, b->shared_end + GAP);
    TALLY_HIDE(gap, (size_t)(start - gap));
    TALLY_HIDE(b->shared_end, GAP);
    return start;
}

/* The object of that place in the text; NULL: there is none yet. */
static void *object_of(const block *b, size_t bytes, const char *site) {
    for (int i = 0; i < b->object_count; i++) {
        const object *o = &b->objects[i];
        if (o->site != site) continue;
        if (o->bytes != bytes) fail("shared memory at %s: %zu bytes, once %zu", short_site(site), bytes, o->bytes);
        return o->start;
    }
    return NULL;
}

/* As of a __shared__ variable, there is one for each place in the text, whoever asks and how often. */
static void *shared(size_t bytes, size_t alignment, const char *site) {
    block *b = machine.now->block;
    void *known = object_of(b, bytes, site);
    if (known != NULL) return known;
    if (bytes > TALLY_SIMT_SHARED_BYTES - b->shared_bytes)
        fail("shared memory at %s: %zu bytes and %zu more, of %d", short_site(site), b->shared_bytes, bytes,
             TALLY_SIMT_SHARED_BYTES);
    b->shared_bytes += bytes;
    if ((int64_t)b->shared_bytes > counters.shared_bytes) counters.shared_bytes = (int64_t)b->shared_bytes;
    return lay_out(b, bytes, alignment, site);
}

/* As of an extern __shared__ array. */
static void *shared_buffer(size_t bytes, const char *site) {
    block *b = machine.now->block;
    void *known = object_of(b, bytes, site);
    if (known != NULL) return known;
    if (bytes > machine.job->shared_bytes)
        fail("shared memory at %s: %zu bytes, and the launch gives %zu", short_site(site), bytes,
             machine.job->shared_bytes);
    return lay_out(b, bytes, MOST_ALIGNMENT, site);
}

static tally__simt_words words = {.shared = shared,
                                  .shared_buffer = shared_buffer,
                                  .barrier = wait_for_threads,
                                  .meet = meet,
                                  .fence = fence,
                                  .before_atomic = before_atomic,
                                  .before_fresh = before_fresh,
                                  .before_load16 = before_load16,
                                  .see = see};

/* The address sanitizer finds it better, and where. */
static void check_gaps(const block *b) {
#ifndef TALLY_SIMT_ASAN
    const char *p = b->shared;
    for (int i = 0; i <= b->object_count && b->object_count > 0; i++) {
        const char *end = i < b->object_count ? b->objects[i].start : b->shared_end + GAP;
        for (; p < end; p++)
            if (*p != (char)POISON && !machine.failed) {
                snprintf(machine.sentence, sizeof machine.sentence, "block %d wrote to shared memory %s %s", b->index,
                         i > 0 ? "behind" : "before", short_site(b->objects[i > 0 ? i - 1 : 0].site));
                machine.failed = true;
            }
        if (i < b->object_count) p += b->objects[i].bytes;
    }
#else
    (void)b;
#endif
}

/* ---- blocks ---- */

static void end_thread(thread *self) {
    block *b = self->block;
    warp *w = self->warp;
    if (b->waiting != 0 && self->place.thread < b->awaited)
        fail("divergent barrier: it ended, and %d others wait at %s", b->waiting, short_site(b->barrier));
    if (w->arrived != 0)
        fail("lane %d ended, and lane %d of its warp waits at the %s of %s", self->place.thread % settings.lanes,
             first_of(w->arrived), meeting_names[w->meeting], short_site(w->site));
    w->ended |= UINT32_C(1) << self->place.thread % settings.lanes;
    machine.quiet_steps = 0;
    tally__schedule_wait(self->number);
    TALLY_RELEASE(&machine.ended);
    if (++b->ended == b->threads)
        tally__fiber_switch(self->fiber, machine.host);
    else
        step(TALLY_STEP_WAIT);
}

static void thread_body(void) {
    thread *self = machine.now;
    TALLY_ACQUIRE(&machine.began);
    machine.job->entry(machine.job->work);
    end_thread(self);
}

/* Gives back the fibers of the first `count` threads. */
static void retire(block *b, int count) {
    TALLY_ACQUIRE(&machine.ended);
    for (int i = 0; i < count; i++) {
        const thread *t = &b->members[i];
        tally__fiber_give(t->fiber, t->warp->ended >> i % settings.lanes & 1);
    }
    b->live = false;
    check_gaps(b);
    TALLY_SHOW(b->shared, sizeof b->shared);
}

/* Starts block `index` of the grid; false: no memory for its fibers. */
static bool begin(int slot, int index) {
    const tally__simt_job *job = machine.job;
    block *b = &slots[slot];
    b->live = true;
    b->index = index;
    b->threads = job->threads;
    b->ended = b->waiting = b->turn = b->object_count = 0;
    b->shared_bytes = 0;
    b->shared_end = b->shared;
    TALLY_HIDE(b->shared, sizeof b->shared);
    memset(b->warps, 0, sizeof b->warps[0] * (size_t)((job->threads + settings.lanes - 1) / settings.lanes));
    for (int i = 0; i < job->threads; i++) {
        thread *t = &b->members[i];
        *t = (thread){{i, job->threads, index, job->blocks},
                      slot * TALLY_SIMT_MOST_THREADS + i,
                      b,
                      &b->warps[i / settings.lanes],
                      tally__fiber_take(thread_body),
                      0,
                      0,
                      -1};
        if (t->fiber == NULL) {
            retire(b, i);
            return false;
        }
        t->warp->lanes |= UINT32_C(1) << i % settings.lanes;
        tally__schedule_ready(t->number);
    }
    counters.blocks++;
    counters.threads += job->threads;
    TALLY_RELEASE(&machine.began);
    return true;
}

/* Puts the next blocks of the grid where one has ended. */
static int refill(int64_t *begun, int places) {
    for (int slot = 0; slot < places; slot++) {
        block *b = &slots[slot];
        if (b->live && b->ended == b->threads) retire(b, b->threads);
        if (b->live || *begun == machine.job->blocks || machine.failed) continue;
        if (!begin(slot, (int)tally__schedule_block(*begun, machine.job->blocks))) {
            snprintf(machine.sentence, sizeof machine.sentence, "no memory for %d fibers", machine.job->threads);
            return TALLY_CU_OUT_OF_MEMORY;
        }
        ++*begun;
    }
    return machine.failed ? TALLY_CU_LAUNCH_FAILED : TALLY_CU_SUCCESS;
}

static int run_all(int places) {
    int64_t begun = 0;
    thread *first = &slots[0].members[0];
    int error, next;
    for (;;) {
        error = refill(&begun, places);
        if (error != TALLY_CU_SUCCESS) break;
        next = tally__schedule_next(machine.now != NULL ? machine.now->number : first->number, TALLY_STEP_WAIT);
        if (next < 0) break;
        run(machine.host, member(next));
    }
    for (int slot = 0; slot < places; slot++) {
        block *b = &slots[slot];
        if (b->live && error == TALLY_CU_SUCCESS) { /* the checks at each meeting leave none */
            snprintf(machine.sentence, sizeof machine.sentence, "deadlock: no thread of block %d can go on", b->index);
            error = TALLY_CU_LAUNCH_FAILED;
        }
        if (b->live) retire(b, b->threads);
    }
    return error;
}

/* ---- launches ---- */

static const char *order_text(char text[64]) {
    static const char *const names[TALLY_SIMT_ORDERS] = {"round", "reverse", "", "greedy", "lockstep"};
    if (settings.order != TALLY_SIMT_RANDOM) return names[settings.order];
    snprintf(text, 64, "random:%llu:%llu", (unsigned long long)settings.seed, (unsigned long long)settings.launch);
    return text;
}

static int prepare(const tally__simt_job *job, char *sentence, size_t capacity) {
    const char *schedule = getenv("TALLY_SIMT_SCHEDULE");
    if (!configured && schedule != NULL && !tally__simt_parse(schedule, &settings)) {
        snprintf(sentence, capacity,
                 "TALLY_SIMT_SCHEDULE is \"%s\", but must be round, reverse, random[:SEED[:LAUNCH]], "
                 "greedy or lockstep",
                 schedule);
        return TALLY_CU_LAUNCH_FAILED;
    }
    configured = true;
    if (job->threads > MOST_WARPS * settings.lanes) {
        snprintf(sentence, capacity, "%d threads are more than %d warps of %d", job->threads, MOST_WARPS,
                 settings.lanes);
        return TALLY_CU_LAUNCH_FAILED;
    }
    if (slots == NULL) slots = calloc(TALLY_SIMT_MOST_BLOCKS, sizeof *slots); /* pages come as they are touched */
    if (slots != NULL) return TALLY_CU_SUCCESS;
    snprintf(sentence, capacity, "no memory for %d blocks", TALLY_SIMT_MOST_BLOCKS);
    return TALLY_CU_OUT_OF_MEMORY;
}

static int launch(const tally__simt_job *job, char *sentence, size_t capacity) {
    int places = settings.live_blocks < job->blocks ? settings.live_blocks : job->blocks, error;
    char text[64];
    counters = (tally__simt_counters){0};
    launches_traced++;
    machine.job = job;
    machine.host = tally__fiber_host();
    machine.now = NULL;
    machine.quiet_steps = 0;
    machine.failed = false;
    tally__schedule_start(&settings, places, job->threads);
    error = run_all(places);
    if (error == TALLY_CU_SUCCESS && machine.failed) error = TALLY_CU_LAUNCH_FAILED;
    if (error != TALLY_CU_SUCCESS)
        snprintf(sentence, capacity, "%s: %s (schedule %s)", job->name, machine.sentence, order_text(text));
    settings.launch++;
    return error;
}

int tally__simt_launch(const tally__simt_job *job, char *sentence, size_t capacity) {
    int error;
    pthread_mutex_lock(&mutex);
    error = prepare(job, sentence, capacity);
    if (error == TALLY_CU_SUCCESS) error = launch(job, sentence, capacity);
    pthread_mutex_unlock(&mutex);
    return error;
}

void tally__simt_configure(const tally__simt_settings *wanted) {
    static const tally__simt_settings usual = TALLY_SIMT_SETTINGS_INIT;
    pthread_mutex_lock(&mutex);
    configured = wanted != NULL;
    settings = wanted != NULL ? *wanted : usual;
    if (settings.live_blocks < 1) settings.live_blocks = 1;
    if (settings.lanes < 1 || settings.lanes > TALLY_WARP) settings.lanes = TALLY_WARP;
    if (settings.live_blocks > TALLY_SIMT_MOST_BLOCKS) settings.live_blocks = TALLY_SIMT_MOST_BLOCKS;
    pthread_mutex_unlock(&mutex);
}

tally__simt_settings tally__simt_configured(void) {
    tally__simt_settings now;
    pthread_mutex_lock(&mutex);
    now = settings;
    pthread_mutex_unlock(&mutex);
    return now;
}

tally__simt_counters tally__simt_counted(void) {
    tally__simt_counters now;
    pthread_mutex_lock(&mutex);
    now = counters;
    pthread_mutex_unlock(&mutex);
    return now;
}
