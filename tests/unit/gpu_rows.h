/* Rows on the GPU backend against the CPU backend, bit for bit: for test_gpu_rows and test_gpu_exact_rows. */
#ifndef TEST_GPU_ROWS_H
#define TEST_GPU_ROWS_H

#include "gpu_host.h"

typedef struct shape {
    int64_t outer, length, inner;
} shape;

enum { ROUNDING = DATA_CLASSES }; /* a class more: floats whose sums are rounded in every order; others CANCELLATION */

/* Reduces an array of that shape and class of data by both backends, with the schedule of that trial. The layout is one
 * of host memory, or with on_device of the device's, as are then the results. */
void compare_rows(const subject *s, int class, shape of, int trial, const layout *l, bool on_device);

#endif
