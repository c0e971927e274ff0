/* Branches of statements that a constant decides, and statements that do nothing. */
#include "text/branches.h"

#include <stdlib.h>

#include "text/expressions.h"

/* The index after the bracket that closes the one at `at`, or count. */
static size_t behind_brackets(const token *tokens, size_t at, size_t count) {
    int depth = 0;
    for (; at < count; at++) {
        depth += token_is(tokens[at], "(") + token_is(tokens[at], "{");
        depth -= token_is(tokens[at], ")") + token_is(tokens[at], "}");
        if (depth <= 0) return at + 1;
    }
    return count;
}

/* Whether a statement begins with a condition or a head in brackets. */
static bool has_head(token t) {
    return token_is(t, "if") || token_is(t, "for") || token_is(t, "while") || token_is(t, "switch");
}
/* The index after the statement at `at`; count: it is of a kind that is not understood here. */
static size_t behind_statement(const token *tokens, size_t at, size_t count) {
    at = token_after_blanks(tokens, at, count);
    if (at == count || token_is(tokens[at], "do") || token_is(tokens[at], "#")) return count;
    if (token_is(tokens[at], "{")) return behind_brackets(tokens, at, count);
    if (has_head(tokens[at])) {
        const bool is_if = token_is(tokens[at], "if");
        at = behind_statement(tokens, behind_brackets(tokens, token_after_blanks(tokens, at + 1, count), count), count);
        const size_t next = token_after_blanks(tokens, at, count);
        if (is_if && next < count && token_is(tokens[next], "else")) return behind_statement(tokens, next + 1, count);
        return at;
    }
    for (; at < count && !token_is(tokens[at], ";"); at++) {
        if (token_is(tokens[at], "{") || token_is(tokens[at], "}") || has_head(tokens[at]) || token_is(tokens[at], "#"))
            return count;
        if (token_is(tokens[at], "(")) at = behind_brackets(tokens, at, count) - 1;
    }
    return at < count ? at + 1 : count;
}

/* The index of what follows a statement that is left out: of the next line, if nothing else is on its own. */
static size_t behind_line(const token *tokens, size_t at, size_t count) {
    while (at < count && tokens[at].kind == TOKEN_SPACE) at++;
    return at < count && tokens[at].kind == TOKEN_NEWLINE ? at + 1 : at;
}

/* The index after a statement at tokens[at] that is a call of a macro for (void)(NAME); `at` if there is none. */
static size_t skip_nothing(macro_table *macros, const token *tokens, size_t at, size_t count) {
    static const char *const marks[] = {"(", "void", ")", "(", NULL, ")"};
    enum { MARKS = sizeof marks / sizeof *marks };
    const size_t size = tally__call_size(macros, tokens + at, count - at),
                 end = token_after_blanks(tokens, at + size, count);
    token_list made = {0};
    size_t matched = 0;
    if (size < 2 || end == count || !token_is(tokens[end], ";")) return at;
    tally__expand(macros, tokens + at, size, &made);
    for (size_t i = 0; i < made.count && matched <= MARKS; i++) {
        const token t = made.tokens[i];
        if (token_is_blank(t)) continue;
        const bool fits =
            matched < MARKS && (marks[matched] != NULL ? token_is(t, marks[matched]) : t.kind == TOKEN_WORD);
        matched = fits ? matched + 1 : MARKS + 1;
    }
    free(made.tokens);
    return matched == MARKS ? behind_line(tokens, end + 1, count) : at;
}

size_t tally__skip_unused(const token *tokens, size_t at, size_t count) {
    static const char *const marks[] = {"(", "void", ")", NULL};
    enum { MARKS = sizeof marks / sizeof *marks };
    for (size_t i = at;; i++) {
        for (size_t k = 0; k < MARKS; k++, i++) {
            i = token_after_blanks(tokens, i, count);
            if (i == count || (marks[k] != NULL ? !token_is(tokens[i], marks[k]) : tokens[i].kind != TOKEN_WORD))
                return at;
        }
        i = token_after_blanks(tokens, i, count);
        if (i < count && token_is(tokens[i], ";")) return behind_line(tokens, i + 1, count);
        if (i == count || !token_is(tokens[i], ",")) return at;
    }
}

/* The index after branches `else if (0) ...` at `at`, if no other branch follows them; else `at`. */
static size_t skip_last_branches(macro_table *macros, const token *tokens, size_t at, size_t count) {
    size_t branch = token_after_blanks(tokens, at + 1, count), next, begin = at;
    const size_t end = behind_statement(tokens, branch, count), behind = behind_line(tokens, end, count);
    if (end == count) return at;
    while (branch < count && token_is(tokens[branch], "if")) {
        next = tally__skip_branch(macros, tokens, branch, count);
        if (next == branch) return at;
        if (next == behind) {
            while (begin > 0 && tokens[begin - 1].kind == TOKEN_SPACE) begin--;
            return begin > 0 && tokens[begin - 1].kind == TOKEN_NEWLINE ? behind : end;
        }
        branch = next;
    }
    return at;
}

size_t tally__skip_branch(macro_table *macros, const token *tokens, size_t at, size_t count) {
    const size_t open = token_after_blanks(tokens, at + 1, count);
    long long number = 0;
    if (token_is(tokens[at], "else")) return skip_last_branches(macros, tokens, at, count);
    if (!token_is(tokens[at], "if")) return skip_nothing(macros, tokens, at, count);
    if (open == count || !token_is(tokens[open], "(")) return at;
    const size_t close = behind_brackets(tokens, open, count);
    if (!tally__constant_of(macros, tokens + open, close - open, &number) || number != 0) return at;
    size_t end = behind_statement(tokens, close, count);
    if (end == count) return at;
    const size_t next = token_after_blanks(tokens, end, count);
    if (next < count && token_is(tokens[next], "else")) return token_after_blanks(tokens, next + 1, count);
    return behind_line(tokens, end, count);
}
