/* tally OP COLUMNS [OP COLUMNS]... FILE...: operators over columns of tables, for all rows or for each group. */
#ifndef COMMANDS_TABLE_H
#define COMMANDS_TABLE_H

#include "command.h"

/* Returns the exit status. */
int run_table(const command *wanted);

#endif
