/* Results of exact sums beside true ones. */
#ifndef TALLY_TESTS_SUMS_CHECKS_H
#define TALLY_TESTS_SUMS_CHECKS_H

#include "support.h"
#include "truth.h"

enum { SINGLE = 7 };
extern const tally_op single[SINGLE]; /* those of one input that give one float */
extern int64_t cases;                 /* results that were compared */

double read_result(tally_type type, const void *result);
void expect_double(double got, double wanted, const char *what);
void expect_stats(truth *t, const tally_stats *stats, tally_type type, int ddof);
/* Reduces an array by one operator, into every float type, or by stats. */
void check_operator(truth *t, tally_context *context, tally_op op, tally_array x, tally_array y, int ddof);
void check_stats(truth *t, tally_context *context, tally_array x, int ddof);

#endif
