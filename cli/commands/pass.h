/* One pass over a table on several threads: they read blocks in turn, parse them side by side, and hand them on in the
 * order of the file, so that neither results nor complaints depend on the threads. */
#ifndef PASS_H
#define PASS_H

#include <stdbool.h>

#include "commands/groups.h"
#include "input/table.h"

/* What is done after each block, in the order of blocks and by one thread at a time; false ends the pass. */
typedef bool (*block_end)(void *taker);

/* Takes the whole table into the groups. Complains about the first line that is wrong, and returns false. */
bool pass_table(table_reader *t, groups *all, int threads, block_end after, void *taker);

#endif
