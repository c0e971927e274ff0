/* Makes the images of several units in parallel. NVRTC compiles different programs on different threads at once, so a
 * call whose kernels are not ready waits for the slowest compilation, and not for their sum. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "cuda/cache.h"
#include "fpenv.h"

enum {
    STACK_BYTES = 16 << 20, /* the first thread of a process, by which most programs compile, has half as much */
    MOST_HELPERS = 255
};

typedef struct batch {
    const tally__platform *platform;
    const tally__unit *units;
    int count, sm;
    _Atomic int next;
    pthread_mutex_t lock; /* of the fields below: which unit failed first, and how */
    int failed;
    tally_status status;
    char sentence[512];
} batch;

/* Makes images until none is left, or one has failed. */
static void make_some(batch *b) {
    const tally__image *image;
    for (int k; (k = atomic_fetch_add(&b->next, 1)) < b->count;) {
        const tally_status status = tally__image_of(b->platform, &b->units[k], b->sm, &image);
        if (status == TALLY_OK) continue;
        atomic_store(&b->next, b->count);
        pthread_mutex_lock(&b->lock);
        if (k < b->failed) {
            b->failed = k;
            b->status = status;
            snprintf(b->sentence, sizeof b->sentence, "%s", tally_message());
        }
        pthread_mutex_unlock(&b->lock);
    }
}

static void *help(void *argument) {
    (void)tally__fpenv_enter(); /* NVRTC folds constants: it must not do so in the caller's rounding mode */
    make_some(argument);
    return NULL;
}

/* ---- threads ---- */

/* Threads that compile in this process, callers included: calls at the same time share the processors. */
static _Atomic int at_work;

/* Counts the caller as at work, and up to `wanted` helpers, so that at most `most` are at work. Returns how many
 * helpers. */
static int count_in(int wanted, int most) {
    int before = atomic_load(&at_work), helpers;
    do {
        helpers = most - 1 - before;
        if (helpers > wanted) helpers = wanted;
        if (helpers > MOST_HELPERS) helpers = MOST_HELPERS;
        if (helpers < 0) helpers = 0;
    } while (!atomic_compare_exchange_weak(&at_work, &before, before + 1 + helpers));
    return helpers;
}

/* Starts helpers, and returns how many the system allowed. */
static int start(pthread_t *threads, int wanted, batch *b) {
    pthread_attr_t attributes;
    sigset_t all, before;
    int count = 0;
    if (wanted == 0 || pthread_attr_init(&attributes) != 0) return 0;
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* the caller's threads shall get all signals */
    while (count < wanted && pthread_create(&threads[count], &attributes, help, b) == 0) count++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return count;
}

tally_status tally__images_ahead(const tally__platform *platform, const tally__unit *units, int count, int sm,
                                 int most) {
    batch b = {.platform = platform,
               .units = units,
               .count = count,
               .sm = sm,
               .lock = PTHREAD_MUTEX_INITIALIZER,
               .failed = count};
    pthread_t threads[MOST_HELPERS];
    const int helpers = count_in(tally__is_kept(platform) ? count - 1 : 0, most), started = start(threads, helpers, &b);
    make_some(&b);
    for (int k = 0; k < started; k++) pthread_join(threads[k], NULL);
    atomic_fetch_sub(&at_work, 1 + helpers);
    pthread_mutex_destroy(&b.lock);
    return b.failed < count ? tally__fail(b.status, "%s", b.sentence) : TALLY_OK;
}
