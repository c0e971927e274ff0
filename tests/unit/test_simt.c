/* The GPU simulator: first that each word does what device/device.h says, under every schedule and for blocks of all
 * shapes; then that faults of kernels are found. The driver over it is test_simt_driver.c's. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "simt_host.h"

#ifdef __SANITIZE_ADDRESS__ /* gcc's */
#define ADDRESS_SANITIZER 1
#elif defined(__SANITIZE_THREAD__)
#define THREAD_SANITIZER 1
#elif defined(__has_feature)
#define ADDRESS_SANITIZER __has_feature(address_sanitizer)
#define THREAD_SANITIZER __has_feature(thread_sanitizer)
#endif
enum {
#if defined(ADDRESS_SANITIZER) && ADDRESS_SANITIZER
    ADDRESSES_CHECKED = 1,
#else
    ADDRESSES_CHECKED = 0,
#endif
#if defined(THREAD_SANITIZER) && THREAD_SANITIZER
    RACES_CHECKED = 1
#else
    RACES_CHECKED = 0
#endif
};

/* ---- launching ---- */

static const int shapes[] = {1, 5, 31, 32, 33, 64, 100, 256};
static const int grids[] = {1, 3, 9};
static const char *const schedules[] = {"round",    "reverse",  "greedy",   "lockstep", "random:1",
                                        "random:2", "random:3", "random:4", "random:5", "random:6"};
enum { SHAPES = sizeof shapes / sizeof shapes[0], GRIDS = sizeof grids / sizeof grids[0] };
enum { SCHEDULES = sizeof schedules / sizeof schedules[0] };

/* Schedule `s`, at times with fewer or more blocks at once. */
static void schedule_number(int s) { schedule_as(schedules[s], s % 3 == 1 ? 2 : s % 3 == 2 ? 7 : 4); }

static void expect_success(int error, const char *kernel, int blocks, int threads, const char *schedule) {
    const char *sentence = "";
    if (error != 0) driver->error_sentence(error, &sentence);
    EXPECT(error == 0, "%s<%d, %d>, schedule %s: %s", kernel, blocks, threads, schedule, sentence);
}

static void expect_sentence(int error, const char *part) {
    const char *sentence;
    assert_int_equal(error, TALLY_CU_LAUNCH_FAILED);
    DO(error_sentence(error, &sentence));
    EXPECT(strstr(sentence, part) != NULL, "\"%s\" does not say \"%s\"", sentence, part);
}

/* One launch of a right kernel: what it got, and the check of what it left. */
typedef struct shot {
    int blocks, threads, all;
    test_work work;
    const char *schedule;
} shot;
typedef void check(const shot *s);

#define EXPECT_AT(s, i, got, wanted)                                                                      \
    EXPECT((got) == (wanted), "%lld is not %lld at thread %d of <%d, %d>, schedule %s", (long long)(got), \
           (long long)(wanted), i, (s)->blocks, (s)->threads, (s)->schedule)

/* Results of `bytes` for each thread. */
static void for_all_shapes(const char *kernel, size_t bytes, check *check_result) {
    for (int k = 0; k < SCHEDULES; k++)
        for (int i = 0; i < SHAPES; i++)
            for (int j = 0; j < GRIDS; j++) {
                shot s = {
                    .blocks = grids[j], .threads = shapes[i], .all = grids[j] * shapes[i], .schedule = schedules[k]};
                if (quick && (i + j + k) % 4 != 0) continue;
                schedule_number(k);
                s.work.result = device((size_t)s.all * bytes);
                s.work.arrivals = device_zeros(sizeof(uint32_t));
                s.work.flags = device_zeros(3 * sizeof(int32_t));
                s.work.node = device_zeros(sizeof(int64_t));
                s.work.nodes = device_zeros((size_t)s.blocks * 16);
                s.work.x = device((size_t)s.all * 16);
                s.work.user = s.all / 2;
                for (int b = 0; b < s.all * 16; b++)
                    ((unsigned char *)(uintptr_t)s.work.x)[b] = (unsigned char)(b * 41 >> 2);
                expect_success(launch(kernel, s.blocks, s.threads, s.work), kernel, s.blocks, s.threads, s.schedule);
                check_result(&s);
                discard(s.work.result);
                discard(s.work.arrivals);
                discard(s.work.flags);
                discard(s.work.node);
                discard(s.work.nodes);
                discard((void *)(uintptr_t)s.work.x);
            }
}

/* ---- words ---- */

static void check_place(const shot *s) {
    const uint32_t *out = s->work.result;
    for (int i = 0; i < s->all; i++) {
        EXPECT_AT(s, i, out[4 * i], (uint32_t)(i / s->threads * 1000 + s->blocks));
        EXPECT_AT(s, i, out[4 * i + 1], (uint32_t)(i % s->threads % 32));
        EXPECT_AT(s, i, out[4 * i + 2], (uint32_t)(i % s->threads / 32));
        EXPECT_AT(s, i, out[4 * i + 3], (uint32_t)s->threads);
    }
}
static void test_places(void **state) {
    (void)state;
    for_all_shapes("test_place", 16, check_place);
}

static uint32_t value_of(int thread) { return (uint32_t)(thread * 37 % 101); }

static void check_warp(const shot *s) {
    for (int i = 0; i < s->all; i++) {
        const uint32_t *out = (const uint32_t *)s->work.result + 8 * i;
        int thread = i % s->threads, lane = thread % 32, first = thread - lane;
        int lanes = s->threads - first < 32 ? s->threads - first : 32;
        uint32_t any = 0, ballot = 0, most = 0, least = UINT32_MAX;
        for (int l = 0; l < lanes; l++) {
            uint32_t v = value_of(first + l);
            any |= v == 37;
            ballot |= (uint32_t)(v % 3 == 0) << l;
            most = v > most ? v : most;
            least = v < least ? v : least;
        }
        EXPECT_AT(s, i, out[0], value_of(first + (lane + 1) % lanes));
        EXPECT_AT(s, i, out[1], value_of((lane ^ 5) < lanes ? first + (lane ^ 5) : thread));
        EXPECT_AT(s, i, out[2], any);
        EXPECT_AT(s, i, out[3], ballot);
        EXPECT_AT(s, i, out[4], most);
        EXPECT_AT(s, i, out[5], least);
        EXPECT_AT(s, i, out[6], value_of(first));
        EXPECT_AT(s, i, out[7], value_of(first));
    }
}
static void test_warps(void **state) {
    (void)state;
    for_all_shapes("test_warp", 32, check_warp);
}

static void check_barrier(const shot *s) {
    for (int i = 0; i < s->all; i++) {
        uint32_t sum = (uint32_t)(s->threads * (s->threads + 1) / 2);
        EXPECT_AT(s, i, ((uint32_t *)s->work.result)[i], sum * 1000 + (uint32_t)((i % s->threads + 5) % s->threads));
    }
}
static void check_warp_barrier(const shot *s) {
    for (int i = 0; i < s->all; i++) {
        int thread = i % s->threads, lane = thread % 32, first = thread - lane;
        int lanes = s->threads - first < 32 ? s->threads - first : 32;
        EXPECT_AT(s, i, ((uint32_t *)s->work.result)[i], (uint32_t)(first + (lane + 3) % lanes));
    }
}
static void test_barriers(void **state) {
    (void)state;
    for_all_shapes("test_barrier", 4, check_barrier);
    for_all_shapes("test_warp_barrier", 4, check_warp_barrier);
}

static void test_bringing(void **state) {
    enum { BLOCKS = 3, WORDS = TEAM * MBARRIER_ITERATIONS };
    (void)state;
    for (int k = 0; k < SCHEDULES; k++) {
        test_work work = {.x = device(WORDS * 4), .result = device(BLOCKS * TEAM * 4)};
        uint32_t *x = (uint32_t *)(uintptr_t)work.x;
        schedule_number(k);
        for (int i = 0; i < WORDS; i++) x[i] = (uint32_t)(i * i);
        assert_int_equal(launch("test_mbarriers", BLOCKS, TEAM + TALLY_WARP, work), 0);
        for (int i = 0; i < BLOCKS * TEAM; i++) {
            uint32_t sum = 0;
            for (int iteration = 0; iteration < MBARRIER_ITERATIONS; iteration++)
                sum += x[iteration * TEAM + (i + 1) % TEAM];
            assert_int_equal(((uint32_t *)work.result)[i], sum);
        }
        discard(x);
        discard(work.result);
    }
}

static void check_atomics(const shot *s) {
    const int32_t *told = s->work.result, *swapped = told + s->all;
    int most = s->work.user, bits = 0;
    int *seen = test_calloc((size_t)s->all + 1, sizeof *seen);
    for (int i = 0; i < s->all; i++) seen[told[i]]++;
    for (int i = 0; i <= most; i++) /* it counts 0 ... most, and again */
        EXPECT_AT(s, i, seen[i], (s->all - i + most) / (most + 1));
    memset(seen, 0, ((size_t)s->all + 1) * sizeof *seen);
    for (int i = 0; i < s->all; i++) seen[swapped[i]]++, bits |= 1 << i % 31;
    seen[s->work.flags[2]]++;
    EXPECT_AT(s, 0, seen[0], 2); /* what was there first, and the number of a thread */
    for (int i = 1; i < s->all; i++) EXPECT_AT(s, i, seen[i], 1);
    EXPECT_AT(s, 0, s->work.flags[0], 3 * s->all);
    EXPECT_AT(s, 0, s->work.flags[1], bits);
    EXPECT_AT(s, 0, *(int64_t *)s->work.node, (int64_t)s->all << 33);
    EXPECT_AT(s, 0, *s->work.arrivals, (uint32_t)(s->all % (most + 1)));
    test_free(seen);
}
static void test_atomic_words(void **state) {
    (void)state;
    for_all_shapes("test_atomics", 8, check_atomics);
}

static void check_load16(const shot *s) {
    for (int i = 0; i < s->all; i++) {
        uint32_t w[4];
        memcpy(w, s->work.x + 16 * i, sizeof w);
        EXPECT_AT(s, i, ((uint32_t *)s->work.result)[i], w[0] + w[1] * 3 + w[2] * 5 + w[3] * 7);
    }
}
static void check_copies(const shot *s) {
    for (int i = 0; i < s->all; i++) {
        const uint32_t *const seen = (uint32_t *)s->work.result + 4 * i;
        uint32_t word;
        memcpy(&word, s->work.x + 16 * i + 4, sizeof word);
        for (int k = 0; k < 2; k++) EXPECT_AT(s, i, seen[k], 0xA5A5A5A5u); /* they are on their way */
        EXPECT_AT(s, i, seen[2], word);
        EXPECT_AT(s, i, seen[3], word);
    }
}
static void test_loads(void **state) {
    (void)state;
    for_all_shapes("test_load16", 4, check_load16);
    for_all_shapes("test_copies", 16, check_copies);
}

static void check_last_block(const shot *s) {
    EXPECT_AT(s, 0, *(uint64_t *)s->work.result, (uint64_t)s->all * (uint64_t)(s->all - 1) / 2);
    EXPECT_AT(s, 0, *s->work.arrivals, 0u);
}
static void check_chain(const shot *s) {
    for (int b = 0; b < s->blocks; b++) EXPECT_AT(s, b, ((int64_t *)s->work.result)[b], (int64_t)(b + 1) * (b + 2) / 2);
}
static void test_blocks(void **state) {
    (void)state;
    for_all_shapes("test_last_block", 8, check_last_block);
    for (int k = 0; k < SCHEDULES;
         k++) { /* waiting for a block that has not begun is a livelock: no more of them than run at once */
        shot s = {.blocks = 4, .threads = 33, .schedule = schedules[k / 2], .work.user = k % 2};
        schedule_as(s.schedule, 4);
        s.work.nodes = device_zeros(4 * 16);
        s.work.flags = device_zeros(4);
        s.work.result = device(4 * 8);
        expect_success(launch("test_chain", 4, 33, s.work), "test_chain", 4, 33, s.schedule);
        check_chain(&s);
        expect_success(launch("test_swaps", 4, 33, s.work), "test_swaps", 4, 33, s.schedule);
        discard(s.work.nodes);
        discard(s.work.flags);
        discard(s.work.result);
    }
}

static void test_counters(void **state) {
    test_work work = {.result = device(3 * 40 * 32)};
    tally__simt_counters counted;
    (void)state;
    schedule_as("round", 4);
    assert_int_equal(launch("test_warp", 3, 40, work), 0);
    counted = tally__simt_counted();
    assert_int_equal(counted.blocks, 3);
    assert_int_equal(counted.threads, 120);
    assert_int_equal(counted.meetings, 3 * 2 * 9);
    assert_int_equal(counted.barriers, 0);
    assert_true(counted.switches >= 120);
    assert_int_equal(launch("test_missing_fence", 0, 1, work), TALLY_CU_INVALID_VALUE);
    discard(work.result);
}

static void test_schedules(void **state) {
    static const char *const bad[] = {
        "", "rounds", "round:1", "random:", "random:x", "random:1:", "random:1:2:3", "greed"};
    tally__simt_settings settings = TALLY_SIMT_SETTINGS_INIT;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) assert_false(tally__simt_parse(bad[i], &settings));
    assert_true(tally__simt_parse("random:12:34", &settings));
    assert_true(settings.order == TALLY_SIMT_RANDOM && settings.seed == 12 && settings.launch == 34);
    setenv("TALLY_SIMT_SCHEDULE", "sideways", 1);
    tally__simt_configure(NULL);
    expect_sentence(launch("test_livelock", 1, 1, (test_work){0}), "sideways");
    setenv("TALLY_SIMT_SCHEDULE", "greedy", 1);
    assert_int_equal(launch("test_two_barriers", 1, 1, (test_work){0}), 0);
    assert_int_equal(tally__simt_configured().order, TALLY_SIMT_GREEDY);
    unsetenv("TALLY_SIMT_SCHEDULE");
}

/* Launches of several threads. */
static void *launcher(void *result) {
    test_work work = {.result = result};
    int wrong = driver->context_push(context);
    for (int i = 0; i < 20; i++) {
        wrong += launch("test_barrier", 2, 64, work);
        for (int t = 0; t < 128; t++) wrong += ((uint32_t *)result)[t] != 65 * 32 * 1000 + (uint32_t)(t + 5) % 64;
    }
    wrong += driver->context_pop(NULL);
    return wrong ? result : NULL;
}
static void test_callers(void **state) {
    pthread_t threads[4];
    void *results[4], *wrong;
    (void)state;
    schedule_as("random:7", 4);
    for (int i = 0; i < 4; i++) {
        results[i] = device(128 * 4);
        assert_int_equal(pthread_create(&threads[i], NULL, launcher, results[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
        discard(results[i]);
    }
}

/* ---- faults in kernels ---- */

/* Under every schedule: for what a meeting finds no schedule can hide. */
static void expect_fault(const char *kernel, int blocks, int threads, const char *sentence) {
    for (int k = 0; k < SCHEDULES; k++) {
        test_work work = {
            .result = device((size_t)(blocks * threads) * 4), .flags = device_zeros(4), .nodes = device_zeros(8)};
        schedule_number(k);
        work.x = work.result;
        expect_sentence(launch(kernel, blocks, threads, work), sentence);
        discard(work.result);
        discard(work.flags);
        discard(work.nodes);
    }
}

static void test_divergence(void **state) {
    (void)state;
    expect_fault("test_barrier_in_branch", 2, 64, "divergent barrier");
    expect_fault("test_barrier_in_branch", 1, 2, "divergent barrier");
    expect_fault("test_two_barriers", 1, 64, "divergent barrier");
    expect_fault("test_ended_lane", 1, 32, "lane 7");
    expect_fault("test_ended_lane", 5, 100, "lane");
    expect_fault("test_vote_of_ended_lane", 1, 64, "any");
    expect_fault("test_absent_lane", 1, 20, "which a block of 20 threads does not have");
    expect_fault("test_two_shuffles", 1, 64, "divergent warp");
    expect_fault("test_deadlock", 2, 64, "of its warp at the");
    expect_fault("test_misaligned_load", 1, 64, "not a multiple of 16");
    expect_fault("test_too_much_shared", 1, 64, "40000 more");
    expect_fault("test_stranger", 1, 64, "whose it is not");
    expect_fault("test_no_shared", 1, 32, "the launch gives 0");
}

static void test_livelocks(void **state) {
    (void)state;
    expect_fault("test_livelock", 3, 40, "livelock");
    expect_fault("test_atomic_livelock", 3, 40, "livelock");
    expect_fault("test_closed_mbarrier", 2, 40, "wait at an mbarrier");
}

/* What the sentence tells: who, where, and how to see it again. */
static void test_sentence(void **state) {
    test_work work = {.result = device(32 * 4), .flags = device_zeros(4)};
    int error;
    (void)state;
    schedule_as("random:5:17", 4);
    error = launch("test_ended_lane", 1, 32, work);
    expect_sentence(error, "test_ended_lane: block 0, thread ");
    expect_sentence(error, "unit/simt_kernels.h:");
    expect_sentence(error, "(schedule random:5:17)");
    schedule_as("round", 4); /* lane 7 has ended before others come to the shuffle */
    expect_sentence(launch("test_ended_lane", 1, 32, work), "reads lane 7, which has ended");
    discard(work.result);
    discard(work.flags);
}

/* How many of the schedules a kernel's results are wrong under. */
static int wrong_schedules(const char *kernel, int threads, int shift) {
    int wrong = 0;
    for (int k = 0; k < SCHEDULES; k++) {
        test_work work = {.result = device((size_t)threads * 4)};
        bool right = true;
        schedule_number(k);
        assert_int_equal(launch(kernel, 1, threads, work), 0);
        for (int i = 0; i < threads; i++) right &= ((uint32_t *)work.result)[i] == (uint32_t)((i + shift) % threads);
        wrong += !right;
        discard(work.result);
    }
    return wrong;
}

/* Runs the body in a child, its messages unseen; how that ends. */
static int status_of_child(void (*body)(void)) {
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, 2);
        body();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

/* In an order in which it does no harm, and in a program of its own (main): behind fork the thread sanitizer may look
 * away. */
static int race(const char *kernel) {
    test_work work;
    assert_int_equal(open_driver(NULL), 0);
    work = (test_work){.result = device(64 * 4), .nodes = device(64 * 4), .arrivals = device_zeros(4)};
    schedule_as(strcmp(kernel, "test_missing_barrier") == 0 ? "reverse" : "round", 4);
    return launch(kernel, strcmp(kernel, "test_missing_fence") == 0 ? 3 : 1, 32, work);
}
static const char *raced;
static void race_elsewhere(void) { execl("/proc/self/exe", "test_simt", "--race", raced, (char *)NULL); }

static void test_races(void **state) {
    static const char *const kernels[] = {"test_missing_barrier", "test_missing_second_barrier",
                                          "test_missing_warp_barrier", "test_missing_fence"};
    (void)state;
    if (!RACES_CHECKED) {
        assert_true(wrong_schedules(kernels[0], 64, 1) >= SCHEDULES / 2);
        assert_true(wrong_schedules(kernels[1], 64, 5) >= SCHEDULES / 2);
        return;
    }
    raced = "test_barrier";
    assert_int_equal(status_of_child(race_elsewhere), 0);
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        raced = kernels[i];
        EXPECT(status_of_child(race_elsewhere) != 0, "the thread sanitizer finds no race in %s", raced);
    }
}

/* ---- memory ---- */

static void overrun_shared(void) {
    test_work work = {.result = device(32 * 4)};
    schedule_as("round", 4);
    expect_sentence(launch("test_shared_overrun", 1, 32, work), "behind unit/simt_kernels.h");
    discard(work.result);
}
static void write_tail(void) {
    test_work work = {.result = device(33 * 4)};
    schedule_as("round", 4);
    assert_int_equal(launch("test_write_tail", 1, 32, work), 0);
    expect_sentence(launch("test_write_tail", 1, 33, work), "behind the 132 bytes");
    discard(work.result);
}
static void read_tail(void) {
    test_work work = {.result = device(32 * 4)};
    uint32_t *read;
    schedule_as("round", 4);
    work.x = device(32 * 4);
    assert_int_equal(launch("test_read_tail", 1, 32, work), 0);
    read = work.result;
    assert_int_equal(read[30], 0xA5A5A5A5u); /* never written */
    assert_int_equal(read[31], 0xC3C3C3C3u); /* behind it */
    discard((void *)(uintptr_t)work.x);
    discard(work.result);
}
static void load_tail(void) {
    test_work work = {.result = device(32 * 4), .x = device(40)};
    schedule_as("round", 4);
    expect_sentence(launch("test_load_tail", 1, 1, work), "goes on behind what was allocated");
    expect_sentence(launch("test_copy_tail", 1, 1, work), "goes on behind what was allocated");
    discard((void *)(uintptr_t)work.x);
    discard(work.result);
}
static void use_freed(void) {
    test_work work = {.result = device(33 * 4)};
    schedule_as("round", 4);
    discard(work.result);
    launch("test_write_tail", 1, 32, work);
}

/* Where the address sanitizer looks on, it ends the program. */
static void test_memory(void **state) {
    (void)state;
    load_tail();
    if (ADDRESSES_CHECKED) {
        assert_int_not_equal(status_of_child(overrun_shared), 0);
        assert_int_not_equal(status_of_child(write_tail), 0);
        assert_int_not_equal(status_of_child(read_tail), 0);
        assert_int_not_equal(status_of_child(use_freed), 0);
    } else {
        overrun_shared();
        write_tail();
        read_tail();
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_teardown(name, nothing_left)
        TEST(test_places),     TEST(test_warps),     TEST(test_barriers), TEST(test_bringing),  TEST(test_atomic_words),
        TEST(test_loads),      TEST(test_blocks),    TEST(test_counters), TEST(test_schedules), TEST(test_callers),
        TEST(test_divergence), TEST(test_livelocks), TEST(test_sentence), TEST(test_races),     TEST(test_memory),
    };
    int skipped;
    if (argc == 3 && strcmp(argv[1], "--race") == 0) return race(argv[2]);
    skipped = begin_program(argc, argv);
    return skipped ? skipped : cmocka_run_group_tests(tests, open_driver, NULL);
}
