/* Reductions of opened inputs to results. Each complains on failure. */
#ifndef REDUCE_H
#define REDUCE_H

#include "command.h"
#include "input.h"
#include "results.h"
#include "tally/tally.h"

/* One result of the whole input (right NULL), or of a pair, through a state: inputs may be larger than the memory. For a GPU they are
 * brought into memory whole. */
bool reduce_whole(tally_context *context, tally_op op, input *left, input *right, results *made);

/* One result for each segment of the cut that the command describes. */
bool reduce_cut(tally_context *context, const command *wanted, tally_op op, input *left, input *right, results *made);

/* All values of an input in memory. Text whose integers the operator cannot take comes as f64 if it takes those. */
bool load_input(tally_context *context, tally_op op, input *in, tally_array *array);

/* Both inputs of a pair in memory, of one type and length; text takes the type of the other input. */
bool load_pair(tally_context *context, tally_op op, input *left, input *right, tally_array arrays[2]);

/* Complains that the library refused a result; always false. */
bool refused_result(tally_status status, tally_op op, const char *name);

/* Whether the order of values can be seen in the result. */
bool order_shows(const tally_context *context, tally_op op, tally_type type);

#endif
