/* Reductions of opened inputs to results. Each complains on failure. */
#ifndef REDUCE_H
#define REDUCE_H

#include "command.h"
#include "input/input.h"
#include "output/results.h"
#include "tally/tally.h"

/* One result of the whole input (right NULL), or of a pair, through a state: inputs may be larger than the memory. For
 * a GPU they are brought into memory whole. */
bool reduce_whole(tally_context *context, tally_op op, input *left, input *right, results *made);

typedef enum cut_kind { CUT_NONE, CUT_BY_KEYS, CUT_BY_OFFSETS, CUT_BY_LENGTHS, CUT_BY_AXIS } cut_kind;

/* The cut that a command describes. Its file is read once, however many files are cut by it. */
typedef struct cut {
    cut_kind kind;
    bool unsorted; /* keys come in any order */
    int64_t axis;
    input in;          /* the file of keys, offsets or lengths */
    tally_array index; /* and its integers, as i64 */
    int64_t *widened;  /* memory behind them, where the file holds another type */
} cut;

/* Complains on failure; close_cut is right after either. */
bool open_cut(const command *wanted, cut *made);
void close_cut(cut *made);

/* One result for each segment of a cut, which is not CUT_NONE. */
bool reduce_cut(tally_context *context, const cut *by, tally_op op, input *left, input *right, results *made);

/* All values of an input in memory. Text whose integers the operator cannot take comes as f64 if it takes those. */
bool load_input(tally_context *context, tally_op op, input *in, tally_array *array);

/* Both inputs of a pair in memory, of one type and length; text takes the type of the other input. */
bool load_pair(tally_context *context, tally_op op, input *left, input *right, tally_array arrays[2]);

/* The result of a state, or the state itself to made->save. */
bool finish_state(tally_context *context, const tally_state *state, results *made);

/* Complains that the library refused a result; always false. */
bool refused_result(tally_status status, tally_op op, const char *name);

/* Whether the order of values can be seen in the result. */
bool order_shows(const tally_context *context, tally_op op, tally_type type);

#endif
