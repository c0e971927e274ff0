/* What the tests of the simulator share: the driver's table, opened, with all kernels of simt_kernels.h; memory and
 * launches. */
#ifndef TALLY_TESTS_SIMT_HOST_H
#define TALLY_TESTS_SIMT_HOST_H

#include <stdio.h>
#include <string.h>

#include "cuda/platform.h"
#include "simt/simt.h"
#include "simt_kernels.h"
#include "support.h"

#define RIGHT_KERNELS(X) \
    X(test_place)        \
    X(test_warp)         \
    X(test_barrier)      \
    X(test_warp_barrier) \
    X(test_mbarriers) X(test_atomics) X(test_load16) X(test_copies) X(test_last_block) X(test_chain) X(test_swaps)
#define WRONG_KERNELS(X)                                                                                            \
    X(test_missing_barrier)                                                                                         \
    X(test_missing_second_barrier)                                                                                  \
    X(test_missing_warp_barrier)                                                                                    \
    X(test_missing_fence)                                                                                           \
    X(test_barrier_in_branch)                                                                                       \
    X(test_two_barriers)                                                                                            \
    X(test_ended_lane)                                                                                              \
    X(test_vote_of_ended_lane)                                                                                      \
    X(test_absent_lane)                                                                                             \
    X(test_two_shuffles)                                                                                            \
    X(test_deadlock)                                                                                                \
    X(test_livelock) X(test_atomic_livelock) X(test_misaligned_load) X(test_shared_overrun) X(test_too_much_shared) \
        X(test_stranger) X(test_closed_mbarrier) X(test_no_shared) X(test_read_tail) X(test_write_tail)             \
            X(test_load_tail) X(test_copy_tail)

static const tally__driver *driver; /* as tests call it */
static tally__cu_context context;

#define DO(call) assert_int_equal(driver->call, TALLY_CU_SUCCESS)

static inline void schedule_as(const char *schedule, int live_blocks) {
    tally__simt_settings settings = TALLY_SIMT_SETTINGS_INIT;
    assert_true(tally__simt_parse(schedule, &settings));
    settings.live_blocks = live_blocks;
    settings.patience = 200000;
    tally__simt_configure(&settings);
}

static inline int start(tally__cu_function function, unsigned grid_x, unsigned grid_y, unsigned threads,
                        unsigned shared_bytes, tally__cu_stream stream, void **parameters) {
    const tally__cu_launch how = {grid_x, grid_y, 1, threads, 1, 1, shared_bytes, stream, NULL, 0};
    return driver->launch(&how, function, parameters, NULL);
}

static inline int launch(const char *kernel, int blocks, int threads, test_work work) {
    char image[80];
    tally__cu_module module;
    tally__cu_function function;
    void *parameters[] = {&work};
    int error;
    snprintf(image, sizeof image, "simt %s", kernel);
    DO(module_load(&module, image));
    DO(module_function(&function, module, kernel));
    error = start(function, (unsigned)blocks, 1, (unsigned)threads, 0, NULL, parameters);
    DO(module_unload(module));
    return error;
}

static inline void *device(size_t bytes) {
    tally__cu_address address;
    DO(allocate(&address, bytes));
    return (void *)(uintptr_t)address;
}
static inline void *device_zeros(size_t bytes) {
    void *memory = device(bytes);
    DO(fill((uintptr_t)memory, 0, bytes, NULL));
    return memory;
}
static inline void discard(void *memory) { DO(release((uintptr_t)memory)); }

static inline int open_driver(void **state) {
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
static inline int nothing_left(void **state) {
    tally__simt_live live = tally__simt_live_now();
    (void)state;
    return live.allocations != 0 || live.bytes != 0 || live.streams != 0 || live.modules != 0 || live.retained != 1 ||
           live.pushed != 1;
}

#endif
