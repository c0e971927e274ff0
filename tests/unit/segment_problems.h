/* Segments on the GPU backend and what the CPU gives for each slice alone, compared. */
#ifndef TALLY_TEST_SEGMENT_PROBLEMS_H
#define TALLY_TEST_SEGMENT_PROBLEMS_H

#include "ragged_segments.h"

typedef struct problem {
    const subject *s;
    const char *x, *y; /* y for operators of two inputs */
    ragged r;
    const char *wanted; /* results of slices, side by side in scratch memory */
    tally_status due;
} problem;

/* Has the CPU reduce the slices of these values, or of values of that class. */
problem pose_values(const subject *s, const char *x, const char *y, ragged r);
problem pose_segments(const subject *s, ragged r, data_class class);

/* Compares the results in any schedule. `trial` chooses that, and where things lie: in host memory of any layout, or in
 * device memory at an address that is aligned to a value, or to nothing. */
void compare_host(const problem *p, tally_segmentation form, tally_type index_type, int trial);
void compare_device(const problem *p, tally_segmentation form, tally_type index_type, int trial);
void expect_results(const char *got, int64_t stride, const char *wanted, size_t bytes, int64_t count);

/* An array on the device, its first value `offset` bytes behind a boundary; *memory is to be released. */
tally_array on_device(const void *values, tally_type type, int64_t count, size_t offset, tally__cu_address *memory);

/* A new context on the backend, `checked` or not, to be destroyed. */
tally_context *checked_context_for(const subject *s, int checked);

#endif
