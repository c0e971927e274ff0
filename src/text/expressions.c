/* The values of conditions and of constants. */
#include "text/expressions.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct expression {
    const macro_table *macros;
    const token *tokens;
    size_t at, count;
} expression;

static const token *peek(expression *e) {
    e->at = token_after_blanks(e->tokens, e->at, e->count);
    return e->at < e->count ? &e->tokens[e->at] : NULL;
}
static bool take(expression *e, const char *mark) {
    const token *t = peek(e);
    if (t == NULL || !token_is(*t, mark)) return false;
    e->at++;
    return true;
}

/* Whether a name's value is known. Names that begin with __ are the compiler's, and are not. */
static bool knows(const macro_table *macros, token name) {
    const macro *m = tally__find_macro(macros, name);
    return m != NULL ? m->is_sure : name.size < 2 || memcmp(name.text, "__", 2) != 0;
}

/* Applies an operator. Overflow wraps around. */
static long long apply(const char *mark, long long a, long long b) {
    const unsigned long long x = (unsigned long long)a, y = (unsigned long long)b;
    switch (mark[0]) {
    case '|': return mark[1] == '|' ? a || b : (a | b);
    case '&': return mark[1] == '&' ? a && b : (a & b);
    case '^': return a ^ b;
    case '=': return a == b;
    case '!': return a != b;
    case '<': return mark[1] == '=' ? a <= b : mark[1] == '<' ? (long long)(x << (y & 63)) : a < b;
    case '>': return mark[1] == '=' ? a >= b : mark[1] == '>' ? a >> (y & 63) : a > b;
    case '+': return (long long)(x + y);
    case '-': return (long long)(x - y);
    case '*': return (long long)(x * y);
    case '/': return b == -1 ? (long long)-x : b != 0 ? a / b : 0;
    default: return b == -1 || b == 0 ? 0 : a % b;
    }
}
static value read_choice(expression *e);

static value read_primary(expression *e) {
    const token *t = peek(e);
    value v = {true, 0};
    if (t == NULL) return v;
    if (take(e, "(")) {
        v = read_choice(e);
        take(e, ")");
    } else if (take(e, "!")) {
        v = read_primary(e);
        v.number = !v.number;
    } else if (take(e, "-")) {
        v = read_primary(e);
        v.number = apply("-", 0, v.number);
    } else if (take(e, "~")) {
        v = read_primary(e);
        v.number = ~v.number;
    } else {
        e->at++;
        if (t->kind == TOKEN_NUMBER) v.number = strtoll(t->text, NULL, 0);
        if (t->kind == TOKEN_WORD) v.is_known = knows(e->macros, *t);
    }
    return v;
}

static const struct {
    const char *mark;
    int level;
} operators[] = {{"||", 1}, {"&&", 2}, {"|", 3},  {"^", 4},  {"&", 5}, {"==", 6}, {"!=", 6}, {"<=", 7}, {">=", 7},
                 {"<", 7},  {">", 7},  {"<<", 8}, {">>", 8}, {"+", 9}, {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10}};

static value combine(const char *mark, value a, value b) {
    value v = {a.is_known && b.is_known, 0};
    const bool decides = mark[0] == '|' && mark[1] == '|';
    if (v.is_known)
        v.number = apply(mark, a.number, b.number);
    else if (strcmp(mark, "||") == 0 || strcmp(mark, "&&") == 0) /* the value of one side may decide */
        if ((a.is_known && !a.number != decides) || (b.is_known && !b.number != decides)) v = (value){true, decides};
    return v;
}

static value read_operators(expression *e, int level) {
    value v = read_primary(e);
    for (;;) {
        size_t found = sizeof operators / sizeof operators[0];
        const token *t = peek(e);
        for (size_t i = 0; t != NULL && i < sizeof operators / sizeof operators[0]; i++)
            if (operators[i].level >= level && token_is(*t, operators[i].mark)) found = i;
        if (found == sizeof operators / sizeof operators[0]) return v;
        e->at++;
        v = combine(operators[found].mark, v, read_operators(e, operators[found].level + 1));
    }
}

static value read_choice(expression *e) {
    value v = read_operators(e, 1);
    if (take(e, "?")) {
        value yes = read_choice(e), no;
        take(e, ":");
        no = read_choice(e);
        v = v.is_known ? (v.number ? yes : no) : v;
    }
    return v;
}

token tally__defined(const macro_table *macros, token name) {
    const macro *m = tally__find_macro(macros, name);
    if (!knows(macros, name)) return (token){TOKEN_WORD, "__unknown", 9};
    return (token){TOKEN_NUMBER, m != NULL && m->is_defined ? "1" : "0", 1};
}

value tally__value_of(macro_table *macros, const token *line, size_t count) {
    token_list asked = {0}, expanded = {0};
    value v = {false, 0};
    for (size_t i = 0; i < count; i++) {
        size_t name = i;
        if (!token_is(line[i], "defined")) {
            tally__add_token(&asked, line[i]);
            continue;
        }
        name = token_after_blanks(line, i + 1, count);
        const bool brackets = name < count && token_is(line[name], "(");
        if (brackets) name = token_after_blanks(line, name + 1, count);
        if (name == count) break;
        tally__add_token(&asked, tally__defined(macros, line[name]));
        i = brackets ? token_after_blanks(line, name + 1, count) : name;
    }
    tally__expand(macros, asked.tokens, asked.count, &expanded);
    if (!asked.no_memory && !expanded.no_memory) {
        expression e = {macros, expanded.tokens, 0, expanded.count};
        v = read_choice(&e);
    }
    macros->no_memory |= asked.no_memory;
    free(asked.tokens);
    free(expanded.tokens);
    return v;
}

static bool is_integer(token t) {
    for (size_t i = 0; i < t.size; i++)
        if (!isdigit((unsigned char)t.text[i])) return false;
    return t.kind == TOKEN_NUMBER;
}

bool tally__constant_of(macro_table *macros, const token *tokens, size_t count, long long *number) {
    token_list made = {0};
    bool is_constant = true, is_empty = true;
    tally__expand(macros, tokens, count, &made);
    for (size_t i = 0; i < made.count; i++) {
        const token t = made.tokens[i];
        if (token_is_blank(t)) continue;
        is_empty = false;
        is_constant &= is_integer(t) || (t.kind == TOKEN_MARK && !token_is(t, "{") && !token_is(t, "=") &&
                                         !token_is(t, ",") && !token_is(t, ";"));
    }
    if (made.no_memory || !is_constant || is_empty) return free(made.tokens), false;
    expression e = {macros, made.tokens, 0, made.count};
    const value v = read_choice(&e);
    is_constant = v.is_known && peek(&e) == NULL;
    *number = v.number;
    free(made.tokens);
    return is_constant;
}
