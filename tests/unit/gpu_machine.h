/* What tests of the cuda backend share: the machine they run on, the simulator or with --cuda a GPU, its memory and its schedules. */
#ifndef TALLY_TESTS_GPU_MACHINE_H
#define TALLY_TESTS_GPU_MACHINE_H

#include "cuda/cuda.h"
#include "cuda/gpu.h"
#include "simt/simt.h"
#include "support.h"

extern tally_backend backend;
extern const tally__platform *platform;
extern const tally__driver *driver;
extern tally__gpu *gpu;

/* Reads --cuda and --only TEST, then what begin_program reads; opens the machine and, for a GPU, compiles all kernels of these forms ahead
 * of the tests. Returns SKIPPED, said loudly, without one, else 0. */
int begin_on_gpu(int argc, char **argv, bool (*is_wanted)(tally__form));

void choose_schedule(int turn);
void set_scene(const subject *s, data_class class, int64_t size);

tally__cu_address device_copy(const void *from, size_t bytes, size_t offset);
void device_read(void *to, tally__cu_address from, size_t bytes);

#endif
