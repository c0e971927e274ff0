/* Segments of floats at the boundaries of what kernels hold: sums that no double is, or two, or that cancel, and the
 * lengths at which threads, lanes and chunks take turns. Part of test_gpu_segments. */
#ifndef TALLY_TEST_HARD_SUMS_H
#define TALLY_TEST_HARD_SUMS_H

#include "segment_problems.h"

void test_quarters(void **state);
void test_specials(void **state);
void test_near_values(void **state);
void test_cancelling_powers(void **state);
void test_ranges(void **state);
void test_chunks(void **state);
void test_partials(void **state);
void test_small_beside_large(void **state);
void test_cancelling_products(void **state);

#endif
