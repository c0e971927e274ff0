/* The machine: blocks that live at once, launches, and traces of them. One launch at a time has it; its threads are
 * fibers of the OS thread that launches. This file runs on them: see sanitizers.h. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/driver.h"
#include "simt/running.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static bool configured;

/* ---- blocks ---- */

static void end_thread(thread *self) {
    block *b = self->block;
    warp *w = self->warp;
    if (b->waiting != 0 && self->place.thread < b->awaited)
        tally__machine_fail("divergent barrier: it ended, and %d others wait at %s", b->waiting,
                            tally__short_site(b->barrier));
    if (w->arrived != 0)
        tally__machine_fail("lane %d ended, and lane %d of its warp waits at the %s of %s", self->lane,
                            first_of(w->arrived), tally__meeting_name(w->meeting), tally__short_site(w->site));
    w->ended |= UINT32_C(1) << self->lane;
    tally__machine.quiet_steps = 0;
    tally__schedule_wait(self->number);
    TALLY_RELEASE(&tally__machine.ended);
    if (++b->ended == b->threads)
        tally__fiber_switch(self->fiber, tally__machine.host);
    else
        tally__machine_step(TALLY_STEP_WAIT);
}

static void thread_body(void) {
    thread *self = tally__machine.now;
    TALLY_ACQUIRE(&tally__machine.began);
    tally__machine.job->entry(tally__machine.job->work);
    end_thread(self);
}

/* Gives back the fibers of the first `count` threads. */
static void retire(block *b, int count) {
    TALLY_ACQUIRE(&tally__machine.ended);
    for (int i = 0; i < count; i++) {
        const thread *t = &b->members[i];
        tally__fiber_give(t->fiber, t->warp->ended >> t->lane & 1);
    }
    b->live = false;
    tally__machine_check_gaps(b);
    TALLY_SHOW(b->shared, sizeof b->shared);
}

/* Starts block `index` of the grid; false: no memory for its fibers. */
static bool begin(int slot, int index) {
    const tally__simt_job *job = tally__machine.job;
    block *b = &tally__machine.slots[slot];
    b->live = true;
    b->index = index;
    b->threads = job->threads;
    b->ended = b->asleep = b->waiting = b->turn = b->object_count = 0;
    b->shared_bytes = 0;
    b->shared_end = b->shared;
    TALLY_HIDE(b->shared, sizeof b->shared);
    memset(b->warps, 0,
           sizeof b->warps[0] *
               (size_t)((job->threads + tally__machine.settings.lanes - 1) / tally__machine.settings.lanes));
    for (int i = 0; i < job->threads; i++) {
        thread *t = &b->members[i];
        *t = (thread){{i, job->threads, index, job->blocks},
                      slot * TALLY_SIMT_MOST_THREADS + i,
                      i % tally__machine.settings.lanes,
                      b,
                      &b->warps[i / tally__machine.settings.lanes],
                      tally__fiber_take(thread_body),
                      0,
                      0,
                      -1,
                      NULL};
        if (t->fiber == NULL) {
            retire(b, i);
            return false;
        }
        b->copies[i].begun = b->copies[i].done = 0;
        t->warp->lanes |= UINT32_C(1) << t->lane;
        tally__schedule_ready(t->number);
    }
    tally__machine.counters.blocks++;
    tally__machine.counters.threads += job->threads;
    TALLY_RELEASE(&tally__machine.began);
    return true;
}

/* Puts the next blocks of the grid where one has ended. */
static int refill(int64_t *begun, int places) {
    for (int slot = 0; slot < places; slot++) {
        block *b = &tally__machine.slots[slot];
        if (b->live && b->ended == b->threads) retire(b, b->threads);
        if (b->live || *begun == tally__machine.job->blocks || tally__machine.failed) continue;
        if (!begin(slot, (int)tally__schedule_block(*begun, tally__machine.job->blocks))) {
            snprintf(tally__machine.sentence, sizeof tally__machine.sentence, "no memory for %d fibers",
                     tally__machine.job->threads);
            return TALLY_CU_OUT_OF_MEMORY;
        }
        ++*begun;
    }
    return tally__machine.failed ? TALLY_CU_LAUNCH_FAILED : TALLY_CU_SUCCESS;
}

static int run_all(int places) {
    int64_t begun = 0;
    thread *first = &tally__machine.slots[0].members[0];
    int error, next;
    for (;;) {
        error = refill(&begun, places);
        if (error != TALLY_CU_SUCCESS) break;
        next = tally__schedule_next(tally__machine.now != NULL ? tally__machine.now->number : first->number,
                                    TALLY_STEP_WAIT);
        if (next < 0) break;
        tally__machine_run(tally__machine.host, tally__machine_thread(next));
    }
    for (int slot = 0; slot < places; slot++) {
        block *b = &tally__machine.slots[slot];
        if (b->live && error == TALLY_CU_SUCCESS) { /* meetings report their own deadlocks */
            snprintf(tally__machine.sentence, sizeof tally__machine.sentence,
                     b->asleep > 0 ? "deadlock: threads of block %d wait at an mbarrier, and nobody arrives"
                                   : "deadlock: no thread of block %d can go on",
                     b->index);
            error = TALLY_CU_LAUNCH_FAILED;
        }
        if (b->live) retire(b, b->threads);
    }
    return error;
}

/* ---- launches ---- */

static const char *order_text(char text[64]) {
    static const char *const names[TALLY_SIMT_ORDERS] = {"round", "reverse", "", "greedy", "lockstep"};
    if (tally__machine.settings.order != TALLY_SIMT_RANDOM) return names[tally__machine.settings.order];
    snprintf(text, 64, "random:%llu:%llu", (unsigned long long)tally__machine.settings.seed,
             (unsigned long long)tally__machine.settings.launch);
    return text;
}

static void set_words(void) {
    tally__simt_words *words = &tally__machine.words;
    words->shared = tally__machine_shared;
    words->shared_buffer = tally__machine_shared_buffer;
    words->barrier = tally__machine_barrier;
    words->meet = tally__machine_meet;
    words->fence = tally__machine_fence;
    words->before_atomic = tally__machine_before_atomic;
    words->before_fresh = tally__machine_before_fresh;
    words->before_load16 = tally__machine_before_load16;
    words->begin_copy = tally__machine_begin_copy;
    words->next_copy = tally__machine_next_copy;
    words->sleep = tally__machine_sleep;
    words->wake = tally__machine_wake;
    words->see = tally__machine_see;
}

static int prepare(const tally__simt_job *job, char *sentence, size_t capacity) {
    const char *schedule = getenv("TALLY_SIMT_SCHEDULE");
    if (!configured && schedule != NULL && !tally__simt_parse(schedule, &tally__machine.settings)) {
        snprintf(sentence, capacity,
                 "TALLY_SIMT_SCHEDULE is \"%s\", but must be round, reverse, random[:SEED[:LAUNCH]], "
                 "greedy or lockstep",
                 schedule);
        return TALLY_CU_LAUNCH_FAILED;
    }
    configured = true;
    set_words();
    if (job->threads > MOST_WARPS * tally__machine.settings.lanes) {
        snprintf(sentence, capacity, "%d threads are more than %d warps of %d", job->threads, MOST_WARPS,
                 tally__machine.settings.lanes);
        return TALLY_CU_LAUNCH_FAILED;
    }
    if (tally__machine.slots == NULL)
        tally__machine.slots =
            calloc(TALLY_SIMT_MOST_BLOCKS, sizeof *tally__machine.slots); /* pages come when touched */
    if (tally__machine.slots != NULL) return TALLY_CU_SUCCESS;
    snprintf(sentence, capacity, "no memory for %d blocks", TALLY_SIMT_MOST_BLOCKS);
    return TALLY_CU_OUT_OF_MEMORY;
}

static int launch(const tally__simt_job *job, char *sentence, size_t capacity) {
    int places = tally__machine.settings.live_blocks < job->blocks ? tally__machine.settings.live_blocks : job->blocks,
        error;
    char text[64];
    tally__machine.counters = (tally__simt_counters){0};
    tally__machine.launches_traced++;
    tally__machine.job = job;
    tally__machine.host = tally__fiber_host();
    tally__machine.now = NULL;
    tally__machine.quiet_steps = 0;
    tally__machine.failed = false;
    tally__schedule_start(&tally__machine.settings, places, job->threads);
    error = run_all(places);
    if (error == TALLY_CU_SUCCESS && tally__machine.failed) error = TALLY_CU_LAUNCH_FAILED;
    if (error != TALLY_CU_SUCCESS)
        snprintf(sentence, capacity, "%s: %s (schedule %s)", job->name, tally__machine.sentence, order_text(text));
    tally__machine.settings.launch++;
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
    tally__machine.settings = wanted != NULL ? *wanted : usual;
    if (tally__machine.settings.live_blocks < 1) tally__machine.settings.live_blocks = 1;
    if (tally__machine.settings.lanes < 1 || tally__machine.settings.lanes > TALLY_WARP)
        tally__machine.settings.lanes = TALLY_WARP;
    if (tally__machine.settings.live_blocks > TALLY_SIMT_MOST_BLOCKS)
        tally__machine.settings.live_blocks = TALLY_SIMT_MOST_BLOCKS;
    pthread_mutex_unlock(&mutex);
}

tally__simt_settings tally__simt_configured(void) {
    tally__simt_settings now;
    pthread_mutex_lock(&mutex);
    now = tally__machine.settings;
    pthread_mutex_unlock(&mutex);
    return now;
}

tally__simt_counters tally__simt_counted(void) {
    tally__simt_counters now;
    pthread_mutex_lock(&mutex);
    now = tally__machine.counters;
    pthread_mutex_unlock(&mutex);
    return now;
}

/* ---- traces ---- */

void tally__simt_trace_start(void) {
    pthread_mutex_lock(&mutex);
    tally__simt_trace_begin();
    tally__machine.words.traces = true;
    tally__machine.launches_traced = 0;
    pthread_mutex_unlock(&mutex);
}

void tally__simt_trace_stop(tally__simt_trace *trace) {
    pthread_mutex_lock(&mutex);
    tally__machine.words.traces = false;
    tally__simt_trace_end(trace);
    trace->lanes = tally__machine.settings.lanes;
    trace->word = 4;
    pthread_mutex_unlock(&mutex);
}
