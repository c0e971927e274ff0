/* Leaves out what an entry does not use: declarations, macros, and their comments. */
#include <stdlib.h>
#include <string.h>

#include "text/readable.h"

/* A piece of the text at file scope: a declaration, a function, a directive, or a comment between blank lines. */
typedef enum {
    ITEM_DECLARATION,
    ITEM_MACRO,
    ITEM_CONDITION,
    ITEM_OTHER_DIRECTIVE,
    ITEM_HEADING,
    ITEM_NOTHING
} item_kind;
typedef struct item {
    item_kind kind;
    size_t begin, end; /* tokens, with the comment before it */
    size_t code;       /* the first token that is no comment */
    size_t opening;    /* of a condition's directives: the item of its #if */
    bool is_apart;     /* a blank line is before it */
    bool is_kept;
} item;

/* A name that an item declares or defines. */
typedef struct symbol {
    token name;
    size_t item;
    bool is_used;
} symbol;

typedef struct pruner {
    token_list text;
    item *items;
    size_t count, capacity;
    symbol *symbols; /* by name */
    size_t symbol_count, symbol_capacity;
    bool no_memory;
} pruner;

/* ---- items ---- */

static void add_item(pruner *p, item added) {
    item *items = tally__grown(p->items, p->count, &p->capacity, sizeof *items);
    p->no_memory |= items == NULL;
    if (items == NULL) return;
    p->items = items;
    p->items[p->count++] = added;
}

static size_t end_of_directive(const pruner *p, size_t at) {
    while (at < p->text.count && p->text.tokens[at].kind != TOKEN_NEWLINE) at++;
    return at < p->text.count ? at + 1 : at;
}
/* The index after a declaration: after its ;, or after the body of a function and the rest of that line. */
static size_t end_of_declaration(const pruner *p, size_t at) {
    int depth = 0;
    bool is_function = false;
    token last = {TOKEN_SPACE, "", 0};
    for (; at < p->text.count; at++) {
        const token t = p->text.tokens[at];
        if (token_is_blank(t)) continue;
        if (token_is(t, "{") && depth == 0) is_function = token_is(last, ")");
        depth += token_is(t, "{") + token_is(t, "(") - token_is(t, "}") - token_is(t, ")");
        if (depth == 0 && (token_is(t, ";") || (token_is(t, "}") && is_function))) break;
        last = t;
    }
    at += at < p->text.count;
    while (at < p->text.count && (p->text.tokens[at].kind == TOKEN_SPACE || p->text.tokens[at].kind == TOKEN_COMMENT))
        at++;
    return at < p->text.count && p->text.tokens[at].kind == TOKEN_NEWLINE ? at + 1 : at;
}

static item_kind kind_of_directive(token word) {
    static const char *const conditions[] = {"if", "ifdef", "ifndef", "elif", "else", "endif"};
    for (size_t i = 0; i < sizeof conditions / sizeof conditions[0]; i++)
        if (token_is(word, conditions[i])) return ITEM_CONDITION;
    return token_is(word, "define") || token_is(word, "undef") ? ITEM_MACRO : ITEM_OTHER_DIRECTIVE;
}

static bool is_heading(token t) {
    return t.kind == TOKEN_COMMENT && t.size > 12 && memcmp(t.text, "/* ========", 11) == 0;
}

/* Reads the item at `at`: comments that no blank line parts from it belong to it. Returns where it ends. */
static size_t read_item(pruner *p, size_t at) {
    const token *tokens = p->text.tokens;
    item read = {.begin = at};
    int newlines = 1; /* the one that ended the item before */
    bool is_apart = false;
    while (at < p->text.count && token_is_blank(tokens[at])) {
        newlines = tokens[at].kind == TOKEN_NEWLINE ? newlines + 1 : tokens[at].kind == TOKEN_COMMENT ? 0 : newlines;
        if (tokens[at].kind == TOKEN_COMMENT && is_heading(tokens[at])) {
            read = (item){.kind = ITEM_HEADING, .begin = at, .end = end_of_directive(p, at), .code = at};
            add_item(p, read);
            return read.end;
        }
        at++;
        is_apart |= newlines >= 2;
        if (newlines >= 2) read.begin = at; /* a blank line: the comment before belongs to nothing here */
    }
    if (at == p->text.count) return at;
    read.code = at;
    read.is_apart = is_apart;
    if (token_is(tokens[at], "#")) {
        const size_t word = token_after_blanks(tokens, at + 1, p->text.count);
        read.kind = word < p->text.count ? kind_of_directive(tokens[word]) : ITEM_OTHER_DIRECTIVE;
        read.end = end_of_directive(p, at);
    } else {
        read.kind =
            token_is(tokens[at], ";") || token_is(tokens[at], "_Static_assert") ? ITEM_NOTHING : ITEM_DECLARATION;
        read.end = end_of_declaration(p, at);
    }
    add_item(p, read);
    return read.end;
}

/* ---- which item declares which name ---- */

static void add_symbol(pruner *p, token name, size_t item_index) {
    symbol *symbols = tally__grown(p->symbols, p->symbol_count, &p->symbol_capacity, sizeof *symbols);
    p->no_memory |= symbols == NULL;
    if (symbols == NULL) return;
    p->symbols = symbols;
    p->symbols[p->symbol_count++] = (symbol){name, item_index, false};
}

/* Finds the symbols of a declaration: a function; a tag, and what stands before a ;, [ or =; constants of an
 * enum. */
static void find_names(pruner *p, size_t index) {
    const item *in = &p->items[index];
    const token *tokens = p->text.tokens;
    int braces = 0, brackets = 0;
    bool is_enum = false, had_call = false, is_value = false; /* is_value: within the value of an enum's constant */
    token word = {TOKEN_SPACE, "", 0}, before = word;
    for (size_t i = in->code; i < in->end; i++) {
        const token t = tokens[i];
        if (token_is_blank(t)) continue;
        if (token_is(t, "enum") && braces == 0) is_enum = true;
        if (braces == 0 && brackets == 0) {
            if (token_is(t, "(") && word.kind == TOKEN_WORD && !token_is(word, "__attribute__") && !had_call)
                add_symbol(p, word, index), had_call = true; /* a function, or a macro that declares one */
            if ((token_is(t, ";") || token_is(t, "=") || token_is(t, "[") || token_is(t, ",")) &&
                word.kind == TOKEN_WORD)
                add_symbol(p, word, index);
            if (token_is(t, "{") && word.kind == TOKEN_WORD &&
                (token_is(before, "struct") || token_is(before, "union") || token_is(before, "enum")))
                add_symbol(p, word, index);
            if (token_is(t, "{") && had_call) return;
        }
        if (is_enum && braces == 1 && (token_is(t, ",") || token_is(t, "=") || token_is(t, "}")) &&
            word.kind == TOKEN_WORD && !is_value)
            add_symbol(p, word, index);
        is_value = is_enum && braces == 1 && !token_is(t, ",") && (is_value || token_is(t, "="));
        braces += token_is(t, "{") - token_is(t, "}");
        brackets += token_is(t, "(") - token_is(t, ")");
        before = word;
        word = t;
    }
}

static int compare_symbols(const void *a, const void *b) {
    const token x = ((const symbol *)a)->name, y = ((const symbol *)b)->name;
    int order = memcmp(x.text, y.text, x.size < y.size ? x.size : y.size);
    return order != 0 ? order : (x.size > y.size) - (x.size < y.size);
}

static void find_symbols(pruner *p) {
    for (size_t i = 0; i < p->count && !p->no_memory; i++) {
        const item *in = &p->items[i];
        if (in->kind == ITEM_DECLARATION) find_names(p, i);
        if (in->kind == ITEM_MACRO) {
            size_t at = token_after_blanks(p->text.tokens, in->code + 1, in->end);
            at = token_after_blanks(p->text.tokens, at + 1, in->end);
            if (at < in->end) add_symbol(p, p->text.tokens[at], i);
        }
    }
    if (p->symbol_count > 0) qsort(p->symbols, p->symbol_count, sizeof *p->symbols, compare_symbols);
}

/* ---- what is used ---- */

/* Whether a declaration is a struct's, so that what stands before a ;, a , or a [ in its braces is a field. */
static bool is_struct(const pruner *p, const item *in) {
    size_t at = token_after_blanks(p->text.tokens, in->code, in->end);
    if (in->kind != ITEM_DECLARATION || at == in->end) return false;
    if (token_is(p->text.tokens[at], "typedef")) at = token_after_blanks(p->text.tokens, at + 1, in->end);
    return at < in->end && (token_is(p->text.tokens[at], "struct") || token_is(p->text.tokens[at], "union"));
}

/* Whether the word at tokens[i] names a field, in use or, with is_declared, where fields are declared. A field may be
 * called like a function, and is no use of it. */
static bool is_field(const pruner *p, const item *in, size_t i, token before, bool is_declared) {
    const size_t next = token_after_blanks(p->text.tokens, i + 1, in->end);
    if (token_is(before, ".") || token_is(before, "->")) return true;
    if (!is_declared || next == in->end || token_is(before, "[")) return false;
    return token_is(p->text.tokens[next], ";") || token_is(p->text.tokens[next], ",") ||
           token_is(p->text.tokens[next], "[");
}

/* The first symbol that does not come before `name` by name. */
static size_t first_symbol(const pruner *p, token name) {
    const symbol wanted = {name, 0, false};
    size_t low = 0, high = p->symbol_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (compare_symbols(&p->symbols[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
static bool is_called(const symbol *s, token name) {
    const symbol wanted = {name, 0, false};
    return compare_symbols(s, &wanted) == 0;
}

static void keep(pruner *p, size_t index) {
    const item *in = &p->items[index];
    const bool of_struct = is_struct(p, in);
    token before = {TOKEN_SPACE, "", 0}, here = before;
    int brackets = 0; /* arguments of a macro are no fields */
    if (in->is_kept) return;
    p->items[index].is_kept = true;
    for (size_t i = in->code; i < in->end; i++) {
        if (token_is_blank(p->text.tokens[i])) continue;
        before = here;
        here = p->text.tokens[i];
        brackets += token_is(here, "(") - token_is(here, ")");
        if (here.kind != TOKEN_WORD || is_field(p, in, i, before, of_struct && brackets == 0)) continue;
        const size_t next = token_after_blanks(p->text.tokens, i + 1, in->end);
        const bool is_defined = next < in->end && token_is(p->text.tokens[next], "=");
        for (size_t g = first_symbol(p, here); g < p->symbol_count && is_called(&p->symbols[g], here); g++) {
            p->symbols[g].is_used |= p->symbols[g].item != index || !is_defined; /* in more than its own definition */
            keep(p, p->symbols[g].item);
        }
    }
}

/* Whether an item is an entry, which a GPU's driver calls. */
static bool is_entry(const pruner *p, const item *in) {
    static const char *const words[] = {"TALLY_KERNEL_ENTRY", "TALLY_ENTRY", "__global__"};
    for (size_t i = in->code; in->kind == ITEM_DECLARATION && i < in->end && !token_is(p->text.tokens[i], "{"); i++)
        for (size_t k = 0; k < sizeof words / sizeof *words; k++)
            if (token_is(p->text.tokens[i], words[k])) return true;
    return false;
}

/* Keeps a condition that only the compiler can decide, with all its branches, if anything in it is kept; and a heading
 * if anything up to the next one is. */
static void keep_frames(pruner *p) {
    size_t open[64], depth = 0, heading = p->count;
    for (size_t i = 0; i < p->count; i++) {
        item *in = &p->items[i];
        if (in->kind == ITEM_HEADING) heading = i;
        if (in->kind == ITEM_CONDITION) {
            const token word = p->text.tokens[token_after_blanks(p->text.tokens, in->code + 1, in->end)];
            if (word.text[0] == 'i' && depth < 64) open[depth++] = i;
            in->opening = depth > 0 ? open[depth - 1] : i;
            if (token_is(word, "endif") && depth > 0) depth--;
        } else if (in->is_kept) {
            if (heading < p->count) p->items[heading].is_kept = true;
            for (size_t d = 0; d < depth; d++) p->items[open[d]].is_kept = true;
        }
    }
    for (size_t i = 0; i < p->count; i++)
        if (p->items[i].kind == ITEM_CONDITION) p->items[i].is_kept = p->items[p->items[i].opening].is_kept;
}

static int count_lines(const pruner *p, size_t begin, size_t end) {
    int lines = 0;
    for (size_t i = begin; i < end; i++) lines += p->text.tokens[i].kind == TOKEN_NEWLINE;
    return lines;
}
/* Whether an item is three lines that fit one: a head, one statement or field, and what closes it. */
static bool fits_a_line(const pruner *p, const item *in) {
    size_t size = 0;
    int braces = 0;
    for (size_t i = in->code; i < in->end; i++) {
        const token t = p->text.tokens[i];
        braces += token_is(t, "{");
        size += t.size;
        if (t.kind == TOKEN_COMMENT && t.text[1] == '/') return false;
    }
    return in->kind == ITEM_DECLARATION && count_lines(p, in->code, in->end) == 3 && braces == 1 &&
           size <= 124; /* counting its line ends and indentation */
}
/* Whether a declaration is one line, or will be. */
static bool is_one_line(const pruner *p, const item *in) {
    return in->kind == ITEM_DECLARATION && count_lines(p, in->begin, in->code) == 0 &&
           (count_lines(p, in->code, in->end) <= 1 || fits_a_line(p, in));
}

/* Whether no blank line belongs between an item and the one that is kept before it: as in the text, where nothing was
 * left out between them; nor between lines. */
static bool is_close(const pruner *p, const item *in, const item *before) {
    if (in->kind == ITEM_CONDITION || in->kind == ITEM_MACRO) return true;
    if (before == NULL || in->kind == ITEM_HEADING) return false;
    if (before->kind != ITEM_DECLARATION) return before->kind != ITEM_MACRO || is_one_line(p, in);
    if (is_one_line(p, in) && is_one_line(p, before)) return true;
    return in == before + 1 && !in->is_apart;
}

static void put_tokens(const pruner *p, size_t begin, size_t end, text_buffer *out) {
    for (size_t i = begin; i < end; i++) tally__add_text(out, p->text.tokens[i].text, p->text.tokens[i].size);
}

/* Whether an item is an enum without a name whose constants are a line each, with a value. */
static bool is_list_of_numbers(const pruner *p, const item *in) {
    const token *tokens = p->text.tokens;
    size_t i = token_after_blanks(tokens, in->code + 1, in->end);
    if (!token_is(tokens[in->code], "enum") || i == in->end || !token_is(tokens[i], "{")) return false;
    for (i++; i < in->end && !token_is(tokens[i], "}"); i++) {
        if (tokens[i].kind != TOKEN_NEWLINE) continue;
        const size_t name = token_after_blanks(tokens, i + 1, in->end),
                     is = token_after_blanks(tokens, name + 1, in->end);
        if (name < in->end && !token_is(tokens[name], "}") && (is >= in->end || !token_is(tokens[is], "=")))
            return false;
    }
    return true;
}
/* Writes an enum without the constants that nothing uses. If one is left, it stands on the enum's line. */
static void put_used_numbers(const pruner *p, const item *in, text_buffer *out) {
    size_t lines = 0, at = 0;
    put_tokens(p, in->begin, in->code, out);
    const size_t begin = at = out->size;
    for (size_t i = in->code; i < in->end; lines++) {
        size_t end = end_of_directive(p, i);
        const size_t name = token_after_blanks(p->text.tokens, i, end);
        const bool is_number = name > in->code && name < end && p->text.tokens[name].kind == TOKEN_WORD;
        const size_t g = is_number ? first_symbol(p, p->text.tokens[name]) : p->symbol_count;
        if (g == p->symbol_count || !is_called(&p->symbols[g], p->text.tokens[name]) || p->symbols[g].is_used)
            put_tokens(p, i, end < in->end ? end : in->end, out);
        else
            lines--;
        i = end;
    }
    if (lines != 3 || out->no_memory) return;
    for (size_t i = begin; i < out->size; i++) {
        const bool is_inner = out->bytes[i] == '\n' && i + 1 < out->size;
        while ((is_inner || out->bytes[i] == ' ') && i + 1 < out->size && out->bytes[i + 1] == ' ') i++;
        out->bytes[at++] = is_inner ? ' ' : out->bytes[i];
    }
    out->size = at;
    out->bytes[at] = '\0';
}

static void put_as_a_line(const pruner *p, const item *in, text_buffer *out) {
    put_tokens(p, in->begin, in->code, out);
    for (size_t i = in->code; i < in->end; i++) {
        const token t = p->text.tokens[i];
        const bool begins = i > 0 && p->text.tokens[i - 1].kind == TOKEN_NEWLINE;
        if (t.kind == TOKEN_NEWLINE && i + 1 < in->end)
            tally__add_text(out, " ", 1);
        else if (t.kind != TOKEN_SPACE || !begins)
            tally__add_text(out, t.text, t.size);
    }
}

static void write_kept(const pruner *p, text_buffer *out) {
    const item *before = NULL;
    for (size_t i = 0; i < p->count; i++) {
        const item *in = &p->items[i];
        if (!in->is_kept) continue;
        if (!is_close(p, in, before)) tally__add_text(out, "\n", 1);
        before = in;
        if (fits_a_line(p, in))
            put_as_a_line(p, in, out);
        else if (is_list_of_numbers(p, in))
            put_used_numbers(p, in, out);
        else
            put_tokens(p, in->begin, in->end, out);
    }
}

bool tally__leave_out_unused(const char *text, size_t size, text_buffer *out) {
    pruner p = {.text = tally__tokens_of(text, size)};
    bool done;
    for (size_t at = 0; at < p.text.count && !p.no_memory;) at = read_item(&p, at);
    find_symbols(&p);
    if (!p.no_memory) {
        for (size_t i = 0; i < p.count; i++)
            if (is_entry(&p, &p.items[i]) || p.items[i].kind == ITEM_OTHER_DIRECTIVE) keep(&p, i);
        keep_frames(&p);
        write_kept(&p, out);
    }
    done = !p.no_memory && !p.text.no_memory && !out->no_memory;
    free(p.items);
    free(p.symbols);
    free(p.text.tokens);
    return done;
}
