/* Several threads of the caller's at once, on one context and on the process's own: each gets its results and its messages.
 * Thread sanitizers run this. Assertions are made by the main thread alone: cmocka is not for several. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "operators.h"

enum { CALLERS = 6, JOBS = 8, VALUES = 60001, ROUNDS = 12 };

/* One reduction that callers repeat, and its result as the main thread saw it. */
typedef struct job {
    tally_op op;
    tally_type type;
    const void *values;
    char wanted[64];
    size_t bytes;
} job;

static job jobs[JOBS] = {
    {.op = TALLY_SUM, .type = TALLY_F64},       {.op = TALLY_VAR, .type = TALLY_F32},
    {.op = TALLY_ARGMAX, .type = TALLY_I16},    {.op = TALLY_STATS, .type = TALLY_U8},
    {.op = TALLY_LOGSUMEXP, .type = TALLY_F64}, {.op = TALLY_MINMAX, .type = TALLY_BF16},
    {.op = TALLY_NORM2, .type = TALLY_I64},     {.type = TALLY_F32},
};

/* What all callers share. */
static struct {
    tally_context *context;
    tally_op user;
    int64_t offsets[5];
    pthread_barrier_t start;
    _Atomic int wrong, badly_said;
} shared;

static tally_context *context_of_round(const job *j, int round) {
    return j->op >= TALLY_OP_USER || round % 2 ? shared.context : NULL;
}

static bool is_right(const job *j, tally_status status, const char *got) {
    return status == TALLY_OK && memcmp(got, j->wanted, j->bytes) == 0;
}

static bool reduce_job(const job *j, int round) {
    char got[64];
    tally_array in = tally_in(j->values, j->type, VALUES);
    return is_right(j, tally_reduce(context_of_round(j, round), j->op, in, tally_out(got, TALLY_NATURAL, 1)), got);
}

/* The second of four segments is the whole array. */
static bool segment_job(const job *j, int round) {
    char got[4 * 64];
    tally_array in = tally_in(j->values, j->type, VALUES);
    tally_status status =
        tally_reduce_segments(context_of_round(j, round), j->op, in, tally_offsets(shared.offsets, TALLY_I64, 4),
                              tally_out(got, TALLY_NATURAL, 4));
    return is_right(j, status == TALLY_EMPTY ? TALLY_OK : status, got + j->bytes);
}

static bool state_job(const job *j, int round) {
    char got[64];
    tally_state *a = NULL, *b = NULL;
    tally_context *context = context_of_round(j, round);
    int64_t border = 7919 * (round + 1) % VALUES;
    const char *rest = (const char *)j->values + (size_t)border * tally_type_size(j->type);
    bool right = tally_state_open(context, j->op, j->type, 0, &a) == TALLY_OK &&
                 tally_state_open(context, j->op, j->type, border, &b) == TALLY_OK &&
                 tally_state_push(a, tally_in(j->values, j->type, border)) == TALLY_OK &&
                 tally_state_push(b, tally_in(rest, j->type, VALUES - border)) == TALLY_OK &&
                 tally_state_merge(a, b) == TALLY_OK &&
                 is_right(j, tally_state_finish(a, tally_out(got, TALLY_NATURAL, 1)), got);
    tally_state_close(a);
    tally_state_close(b);
    return right;
}

/* A caller's message speaks of its own last failure, whatever the others do. */
static bool message_is_mine(int number) {
    char wish[32];
    double x = 0;
    tally_status status =
        tally_reduce(NULL, TALLY_OP_USER + 5000 + number, tally_in(&x, TALLY_F64, 1), tally_out(&x, TALLY_F64, 1));
    snprintf(wish, sizeof wish, "%d", TALLY_OP_USER + 5000 + number);
    return status == TALLY_BAD_ARGUMENT && strstr(tally_message(), wish) != NULL;
}

static void *caller(void *argument) {
    int number = *(const int *)argument;
    pthread_barrier_wait(&shared.start);
    for (int round = 0; round < (quick ? 3 : ROUNDS); round++)
        for (int k = 0; k < JOBS; k++) {
            const job *j = &jobs[(k + number) % JOBS];
            shared.wrong += !reduce_job(j, round + number);
            shared.wrong += !segment_job(j, round);
            shared.wrong += !state_job(j, round);
            shared.badly_said += !message_is_mine(number * 100 + round);
        }
    return NULL;
}

static void prepare(void) {
    tally_options options = TALLY_OPTIONS_INIT;
    options.threads = 2;
    EXPECT_OK(tally_context_create(NULL, &shared.context));
    EXPECT_OK(tally_set_options(shared.context, &options));
    jobs[JOBS - 1].op = define(shared.context, float_sum_operator(0));
    for (int k = 0; k < JOBS; k++) {
        job *j = &jobs[k];
        now = (scene){.op = j->op, .type = j->type, .size = VALUES};
        j->values = data_of(j->type, CANCELLATION, VALUES);
        EXPECT_OK(tally_result_type(shared.context, j->op, j->type, NULL, &j->bytes));
        EXPECT_OK(tally_reduce(shared.context, j->op, tally_in(j->values, j->type, VALUES),
                               tally_out(j->wanted, TALLY_NATURAL, 1)));
    }
    shared.offsets[2] = shared.offsets[3] = shared.offsets[4] = VALUES;
}

static void test_callers(void **state) {
    pthread_t threads[CALLERS];
    int numbers[CALLERS];
    (void)state;
    prepare();
    assert_int_equal(pthread_barrier_init(&shared.start, NULL, CALLERS), 0);
    for (int i = 0; i < CALLERS; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, caller, &numbers[i]), 0);
    }
    for (int i = 0; i < CALLERS; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    pthread_barrier_destroy(&shared.start);
    tally_context_destroy(shared.context);
    assert_int_equal(shared.wrong, 0);
    assert_int_equal(shared.badly_said, 0);
    assert_int_equal(broken_promises, 0);
}

/* A thread that never failed has nothing to say. */
static void *read_message(void *argument) {
    *(bool *)argument = tally_message()[0] == '\0';
    return NULL;
}

static void test_silent_thread(void **state) {
    pthread_t thread;
    bool silent = false;
    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, read_message, &silent), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(silent);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_callers), cmocka_unit_test(test_silent_thread)};
    int skipped = begin_program(argc, argv);
    return skipped ? skipped : cmocka_run_group_tests(tests, NULL, NULL);
}
