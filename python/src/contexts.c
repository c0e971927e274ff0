/* Contexts, which have the options of calls: one for each set of options, kept for the next call. */
#include "python.h"

#include <pthread.h>
#include <stdlib.h>

#define MOST_KEPT 64

typedef struct entry {
    tally_options options;
    PyObject *user;
    tally_context *context;
    tally_op op; /* the number of `user` in it */
    int users;
    struct entry *next;
} entry;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* of the entries: XLA's threads have no interpreter lock */
static entry *entries;                                    /* the last used first */
static int kept;

static bool same_options(const tally_options *a, const tally_options *b) {
    return a->accuracy == b->accuracy && a->nan == b->nan && a->ddof == b->ddof && a->backend == b->backend &&
           a->device == b->device && a->stream == b->stream && a->checked == b->checked;
}

static void forget(entry *it) {
    tally_context_destroy(it->context);
    Py_XDECREF(it->user);
    free(it);
    kept--;
}

/* Forgets the entries of longest ago that nobody uses; those of an operator of the caller's only if `locked`, with the
 * interpreter's lock. */
static void make_room(bool locked) {
    while (kept >= MOST_KEPT) {
        entry **oldest = NULL;
        for (entry **it = &entries; *it; it = &(*it)->next)
            if (!(*it)->users && (locked || !(*it)->user)) oldest = it;
        if (!oldest) return;
        entry *gone = *oldest;
        *oldest = gone->next;
        forget(gone);
    }
}

static entry *find(const tally_options *options, PyObject *user) {
    for (entry **link = &entries; *link; link = &(*link)->next)
        if (same_options(&(*link)->options, options) && (*link)->user == user) {
            entry *it = *link;
            *link = it->next;
            it->next = entries;
            return entries = it;
        }
    return NULL;
}

static tally_status add(const tally_options *options, PyObject *user, bool locked) {
    make_room(locked);
    entry *it = calloc(1, sizeof *it);
    if (!it) return TALLY_NO_MEMORY;
    kept++;
    it->options = *options;
    it->user = user ? Py_NewRef(user) : NULL;
    tally_status status = tally_context_create(NULL, &it->context);
    if (status == TALLY_OK) status = tally_set_options(it->context, options);
    if (status == TALLY_OK && user) status = tally_define(it->context, operator_definition(user), &it->op);
    if (status != TALLY_OK) {
        forget(it);
        return status;
    }
    it->next = entries;
    entries = it;
    return TALLY_OK;
}

static tally_status borrow(call_context *it, tally_op op, PyObject *user, const tally_options *options, bool locked) {
    it->context = NULL;
    it->borrowed = NULL;
    it->op = op;
    tally_status status = TALLY_OK;
    pthread_mutex_lock(&mutex);
    entry *found = find(options, user);
    if (!found) {
        status = add(options, user, locked);
        found = status == TALLY_OK ? entries : NULL;
    }
    if (found) {
        found->users++;
        it->context = found->context;
        it->borrowed = found;
        if (user) it->op = found->op;
    }
    pthread_mutex_unlock(&mutex);
    return status;
}

tally_status context_borrow(call_context *it, tally_op op, const tally_options *options) {
    return borrow(it, op, NULL, options, false);
}

void context_release(call_context *it) {
    if (!it->borrowed) return;
    pthread_mutex_lock(&mutex);
    ((entry *)it->borrowed)->users--;
    pthread_mutex_unlock(&mutex);
    it->borrowed = NULL;
}

bool context_for(call_context *it, tally_op op, PyObject *user, const call_arguments *arguments, const array *in) {
    static const char *const nans[] = {"propagate", "skip", "total", NULL};
    static const char *const accuracies[] = {"exact", "fast", NULL};
    it->context = NULL;
    it->borrowed = NULL;
    it->op = op;
    const bool on_gpu = in && in->device != HOST;
    const bool plain = !given(arguments, K_NAN) && !given(arguments, K_ACCURACY) && !given(arguments, K_DDOF) &&
                       !given(arguments, K_CHECKED);
    if (plain && !on_gpu && !user) return true;
    tally_options options = TALLY_OPTIONS_INIT;
    int number = 0;
    if (given(arguments, K_NAN)) {
        if (!word_argument(arguments->value[K_NAN], "nan", nans, &number)) return false;
        options.nan = (tally_nan)number;
    }
    if (given(arguments, K_ACCURACY)) {
        if (!word_argument(arguments->value[K_ACCURACY], "accuracy", accuracies, &number)) return false;
        options.accuracy = number ? TALLY_FAST : TALLY_BEST;
    }
    if (given(arguments, K_DDOF)) {
        int64_t ddof = 0;
        if (!int_argument(arguments->value[K_DDOF], "ddof", 0, TALLY_MOST_DDOF, &ddof)) return false;
        options.ddof = (int)ddof;
    }
    if (given(arguments, K_CHECKED)) {
        number = PyObject_IsTrue(arguments->value[K_CHECKED]);
        if (number < 0) return false;
        options.checked = number;
    }
    if (on_gpu) {
        options.backend = TALLY_BACKEND_CUDA;
        options.device = in->device;
        options.stream = in->stream;
    }
    const tally_status status = borrow(it, op, user, &options, true);
    return status == TALLY_OK || raise_status(status);
}
