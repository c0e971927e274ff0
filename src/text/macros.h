/* Macros of a text that is being read, and their expansion (C11 6.10.3, without #). */
#ifndef TALLY_TEXT_MACROS_H
#define TALLY_TEXT_MACROS_H

#include "text/tokens.h"

enum { MOST_PARAMETERS = 16 };

typedef struct macro {
    token name;
    bool is_defined, is_function;
    bool is_sure; /* defined, or undefined, whatever the compiler defines */
    bool is_busy; /* being expanded: it does not expand again */
    token parameters[MOST_PARAMETERS];
    int parameter_count;
    const token *body; /* NULL: `number` */
    size_t body_count;
    token number;
} macro;

typedef struct macro_table {
    macro *macros;
    size_t count, capacity;
    token_list made; /* tokens that ## made: their texts are the table's */
    bool no_memory;
} macro_table;

/* The macro of that name; NULL: the text has said nothing of it. */
macro *tally__find_macro(const macro_table *table, token name);

/* Takes what stands behind #define. */
void tally__define_macro(macro_table *table, const token *line, size_t count, bool is_sure);
/* One that stands for a number, which is not negative; `text` gets how it is written, good as long as the table. */
bool tally__define_number(macro_table *table, token name, long long number, token *text);
void tally__undefine_macro(macro_table *table, token name, bool is_sure);

/* The number of tokens that the call of a macro at tokens[0] takes, with its arguments; 0: there is none, or none that
 * is sure. */
size_t tally__call_size(const macro_table *table, const token *tokens, size_t count);

/* Appends what the tokens expand to. */
void tally__expand(macro_table *table, const token *tokens, size_t count, token_list *out);

void tally__free_macros(macro_table *table);

#endif
