/* What the tests of the GPU backend share: the device they run on, the simulator's or with --cuda a GPU, its memory,
 * and schedules. */
#ifndef TALLY_TESTS_GPU_HOST_H
#define TALLY_TESTS_GPU_HOST_H

#include "cuda/gpu.h"
#include "simt/simt.h"
#include "support.h"

extern tally_backend backend; /* TALLY_BACKEND_SIMT, or TALLY_BACKEND_CUDA */
extern const tally__platform *platform;
extern const tally__driver *driver;
extern tally__gpu *gpu;

/* Takes --cuda, --share K/N and --only PATTERN, in this order, from the arguments, begins the program and enters device
 * 0. Not 0: the status to exit with. A share of a program visits some of the subjects only. */
int begin_gpu_program(int argc, char **argv);

/* Runs the tests that visit subjects, and in the first share the others. Returns how many failed. */
#define RUN_GPU_TESTS(of_subjects, others) \
    run_gpu_tests(of_subjects, sizeof(of_subjects) / sizeof *(of_subjects), others, sizeof(others) / sizeof *(others))
int run_gpu_tests(const struct CMUnitTest *of_subjects, size_t count_of_subjects, const struct CMUnitTest *others,
                  size_t count_of_others);

/* For a GPU: compiles every built-in kernel of the forms for these purposes (tally__purpose) into the cache on disk, by
 * several processes, since NVRTC lets only one thread of each compile. Not with --share, as then several programs run,
 * nor with --only: most tests need few of them. */
void compile_kernels(unsigned purposes);

/* Subjects of different code: for tests of many values. */
enum { FEW_SUBJECTS = 6 };
extern const subject few_subjects[FEW_SUBJECTS];

/* One of some ways to schedule the simulator's threads. */
void choose_schedule(int trial);

/* Makes every driver call of `reduce` fail in turn, on the simulator: a status and a sentence, nothing kept, and then
 * it works. Device 0 is closed before and opened again behind. */
void fail_every_call(tally_accuracy accuracy, tally_status (*reduce)(tally_context *context, const void *of),
                     const void *of);

/* A context with that backend and the default options otherwise. */
tally_context *context_of(tally_backend on);

/* Device memory that ends one byte behind `bytes` bytes from `offset` on, a copy of what `from` has; to be released. */
tally__cu_address device_copy(const void *from, size_t bytes, size_t offset);
void device_read(void *to, tally__cu_address from, size_t bytes);

#endif
