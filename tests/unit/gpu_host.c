#include "gpu_host.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda/cache.h"
#include "cuda/units.h"

tally_backend backend = TALLY_BACKEND_SIMT;
const tally__platform *platform = &tally__simt_platform;
const tally__driver *driver;
tally__gpu *gpu;
const subject few_subjects[FEW_SUBJECTS] = {
    {TALLY_SUM, TALLY_F32, 0, 0, TALLY_FAST},   {TALLY_ARGMIN, TALLY_I16, 0, 0, TALLY_BEST},
    {TALLY_VAR, TALLY_F64, 0, 1, TALLY_FAST},   {TALLY_SUM, TALLY_F32, 0, 0, TALLY_BEST},
    {TALLY_STATS, TALLY_F64, 1, 0, TALLY_BEST}, {TALLY_SUM, TALLY_U8, 0, 0, TALLY_BEST}};

static int share = 0, shares = 1;
static bool are_some; /* of the tests: those of --only */

int begin_gpu_program(int argc, char **argv) {
    const char *why = "";
    int skipped;
    if (argc > 1 && strcmp(argv[1], "--cuda") == 0) {
        backend = TALLY_BACKEND_CUDA;
        platform = &tally__nvidia_platform;
        argv[1] = argv[0];
        argc--, argv++;
    }
    if (argc > 2 && strcmp(argv[1], "--share") == 0 && sscanf(argv[2], "%d/%d", &share, &shares) == 2) {
        share_subjects(share, shares);
        argv[2] = argv[0];
        argc -= 2, argv += 2;
    }
    if (argc > 2 && strcmp(argv[1], "--only") == 0) {
        cmocka_set_test_filter(argv[2]);
        are_some = true;
        argv[2] = argv[0];
        argc -= 2, argv += 2;
    }
    skipped = begin_program(argc, argv);
    if (skipped) return skipped;
    driver = platform->driver(&why);
    if (driver != NULL && tally__gpu_open(platform, 0, &gpu) == TALLY_OK && tally__gpu_enter(gpu) == TALLY_OK) return 0;
    printf("SKIPPED: %s\n", driver ? tally_message() : why);
    return SKIPPED;
}

int run_gpu_tests(const struct CMUnitTest *of_subjects, size_t count_of_subjects, const struct CMUnitTest *others,
                  size_t count_of_others) {
    int failed = _cmocka_run_group_tests("of subjects", of_subjects, count_of_subjects, NULL, NULL);
    if (share == 0) return failed + _cmocka_run_group_tests("others", others, count_of_others, NULL, NULL);
    printf("The other %zu tests run in share 0 alone, also with --only.\n", count_of_others);
    return failed;
}

void compile_kernels(unsigned purposes) {
    enum { PROCESSES = 16 };
    if (backend != TALLY_BACKEND_CUDA || are_some || shares > 1) return;
    for (int p = 0; p < PROCESSES; p++) {
        subject s = {.op = -1};
        if (fork() != 0) continue;
        for (int trial = 0; next_subject(&s); trial++) {
            tally__spec spec;
            tally__unit unit;
            const tally__image *image;
            if (trial % PROCESSES != p) continue;
            if (tally__specify(context_for(&s, backend, 1), s.op, s.type, &spec) != TALLY_OK) continue;
            for (int form = 0; form < TALLY_FORMS; form++)
                if ((tally__purpose_of((tally__form)form) & purposes) != 0 &&
                    tally__has_form(&spec, (tally__form)form) &&
                    (tally__unit_of(&spec, (tally__form)form, &unit) != TALLY_OK ||
                     tally__image_of(platform, &unit, gpu->sm, &image) != TALLY_OK))
                    printf("%s\n", tally_message());
        }
        _exit(0);
    }
    while (wait(NULL) > 0) continue;
}

void choose_schedule(int trial) {
    static const char *const schedules[] = {"round", "lockstep", "reverse", "random:1", "greedy", "random:2"};
    enum { SCHEDULES = sizeof schedules / sizeof *schedules };
    tally__simt_settings settings = TALLY_SIMT_SETTINGS_INIT;
    if (backend != TALLY_BACKEND_SIMT) return;
    EXPECT(tally__simt_parse(schedules[trial % SCHEDULES], &settings), "no schedule %s", schedules[trial % SCHEDULES]);
    settings.patience *= 100; /* one block may take thousands of segments by limbs */
    tally__simt_configure(&settings);
    now.layout = schedules[trial % SCHEDULES];
}

void fail_every_call(tally_accuracy accuracy, tally_status (*reduce)(tally_context *context, const void *of),
                     const void *of) {
    bool done = false;
    if (backend != TALLY_BACKEND_SIMT) return;
    tally__gpu_leave(gpu);
    tally__gpu_close_all(platform);
    tally__simt_live held = tally__simt_live_now(); /* what tests that failed left behind */
    for (int n = 1; !done && n < 500; n++) {
        tally_context *context;
        tally_options options = TALLY_OPTIONS_INIT;
        tally__gpu_close_all(platform);
        options.backend = backend;
        options.accuracy = accuracy;
        EXPECT_OK(tally_context_create(NULL, &context));
        EXPECT_OK(tally_set_options(context, &options));
        int64_t before = tally__simt_calls();
        tally__simt_fail_call(n);
        tally_status status = reduce(context, of);
        done = tally__simt_calls() - before < n; /* there was no n-th call */
        tally__simt_fail_call(0);
        EXPECT(status == TALLY_OK || status == TALLY_DEVICE_FAILED || status == TALLY_NO_MEMORY ||
                   status == TALLY_NO_DEVICE,
               "call %d gave %s", n, tally_status_name(status));
        EXPECT(status == TALLY_OK || tally_message()[0] != '\0', "no sentence for call %d", n);
        EXPECT(!done || status == TALLY_OK, "no call failed, but the reduction did");
        EXPECT_OK(reduce(context, of));
        tally_context_destroy(context);
        tally__gpu_close_all(platform);
        tally__simt_live live = tally__simt_live_now();
        EXPECT(live.allocations == held.allocations && live.streams == 0 && live.modules == 0 && live.retained == 0 &&
                   live.pushed == 0,
               "call %d: %lld allocations, %lld streams, %lld modules, %lld contexts are left", n,
               (long long)live.allocations, (long long)live.streams, (long long)live.modules, (long long)live.retained);
    }
    EXPECT(done, "the calls never ended");
    EXPECT_OK(tally__gpu_open(platform, 0, &gpu));
    EXPECT_OK(tally__gpu_enter(gpu));
}

tally_context *context_of(tally_backend on) {
    tally_context *context;
    tally_options options = TALLY_OPTIONS_INIT;
    options.backend = on;
    EXPECT_OK(tally_context_create(NULL, &context));
    EXPECT_OK(tally_set_options(context, &options));
    return context;
}

tally__cu_address device_copy(const void *from, size_t bytes, size_t offset) {
    tally__cu_address memory;
    EXPECT(driver->allocate(&memory, bytes + offset + 1) == 0, "no device memory for %zu bytes", bytes);
    EXPECT(bytes == 0 || driver->copy_in(memory + offset, from, bytes, NULL) == 0, "no copy to the device");
    EXPECT(driver->stream_wait(NULL) == 0, "the copy failed");
    return memory;
}

void device_read(void *to, tally__cu_address from, size_t bytes) {
    EXPECT(driver->copy_out(to, from, bytes, NULL) == 0 && driver->stream_wait(NULL) == 0, "no copy from the device");
}
