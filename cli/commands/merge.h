/* tally merge: sorted files into one, and saved states to their result. */
#ifndef MERGE_H
#define MERGE_H

#include "command.h"
#include "input/input.h"

/* Returns the exit status. */
int run_merge(const command *wanted);

/* Whether an input that was opened is a saved state. */
bool is_state(const input *in);

/* Merges the states of all files, of which the first is open, and gives the result or saves it (states.c). */
bool merge_states(tally_context *context, const command *wanted, input *first);

/* Writes a state to a file of that name, in place of a result. Complains on failure. */
bool save_state(const tally_state *state, const char *name);

#endif
