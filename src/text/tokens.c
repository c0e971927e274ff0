/* C text as tokens. */
#include "text/tokens.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void *tally__grown(void *list, size_t count, size_t *capacity, size_t item_size) {
    const size_t more = 2 * count + 64;
    void *moved;
    if (count < *capacity) return list;
    moved = realloc(list, more * item_size);
    if (moved != NULL) *capacity = more;
    return moved;
}

void tally__add_token(token_list *list, token added) {
    token *tokens;
    if (list->no_memory) return;
    tokens = tally__grown(list->tokens, list->count, &list->capacity, sizeof *tokens);
    list->no_memory = tokens == NULL;
    if (tokens == NULL) return;
    list->tokens = tokens;
    list->tokens[list->count++] = added;
}

void tally__add_text(text_buffer *buffer, const char *text, size_t size) {
    if (buffer->no_memory) return;
    if (buffer->size + size + 1 > buffer->capacity) {
        size_t capacity = 2 * (buffer->size + size) + 4096;
        char *more = realloc(buffer->bytes, capacity);
        buffer->no_memory = more == NULL;
        if (more == NULL) return;
        buffer->bytes = more;
        buffer->capacity = capacity;
    }
    memcpy(buffer->bytes + buffer->size, text, size);
    buffer->size += size;
    buffer->bytes[buffer->size] = '\0';
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

static size_t size_of_blank(const char *p, const char *end) {
    const char *from = p;
    for (; p < end; p++) {
        if (*p == '\\' && p + 1 < end && p[1] == '\n')
            p++;
        else if (*p == '\n' || !isspace((unsigned char)*p))
            break;
    }
    return (size_t)(p - from);
}
static size_t size_of_comment(const char *p, const char *end) {
    const char *from = p;
    if (end - p < 2 || p[0] != '/' || (p[1] != '*' && p[1] != '/')) return 0;
    if (p[1] == '/') {
        while (p < end && *p != '\n') p++;
    } else {
        for (p += 2; p < end && !(p[-1] == '*' && p[0] == '/' && p - from > 2); p++) continue;
        p += p < end;
    }
    return (size_t)(p - from);
}
static size_t size_of_quoted(const char *p, const char *end) {
    const char *from = p, quote = *p;
    for (p++; p < end && *p != quote && *p != '\n'; p++) p += *p == '\\' && p + 1 < end;
    return (size_t)(p < end && *p == quote ? p + 1 - from : p - from);
}
static size_t size_of_number(const char *p, const char *end) {
    const char *from = p;
    for (; p < end; p++) {
        bool has_sign = (*p == '+' || *p == '-') && p > from && strchr("eEpP", p[-1]) != NULL;
        if (!is_word(*p) && *p != '.' && !has_sign) break;
    }
    return (size_t)(p - from);
}
static size_t size_of_mark(const char *p, const char *end) {
    static const char *const marks[] = {"...", "<<=", ">>=", "##", "&&", "||", "==", "!=", "<=", ">=", "<<", ">>",
                                        "->",  "++",  "--",  "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^="};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        size_t size = strlen(marks[i]);
        if ((size_t)(end - p) >= size && memcmp(p, marks[i], size) == 0) return size;
    }
    return 1;
}

token_list tally__tokens_of(const char *text, size_t size) {
    const char *end = text + size;
    token_list list = {0};
    for (const char *p = text; p < end;) {
        token t = {TOKEN_SPACE, p, 0};
        if ((t.size = size_of_blank(p, end)) > 0)
            ;
        else if (*p == '\n')
            t.kind = TOKEN_NEWLINE, t.size = 1;
        else if ((t.size = size_of_comment(p, end)) > 0)
            t.kind = TOKEN_COMMENT;
        else if (*p == '"' || *p == '\'')
            t.kind = TOKEN_QUOTED, t.size = size_of_quoted(p, end);
        else if (isdigit((unsigned char)*p) || (*p == '.' && p + 1 < end && isdigit((unsigned char)p[1])))
            t.kind = TOKEN_NUMBER, t.size = size_of_number(p, end);
        else if (is_word(*p))
            for (t.kind = TOKEN_WORD; p + t.size < end && is_word(p[t.size]);) t.size++;
        else
            t.kind = TOKEN_MARK, t.size = size_of_mark(p, end);
        tally__add_token(&list, t);
        p += t.size;
    }
    return list;
}
