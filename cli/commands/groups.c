#include "commands/groups.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/complain.h"
#include "commands/reduce.h"
#include "formats/numbers.h"

enum { FIRST_WORDS = 4, MOST_WORDS = 1024 };
static const tally_type state_types[STATE_TYPES] = {TALLY_I64, TALLY_U64, TALLY_F64};

static bool no_memory(const groups *all) { return complain(NULL, "no memory for %" PRId64 " groups", all->count); }

/* ---- states ---- */

static int results_of(const groups *all, int column) {
    int count = 0;
    for (int k = 0; k < all->result_count; k++) {
        count += all->results[k].column == column;
    }
    return count;
}

/* Whether numbers of which `seen` is known may still turn out to be of this type. */
static bool may_become(const groups *all, unsigned seen, int type) {
    tally_type now = seen_type(all->wish, seen);
    if (all->wish->type != TALLY_NATURAL) {
        return type == 0;
    }
    return now <= state_types[type] && (state_types[type] != TALLY_U64 || (seen & SEEN_NEGATIVE) == 0);
}

static void drop_state(saved_state *saved) {
    free(saved->bytes);
    *saved = (saved_state){0};
}

static bool save_state(const groups *all, const tally_state *state, saved_state *saved) {
    size_t size;
    if (tally_state_save(state, NULL, 0, &size) != TALLY_OK) {
        return complain(NULL, "%s", tally_message());
    }
    if (size != saved->size) {
        unsigned char *bytes = realloc(saved->bytes, size);
        if (bytes == NULL) {
            return no_memory(all);
        }
        saved->bytes = bytes;
        saved->size = size;
    }
    return tally_state_save(state, saved->bytes, size, &size) == TALLY_OK || complain(NULL, "%s", tally_message());
}

/* The state as it was saved, or a new one. */
static tally_status wake_state(const groups *all, tally_op op, tally_type type, const saved_state *saved,
                               tally_state **state) {
    return saved->bytes != NULL ? tally_state_load(all->context, saved->bytes, saved->size, state)
                                : tally_state_open(all->context, op, type, 0, state);
}

/* Values of words; narrow types lie in the low bytes. */
static tally_array array_of(const uint64_t *words, int64_t count, tally_type type) {
    return (tally_array){words, type, count, sizeof *words};
}

static bool push_words(const groups *all, tally_op op, tally_type type, const uint64_t *words, int64_t count,
                       saved_state *saved) {
    tally_state *state = NULL;
    bool fine = wake_state(all, op, type, saved, &state) == TALLY_OK &&
                tally_state_push(state, array_of(words, count, type)) == TALLY_OK;
    fine = fine ? save_state(all, state, saved) : complain(NULL, "%s", tally_message());
    tally_state_close(state);
    return fine;
}

static bool defined(const groups *all, tally_op op, tally_type type) {
    return tally_result_type(all->context, op, type, NULL, NULL) == TALLY_OK;
}

/* Moves words, of the type of `seen`, into the states of a cell. The words may be rewritten as later types. */
static bool spill(const groups *all, int column, unsigned seen, uint64_t *words, int64_t count, cell *at) {
    tally_type now = seen_type(all->wish, seen);
    int state_count = results_of(all, column) * STATE_TYPES;
    if (at->saved == NULL) {
        at->saved = calloc((size_t)state_count, sizeof *at->saved);
        if (at->saved == NULL) {
            return no_memory(all);
        }
    }
    for (int type = 0; type < STATE_TYPES; type++) {
        bool possible = may_become(all, at->seen, type);
        tally_type wanted = all->wish->type != TALLY_NATURAL ? all->wish->type : state_types[type];
        if (possible) {
            convert_words(words, count, now, wanted);
            now = wanted;
        }
        for (int k = 0; k < all->result_count; k++) {
            const table_result *result = &all->results[k];
            saved_state *saved = &at->saved[result->rank * STATE_TYPES + type];
            if (result->column != column) {
                continue;
            }
            if (!possible) {
                drop_state(saved);
            } else if (defined(all, result->op, wanted) && !push_words(all, result->op, wanted, words, count, saved)) {
                return false;
            }
        }
    }
    return true;
}

/* ---- cells ---- */

static bool widen_cell(const groups *all, cell *at, uint32_t count) {
    uint32_t capacity = at->capacity == 0 ? FIRST_WORDS : at->capacity;
    while (capacity < count) {
        capacity *= 2;
    }
    if (capacity > at->capacity) {
        uint64_t *longer = realloc(at->words, capacity * sizeof *longer);
        if (longer == NULL) {
            return no_memory(all);
        }
        at->words = longer;
        at->capacity = capacity;
    }
    return true;
}

/* All that a cell keeps as words goes to its states. */
static bool spill_cell(const groups *all, int column, cell *at) {
    uint32_t count = at->word_count;
    at->word_count = 0;
    return count == 0 || spill(all, column, at->seen, at->words, count, at);
}

static bool take_words(const groups *all, int column, uint64_t *words, uint32_t count, cell *at) {
    if (at->word_count + count > MOST_WORDS && !spill_cell(all, column, at)) {
        return false;
    }
    if (count > MOST_WORDS) {
        return spill(all, column, at->seen, words, count, at);
    }
    if (!widen_cell(all, at, at->word_count + count)) {
        return false;
    }
    memcpy(at->words + at->word_count, words, count * sizeof *words);
    at->word_count += count;
    return true;
}

static bool take_run(const groups *all, int column, const cell_run *run, int file, int64_t first_line, cell *at) {
    enum { ODD = SEEN_LARGE | SEEN_HUGE };
    unsigned seen = at->seen | run->seen;
    tally_type type = seen_type(all->wish, seen);
    if ((at->seen & ODD) == 0 && (run->seen & ODD) != 0) {
        at->odd_file = file;
        at->odd_line = first_line + run->odd_line;
    }
    convert_words(at->words, at->word_count, seen_type(all->wish, at->seen), type);
    convert_words(run->words, run->count, seen_type(all->wish, run->seen), type);
    at->seen = seen;
    at->count += run->count;
    return take_words(all, column, run->words, run->count, at);
}

/* ---- groups ---- */

static bool widen_groups(groups *all) {
    int64_t capacity = all->capacity == 0 ? 16 : 2 * all->capacity;
    cell *longer = realloc(all->cells, (size_t)(capacity * all->wish->value_count) * sizeof *longer);
    if (longer == NULL) {
        return no_memory(all);
    }
    all->cells = longer;
    all->capacity = capacity;
    return true;
}

/* A group without numbers behind the others; its number, or -1. */
static int64_t add_group(groups *all) {
    if (all->count == all->capacity && !widen_groups(all)) {
        return -1;
    }
    for (int column = 0; column < all->wish->value_count; column++) {
        all->cells[all->count * all->wish->value_count + column] = (cell){0};
    }
    return all->count++;
}

bool open_groups(groups *all) {
    return all->wish->key_count > 0 ? open_key_order(&all->order, all->wish->key_count) : add_group(all) >= 0;
}

/* The number of a key, of which the group may be new; -1: no memory. */
static int64_t number_group(groups *all, const block_rows *r, int64_t k) {
    int64_t found = 0;
    if (all->wish->key_count > 0) {
        const key_entry *found_key = &r->keys.keys[k];
        const char *text = key_text(&r->keys, k);
        found = number_key(&all->keys, text, found_key->length, found_key->hash);
    }
    if (found == all->count) {
        return add_group(all);
    }
    return found >= 0 || no_memory(all) ? found : -1;
}

/* Whether group k of a block goes on with the last group or comes behind it in order. */
static bool in_order(groups *all, const block_rows *r, int64_t k, int file, int64_t first_line) {
    if (!all->wish->sorted || all->count == 0) {
        return true;
    }
    const char *before = key_text(&all->keys, all->count - 1), *after = key_text(&r->keys, k);
    uint32_t length = all->keys.keys[all->count - 1].length;
    bool same = length == r->keys.keys[k].length && memcmp(before, after, length) == 0;
    return same || follows(&all->order, before, after) ||
           complain(all->shapes[file].name,
                    "line %" PRId64 ": %.80s does not stand in the order of the keys before it; "
                    "--sorted takes rows that are sorted by their keys, by bytes or as numbers",
                    first_line + r->first_lines[k], after);
}

bool take_rows(groups *all, const block_rows *r, int file, int64_t first_line) {
    int columns = all->wish->value_count;
    for (int64_t k = 0; k < r->group_count; k++) {
        int64_t group = in_order(all, r, k, file, first_line) ? number_group(all, r, k) : -1;
        if (group < 0) {
            return false;
        }
        for (int column = 0; column < columns; column++) {
            if (!take_run(all, column, &r->runs[k * columns + column], file, first_line,
                          &all->cells[group * columns + column])) {
                return false;
            }
        }
    }
    return true;
}

static void free_cell(const groups *all, int column, cell *at) {
    for (int k = 0; at->saved != NULL && k < results_of(all, column) * STATE_TYPES; k++) {
        drop_state(&at->saved[k]);
    }
    free(at->saved);
    free(at->words);
}

void free_groups(groups *all) {
    for (int64_t k = 0; k < all->count * all->wish->value_count; k++) {
        free_cell(all, (int)(k % all->wish->value_count), &all->cells[k]);
    }
    free(all->cells);
    close_key_order(&all->order);
    free_keys(&all->keys);
    all->cells = NULL;
    all->count = all->capacity = 0;
}

/* ---- results ---- */

/* Integers that no one type holds are refused, but for a column that has fractions, too. */
static bool fits_a_type(const groups *all, const cell *at, int column) {
    bool natural = all->wish->type == TALLY_NATURAL;
    if (!natural || seen_type(all->wish, at->seen) != TALLY_F64 || (at->seen & SEEN_FLOAT) != 0) {
        return true;
    }
    return complain(all->shapes[at->odd_file].name,
                    "line %" PRId64 ": %s: an integer fits no 64-bit type%s; "
                    "--type f64 reads the numbers as floats",
                    at->odd_line, all->wish->values[column],
                    (at->seen & SEEN_HUGE) != 0 ? "" : " along with the negative ones");
}

/* The place among the states of a column, of the type of its numbers or of f64 if the operator takes only that. */
static int state_place(const groups *all, tally_op op, tally_type type) {
    int place = 0;
    while (all->wish->type == TALLY_NATURAL && state_types[place] != type) {
        place++;
    }
    return all->wish->type == TALLY_NATURAL && !defined(all, op, type) && defined(all, op, TALLY_F64) ? STATE_TYPES - 1
                                                                                                      : place;
}

/* type: that of the cell's words. wanted_type: that of the state at `place`. */
static tally_status reduce_words(const groups *all, tally_op op, const cell *at, tally_type type,
                                 tally_type wanted_type, tally_output out) {
    uint64_t words[MOST_WORDS];
    if (type == wanted_type || at->word_count == 0) {
        return tally_reduce(all->context, op, array_of(at->words, at->word_count, wanted_type), out);
    }
    memcpy(words, at->words, at->word_count * sizeof *words);
    convert_words(words, at->word_count, type, wanted_type);
    return tally_reduce(all->context, op, array_of(words, at->word_count, wanted_type), out);
}

static tally_status finish_saved(const groups *all, const saved_state *saved, tally_output out) {
    tally_state *state = NULL;
    tally_status status = tally_state_load(all->context, saved->bytes, saved->size, &state);
    status = status == TALLY_OK ? tally_state_finish(state, out) : status;
    tally_state_close(state);
    return status;
}

static bool refused_group(const groups *all, int64_t group, const table_result *wanted, tally_status status) {
    char name[200];
    const char *key = all->wish->key_count > 0 ? key_text(&all->keys, group) : NULL;
    snprintf(name, sizeof name, key != NULL ? "%.80s of %.80s" : "%.80s", all->wish->values[wanted->column], key);
    return refused_result(status, wanted->op, name);
}

bool finish_group(groups *all, int64_t group, int result, results *made) {
    const table_result *wanted = &all->results[result];
    cell *at = &all->cells[group * all->wish->value_count + wanted->column];
    tally_type type = seen_type(all->wish, at->seen);
    int place = state_place(all, wanted->op, type);
    tally_type reduced = all->wish->type != TALLY_NATURAL ? type : state_types[place];
    *made = (results){.names = {all->wish->values[wanted->column]}};
    if (!fits_a_type(all, at, wanted->column) || (at->saved != NULL && !spill_cell(all, wanted->column, at)) ||
        !make_results(made, all->context, wanted->op, reduced, 1)) {
        return false;
    }
    tally_output out = tally_out(made->data, TALLY_NATURAL, 1);
    tally_status status = at->saved == NULL ? reduce_words(all, wanted->op, at, type, reduced, out)
                                            : finish_saved(all, &at->saved[wanted->rank * STATE_TYPES + place], out);
    if (status == TALLY_EMPTY) {
        made->absent = take_memory(NULL, 1, 1);
        return made->absent != NULL && memset(made->absent, 1, 1) != NULL;
    }
    return status == TALLY_OK || refused_group(all, group, wanted, status);
}

void keep_last_group(groups *all) {
    int columns = all->wish->value_count;
    if (all->count < 2) {
        return;
    }
    for (int64_t k = 0; k < (all->count - 1) * columns; k++) {
        free_cell(all, (int)(k % columns), &all->cells[k]);
    }
    memmove(all->cells, all->cells + (all->count - 1) * columns, (size_t)columns * sizeof *all->cells);
    keep_last_key(&all->keys);
    all->count = 1;
}
