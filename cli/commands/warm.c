/* tally warm: kernels are compiled ahead of their use, on several threads. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/complain.h"
#include "commands/gpu.h"
#include "formats/numbers.h"
#include "base/progress.h"

enum {
    STACK_BYTES = 16 << 20, /* as much as a compiler needs */
    MOST_THREADS = 256
};

/* ---- what is wanted ---- */

/* The kernels of one reduction: of whole arrays, or of segments and rows. */
typedef struct reduction {
    tally_op op;
    tally_type type;
    tally_accuracy accuracy;
    tally_nan nan;
    bool of_segments;
} reduction;

/* Limits to what is compiled. */
typedef struct range {
    tally_op first_op, end_op;
    tally_type first_type, end_type;
    tally_accuracy first_accuracy, last_accuracy;
    tally_nan first_nan, last_nan;
} range;

static range range_of(const command *wanted, tally_op op, tally_type type) {
    range r = {0,          TALLY_OP_END, TALLY_NATURAL + 1,   TALLY_STRUCT,
               TALLY_BEST, TALLY_FAST,   TALLY_NAN_PROPAGATE, TALLY_NAN_TOTAL};
    if (op != TALLY_OP_END) {
        r.first_op = op;
        r.end_op = op + 1;
    }
    if (type != TALLY_NATURAL) {
        r.first_type = type;
        r.end_type = type + 1;
    }
    if (is_given(wanted, OPTION_ACCURACY)) {
        r.first_accuracy = r.last_accuracy = wanted->options.accuracy;
    }
    if (is_given(wanted, OPTION_NAN)) {
        r.first_nan = r.last_nan = wanted->options.nan;
    }
    return r;
}

typedef struct list {
    reduction *each;
    int64_t count;
} list;

/* Accuracy and NaN policy matter to floats alone: other types are listed once. */
static void list_types(const tally_context *context, const range *r, reduction of, bool is_first, list *all) {
    for (of.op = r->first_op; of.op < r->end_op; of.op++) {
        for (int type = (int)r->first_type; type < (int)r->end_type; type++) {
            of.type = (tally_type)type;
            if ((is_first || type_class(of.type) == TALLY_CLASS_FLOAT) &&
                tally_result_type(context, of.op, of.type, NULL, NULL) == TALLY_OK) {
                all->each[all->count++] = of;
            }
        }
    }
}

static bool list_range(tally_context *context, const command *wanted, const range *r, bool of_segments, list *all) {
    tally_options options = wanted->options;
    for (int accuracy = (int)r->first_accuracy; accuracy <= (int)r->last_accuracy; accuracy++) {
        for (int nan = (int)r->first_nan; nan <= (int)r->last_nan; nan++) {
            options.accuracy = (tally_accuracy)accuracy;
            options.nan = (tally_nan)nan;
            if (tally_set_options(context, &options) != TALLY_OK) {
                return complain(NULL, "%s", tally_message());
            }
            reduction of = {.accuracy = options.accuracy, .nan = options.nan, .of_segments = of_segments};
            list_types(context, r, of, accuracy == (int)r->first_accuracy && nan == (int)r->first_nan, all);
        }
    }
    return true;
}

/* Lists all reductions. With --all segments come first, as their kernels take longest. */
static bool list_all(tally_context *context, const command *wanted, const range *r, list *all) {
    int64_t most = 2 * (int64_t)(r->end_op - r->first_op) * (int64_t)(r->end_type - r->first_type) *
                   (r->last_accuracy - r->first_accuracy + 1) * (r->last_nan - r->first_nan + 1);
    *all = (list){.each = take_memory(NULL, most, sizeof *all->each)};
    return all->each != NULL && (!is_given(wanted, OPTION_ALL) || list_range(context, wanted, r, true, all)) &&
           list_range(context, wanted, r, false, all);
}

/* ---- threads ---- */

/* Threads take reductions in turn. Whoever reads or changes a member below `lock` holds it. */
typedef struct job {
    const command *wanted;
    const list *all;
    pthread_mutex_t lock;
    int64_t next;
    int64_t failed; /* the first reduction that failed, or the count */
    char why[1024];
} job;

static tally_status warm_one(tally_context *context, const command *wanted, const reduction *of) {
    tally_options options = wanted->options;
    options.accuracy = of->accuracy;
    options.nan = of->nan;
    tally_status status = tally_set_options(context, &options);
    if (status == TALLY_OK && of->of_segments) {
        status = tally_warm_segments(context, of->op, of->type, TALLY_ROWS);
    } else if (status == TALLY_OK) {
        status = tally_warm(context, of->op, of->type);
    }
    return status;
}

/* Notes a status. The caller holds the lock. */
static void note(job *j, int64_t place, tally_status status) {
    if (status == TALLY_OK) {
        advance_progress(1);
        return;
    }
    j->next = j->all->count; /* no thread begins another */
    if (place < j->failed) {
        const reduction *of = &j->all->each[place];
        j->failed = place;
        snprintf(j->why, sizeof j->why, "%s of %s: %s", tally_op_name(of->op), tally_type_name(of->type),
                 tally_message());
    }
}

/* Operators may share a kernel, and what is ready takes no time. */
static void *warm_some(void *argument) {
    job *j = argument;
    tally_context *context = NULL;
    tally_status made = tally_context_create(NULL, &context);
    pthread_mutex_lock(&j->lock);
    while (j->next < j->all->count) {
        int64_t place = j->next++;
        pthread_mutex_unlock(&j->lock);
        tally_status status = made == TALLY_OK ? warm_one(context, j->wanted, &j->all->each[place]) : made;
        pthread_mutex_lock(&j->lock);
        note(j, place, status);
    }
    pthread_mutex_unlock(&j->lock);
    tally_context_destroy(context);
    return NULL;
}

/* Starts threads beside this one, as many as the system allows, and returns how many. The simulator has its kernels:
 * one thread is enough. */
static int start(pthread_t *threads, job *j) {
    pthread_attr_t attributes;
    int count = 0, most = j->wanted->options.threads > 0 ? j->wanted->options.threads : tally_cpu_threads();
    if (j->wanted->options.backend == TALLY_BACKEND_SIMT || pthread_attr_init(&attributes) != 0) {
        return 0;
    }
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    while (count < MOST_THREADS && count + 1 < most && count + 1 < j->all->count &&
           pthread_create(&threads[count], &attributes, warm_some, j) == 0) {
        count++;
    }
    pthread_attr_destroy(&attributes);
    return count;
}

static bool warm_list(const command *wanted, const list *all) {
    job j = {.wanted = wanted, .all = all, .lock = PTHREAD_MUTEX_INITIALIZER, .failed = all->count};
    pthread_t threads[MOST_THREADS];
    start_counting(all->count, "reductions");
    int others = start(threads, &j);
    warm_some(&j);
    for (int k = 0; k < others; k++) {
        pthread_join(threads[k], NULL);
    }
    end_progress();
    pthread_mutex_destroy(&j.lock);
    return j.failed == all->count || complain(NULL, "%s", j.why);
}

/* ---- the command ---- */

static bool warm_range(tally_context *context, const command *wanted, const range *r) {
    list all;
    bool done = list_all(context, wanted, r, &all);
    if (done && all.count == 0) { /* an operator that is not defined for the type: the library has the sentence */
        done = complain(NULL, "%s", tally_message());
    }
    if (done && wanted->options.backend != TALLY_BACKEND_SIMT && tally_cache_folder() == NULL) {
        done = complain(NULL, "%s", tally_message());
    }
    done = done && warm_list(wanted, &all);
    free(all.each);
    return done;
}

int run_warm(const command *wanted) {
    tally_op op = TALLY_OP_END;
    tally_type type = TALLY_NATURAL;
    if (wanted->file_count > 2) {
        complain(NULL, "warm takes an OPERATOR and a TYPE at most: tally warm sum f32");
        return STATUS_MISSPELT;
    }
    if (!takes_kernels(wanted) || (wanted->file_count > 0 && !read_operator(wanted->files[0], &op)) ||
        (wanted->file_count > 1 && !read_kernel_type(wanted->files[1], &type))) {
        return STATUS_MISSPELT;
    }
    tally_context *context = make_context(&wanted->options);
    range r = range_of(wanted, op, type);
    bool done = context != NULL && warm_range(context, wanted, &r);
    tally_context_destroy(context);
    return done ? STATUS_DONE : STATUS_REFUSED;
}
