/* A user operator in place of a file of kernels/operators: its text, checked against its description.
 * Needs
 *
 *     TALLY_USER_TEXT                      the name of the text (docs/operators.md)
 *     TALLY_USER_ACC, TALLY_USER_RESULT    bytes of an accumulator and of a result
 *     TALLY_USER_KEEPS_ORDER               1: it does not commute */
#ifndef TALLY_USER_H
#define TALLY_USER_H

#include "device/dialect.h"

#ifndef TALLY_USER_TEXT
#error "define what the first comment lists"
#endif
#include TALLY_USER_TEXT

#ifndef TALLY_PASSES
#error "the text of the operator does not include accumulators/plain.h"
#elif TALLY_PASSES == 2
#error "the text of the operator has a second pass, which operators of the caller's own have not"
#endif
TALLY_ASSERT(sizeof(column_t) == TALLY_USER_ACC, "TALLY_COLUMN has another size than acc_size says");
TALLY_ASSERT(sizeof(node_t) == (sizeof(int64_t) + TALLY_USER_ACC + 7) / 8 * 8,
             "TALLY_NODE has not the fields of TALLY_COLUMN");
TALLY_ASSERT(sizeof(result_t) == TALLY_USER_RESULT, "result_t has another size than the description says");

#endif
