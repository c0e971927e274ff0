/* The values of conditions and of constants, as the preprocessor knows them. */
#ifndef TALLY_TEXT_EXPRESSIONS_H
#define TALLY_TEXT_EXPRESSIONS_H

#include "text/macros.h"

typedef struct value {
    bool is_known;
    long long number;
} value;

/* Of what stands behind #if. */
value tally__value_of(macro_table *macros, const token *line, size_t count);

/* Whether a name is defined: 1, 0, or a word that nobody knows. */
token tally__defined(const macro_table *macros, token name);

/* Whether tokens stand for an integer, made of integers and operators alone, and which. */
bool tally__constant_of(macro_table *macros, const token *tokens, size_t count, long long *number);

#endif
