/* Resolves conditions, and replaces macros that make names by the names. */
#include <stdlib.h>
#include <string.h>

#include "text/branches.h"
#include "text/expressions.h"
#include "text/readable.h"

enum { MOST_NESTED_CONDITIONS = 64 };

/* What is between one #if and its #endif. */
typedef struct condition {
    bool is_live;  /* the text around it is live */
    bool is_taken; /* a branch was live for certain: those that follow are not */
    bool is_open;  /* the present branch may be live */
    bool is_known; /* no branch so far depends on the compiler */
} condition;

typedef struct reader {
    macro_table macros;
    condition stack[MOST_NESTED_CONDITIONS];
    int depth, unknown; /* how many conditions are open, and how many of these unknown */
    bool too_deep;
    text_buffer *out;
} reader;

/* ---- lines ---- */

static bool is_live(const reader *r) {
    return r->depth == 0 || (r->stack[r->depth - 1].is_live && r->stack[r->depth - 1].is_open);
}
static void put(reader *r, const token *tokens, size_t count) {
    for (size_t i = 0; i < count; i++) tally__add_text(r->out, tokens[i].text, tokens[i].size);
}
static void put_word(reader *r, const char *word) { tally__add_text(r->out, word, strlen(word)); }

/* At an #if, #ifdef or #ifndef, whose value is `v`. */
static void open_condition(reader *r, value v, const token *line, size_t count) {
    condition *c = &r->stack[r->depth];
    r->too_deep |= r->depth + 1 == MOST_NESTED_CONDITIONS;
    if (r->too_deep) return;
    *c = (condition){is_live(r), v.is_known && v.number != 0, !v.is_known || v.number != 0, v.is_known};
    r->depth++;
    if (!c->is_live) c->is_known = true; /* nothing in it is written */
    if (!c->is_known) put(r, line, count), r->unknown++;
}
/* At an #elif or #else. condition_line: what follows #elif, or NULL. */
static void next_branch(reader *r, value v, const token *line, size_t count, const token *condition_line,
                        size_t condition_count) {
    condition *c = &r->stack[r->depth - 1];
    if (c->is_taken || !c->is_live) {
        c->is_open = false;
        return;
    }
    c->is_open = !v.is_known || v.number != 0;
    c->is_taken = v.is_known && v.number != 0;
    if (c->is_known) { /* no branch has been written so far */
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

static bool has_word(const token_list *list, const char *word) {
    for (size_t i = 0; i < list->count; i++)
        if (token_is(list->tokens[i], word)) return true;
    return false;
}

/* Whether a call gives a macro a block of statements that it does not use. */
static bool drops_block(const macro *m, const token *tokens, size_t size) {
    bool has_block = false;
    for (size_t i = 1; i < size; i++) has_block |= token_is(tokens[i], "{");
    for (int p = 0; p < m->parameter_count && has_block; p++) {
        bool is_used = false;
        for (size_t k = 0; k < m->body_count; k++)
            is_used |= m->body[k].kind == TOKEN_WORD && m->body[k].size == m->parameters[p].size &&
                       memcmp(m->body[k].text, m->parameters[p].text, m->body[k].size) == 0;
        if (!is_used) return true;
    }
    return false;
}

/* Whether the macro at tokens[0] makes a name or its number, begins an entry or shared memory, makes fields by calling
 * another macro that is its argument, or is given statements that it does not use. */
static bool is_replaced(const reader *r, const token *tokens, size_t size, const token_list *made) {
    const macro *m = tally__find_macro(&r->macros, tokens[0]);
    size_t words = 0, others = 0;
    bool made_number = false;
    if (has_word(made, "__global__") || has_word(made, "__shared__")) return true;
    if (m->is_function && drops_block(m, tokens, size)) return true;
    for (size_t i = 0; i < made->count; i++) {
        made_number |= made->tokens[i].kind == TOKEN_NUMBER;
        words += made->tokens[i].kind == TOKEN_WORD;
        others += made->tokens[i].kind != TOKEN_WORD && !token_is_blank(made->tokens[i]);
    }
    if (words == 1 && others == 0) return true;
    /* the numbers of types are made by ##, too */
    if (words == 0 && others == 1 && made_number) return m->body_count > 1;
    for (size_t i = 1; i < size; i++) {
        m = tokens[i].kind == TOKEN_WORD ? tally__find_macro(&r->macros, tokens[i]) : NULL;
        if (m != NULL && m->is_defined && m->is_function && i + 1 < size && !token_is(tokens[i + 1], "(")) return true;
    }
    return false;
}

/* Marks macros of an entry's arguments that are more than a name or a number as if they were being expanded: an entry
 * reads better with them. */
static void spare(reader *r, const token *tokens, size_t size, bool are_spared) {
    for (size_t i = 1; i < size; i++) {
        macro *m = tokens[i].kind == TOKEN_WORD ? tally__find_macro(&r->macros, tokens[i]) : NULL;
        if (m != NULL && m->is_defined && !m->is_function && m->body_count > 1) m->is_busy = are_spared;
    }
}

/* Writes what the macro at tokens[0] stands for, if that is a name: the tokens that were read. */
static size_t put_name(reader *r, const token *tokens, size_t count, bool is_directive) {
    size_t size = tally__call_size(&r->macros, tokens, count);
    token_list made = {0};
    bool replaced;
    if (size == 0) return 0;
    tally__expand(&r->macros, tokens, size, &made);
    replaced = is_replaced(r, tokens, size, &made);
    if (replaced && has_word(&made, "__global__")) {
        made.count = 0;
        spare(r, tokens, size, true);
        tally__expand(&r->macros, tokens, size, &made);
        spare(r, tokens, size, false);
    }
    for (size_t i = 0; replaced && i < made.count; i++) {
        const token t = made.tokens[i];
        const char *line = t.kind == TOKEN_SPACE && !is_directive ? memchr(t.text, '\n', t.size) : NULL;
        if (line != NULL) /* on as many lines as the macro was */
            tally__add_text(r->out, line, t.size - (size_t)(line - t.text));
        else if (t.kind == TOKEN_SPACE || t.kind == TOKEN_NEWLINE)
            put_word(r, " ");
        else if (made.tokens[i].kind != TOKEN_COMMENT)
            put(r, made.tokens + i, 1);
    }
    free(made.tokens);
    return replaced ? size : 0;
}

/* Whether tokens have one of the words between brackets that `list` begins with. */
static bool has_parameter(const token *tokens, size_t size, const token *list, size_t count) {
    for (size_t p = 0; p < count && !token_is(list[p], ")"); p++)
        for (size_t i = 0; i < size; i++)
            if (list[p].kind == TOKEN_WORD && tokens[i].kind == TOKEN_WORD && tokens[i].size == list[p].size &&
                memcmp(tokens[i].text, list[p].text, list[p].size) == 0)
                return true;
    return false;
}
/* Writes tokens with their names made. In the body of a macro with parameters, calls that name a parameter stay: they
 * may be of names that it stands for. */
static void put_named(reader *r, const token *tokens, size_t count, bool has_parameters) {
    for (size_t i = 0; i < count;) {
        const size_t call = tokens[i].kind == TOKEN_WORD ? tally__call_size(&r->macros, tokens + i, count - i) : 0;
        const bool is_left = has_parameters && has_parameter(tokens + i, call, tokens, count);
        size_t read = call > 0 && !is_left ? put_name(r, tokens + i, count - i, true) : 0;
        if (read == 0) put(r, tokens + i, 1), read = 1;
        i += read;
    }
}

/* Defines a macro without parameters whose value is a number, made of other macros, as that number, and writes it. */
static bool put_number(reader *r, const token *name, const token *tokens, size_t count) {
    token made;
    long long number;
    size_t words = 0;
    for (size_t i = 0; i < count; i++) words += !token_is_blank(tokens[i]);
    if (words < 2 || r->unknown > 0 || !tally__constant_of(&r->macros, tokens, count, &number) || number < 0)
        return false;
    if (!tally__define_number(&r->macros, *name, number, &made)) return false;
    put_word(r, " ");
    put(r, &made, 1);
    put_word(r, "\n");
    return true;
}

/* Reads a directive, from the # to the newline. */
static void read_directive(reader *r, const token *line, size_t count) {
    const size_t word = token_after_blanks(line, 1, count), rest = word + 1 < count ? word + 1 : count;
    const token *name = line + token_after_blanks(line, rest, count);
    const token none = {TOKEN_SPACE, "", 0}, directive = word < count ? line[word] : none;
    const value sure = {true, 1};
    value v = {true, 0};
    if (token_is(directive, "ifdef") || token_is(directive, "ifndef")) {
        const token is = name < line + count ? tally__defined(&r->macros, *name) : none;
        v.is_known = is.kind == TOKEN_NUMBER;
        v.number = token_is(is, "1") == (directive.size == 5);
        open_condition(r, v, line, count);
    } else if (token_is(directive, "if"))
        open_condition(r, is_live(r) ? tally__value_of(&r->macros, line + rest, count - rest) : v, line, count);
    else if (token_is(directive, "elif")) {
        if (r->depth > 0)
            next_branch(r, tally__value_of(&r->macros, line + rest, count - rest), line, count, line + rest,
                        count - rest);
    } else if (token_is(directive, "else")) {
        if (r->depth > 0) next_branch(r, sure, line, count, NULL, 0);
    } else if (token_is(directive, "endif"))
        close_condition(r);
    else if (is_live(r)) {
        const bool defines = token_is(directive, "define");
        /* the name itself stays */
        const size_t body = defines && name < line + count ? (size_t)(name - line) + 1 : count;
        const bool has_parameters = body < count && token_is(line[body], "(");
        put(r, line, body);
        if (defines && !has_parameters && put_number(r, name, line + body, count - body)) return;
        put_named(r, line + body, count - body, has_parameters);
        if (defines)
            tally__define_macro(&r->macros, line + rest, count - rest, r->unknown == 0);
        else if (token_is(directive, "undef") && name < line + count)
            tally__undefine_macro(&r->macros, *name, r->unknown == 0);
    }
}

/* Takes the indentation of a line that is left out from the end of the output. */
static void take_indentation(text_buffer *out) {
    while (out->size > 0 && out->bytes[out->size - 1] == ' ') out->bytes[--out->size] = '\0';
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
        const bool began = line_begins;
        if (t.kind == TOKEN_NEWLINE)
            line_begins = true;
        else if (!token_is_blank(t))
            line_begins = false;
        if (is_live(&r)) {
            size_t branch = t.kind == TOKEN_WORD ? tally__skip_branch(&r.macros, tokens.tokens, i, tokens.count)
                            : began              ? tally__skip_unused(tokens.tokens, i, tokens.count)
                                                 : i;
            if (branch > i) {
                if (began && tokens.tokens[branch - 1].kind == TOKEN_NEWLINE) take_indentation(out);
                i = branch;
                line_begins = began; /* where the text that is left out began one */
                continue;
            }
            read = t.kind == TOKEN_WORD ? put_name(&r, tokens.tokens + i, tokens.count - i, false) : 0;
            if (read == 0) put(&r, &t, 1), read = 1;
        }
        i += read;
    }
    done = !tokens.no_memory && !r.macros.no_memory && !r.too_deep && !out->no_memory;
    tally__free_macros(&r.macros);
    free(tokens.tokens);
    return done;
}
