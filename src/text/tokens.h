/* C text as tokens: for what prints kernels to people (readable.h). A token points into the text, which must outlive
 * it; or into text that the list owns. */
#ifndef TALLY_TEXT_TOKENS_H
#define TALLY_TEXT_TOKENS_H

#include <stdbool.h>
#include <stddef.h>

typedef enum {
    TOKEN_SPACE, /* blanks, and a backslash with its line end */
    TOKEN_NEWLINE,
    TOKEN_COMMENT,
    TOKEN_WORD,
    TOKEN_NUMBER,
    TOKEN_QUOTED, /* a string or a character */
    TOKEN_MARK    /* an operator or a bracket, whole: && is one */
} token_kind;

typedef struct token {
    token_kind kind;
    const char *text;
    size_t size;
} token;

/* A growing list. `no_memory` stays set once memory was short, and nothing is added any more. */
typedef struct token_list {
    token *tokens;
    size_t count, capacity;
    bool no_memory;
} token_list;

/* A growing text, which ends with a 0. */
typedef struct text_buffer {
    char *bytes;
    size_t size, capacity;
    bool no_memory;
} text_buffer;

/* Memory for one more item behind `count`: list as it is, or moved to a larger place. NULL: no memory, and the list
 * stays where it was. */
void *tally__grown(void *list, size_t count, size_t *capacity, size_t item_size);

void tally__add_token(token_list *list, token added);
void tally__add_text(text_buffer *buffer, const char *text, size_t size);
token_list tally__tokens_of(const char *text, size_t size);

static inline bool token_is(token t, const char *text) {
    size_t i = 0;
    while (i < t.size && text[i] == t.text[i] && text[i] != '\0') i++;
    return i == t.size && text[i] == '\0';
}
static inline bool token_is_blank(token t) {
    return t.kind == TOKEN_SPACE || t.kind == TOKEN_NEWLINE || t.kind == TOKEN_COMMENT;
}
/* The index of the next token from `at` on that is not blank, or `count`. */
static inline size_t token_after_blanks(const token *tokens, size_t at, size_t count) {
    while (at < count && token_is_blank(tokens[at])) at++;
    return at;
}

#endif
