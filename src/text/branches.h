/* Statements that never run, or do nothing. */
#ifndef TALLY_TEXT_BRANCHES_H
#define TALLY_TEXT_BRANCHES_H

#include "text/macros.h"

/* Of an `if` at tokens[at] whose condition is 0: where the text goes on, behind the statement (and `else`); likewise of
 * a macro that stands for (void)(NAME). `at`: there is neither. */
size_t tally__skip_branch(macro_table *macros, const token *tokens, size_t at, size_t count);
/* The index after a statement `(void)NAME, (void)NAME...;` at tokens[at], which only says that names are not used; `at`
 * if there is none. */
size_t tally__skip_unused(const token *tokens, size_t at, size_t count);

#endif
