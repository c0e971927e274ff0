/* The groups of a table and what is known of each: a cell for every group and value column.
 *
 * A cell keeps its numbers as they came, up to some thousand. When there are more, they are pushed to a state for each
 * result of the column, and the states are kept saved (docs/states.md), as a state in memory takes 30 KB and a saved
 * one mostly less than 1 KB. The type of a group's numbers is known only at its end: i64, u64 or f64. So there is a
 * state for each type that is still possible, as commands/reduce.c has for texts. */
#ifndef GROUPS_H
#define GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "commands/key_order.h"
#include "input/keys.h"
#include "input/table.h"
#include "output/results.h"
#include "tally/tally.h"

/* One result of each group: an operator over a value column. */
typedef struct table_result {
    tally_op op;
    int column;
    int rank; /* which one it is among those of its column */
} table_result;

enum { STATE_TYPES = 3 }; /* i64, u64, f64; or the type asked for, thrice */

typedef struct saved_state {
    unsigned char *bytes; /* NULL: no state */
    size_t size;
} saved_state;

typedef struct cell {
    uint64_t *words; /* numbers that are in no state yet, of the type of `seen` */
    uint32_t word_count, capacity;
    unsigned seen;
    int odd_file; /* where the first large or huge integer stands */
    int64_t odd_line;
    int64_t count;      /* all numbers */
    saved_state *saved; /* [rank * STATE_TYPES + type]; NULL: there are no states yet */
} cell;

typedef struct groups {
    tally_context *context;
    const table_wish *wish;
    const table_shape *shapes; /* of all files, for sentences */
    const table_result *results;
    int result_count;
    key_table keys;
    key_order order; /* of sorted rows */
    cell *cells;     /* of group g and column k: cells[g * value_count + k] */
    int64_t count, capacity;
} groups;

/* Of `all` the fields up to result_count are set, the rest is 0. Without key columns there is one group from the start.
 * Complains where memory lacks; free_groups is right after either. */
bool open_groups(groups *all);

/* The rows of one block, which follow all rows taken before. file and first_line (from 1): where the block stands.
 * Complains and returns false if memory lacks, the library refuses, or rows that should be sorted are not. */
bool take_rows(groups *all, const block_rows *r, int file, int64_t first_line);

/* The result of one group, which the caller frees. made->absent is set if there is none. */
bool finish_group(groups *all, int64_t group, int result, results *made);

/* Forgets all groups but the last. */
void keep_last_group(groups *all);
void free_groups(groups *all);

#endif
