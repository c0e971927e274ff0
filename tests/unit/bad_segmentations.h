/* Offsets, lengths and segment ids that are none, each refused by the GPU backend. Part of test_gpu_segments. */
#ifndef TALLY_TEST_BAD_SEGMENTATIONS_H
#define TALLY_TEST_BAD_SEGMENTATIONS_H

#include "segment_problems.h"

void test_bad_segmentations(void **state);
void test_bad_segment_ids(void **state);

#endif
