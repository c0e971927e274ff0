/* Macros and their expansion. */
#include "text/macros.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool same(token a, token b) { return a.size == b.size && memcmp(a.text, b.text, a.size) == 0; }

macro *tally__find_macro(const macro_table *table, token name) {
    for (size_t i = table->count; i-- > 0;)
        if (same(table->macros[i].name, name)) return &table->macros[i];
    return NULL;
}

static macro *macro_named(macro_table *table, token name) {
    macro *found = tally__find_macro(table, name), *macros;
    if (found != NULL || table->no_memory) return found;
    macros = tally__grown(table->macros, table->count, &table->capacity, sizeof *macros);
    table->no_memory = macros == NULL;
    if (macros == NULL) return NULL;
    table->macros = macros;
    found = &table->macros[table->count++];
    *found = (macro){.name = name};
    return found;
}

void tally__define_macro(macro_table *table, const token *line, size_t count, bool is_sure) {
    size_t at = token_after_blanks(line, 0, count);
    macro *m = at < count ? macro_named(table, line[at]) : NULL;
    if (m == NULL) return;
    *m = (macro){.name = line[at], .is_defined = true, .is_sure = is_sure};
    at++;
    if (at < count && token_is(line[at], "(")) { /* directly after the name: parameters */
        m->is_function = true;
        for (at++; at < count && !token_is(line[at], ")"); at++)
            if ((line[at].kind == TOKEN_WORD || token_is(line[at], "...")) && m->parameter_count < MOST_PARAMETERS)
                m->parameters[m->parameter_count++] = line[at];
        at += at < count;
    }
    at = token_after_blanks(line, at, count);
    while (count > at && token_is_blank(line[count - 1])) count--;
    m->body = line + at;
    m->body_count = count - at;
}

bool tally__define_number(macro_table *table, token name, long long number, token *text) {
    enum { MOST = 24 };
    char *digits = malloc(MOST);
    macro *m = macro_named(table, name);
    table->no_memory |= digits == NULL;
    if (m == NULL || digits == NULL) return free(digits), false;
    *text = (token){TOKEN_NUMBER, digits, (size_t)snprintf(digits, MOST, "%lld", number)};
    tally__add_token(&table->made, *text);
    if (table->made.no_memory) return free(digits), table->no_memory = true, false;
    *m = (macro){.name = name, .is_defined = true, .is_sure = true, .number = *text, .body_count = 1};
    return true;
}

void tally__undefine_macro(macro_table *table, token name, bool is_sure) {
    macro *m = macro_named(table, name);
    if (m != NULL) *m = (macro){.name = name, .is_sure = is_sure};
}

/* The index of the bracket that closes the one at tokens[at], or count. */
static size_t closing(const token *tokens, size_t at, size_t count) {
    int depth = 0;
    for (; at < count; at++) {
        depth += token_is(tokens[at], "(");
        depth -= token_is(tokens[at], ")");
        if (depth == 0) return at;
    }
    return count;
}

size_t tally__call_size(const macro_table *table, const token *tokens, size_t count) {
    const macro *m = tokens[0].kind == TOKEN_WORD ? tally__find_macro(table, tokens[0]) : NULL;
    size_t open, close;
    if (m == NULL || !m->is_defined || !m->is_sure || m->is_busy) return 0;
    if (!m->is_function) return 1;
    open = token_after_blanks(tokens, 1, count);
    if (open == count || !token_is(tokens[open], "(")) return 0;
    close = closing(tokens, open, count);
    return close < count ? close + 1 : 0;
}

typedef struct argument {
    const token *tokens;
    size_t count;
} argument;

/* Divides tokens at their commas outside of brackets; the last argument of `...` takes what is left. */
static int read_arguments(const macro *m, const token *tokens, size_t count, argument *arguments) {
    int filled = 0, depth = 0;
    size_t from = 0;
    for (size_t i = 0; i <= count; i++) {
        bool ends = i == count;
        if (!ends && depth == 0 && token_is(tokens[i], ","))
            ends = filled + 1 < m->parameter_count || !token_is(m->parameters[m->parameter_count - 1], "...");
        if (ends && filled < MOST_PARAMETERS) {
            size_t begin = token_after_blanks(tokens, from, i), end = i;
            while (end > begin && token_is_blank(tokens[end - 1])) end--;
            arguments[filled++] = (argument){tokens + begin, end - begin};
            from = i + 1;
        }
        if (i < count) depth += token_is(tokens[i], "(") - token_is(tokens[i], ")");
    }
    return filled;
}

static int parameter_of(const macro *m, token t) {
    if (t.kind != TOKEN_WORD) return -1;
    if (token_is(t, "__VA_ARGS__"))
        return m->parameter_count > 0 && token_is(m->parameters[m->parameter_count - 1], "...") ? m->parameter_count - 1
                                                                                                : -1;
    for (int p = 0; p < m->parameter_count; p++)
        if (same(m->parameters[p], t)) return p;
    return -1;
}

/* Joins `right` to the last token of `out`, as ## does. */
static void paste(macro_table *table, token_list *out, token right) {
    token left, made = {TOKEN_WORD, NULL, 0};
    char *text;
    while (out->count > 0 && token_is_blank(out->tokens[out->count - 1])) out->count--;
    if (out->count == 0) {
        tally__add_token(out, right);
        return;
    }
    left = out->tokens[out->count - 1];
    text = malloc(left.size + right.size);
    table->no_memory |= text == NULL;
    if (text == NULL) return;
    memcpy(text, left.text, left.size);
    memcpy(text + left.size, right.text, right.size);
    made.kind = left.kind;
    made.text = text;
    made.size = left.size + right.size;
    tally__add_token(&table->made, made);
    if (table->made.no_memory) free(text), table->no_memory = true;
    out->tokens[out->count - 1] = made;
}

/* Appends the body with its arguments put in: as given beside ##, expanded elsewhere. */
static void substitute(macro_table *table, const macro *m, const argument *arguments, int filled, token_list *out) {
    const token *body = m->body != NULL ? m->body : &m->number;
    bool pastes = false;
    for (size_t i = 0; i < m->body_count; i++) {
        const token t = body[i];
        size_t next = token_after_blanks(body, i + 1, m->body_count);
        bool before = next < m->body_count && token_is(body[next], "##");
        int p = m->is_function ? parameter_of(m, t) : -1;
        if (token_is(t, "##")) {
            pastes = true;
            continue;
        }
        if (pastes && token_is_blank(t)) continue;
        if (p >= 0 && p < filled && (before || pastes)) {
            for (size_t k = 0; k < arguments[p].count; k++)
                if (pastes && k == 0)
                    paste(table, out, arguments[p].tokens[k]);
                else
                    tally__add_token(out, arguments[p].tokens[k]);
        } else if (p >= 0 && p < filled)
            tally__expand(table, arguments[p].tokens, arguments[p].count, out);
        else if (pastes)
            paste(table, out, t);
        else
            tally__add_token(out, t);
        pastes = false;
    }
}

static void expand_call(macro_table *table, const token *tokens, size_t size, token_list *out) {
    const size_t m = (size_t)(tally__find_macro(table, tokens[0]) - table->macros);
    argument arguments[MOST_PARAMETERS];
    token_list body = {0};
    int filled = 0;
    if (table->macros[m].is_function) {
        size_t open = token_after_blanks(tokens, 1, size);
        filled = read_arguments(&table->macros[m], tokens + open + 1, size - open - 2, arguments);
    }
    substitute(table, &table->macros[m], arguments, filled, &body);
    table->macros[m].is_busy = true;
    tally__expand(table, body.tokens, body.count, out);
    table->macros[m].is_busy = false;
    table->no_memory |= body.no_memory;
    free(body.tokens);
}

void tally__expand(macro_table *table, const token *tokens, size_t count, token_list *out) {
    for (size_t i = 0; i < count && !table->no_memory; i++) {
        size_t size = tally__call_size(table, tokens + i, count - i);
        if (size == 0)
            tally__add_token(out, tokens[i]);
        else
            expand_call(table, tokens + i, size, out), i += size - 1;
    }
    table->no_memory |= out->no_memory;
}

void tally__free_macros(macro_table *table) {
    for (size_t i = 0; i < table->made.count; i++) free((void *)(size_t)table->made.tokens[i].text);
    free(table->made.tokens);
    free(table->macros);
}
