/* A pool of POSIX threads. A call takes workers that are idle and starts new ones where these are too few; it never
 * waits for a worker, so that calls of several threads, or from within one another, cannot lock each other out.
 *
 * OpenMP would do the same for less text, but for three promises: a child of fork() can reduce (libgomp hangs there), a
 * system that refuses threads is no reason to end the process (libgomp exits), and a process with another OpenMP
 * runtime gets no second one from us. */
#define _GNU_SOURCE
#include "pool.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "fpenv.h"

enum {
    STACK_BYTES = 512 * 1024, /* several times as much as any function here needs */
    SPINS = 4000,             /* looks before an idle thread sleeps: some 50 us, in which the next call often comes */
    MOST_WORKERS = 1 << 16
};

/* One call. */
typedef struct team {
    tally__pool_work *work;
    void *job;
    _Atomic int at_work; /* workers that have not finished their part */
} team;

/* Idle while `team` is NULL. Workers live as long as the process. */
typedef struct worker {
    struct worker *next;   /* the next idle worker, */
    struct worker *before; /* and the one made before, so that leak checkers find all */
    _Atomic(team *) team;
} worker;

/* Whoever reads or changes the lists holds the lock. `changed` is signalled for each team that is given or has
 * returned, where somebody may sleep. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    worker *idle, *all;
    int count;
    _Atomic int sleepers;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* ---- fork: the child has the calling thread alone ---- */

static void before_fork(void) { pthread_mutex_lock(&pool.lock); }
static void in_parent(void) { pthread_mutex_unlock(&pool.lock); }
static void in_child(void) {
    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.changed, NULL);
    pool.idle = NULL; /* `all` stays: a thread that is gone in the child may have used its worker */
    pool.count = 0;
    pool.sleepers = 0;
}
static bool knows_forks;
static void watch_forks(void) { knows_forks = pthread_atfork(before_fork, in_parent, in_child) == 0; }

/* ---- waiting ---- */

/* Wakes sleeping threads, after a change that they wait for. */
static void wake(void) {
    if (pool.sleepers == 0) return;
    pthread_mutex_lock(&pool.lock);
    pthread_cond_broadcast(&pool.changed);
    pthread_mutex_unlock(&pool.lock);
}

static bool has_team(const void *w) { return ((const worker *)w)->team != NULL; }
static bool is_over(const void *t) { return ((const team *)t)->at_work == 0; }
static void await(bool (*holds)(const void *), const void *what) {
    for (int k = 0; k < SPINS; k++) {
        if (holds(what)) return;
        relax();
    }
    pthread_mutex_lock(&pool.lock);
    pool.sleepers++;
    while (!holds(what)) pthread_cond_wait(&pool.changed, &pool.lock);
    pool.sleepers--;
    pthread_mutex_unlock(&pool.lock);
}

/* ---- workers ---- */

static void *live(void *argument) {
    worker *w = argument;
    (void)tally__fpenv_enter();
    for (;;) {
        await(has_team, w);
        team *t = w->team;
        t->work(t->job);
        w->team = NULL;
        pthread_mutex_lock(&pool.lock);
        w->next = pool.idle;
        pool.idle = w;
        pthread_mutex_unlock(&pool.lock);
        t->at_work--; /* the team may be gone after this */
        wake();
    }
    return NULL;
}

/* Starts a new worker with its first team. False: the system refuses it. */
static bool start(team *t) {
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;
    worker *w = malloc(sizeof *w);
    if (w == NULL) return false;
    *w = (worker){.team = t};
    if (pthread_attr_init(&attributes) != 0) {
        free(w);
        return false;
    }
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
#endif
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* the caller's threads shall get all signals */
    const int error = pthread_create(&thread, &attributes, live, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (error != 0) {
        free(w);
        return false;
    }
    pthread_mutex_lock(&pool.lock);
    w->before = pool.all;
    pool.all = w;
    pthread_mutex_unlock(&pool.lock);
    return true;
}

/* Adds a worker to the team, if there is one. */
static bool hire(team *t) {
    bool may_start = false;
    pthread_mutex_lock(&pool.lock);
    worker *w = pool.idle;
    if (w != NULL)
        pool.idle = w->next;
    else if (pool.count < MOST_WORKERS)
        may_start = true, pool.count++;
    pthread_mutex_unlock(&pool.lock);
    if (w == NULL && !may_start) return false;
    t->at_work++;
    if (w != NULL) {
        w->team = t;
        return true;
    }
    if (start(t)) return true;
    t->at_work--;
    pthread_mutex_lock(&pool.lock);
    pool.count--;
    pthread_mutex_unlock(&pool.lock);
    return false;
}

int tally__pool_team(int most, int64_t bytes) {
    const int64_t worth_waking = 150 * 1024; /* bytes that are read in the time that it takes to wake a thread */
    const int64_t useful = bytes / worth_waking;
    if (useful <= 1) return 1;
    const int64_t some = most != 0 ? most : tally__pool_threads();
    return (int)(useful < some ? useful : some);
}

void tally__pool_run(int threads, tally__pool_work *work, void *job) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    team t = {.work = work, .job = job};
    if (threads > 1) {
        pthread_once(&once, watch_forks);
        for (int k = 1; k < threads && knows_forks && hire(&t); k++) {
        }
        wake();
    }
    work(job);
    if (threads > 1) await(is_over, &t);
}

/* ---- how many ---- */

static int count_processors(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
    const long online = sysconf(_SC_NPROCESSORS_ONLN); /* the machine has more processors than the set has room for */
    return online > 0 && online < 1 << 16 ? (int)online : 1;
}

int tally__pool_threads(void) {
    static _Atomic int found; /* if two threads look at the same time, both find the same */
    if (found == 0) {
        const char *wish = getenv("OMP_NUM_THREADS");
        const long wanted = wish != NULL ? strtol(wish, NULL, 10) : 0;
        found = wanted > 0 && wanted <= 1 << 16 ? (int)wanted : count_processors();
    }
    return found;
}
