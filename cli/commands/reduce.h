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

typedef enum segmentation_kind {
    SEGMENTS_NONE,
    SEGMENTS_BY_KEYS,
    SEGMENTS_BY_OFFSETS,
    SEGMENTS_BY_LENGTHS,
    SEGMENTS_BY_AXIS
} segmentation_kind;

/* The segmentation that a command describes. Its file is read once, for all files of values. */
typedef struct segmentation {
    segmentation_kind kind;
    bool unsorted; /* keys come in any order */
    int64_t axis;
    input in;          /* the file of keys, offsets or lengths */
    tally_array index; /* and its integers, as i64 */
    int64_t *widened;  /* memory behind them, where the file holds another type */
} segmentation;

/* Complains on failure; close_segmentation is right after either. */
bool open_segmentation(const command *wanted, segmentation *made);
void close_segmentation(segmentation *made);

/* One result for each segment of a segmentation, which is not SEGMENTS_NONE. */
bool reduce_segments(tally_context *context, const segmentation *by, tally_op op, input *left, input *right,
                     results *made);

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
