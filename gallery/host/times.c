/* How long runs take. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <time.h>

#include "gallery/host/track.h"

enum { BATCHES = 5, MOST_RUNS = 1000 };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int compare_times(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* One run of whatever is timed, over copy `copy`. */
typedef tally_status run_once(tally__track *track, const void *what, int copy, tally__lap *lap);

static tally_status run_batch(tally__track *track, run_once *once, const void *what, int runs, int *copy,
                              tally__lap *lap, double *seconds) {
    double start = now();
    for (int r = 0; r < runs; r++) {
        TALLY_TRY(once(track, what, *copy, lap));
        *copy = (*copy + 1) % track->copies;
    }
    TALLY_TRY(tally__track_check(track, track->gpu->driver->stream_wait(NULL), "run a kernel"));
    *seconds = (now() - start) / runs;
    return TALLY_OK;
}

/* A run to warm up, one to see how many make a batch of 5 ms, then the batches. */
static tally_status time_entered(tally__track *track, run_once *once, const void *what, tally__lap *lap) {
    double seconds[BATCHES], one;
    int copy = 0, runs;
    TALLY_TRY(run_batch(track, once, what, 1, &copy, lap, &one));
    TALLY_TRY(run_batch(track, once, what, 1, &copy, lap, &one));
    runs = one < 5e-3 / MOST_RUNS ? MOST_RUNS : (int)(5e-3 / one) + 1;
    if (track->backend == TALLY_BACKEND_SIMT) { /* its times mean nothing */
        lap->seconds = one;
        return TALLY_OK;
    }
    for (int b = 0; b < BATCHES; b++) TALLY_TRY(run_batch(track, once, what, runs, &copy, lap, &seconds[b]));
    qsort(seconds, BATCHES, sizeof *seconds, compare_times);
    lap->seconds = seconds[BATCHES / 2];
    return TALLY_OK;
}

static tally_status time_runs(tally__track *track, run_once *once, const void *what, tally__lap *lap) {
    tally_status status;
    TALLY_TRY(tally__gpu_enter(track->gpu));
    status = time_entered(track, once, what, lap);
    tally__gpu_leave(track->gpu);
    return status;
}

/* ---- kernels ---- */

/* With the host's part, where it has one. */
static tally_status run_kernel(tally__track *track, const void *what, int copy, tally__lap *lap) {
    const tally__gallery_row *row = what;
    size_t bytes = track->host->element_bytes;
    tally__cu_address left;
    TALLY_TRY(tally__track_go(track, row, copy, lap, &left));
    if (row->plan != TALLY_PLAN_HOST || lap->launches == 0) return TALLY_OK;
    char *elements = malloc((size_t)lap->blocks[0] * bytes);
    TALLY_CHECK(elements != NULL, NO_MEMORY, "no memory for %d elements", lap->blocks[0]);
    tally_status status = tally__track_check(
        track, track->gpu->driver->copy_out(elements, left, (size_t)lap->blocks[0] * bytes, NULL), "give the results");
    if (status == TALLY_OK) status = tally__track_check(track, track->gpu->driver->stream_wait(NULL), "run a kernel");
    for (int i = 1; i < lap->blocks[0] && status == TALLY_OK; i++)
        track->host->combine_later(elements, elements + (size_t)i * bytes);
    free(elements);
    return status;
}

tally_status tally__track_time(tally__track *track, const tally__gallery_row *row, tally__lap *lap) {
    *lap = (tally__lap){0};
    TALLY_TRY(tally__track_suits(track, row));
    TALLY_TRY(time_runs(track, run_kernel, row, lap));
    lap->seconds /= track->repeats;
    return TALLY_OK;
}

/* ---- Tally's own way ---- */

static void *address(tally__cu_address a) { return (void *)(uintptr_t)a; }

static tally_status run_production(tally__track *track, const void *what, int copy, tally__lap *lap) {
    tally_context *context = *(tally_context *const *)what;
    size_t offset = track->copy_bytes * (size_t)copy;
    tally_op op = track->operator.op;
    tally_array x = tally_in(address(track->values + offset), track->type, track->count);
    tally_array y = tally_in(address(track->second + offset), track->type, track->count);
    tally_output out = tally_out(address(track->segments > 0 ? track->output : track->elements[0]), TALLY_NATURAL,
                                 track->segments > 0 ? track->segments : 1);
    tally_segments given = {.kind = TALLY_SEGMENT_IDS,
                            .index = address(track->value_segment_ids),
                            .index_type = TALLY_I32,
                            .count = track->segments};
    lap->launches = 1;
    if (track->segments > 0) return tally_reduce_segments(context, op, x, given, out);
    return track->operator.inputs == 2 ? tally_reduce_pair(context, op, x, y, out) : tally_reduce(context, op, x, out);
}

static tally_status make_context(const tally__track *track, tally_context **context) {
    tally_options options = tally_get_options(track->context);
    TALLY_CHECK(track->operator.op != TALLY_OP_END, UNSUPPORTED, "%s is an operator of the gallery's alone",
                track->operator.name);
    TALLY_CHECK(track->host->result_bytes <= track->host->element_bytes || track->segments == 0, UNSUPPORTED,
                "results of %s are longer than what the gallery keeps for them", track->operator.name);
    options.backend = track->backend;
    options.device = track->gpu->ordinal;
    TALLY_TRY(tally_context_create(NULL, context));
    return tally_set_options(*context, &options);
}

tally_status tally__track_time_production(tally__track *track, tally__lap *lap) {
    tally_context *context = NULL;
    tally_status status = make_context(track, &context);
    *lap = (tally__lap){0};
    if (status == TALLY_OK) status = time_runs(track, run_production, &context, lap);
    tally_context_destroy(context);
    return status;
}

static tally_status run_and_fetch(tally__track *track, tally_context *context, void *results) {
    size_t count = track->segments > 0 ? (size_t)track->segments : 1;
    tally__lap lap;
    TALLY_TRY(run_production(track, &context, 0, &lap));
    TALLY_TRY(tally__track_check(track,
                                 track->gpu->driver->copy_out(results,
                                                              track->segments > 0 ? track->output : track->elements[0],
                                                              count * track->host->result_bytes, NULL),
                                 "give the results"));
    return tally__track_check(track, track->gpu->driver->stream_wait(NULL), "run a kernel");
}

tally_status tally__track_run_production(tally__track *track, void *results) {
    tally_context *context = NULL;
    tally_status status = make_context(track, &context);
    if (status == TALLY_OK) status = tally__gpu_enter(track->gpu);
    if (status == TALLY_OK) {
        status = run_and_fetch(track, context, results);
        tally__gpu_leave(track->gpu);
    }
    tally_context_destroy(context);
    return status;
}
