/* The records of a block of a table as cells: values in words of 8 bytes, and keys as numbers of groups. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "formats/numbers.h"
#include "input/table.h"

static bool refuse(block_rows *r, int64_t line, const char *format, ...) __attribute__((format(printf, 3, 4)));
static bool refuse(block_rows *r, int64_t line, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(r->trouble, sizeof r->trouble, format, arguments);
    va_end(arguments);
    r->failed = true;
    r->trouble_line = line;
    return false;
}

static bool no_memory(block_rows *r) { return refuse(r, 0, "no memory for the cells of a block"); }

void free_rows(block_rows *r) {
    free(r->runs);
    free(r->first_lines);
    free(r->words);
    free(r->sorted);
    free(r->kinds);
    free(r->lines);
    free(r->groups);
    free(r->order);
    free(r->fields);
    free(r->key);
    free_keys(&r->keys);
    *r = (block_rows){0};
}

/* Makes *memory large enough for `count` items. If there is no memory, it stays as it was. */
static bool widen(void *memory, int64_t count, size_t size) {
    void *old, *longer;
    memcpy(&old, memory, sizeof old);
    longer = realloc(old, (size_t)(count > 0 ? count : 1) * size);
    if (longer != NULL) {
        memcpy(memory, &longer, sizeof longer);
    }
    return longer != NULL;
}

static bool widen_rows(block_rows *r, int value_count) {
    int64_t capacity = r->capacity == 0 ? 4096 : 2 * r->capacity;
    bool fine = widen(&r->words, capacity * value_count, sizeof *r->words) &&
                widen(&r->sorted, capacity * value_count, sizeof *r->sorted) &&
                widen(&r->kinds, capacity * value_count, sizeof *r->kinds) &&
                widen(&r->lines, capacity, sizeof *r->lines) && widen(&r->groups, capacity, sizeof *r->groups) &&
                widen(&r->order, capacity, sizeof *r->order);
    r->capacity = fine ? capacity : r->capacity;
    return fine || no_memory(r);
}

/* ---- types ---- */

tally_type seen_type(const table_wish *wish, unsigned seen) {
    bool both = (seen & SEEN_NEGATIVE) != 0 && (seen & SEEN_LARGE) != 0;
    if (wish->type != TALLY_NATURAL) {
        return wish->type;
    }
    if ((seen & (SEEN_HUGE | SEEN_FLOAT)) != 0 || both) {
        return TALLY_F64;
    }
    return (seen & SEEN_LARGE) != 0 ? TALLY_U64 : TALLY_I64;
}

void convert_words(uint64_t *words, int64_t count, tally_type from, tally_type to) {
    for (int64_t k = 0; k < count && to == TALLY_F64 && from != to; k++) {
        double value = from == TALLY_I64 ? (double)(int64_t)words[k] : (double)words[k];
        memcpy(&words[k], &value, sizeof value);
    }
}

/* ---- cells ---- */

/* What stands for a missing value, in any case of letters. */
static bool is_missing(const char *text, size_t length) {
    static const char *const words[] = {"NA", "N/A", "#N/A", "<NA>", "null", "none", "-", "."};
    if (length == 0) {
        return true;
    }
    for (size_t k = 0; k < sizeof words / sizeof words[0]; k++) {
        if (strlen(words[k]) == length && strncasecmp(text, words[k], length) == 0) {
            return true;
        }
    }
    return false;
}

static void trim(const char **text, size_t *length) {
    while (*length > 0 && ((*text)[0] == ' ' || (*text)[0] == '\t')) {
        (*text)++;
        (*length)--;
    }
    while (*length > 0 && ((*text)[*length - 1] == ' ' || (*text)[*length - 1] == '\t')) {
        (*length)--;
    }
}

/* What a number is: a set of one. -0 is a float, as integers have no such zero. */
static unsigned find_kind(const number *found) {
    if (!found->integer || (found->negative && found->digits == 0 && found->whole)) {
        return SEEN_FLOAT;
    }
    if (!found->whole || (found->negative && found->digits > (uint64_t)INT64_MAX + 1)) {
        return SEEN_HUGE;
    }
    return found->negative ? SEEN_NEGATIVE : found->digits > (uint64_t)INT64_MAX ? SEEN_LARGE : SEEN_NATURAL;
}

/* Text as a sentence quotes it: short. */
static int quoted_length(size_t length) { return length < 40 ? (int)length : 40; }

static bool store_found(block_rows *r, const char *column, const number *found, tally_type type, void *word) {
    number_verdict verdict = store_number(found, type, word);
    return verdict == NUMBER_FINE ||
           refuse(r, 0, "%.40s: %.*s %s %s", column, quoted_length(found->length), found->text,
                  verdict == NUMBER_BEYOND ? "is beyond the range of type" : "is not an integer, as needed for type",
                  type_name(type));
}

static bool store_missing(const table_wish *wish, block_rows *r, const char *column, uint64_t *word,
                          unsigned char *kind) {
    double nan = (double)NAN;
    switch (wish->missing) {
    case MISSING_SKIPPED: *kind = 0; return true;
    case MISSING_NAN:
        *kind = wish->type == TALLY_NATURAL ? SEEN_FLOAT : SEEN_GIVEN;
        store_float(nan, wish->type == TALLY_NATURAL ? TALLY_F64 : wish->type, word);
        return true;
    default:
        return refuse(r, 0, "%.40s: a value is missing; --na skip leaves such values out, --na nan takes them as NaN",
                      column);
    }
}

static bool read_cell(const table_wish *wish, block_rows *r, const csv_field *field, const char *column, uint64_t *word,
                      unsigned char *kind) {
    number found;
    const char *text = field->text;
    size_t length = field->length;
    *word = 0;
    bool is_number = scan_number(text, length, &found);
    if (!is_number) {
        trim(&text, &length);
        if (is_missing(text, length)) {
            return store_missing(wish, r, column, word, kind);
        }
        is_number = scan_number(text, length, &found);
    }
    if (!is_number || (found.truth && wish->type != TALLY_BOOL)) {
        return refuse(r, 0, "%.40s: '%.*s' is not a number", column, quoted_length(length), text);
    }
    tally_type type = wish->type;
    *kind = SEEN_GIVEN;
    if (type == TALLY_NATURAL) {
        *kind = (unsigned char)find_kind(&found);
        type = seen_type(wish, *kind);
    }
    return store_found(r, column, &found, type, word);
}

/* ---- keys ---- */

/* Copies the row's key to r->key. Returns its length, or -1. */
static int64_t copy_key(const table_wish *wish, const table_shape *shape, block_rows *r) {
    size_t size = 0;
    for (int k = 0; k < wish->key_count; k++) {
        const csv_field *field = &r->fields[shape->places[wish->value_count + k]];
        size_t needed = size + field->length + 1;
        if (memchr(field->text, '\0', field->length) != NULL) {
            refuse(r, 0, "%.40s: a NUL byte cannot be part of a key; perhaps the file is UTF-16", wish->keys[k]);
            return -1;
        }
        if (needed > r->key_capacity) {
            if (!widen(&r->key, (int64_t)(2 * needed), 1)) {
                no_memory(r);
                return -1;
            }
            r->key_capacity = 2 * needed;
        }
        size += csv_copy(field, r->key + size);
        r->key[size++] = '\0';
    }
    return (int64_t)size;
}

static bool same_as_last(const block_rows *r, size_t size) {
    const key_table *keys = &r->keys;
    return keys->count > 0 && keys->keys[keys->count - 1].length == size &&
           memcmp(key_text(keys, keys->count - 1), r->key, size) == 0;
}

static bool read_key(const table_wish *wish, const table_shape *shape, block_rows *r, uint32_t *group) {
    int64_t size = copy_key(wish, shape, r), found;
    if (size < 0) {
        return false;
    }
    uint64_t hash = hash_key(r->key, (size_t)size);
    if (!wish->sorted) {
        found = number_key(&r->keys, r->key, (uint32_t)size, hash);
    } else if (same_as_last(r, (size_t)size)) {
        found = (int64_t)r->keys.count - 1;
    } else {
        found = add_key(&r->keys, r->key, (uint32_t)size, hash);
    }
    *group = (uint32_t)found;
    return found >= 0 || no_memory(r);
}

/* ---- rows ---- */

static bool read_row(const table_wish *wish, const table_shape *shape, block_rows *r) {
    uint64_t *words = r->words + r->count * wish->value_count;
    unsigned char *kinds = r->kinds + r->count * wish->value_count;
    for (int k = 0; k < wish->value_count; k++) {
        if (!read_cell(wish, r, &r->fields[shape->places[k]], wish->values[k], &words[k], &kinds[k])) {
            return false;
        }
    }
    r->groups[r->count] = 0;
    return wish->key_count == 0 || read_key(wish, shape, r, &r->groups[r->count]);
}

/* Reads every record of the block; cells are in the order of rows. */
static bool read_records(const table_wish *wish, const table_block *b, block_rows *r) {
    const table_shape *shape = b->shape;
    csv_reader reader = csv_begin(b->bytes + b->data_at, b->size - b->data_at, shape->form);
    for (;;) {
        int64_t width = csv_next(&reader, r->fields, (size_t)shape->width);
        bool blank = width == 1 && shape->width > 1 && r->fields[0].length == 0 && !r->fields[0].quoted;
        if (width == 0) {
            break;
        }
        if (width < 0) {
            return refuse(r, reader.line, "%s", reader.trouble);
        }
        if (blank) {
            continue;
        }
        if (width != shape->width) {
            return refuse(r, reader.line, "it has %" PRId64 " field%s, the first line has %" PRId64, width,
                          width == 1 ? "" : "s", shape->width);
        }
        if ((r->count == r->capacity && !widen_rows(r, wish->value_count)) || !read_row(wish, shape, r)) {
            r->trouble_line = reader.line;
            return false;
        }
        r->lines[r->count++] = (uint32_t)reader.line;
    }
    r->line_count = reader.next_line;
    return true;
}

/* ---- sorting ---- */

static bool make_group_capacity(block_rows *r, int value_count) {
    if (r->group_count <= r->group_capacity) {
        return true;
    }
    int64_t capacity = 2 * r->group_count;
    bool fine = widen(&r->runs, capacity * (value_count + 1), sizeof *r->runs) &&
                widen(&r->first_lines, capacity, sizeof *r->first_lines);
    r->group_capacity = fine ? capacity : r->group_capacity;
    return fine || no_memory(r);
}

/* The rows in the order of their groups, those of one group as they came; ends[g]: where those of group g end. */
static void order_rows(block_rows *r, cell_run *ends) {
    for (int64_t g = 0; g < r->group_count; g++) {
        ends[g].count = 0;
    }
    for (int64_t row = r->count; row-- > 0;) {
        ends[r->groups[row]].count++;
        r->first_lines[r->groups[row]] = r->lines[row];
    }
    uint32_t at = 0;
    for (int64_t g = 0; g < r->group_count; g++) {
        uint32_t count = ends[g].count;
        ends[g].count = at;
        at += count;
    }
    for (int64_t row = 0; row < r->count; row++) {
        r->order[ends[r->groups[row]].count++] = (uint32_t)row;
    }
}

/* The numbers of one column and of the rows order[from .. to-1]; returns where the words end. */
static uint64_t *fill_run(const table_wish *wish, const block_rows *r, int column, uint32_t from, uint32_t to,
                          uint64_t *words, cell_run *run) {
    *run = (cell_run){.words = words};
    for (uint32_t k = from; k < to; k++) {
        unsigned kind = r->kinds[(int64_t)r->order[k] * wish->value_count + column];
        if ((kind & (SEEN_LARGE | SEEN_HUGE)) != 0 && (run->seen & (SEEN_LARGE | SEEN_HUGE)) == 0) {
            run->odd_line = r->lines[r->order[k]];
        }
        run->seen |= kind;
    }
    tally_type type = seen_type(wish, run->seen);
    for (uint32_t k = from; k < to; k++) {
        int64_t cell = (int64_t)r->order[k] * wish->value_count + column;
        if (r->kinds[cell] != 0) {
            *words = r->words[cell];
            convert_words(words, 1, seen_type(wish, r->kinds[cell]), type);
            words++;
        }
    }
    run->count = (uint32_t)(words - run->words);
    return words;
}

static bool sort_rows(const table_wish *wish, block_rows *r) {
    r->group_count = wish->key_count > 0 ? r->keys.count : r->count > 0;
    if (r->group_count == 0) { /* a block without rows: there may be no room yet */
        return true;
    }
    if (!make_group_capacity(r, wish->value_count)) {
        return false;
    }
    uint64_t *words = r->sorted;
    cell_run *ends = r->runs + r->group_count * wish->value_count;
    order_rows(r, ends);
    for (int64_t g = 0; g < r->group_count; g++) {
        for (int k = 0; k < wish->value_count; k++) {
            words = fill_run(wish, r, k, g == 0 ? 0 : ends[g - 1].count, ends[g].count, words,
                             &r->runs[g * wish->value_count + k]);
        }
    }
    return true;
}

void read_rows(const table_wish *wish, const table_block *b, block_rows *r) {
    r->count = r->group_count = r->line_count = 0;
    r->failed = false;
    clear_keys(&r->keys);
    if (b->trouble != NULL) {
        refuse(r, 0, "%s", b->trouble);
        return;
    }
    if (b->shape->width > r->field_capacity || r->field_capacity == 0) {
        if (!widen(&r->fields, b->shape->width, sizeof *r->fields)) {
            no_memory(r);
            return;
        }
        r->field_capacity = b->shape->width;
    }
    (void)read_records(wish, b, r);
    (void)sort_rows(wish, r);
}
