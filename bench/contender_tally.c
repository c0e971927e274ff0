/* Tally as a contender: any operator, any type, any segmentation. Returns the status; the result is in job->out. */
#include "bench.h"

#define MOST_THREADS 1024

/* One context for each number of threads and accuracy, made at the first (untimed) call and kept. */
static tally_context *context_for(const bench_job *job, tally_status *status) {
    static tally_context *kept[MOST_THREADS + 1][TALLY_EXACT + 1];
    tally_options options = TALLY_OPTIONS_INIT;
    *status = TALLY_BAD_ARGUMENT;
    if (job->threads < 0 || job->threads > MOST_THREADS || job->accuracy < 0 || job->accuracy > TALLY_EXACT)
        return NULL;
    tally_context **context = &kept[job->threads][job->accuracy];
    *status = TALLY_OK;
    if (*context) return *context;
    options.threads = job->threads;
    options.accuracy = (tally_accuracy)job->accuracy;
    *status = tally_context_create(NULL, context);
    if (!*status) *status = tally_set_options(*context, &options);
    if (*status) {
        tally_context_destroy(*context);
        *context = NULL;
    }
    return *context;
}

static double run_tally(const bench_job *job) {
    tally_status status;
    tally_context *context = context_for(job, &status);
    if (status) return (double)status;
    const tally_type type = (tally_type)job->type;
    const tally_array left = tally_in(job->left, type, job->count), right = tally_in(job->right, type, job->count);
    if (job->kind == BENCH_WHOLE) {
        const tally_output out = tally_out(job->out, TALLY_NATURAL, 1);
        status = job->right ? tally_reduce_pair(context, job->op, left, right, out)
                            : tally_reduce(context, job->op, left, out);
    } else {
        const tally_segments segments = {.kind = (tally_segmentation)job->kind,
                                         .index = job->index,
                                         .index_type = (tally_type)job->index_type,
                                         .count = job->segments,
                                         .length = job->length,
                                         .inner = job->inner};
        int64_t results = job->segments * (job->kind == TALLY_ROWS ? job->inner : 1);
        const tally_output out = tally_out(job->out, TALLY_NATURAL, results);
        status = job->right ? tally_reduce_segments_pair(context, job->op, left, right, segments, out)
                            : tally_reduce_segments(context, job->op, left, segments, out);
    }
    return (double)status;
}

const bench_row bench_tally_rows[] = {
    {"tally", "tally_reduce", BENCH_ANY, BENCH_ANY, BENCH_ANY, run_tally},
    {0},
};

/* For run.py, which has no other handle on the library. */
BENCH_EXPORT int bench_result(int op, int type, int *result_type, int64_t *result_bytes) {
    tally_type result = TALLY_NATURAL;
    size_t bytes = 0;
    tally_status status = tally_result_type(NULL, op, (tally_type)type, &result, &bytes);
    *result_type = (int)result;
    *result_bytes = (int64_t)bytes;
    return (int)status;
}
BENCH_EXPORT const char *bench_message(void) { return tally_message(); }
BENCH_EXPORT const char *bench_tally_version(void) { return tally_version(); }
BENCH_EXPORT const char *bench_tally_isa(void) { return tally_cpu_isa(); }
BENCH_EXPORT int bench_threads(void) { return tally_cpu_threads(); }

/* Whether the default accuracy is the exact one, so that fast is worth a column of its own. */
BENCH_EXPORT int bench_exact(void) {
    tally_context *context = NULL;
    tally_options options = TALLY_OPTIONS_INIT;
    options.accuracy = TALLY_EXACT;
    int exact = !tally_context_create(NULL, &context) && !tally_set_options(context, &options);
    tally_context_destroy(context);
    return exact;
}
