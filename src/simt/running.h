/* What the simulated machine consists of, and who of it runs; for the files of the machine alone. They run on fibers:
 * see sanitizers.h. */
#ifndef TALLY_SIMT_RUNNING_H
#define TALLY_SIMT_RUNNING_H

#include "simt/device.h"
#include "simt/fibers.h"
#include "simt/sanitizers.h"
#include "simt/schedule.h"
#include "simt/simt.h"
#include "simt/tracing.h"
#include "simt/words.h"

enum {
    MOST_OBJECTS = 32,
    MOST_WARPS = TALLY_SIMT_MOST_THREADS / TALLY_WARP,
    MOST_ALIGNMENT = 128,
    GAP = 32 /* bytes between objects in shared memory, which nobody may write */
};

typedef struct thread {
    tally__simt_place place; /* what the kernel sees as words.here */
    int number, lane;        /* to the schedule, and in its warp */
    struct block *block;
    struct warp *warp;
    tally__fiber *fiber;
    uint32_t result;     /* of the last meeting */
    int32_t step, label; /* for traces */
    const void *awaited; /* where it sleeps, or NULL */
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

/* A thread's copies that are on their way, in the order in which they began. */
enum { MOST_COPIES = 64 };
typedef struct copies {
    int32_t begun, done;
    tally__simt_copy of[MOST_COPIES];
} copies;

typedef struct object {
    const char *site;
    char *start;
    size_t bytes;
} object;

typedef struct block {
    bool live;
    int index, threads, ended, asleep;
    int waiting, awaited; /* of the barrier where some wait */
    const char *barrier;
    char order[2];
    int turn;
    warp warps[MOST_WARPS];
    thread members[TALLY_SIMT_MOST_THREADS];
    copies copies[TALLY_SIMT_MOST_THREADS];
    int object_count;
    object objects[MOST_OBJECTS];
    size_t shared_bytes;
    char *shared_end; /* of what is laid out */
    char shared[TALLY_SIMT_SHARED_BYTES + TALLY_SIMT_MOST_DYNAMIC_SHARED + MOST_OBJECTS * (GAP + MOST_ALIGNMENT) +
                2 * GAP];
} block;

/* One launch at a time has the machine. */
typedef struct tally__simt_machine {
    tally__simt_settings settings;
    tally__simt_counters counters;
    block *slots; /* TALLY_SIMT_MOST_BLOCKS of them, kept */
    const tally__simt_job *job;
    tally__fiber *host;
    thread *now; /* who runs, or ran last */
    int64_t quiet_steps;
    int32_t launches_traced;
    bool failed;
    char began, ended, fence; /* what orders memory: the launch with its threads, and they with its end */
    char sentence[320];
    tally__simt_words words; /* its functions are set by machine.c */
} tally__simt_machine;
extern tally__simt_machine tally__machine;

/* Ends the launch from a thread of it, which never goes on. */
_Noreturn void tally__machine_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The thread with that number to the schedule. */
thread *tally__machine_thread(int number);
/* Switches to a thread. */
void tally__machine_run(tally__fiber *from, thread *next);
/* The running thread lets others run, as the schedule says. */
void tally__machine_step(tally__step why);

/* ---- messages ---- */

/* "/a/b/production/arrays/reduce.h:40" as "production/arrays/reduce.h:40" */
const char *tally__short_site(const char *site);
const char *tally__meeting_name(tally__simt_meeting meeting);
static inline int first_of(uint32_t lanes) { return __builtin_ctz(lanes); }

/* ---- what threads do (meetings.c, shared.c, seeing.c): words of words.h ---- */

void tally__machine_barrier(int32_t threads, const char *site);
uint32_t tally__machine_meet(tally__simt_meeting meeting, uint32_t value, int32_t argument, const char *site);
void tally__machine_fence(void);
void tally__machine_before_atomic(const void *p, size_t bytes);
void tally__machine_before_fresh(const void *p);
void tally__machine_before_load16(const void *p);
void tally__machine_begin_copy(void *to, const void *from);
const tally__simt_copy *tally__machine_next_copy(void);
void tally__machine_sleep(const void *p);
void tally__machine_wake(const void *p);
void *tally__machine_shared(size_t bytes, size_t alignment, const char *site);
void *tally__machine_shared_buffer(size_t bytes, const char *site);
void tally__machine_see(tally__simt_sight sight, const void *p, size_t bytes, const char *site);
/* A meeting, for the trace. */
void tally__machine_see_meeting(tally__simt_meeting meeting, uint32_t value, int32_t source, const char *site);
/* Fails the launch if a block wrote between its objects in shared memory. */
void tally__machine_check_gaps(const block *b);

#endif
