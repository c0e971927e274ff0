/* Conditions are resolved, and macros that make names replaced by the names. */
#include <stdlib.h>
#include <string.h>

#include "text/macros.h"
#include "text/readable.h"

enum { MOST_NESTED_CONDITIONS = 64 };

/* One #if to #endif. */
typedef struct condition {
    bool is_live;  /* what stands around it is */
    bool is_taken; /* a branch is, surely: those that follow are not */
    bool is_open;  /* the present branch may be */
    bool is_known; /* no branch so far depends on the compiler */
} condition;

typedef struct reader {
    macro_table macros;
    condition stack[MOST_NESTED_CONDITIONS];
    int depth, unknown; /* how many conditions are open, and how many of these unknown */
    bool too_deep;
    text_buffer *out;
} reader;

/* ---- the value of a condition ---- */

typedef struct value {
    bool is_known;
    long long number;
} value;

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

/* Whether it is known what a name is: words that begin with __ are the compiler's. */
static bool knows(const macro_table *macros, token name) {
    const macro *m = tally__find_macro(macros, name);
    return m != NULL ? m->is_sure : name.size < 2 || memcmp(name.text, "__", 2) != 0;
}

/* Of any numbers: what overflows wraps around. */
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
    else if (strcmp(mark, "||") == 0 || strcmp(mark, "&&") == 0) /* one side may be enough */
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

/* Whether a name is defined: 1, 0, or a word that nobody knows. */
static token defined(reader *r, token name) {
    const macro *m = tally__find_macro(&r->macros, name);
    if (!knows(&r->macros, name)) return (token){TOKEN_WORD, "__unknown", 9};
    return (token){TOKEN_NUMBER, m != NULL && m->is_defined ? "1" : "0", 1};
}

static value evaluate(reader *r, const token *line, size_t count) {
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
        tally__add_token(&asked, defined(r, line[name]));
        i = brackets ? token_after_blanks(line, name + 1, count) : name;
    }
    tally__expand(&r->macros, asked.tokens, asked.count, &expanded);
    if (!asked.no_memory && !expanded.no_memory) {
        expression e = {&r->macros, expanded.tokens, 0, expanded.count};
        v = read_choice(&e);
    }
    r->macros.no_memory |= asked.no_memory;
    free(asked.tokens);
    free(expanded.tokens);
    return v;
}

/* ---- lines ---- */

static bool is_live(const reader *r) {
    return r->depth == 0 || (r->stack[r->depth - 1].is_live && r->stack[r->depth - 1].is_open);
}
static void put(reader *r, const token *tokens, size_t count) {
    for (size_t i = 0; i < count; i++) tally__add_text(r->out, tokens[i].text, tokens[i].size);
}
static void put_word(reader *r, const char *word) { tally__add_text(r->out, word, strlen(word)); }

/* #if, #ifdef, #ifndef: `v` is the value. */
static void open_condition(reader *r, value v, const token *line, size_t count) {
    condition *c = &r->stack[r->depth];
    r->too_deep |= r->depth + 1 == MOST_NESTED_CONDITIONS;
    if (r->too_deep) return;
    *c = (condition){is_live(r), v.is_known && v.number != 0, !v.is_known || v.number != 0, v.is_known};
    r->depth++;
    if (!c->is_live) c->is_known = true; /* nothing of it is written */
    if (!c->is_known) put(r, line, count), r->unknown++;
}
/* #elif and #else: `condition_line` is what stands behind #elif, or NULL. */
static void next_branch(reader *r, value v, const token *line, size_t count, const token *condition_line,
                        size_t condition_count) {
    condition *c = &r->stack[r->depth - 1];
    if (c->is_taken || !c->is_live) {
        c->is_open = false;
        return;
    }
    c->is_open = !v.is_known || v.number != 0;
    c->is_taken = v.is_known && v.number != 0;
    if (c->is_known) { /* no branch was written so far */
        c->is_known = v.is_known;
        if (v.is_known) return;
        r->unknown++;
        put_word(r, "#if");
        put(r, condition_line, condition_count);
    } else if (!v.is_known)
        put(r, line, count);
    else if (c->is_taken)
        put_word(r, "#else\n");
}
static void close_condition(reader *r) {
    if (r->depth == 0) return;
    r->depth--;
    if (!r->stack[r->depth].is_known) put_word(r, "#endif\n"), r->unknown--;
}

/* Whether the macro at tokens[0] makes a name or its number, or fields by calling another macro that is its argument.
 */
static bool is_replaced(const reader *r, const token *tokens, size_t size, const token_list *made) {
    const macro *m = tally__find_macro(&r->macros, tokens[0]);
    size_t words = 0, others = 0;
    bool made_number = false;
    for (size_t i = 0; i < made->count; i++) {
        made_number |= made->tokens[i].kind == TOKEN_NUMBER;
        words += made->tokens[i].kind == TOKEN_WORD;
        others += made->tokens[i].kind != TOKEN_WORD && !token_is_blank(made->tokens[i]);
    }
    if (words == 1 && others == 0) return true;
    /* ## also makes the numbers of types */
    if (words == 0 && others == 1 && made_number) return m->body_count > 1;
    for (size_t i = 1; i < size; i++) {
        m = tokens[i].kind == TOKEN_WORD ? tally__find_macro(&r->macros, tokens[i]) : NULL;
        if (m != NULL && m->is_defined && m->is_function && i + 1 < size && !token_is(tokens[i + 1], "(")) return true;
    }
    return false;
}

/* Writes what the macro at tokens[0] stands for, if that is a name: the tokens that were read. */
static size_t put_name(reader *r, const token *tokens, size_t count) {
    size_t size = tally__call_size(&r->macros, tokens, count);
    token_list made = {0};
    bool replaced;
    if (size == 0) return 0;
    tally__expand(&r->macros, tokens, size, &made);
    replaced = is_replaced(r, tokens, size, &made);
    for (size_t i = 0; replaced && i < made.count; i++) {
        if (made.tokens[i].kind == TOKEN_SPACE || made.tokens[i].kind == TOKEN_NEWLINE)
            put_word(r, " ");
        else if (made.tokens[i].kind != TOKEN_COMMENT)
            put(r, made.tokens + i, 1);
    }
    free(made.tokens);
    return replaced ? size : 0;
}

/* Writes tokens with their names made. */
static void put_named(reader *r, const token *tokens, size_t count) {
    for (size_t i = 0; i < count;) {
        size_t read = tokens[i].kind == TOKEN_WORD ? put_name(r, tokens + i, count - i) : 0;
        if (read == 0) put(r, tokens + i, 1), read = 1;
        i += read;
    }
}

/* A directive's line, from the # to the newline. */
static void read_directive(reader *r, const token *line, size_t count) {
    const size_t word = token_after_blanks(line, 1, count), rest = word + 1 < count ? word + 1 : count;
    const token *name = line + token_after_blanks(line, rest, count);
    const token none = {TOKEN_SPACE, "", 0}, directive = word < count ? line[word] : none;
    const value sure = {true, 1};
    value v = {true, 0};
    if (token_is(directive, "ifdef") || token_is(directive, "ifndef")) {
        const token is = name < line + count ? defined(r, *name) : none;
        v.is_known = is.kind == TOKEN_NUMBER;
        v.number = token_is(is, "1") == (directive.size == 5);
        open_condition(r, v, line, count);
    } else if (token_is(directive, "if"))
        open_condition(r, is_live(r) ? evaluate(r, line + rest, count - rest) : v, line, count);
    else if (token_is(directive, "elif")) {
        if (r->depth > 0)
            next_branch(r, evaluate(r, line + rest, count - rest), line, count, line + rest, count - rest);
    } else if (token_is(directive, "else")) {
        if (r->depth > 0) next_branch(r, sure, line, count, NULL, 0);
    } else if (token_is(directive, "endif"))
        close_condition(r);
    else if (is_live(r)) {
        const bool defines = token_is(directive, "define");
        /* the name itself stays */
        const size_t body = defines && name < line + count ? (size_t)(name - line) + 1 : count;
        put(r, line, body);
        put_named(r, line + body, count - body);
        if (defines)
            tally__define_macro(&r->macros, line + rest, count - rest, r->unknown == 0);
        else if (token_is(directive, "undef") && name < line + count)
            tally__undefine_macro(&r->macros, *name, r->unknown == 0);
    }
}

static size_t end_of_line(const token_list *text, size_t at) {
    while (at < text->count && text->tokens[at].kind != TOKEN_NEWLINE) at++;
    return at < text->count ? at + 1 : at;
}

bool tally__resolve_conditions(const char *text, size_t size, text_buffer *out) {
    static const token for_gpus = {TOKEN_WORD, "__CUDACC_RTC__", 14};
    token_list tokens = tally__tokens_of(text, size);
    reader r = {.out = out};
    bool line_begins = true, done;
    tally__define_macro(&r.macros, &for_gpus, 1, true);
    for (size_t i = 0; i < tokens.count;) {
        const token t = tokens.tokens[i];
        size_t read = 1;
        if (line_begins && token_is(t, "#")) {
            size_t end = end_of_line(&tokens, i);
            read_directive(&r, tokens.tokens + i, end - i);
            i = end;
            continue;
        }
        if (t.kind == TOKEN_NEWLINE)
            line_begins = true;
        else if (!token_is_blank(t))
            line_begins = false;
        if (is_live(&r)) {
            read = t.kind == TOKEN_WORD ? put_name(&r, tokens.tokens + i, tokens.count - i) : 0;
            if (read == 0) put(&r, &t, 1), read = 1;
        }
        i += read;
    }
    done = !tokens.no_memory && !r.macros.no_memory && !r.too_deep && !out->no_memory;
    tally__free_macros(&r.macros);
    free(tokens.tokens);
    return done;
}
