/* The GPU simulator: first that each word does what lib/device.h says, under every schedule and for blocks of all shapes; then that
 * faults planted in kernels and in calls of the driver are found. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda/platform.h"
#include "simt/simt.h"
#include "simt_kernels.h"
#include "support.h"

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

#define RIGHT_KERNELS(X) \
    X(test_place)        \
    X(test_warp)         \
    X(test_barrier) X(test_warp_barrier) X(test_atomics) X(test_load16) X(test_last_block) X(test_chain) X(test_swaps)
#define WRONG_KERNELS(X)                                                                                             \
    X(test_missing_barrier)                                                                                          \
    X(test_missing_second_barrier)                                                                                   \
    X(test_missing_warp_barrier)                                                                                     \
    X(test_missing_fence)                                                                                            \
    X(test_barrier_in_branch) X(test_two_barriers) X(test_ended_lane) X(test_vote_of_ended_lane) X(test_absent_lane) \
        X(test_two_shuffles) X(test_deadlock) X(test_livelock) X(test_atomic_livelock) X(test_misaligned_load)       \
            X(test_shared_overrun) X(test_too_much_shared) X(test_read_tail) X(test_write_tail)

static const tally__driver *driver;
static tally__cu_context context;

#define DO(call) assert_int_equal(driver->call, TALLY_CU_SUCCESS)

/* ---- launching ---- */

static const int shapes[] = {1, 5, 31, 32, 33, 64, 100, 256};
static const int grids[] = {1, 3, 9};
static const char *const schedules[] = {"round",    "reverse",  "greedy",   "lockstep", "random:1",
                                        "random:2", "random:3", "random:4", "random:5", "random:6"};
enum { SHAPES = sizeof shapes / sizeof shapes[0], GRIDS = sizeof grids / sizeof grids[0] };
enum { SCHEDULES = sizeof schedules / sizeof schedules[0] };

static void schedule_as(const char *schedule, int live_blocks) {
    tally__simt_settings settings = TALLY_SIMT_SETTINGS_INIT;
    assert_true(tally__simt_parse(schedule, &settings));
    settings.live_blocks = live_blocks;
    settings.patience = 200000;
    tally__simt_configure(&settings);
}

/* Schedule `s`, at times with fewer or more blocks at once. */
static void schedule_number(int s) { schedule_as(schedules[s], s % 3 == 1 ? 2 : s % 3 == 2 ? 7 : 4); }

static int launch(const char *kernel, int blocks, int threads, tally_work work) {
    char image[80];
    tally__cu_module module;
    tally__cu_function function;
    void *parameters[] = {&work};
    int error;
    snprintf(image, sizeof image, "simt %s", kernel);
    DO(module_load(&module, image));
    DO(module_function(&function, module, kernel));
    error = driver->launch(function, (unsigned)blocks, 1, 1, (unsigned)threads, 1, 1, 0, NULL, parameters, NULL);
    DO(module_unload(module));
    return error;
}

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

static void *device(size_t bytes) {
    tally__cu_address address;
    DO(allocate(&address, bytes));
    return (void *)(uintptr_t)address;
}
static void *device_zeros(size_t bytes) {
    void *memory = device(bytes);
    DO(fill((uintptr_t)memory, 0, bytes, NULL));
    return memory;
}
static void discard(void *memory) { DO(release((uintptr_t)memory)); }

/* One launch of a right kernel: what it got, and the check of what it left. */
typedef struct shot {
    int blocks, threads, all;
    tally_work work;
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
                s.work.saw = device_zeros(3 * sizeof(int32_t));
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
                discard(s.work.saw);
                discard(s.work.node);
                discard(s.work.nodes);
                discard((void *)(uintptr_t)s.work.x);
            }
}

static int open_driver(void **state) {
    const char *why = NULL;
    tally__cu_device card;
    (void)state;
#define X(name) assert_true(tally__simt_register(#name, name));
    RIGHT_KERNELS(X)
    WRONG_KERNELS(X)
#undef X
    driver = tally__simt_platform.driver(&why);
    assert_non_null(driver);
    DO(init(0));
    DO(device_get(&card, 0));
    DO(context_retain(&context, card));
    DO(context_push(context));
    return 0;
}

/* Every test leaves what it found. */
static int nothing_left(void **state) {
    tally__simt_live live = tally__simt_live_now();
    (void)state;
    return live.allocations != 0 || live.bytes != 0 || live.streams != 0 || live.modules != 0 || live.retained != 1 ||
           live.pushed != 1;
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

static void check_atomics(const shot *s) {
    const int32_t *told = s->work.result, *swapped = told + s->all;
    int most = s->work.user, bits = 0;
    int *seen = test_calloc((size_t)s->all + 1, sizeof *seen);
    for (int i = 0; i < s->all; i++) seen[told[i]]++;
    for (int i = 0; i <= most; i++) /* it counts 0 ... most, and again */
        EXPECT_AT(s, i, seen[i], (s->all - i + most) / (most + 1));
    memset(seen, 0, ((size_t)s->all + 1) * sizeof *seen);
    for (int i = 0; i < s->all; i++) seen[swapped[i]]++, bits |= 1 << i % 31;
    seen[s->work.saw[2]]++;
    EXPECT_AT(s, 0, seen[0], 2); /* what was there first, and the number of a thread */
    for (int i = 1; i < s->all; i++) EXPECT_AT(s, i, seen[i], 1);
    EXPECT_AT(s, 0, s->work.saw[0], 3 * s->all);
    EXPECT_AT(s, 0, s->work.saw[1], bits);
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
static void test_loads(void **state) {
    (void)state;
    for_all_shapes("test_load16", 4, check_load16);
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
        s.work.saw = device_zeros(4);
        s.work.result = device(4 * 8);
        expect_success(launch("test_chain", 4, 33, s.work), "test_chain", 4, 33, s.schedule);
        check_chain(&s);
        expect_success(launch("test_swaps", 4, 33, s.work), "test_swaps", 4, 33, s.schedule);
        discard(s.work.nodes);
        discard(s.work.saw);
        discard(s.work.result);
    }
}

static void test_counters(void **state) {
    tally_work work = {.result = device(3 * 40 * 32)};
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
    expect_sentence(launch("test_livelock", 1, 1, (tally_work){0}), "sideways");
    setenv("TALLY_SIMT_SCHEDULE", "greedy", 1);
    assert_int_equal(launch("test_two_barriers", 1, 1, (tally_work){0}), 0);
    assert_int_equal(tally__simt_configured().order, TALLY_SIMT_GREEDY);
    unsetenv("TALLY_SIMT_SCHEDULE");
}

/* Launches of several threads. */
static void *launcher(void *result) {
    tally_work work = {.result = result};
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
        tally_work work = {
            .result = device((size_t)(blocks * threads) * 4), .saw = device_zeros(4), .nodes = device_zeros(8)};
        schedule_number(k);
        work.x = work.result;
        expect_sentence(launch(kernel, blocks, threads, work), sentence);
        discard(work.result);
        discard(work.saw);
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
}

static void test_livelocks(void **state) {
    (void)state;
    expect_fault("test_livelock", 3, 40, "livelock");
    expect_fault("test_atomic_livelock", 3, 40, "livelock");
}

/* What the sentence tells: who, where, and how to see it again. */
static void test_sentence(void **state) {
    tally_work work = {.result = device(32 * 4), .saw = device_zeros(4)};
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
    discard(work.saw);
}

/* How many of the schedules a kernel's results are wrong under. */
static int wrong_schedules(const char *kernel, int threads, int shift) {
    int wrong = 0;
    for (int k = 0; k < SCHEDULES; k++) {
        tally_work work = {.result = device((size_t)threads * 4)};
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

/* In an order in which it does no harm, and in a program of its own (main): behind fork the thread sanitizer may look away. */
static int race(const char *kernel) {
    tally_work work;
    assert_int_equal(open_driver(NULL), 0);
    work = (tally_work){.result = device(64 * 4), .nodes = device(64 * 4), .arrivals = device_zeros(4)};
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
    tally_work work = {.result = device(32 * 4)};
    schedule_as("round", 4);
    expect_sentence(launch("test_shared_overrun", 1, 32, work), "behind unit/simt_kernels.h");
    discard(work.result);
}
static void write_tail(void) {
    tally_work work = {.result = device(33 * 4)};
    schedule_as("round", 4);
    assert_int_equal(launch("test_write_tail", 1, 32, work), 0);
    expect_sentence(launch("test_write_tail", 1, 33, work), "behind the 132 bytes");
    discard(work.result);
}
static void read_tail(void) {
    tally_work work = {.result = device(32 * 4)};
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
static void use_freed(void) {
    tally_work work = {.result = device(33 * 4)};
    schedule_as("round", 4);
    discard(work.result);
    launch("test_write_tail", 1, 32, work);
}

/* Where the address sanitizer looks on, it ends the program. */
static void test_memory(void **state) {
    (void)state;
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

static void test_allocations(void **state) {
    char host[64] = {0};
    char *memory = device(64), *other = device(32);
    tally__cu_address at = (uintptr_t)memory, none;
    (void)state;
    assert_int_equal(tally__simt_live_now().bytes, 96);
    DO(copy_in(at, host, 64, NULL));
    DO(fill(at + 10, 7, 54, NULL));
    DO(copy_out(host, at, 64, NULL));
    assert_true(host[9] == 0 && host[10] == 7 && host[63] == 7);
    assert_int_equal(driver->copy_out(host, at + 1, 64, NULL), TALLY_CU_INVALID_VALUE);
    assert_int_equal(driver->copy_in(at + 64, host, 1, NULL), TALLY_CU_INVALID_VALUE);
    assert_int_equal(driver->release(at + 1), TALLY_CU_INVALID_VALUE);
    assert_int_equal(driver->release((uintptr_t)host), TALLY_CU_INVALID_VALUE);
    DO(release(at));
    assert_int_equal(driver->release(at), TALLY_CU_INVALID_VALUE);
    assert_int_equal(driver->fill(at, 0, 1, NULL), TALLY_CU_INVALID_VALUE);
    assert_int_equal(driver->copy_out(host, at, 1, NULL), TALLY_CU_INVALID_VALUE);
    assert_int_equal(driver->allocate(&none, 0), TALLY_CU_INVALID_VALUE);
    assert_int_equal(driver->allocate(&none, SIZE_MAX / 2), TALLY_CU_OUT_OF_MEMORY);
    DO(release(0));
    discard(other);
}

static void test_pointers(void **state) {
    int attributes[] = {TALLY_CU_POINTER_CONTEXT, TALLY_CU_POINTER_MEMORY_TYPE, TALLY_CU_POINTER_IS_MANAGED,
                        TALLY_CU_POINTER_DEVICE_ORDINAL};
    tally__cu_context of;
    unsigned type, managed;
    int ordinal;
    void *values[] = {&of, &type, &managed, &ordinal};
    char *memory = device(64);
    (void)state;
    DO(pointer_attributes(4, attributes, values, (uintptr_t)memory + 63));
    assert_true(of == context && type == TALLY_CU_MEMORY_DEVICE && managed == 0 && ordinal == 0);
    DO(pointer_attributes(4, attributes, values, (uintptr_t)&type));
    assert_true(of == NULL && type == 0);
    discard(memory);
}

/* ---- the driver ---- */

static void test_handles(void **state) {
    tally__cu_stream stream;
    tally__cu_module module;
    tally__cu_function function;
    tally_work work = {0};
    void *parameters[] = {&work};
    int value;
    (void)state;
    DO(stream_create(&stream, TALLY_CU_STREAM_NON_BLOCKING));
    DO(stream_capturing(stream, &value));
    assert_int_equal(value, TALLY_CU_CAPTURE_NONE);
    DO(module_load(&module, "simt test_two_barriers"));
    assert_int_equal(driver->module_function(&function, module, "test_place"), TALLY_CU_NOT_FOUND);
    DO(module_function(&function, module, "test_two_barriers"));
    DO(launch(function, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
    assert_int_equal(driver->launch(function, 1, 2, 1, 1, 1, 1, 0, stream, parameters, NULL), TALLY_CU_INVALID_VALUE);
    assert_int_equal(driver->launch(function, 1, 1, 1, 1025, 1, 1, 0, stream, parameters, NULL),
                     TALLY_CU_INVALID_VALUE);
    assert_int_equal(driver->launch(function, 1, 1, 1, 1, 1, 1, 100000, stream, parameters, NULL),
                     TALLY_CU_INVALID_VALUE);
    DO(function_set(function, TALLY_CU_FUNCTION_MAX_DYNAMIC_SHARED, 100000));
    DO(launch(function, 1, 1, 1, 1, 1, 1, 100000, stream, parameters, NULL));
    DO(stream_wait(stream));
    DO(stream_destroy(stream));
    DO(module_unload(module));
    assert_true(driver->stream_destroy(stream) != 0 && driver->stream_wait(stream) != 0 &&
                driver->module_unload(module) != 0);
    assert_true(driver->launch(function, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL) != 0);
    assert_int_equal(driver->module_load(&module, "\177ELF"), TALLY_CU_INVALID_IMAGE);
    assert_true(driver->module_load(&module, "simt nobody") != 0);
    DO(context_pop(NULL));
    assert_true(driver->stream_wait(NULL) != 0 && driver->context_pop(NULL) != 0);
    DO(context_push(context));
}

static void test_platform(void **state) {
    tally__unit unit = {.entry = "test_place"};
    tally__image image;
    tally__cu_module module;
    char version[8];
    (void)state;
    EXPECT_OK(tally__simt_platform.compile(&unit, 90, &image));
    assert_int_equal(image.size, strlen("simt test_place") + 1);
    DO(module_load(&module, image.bytes));
    DO(module_unload(module));
    free(image.bytes);
    EXPECT_OK(tally__simt_platform.compiler_version(version, sizeof version));
    assert_string_equal(version, "");
    unit.user_text = "user";
    EXPECT_STATUS(tally__simt_platform.compile(&unit, 90, &image), TALLY_UNSUPPORTED);
    unit = (tally__unit){.entry = "nobody"};
    EXPECT_STATUS(tally__simt_platform.compile(&unit, 90, &image), TALLY_UNSUPPORTED);
}

/* A host that looks at what it is told and cleans up: the first error, whatever it was. */
static int careful_host(void) {
    tally__cu_context mine;
    tally__cu_module module = NULL;
    tally__cu_function function;
    tally__cu_stream stream = NULL;
    tally__cu_address address = 0;
    tally_work work = {0};
    void *parameters[] = {&work};
    int error, later, value;
#define THEN(call) \
    if (error == 0) error = driver->call
#define LAST(call)                     \
    do {                               \
        later = driver->call;          \
        error = error ? error : later; \
    } while (0)
    error = driver->init(0);
    THEN(device_count(&value));
    THEN(device_attribute(&value, TALLY_CU_DEVICE_MULTIPROCESSORS, 0));
    if (error == 0 && (error = driver->context_retain(&mine, 0)) == 0) {
        if ((error = driver->context_push(mine)) == 0) {
            THEN(module_load(&module, "simt test_place"));
            THEN(module_function(&function, module, "test_place"));
            THEN(stream_create(&stream, 0));
            THEN(allocate(&address, 16 * 32));
            THEN(fill(address, 0, 16 * 32, stream));
            work.result = (void *)(uintptr_t)address;
            THEN(launch(function, 1, 1, 1, 32, 1, 1, 0, stream, parameters, NULL));
            THEN(stream_wait(stream));
            if (address != 0) LAST(release(address));
            if (stream != NULL) LAST(stream_destroy(stream));
            if (module != NULL) LAST(module_unload(module));
            LAST(context_pop(NULL));
        }
        LAST(context_release(0));
    }
    return error;
#undef THEN
#undef LAST
}

static void test_failing_calls(void **state) {
    int64_t before = tally__simt_calls(), calls;
    schedule_as("round", 4);
    assert_int_equal(careful_host(), 0);
    calls = tally__simt_calls() - before;
    assert_true(calls > 10);
    for (int64_t n = 1; n <= calls; n++) {
        tally__simt_fail_call(n);
        EXPECT(careful_host() != 0, "call %d of %d does not fail", (int)n, (int)calls);
        EXPECT(nothing_left(state) == 0, "call %d leaves something behind", (int)n);
    }
    tally__simt_fail_call(0);
    assert_int_equal(careful_host(), 0);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_teardown(name, nothing_left)
        TEST(test_places),  TEST(test_warps),      TEST(test_barriers),      TEST(test_atomic_words),
        TEST(test_loads),   TEST(test_blocks),     TEST(test_counters),      TEST(test_schedules),
        TEST(test_callers), TEST(test_divergence), TEST(test_livelocks),     TEST(test_sentence),
        TEST(test_races),   TEST(test_memory),     TEST(test_allocations),   TEST(test_pointers),
        TEST(test_handles), TEST(test_platform),   TEST(test_failing_calls),
    };
    int skipped;
    if (argc == 3 && strcmp(argv[1], "--race") == 0) return race(argv[2]);
    skipped = begin_program(argc, argv);
    return skipped ? skipped : cmocka_run_group_tests(tests, open_driver, NULL);
}
