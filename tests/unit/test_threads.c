/* Threads of the library's own: that the system refuses some, and that a process forks, changes nothing. And several
 * threads of the caller's at once, on one context and on the process's own: each gets its results and its messages.
 * Thread sanitizers run this. Assertions are made by the main thread alone: cmocka is not for several. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "children.h"
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
    int64_t boundary = 7919 * (round + 1) % VALUES;
    const char *rest = (const char *)j->values + (size_t)boundary * tally_type_size(j->type);
    bool right = tally_state_open(context, j->op, j->type, 0, &a) == TALLY_OK &&
                 tally_state_open(context, j->op, j->type, boundary, &b) == TALLY_OK &&
                 tally_state_push(a, tally_in(j->values, j->type, boundary)) == TALLY_OK &&
                 tally_state_push(b, tally_in(rest, j->type, VALUES - boundary)) == TALLY_OK &&
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

/* ---- threads that the system refuses ---- */

/* The library's calls come here first, but in a program of the thread sanitizer, which has a function of its own here.
 */
#if defined(__SANITIZE_THREAD__) || defined(TEST_EMULATED) /* qemu ends where a child of threads starts threads */
#define NO_FORKS
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define NO_FORKS
#endif
#endif
#ifndef NO_FORKS
static _Atomic int threads_left = 1 << 20, refused;
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument);
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
    static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    void *found = dlsym(RTLD_NEXT, "pthread_create");
    memcpy(&real, &found, sizeof real);
    if (threads_left-- <= 0) {
        refused++;
        return EAGAIN;
    }
    return real(thread, attributes, start, argument);
}
#endif

/* Large enough for several threads: whole, segments, rows of both axes. */
enum { BIG = 1 << 20 };
static int reduce_big(int threads) {
    static double x[BIG], once[4 + 64 + 1024], again[4 + 64 + 1024];
    static int64_t offsets[] = {0, 10, BIG / 2, BIG / 2, BIG};
    tally_options options = TALLY_OPTIONS_INIT;
    tally_context *context;
    CHILD_CHECK(tally_context_create(NULL, &context) == TALLY_OK);
    for (int64_t i = 0; i < BIG; i++) x[i] = (double)(i % 1013) * 0.1;
    for (int round = 0; round < 2; round++) {
        double *out = round == 0 ? once : again;
        tally_array in = tally_in(x, TALLY_F64, BIG);
        options.threads = round == 0 ? 1 : threads;
        CHILD_CHECK(tally_set_options(context, &options) == TALLY_OK);
        CHILD_CHECK(tally_reduce_segments(context, TALLY_SUM, in, tally_offsets(offsets, TALLY_I64, 4),
                                          tally_out(out, TALLY_F64, 4)) == TALLY_OK);
        CHILD_CHECK(tally_reduce_segments(context, TALLY_SUM, in, tally_rows(64, BIG / 64, 1),
                                          tally_out(out + 4, TALLY_F64, 64)) == TALLY_OK);
        CHILD_CHECK(tally_reduce_segments(context, TALLY_VAR, in, tally_rows(1, BIG / 1024, 1024),
                                          tally_out(out + 68, TALLY_F64, 1024)) == TALLY_OK);
        CHILD_CHECK(tally_reduce(context, TALLY_SUM, in, tally_out(out + 3, TALLY_F64, 1)) == TALLY_OK);
    }
    tally_context_destroy(context);
    CHILD_CHECK(memcmp(once, again, sizeof once) == 0);
    return 0;
}
#ifndef NO_FORKS
static int with_no_threads(void) {
    threads_left = 0;
    CHILD_CHECK(reduce_big(8) == 0 && refused > 0);
    return 0;
}
static int with_one_thread(void) {
    threads_left = 1;
    return reduce_big(200) | reduce_big(200);
}
#endif
static void test_refused_threads(void **state) {
    (void)state;
#ifdef NO_FORKS
    printf("SKIPPED under the thread sanitizer and emulators: test_refused_threads\n");
    skip();
#else
    assert_int_equal(in_child(with_no_threads), 0);
    assert_int_equal(in_child(with_one_thread), 0);
#endif
}

/* ---- forks ---- */

static int in_grandchild(void) {
    pid_t child = fork();
    int status;
    CHILD_CHECK(reduce_big(3) == 0);
    if (child == 0) _exit(reduce_big(4));
    CHILD_CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return 0;
}
static _Atomic bool is_enough;
static void *keep_reducing(void *argument) {
    double total, x[64] = {1};
    const int64_t count = 1 << 18;
    double *many = calloc((size_t)count, sizeof *many);
    while (!is_enough &&
           tally_reduce(NULL, TALLY_SUM, tally_in(many, TALLY_F64, count), tally_out(&total, TALLY_F64, 1)) == TALLY_OK)
        x[0] += total;
    free(many);
    (void)argument;
    return NULL;
}
/* A child of the address sanitizer inherits its allocator's lock as it is: held, if another thread is allocating. */
#if defined(__SANITIZE_ADDRESS__)
#define ALLOCATOR_FORKS false
#elif defined(__has_feature)
#define ALLOCATOR_FORKS (!__has_feature(address_sanitizer))
#else
#define ALLOCATOR_FORKS true
#endif
/* While another thread is amid a call, too. */
static void test_forks(void **state) {
    pthread_t other;
    (void)state;
#ifdef NO_FORKS
    printf("SKIPPED under the thread sanitizer and emulators, which allow no threads in a child: test_forks\n");
    skip();
#endif
    assert_int_equal(reduce_big(4), 0);
    assert_int_equal(in_child(in_grandchild), 0);
    if (!ALLOCATOR_FORKS) {
        printf("SKIPPED under the address sanitizer: test_forks amid another thread's call\n");
        return;
    }
    assert_int_equal(pthread_create(&other, NULL, keep_reducing, NULL), 0);
    for (int k = 0; k < (quick ? 3 : 10); k++) assert_int_equal(in_child(in_grandchild), 0);
    is_enough = true;
    assert_int_equal(pthread_join(other, NULL), 0);
    assert_int_equal(reduce_big(4), 0);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_forks), cmocka_unit_test(test_refused_threads),
                                       cmocka_unit_test(test_callers), cmocka_unit_test(test_silent_thread)};
    int skipped = begin_program(argc, argv);
    return skipped ? skipped : cmocka_run_group_tests(tests, NULL, NULL);
}
