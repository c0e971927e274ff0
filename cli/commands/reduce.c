#include "commands/reduce.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/complain.h"
#include "formats/numbers.h"
#include "base/progress.h"
#include "formats/text.h"
#include "commands/merge.h"

static bool is_made_of_sums(tally_op op) {
    switch (op) {
#define TALLY_ROW(id, kernel, last) case TALLY_##id:
        TALLY_EXACT_SUMS(TALLY_ROW)
#undef TALLY_ROW
        return true;
    default: return false;
    }
}

bool order_shows(const tally_context *context, tally_op op, tally_type type) {
    if (type_class(type) == TALLY_CLASS_FLOAT && is_made_of_sums(op) &&
        tally_get_options(context).accuracy != TALLY_FAST) {
        return false; /* exact */
    }
    switch (op) {
#define TALLY_ROW(id, name, kernel, inputs, on, gives, order, empty, nans, what) \
    case TALLY_##id:                                                             \
        return gives == TALLY_GIVES_INDEX || order == TALLY_ORDER_FIXED ||       \
               (order == TALLY_ORDER_FREE_INTS && type_class(type) == TALLY_CLASS_FLOAT);
        TALLY_OPERATORS(TALLY_ROW)
#undef TALLY_ROW
    default: return true;
    }
}

static bool defined(tally_context *context, tally_op op, tally_type type) {
    return tally_result_type(context, op, type, NULL, NULL) == TALLY_OK;
}

/* ---- loading ---- */

/* The values of a text in memory become those of a type that holds them too. */
static void turn_text(input *in, tally_array *array, tally_type type) {
    text_convert(in->owned, type, in->owned, array->type, (size_t)array->count, in->zeros);
    array->type = type;
}

bool load_input(tally_context *context, tally_op op, input *in, tally_array *array) {
    if (in->form != FORM_TEXT) {
        return load_values(in, array);
    }
    if (!load_series(in, array)) {
        return false;
    }
    if (in->wanted == TALLY_NATURAL && !defined(context, op, array->type) && defined(context, op, TALLY_F64)) {
        turn_text(in, array, TALLY_F64);
    }
    return true;
}

static bool same_length(const input *left, const input *right, int64_t left_count, int64_t right_count) {
    return left_count == right_count ||
           complain(left->name, "it has %" PRId64 " values, %s has %" PRId64 "; both must have as many", left_count,
                    right->name, right_count);
}

static bool same_type(const input *left, const input *right, tally_type left_type, tally_type right_type) {
    return left_type == right_type || complain(left->name, "it holds %s, %s holds %s; both must hold the same type",
                                               type_name(left_type), right->name, type_name(right_type));
}

/* Text whose type is free takes that of an input that has one. */
static void follow_type(input *text, const input *other) {
    if (text->form == FORM_TEXT && text->wanted == TALLY_NATURAL) {
        text->wanted = other->form == FORM_TEXT ? other->wanted : other->layout.type;
    }
}

static bool any_negative(const tally_array *integers) {
    const int64_t *values = integers->data;
    for (int64_t k = 0; k < integers->count; k++) {
        if (values[k] < 0) {
            return true;
        }
    }
    return false;
}

/* The type that holds the values of two texts as one text would have it; NATURAL: there is none. */
static tally_type common_type(const tally_array arrays[2]) {
    if (arrays[0].type == arrays[1].type) {
        return arrays[0].type;
    }
    if (arrays[0].type == TALLY_F64 || arrays[1].type == TALLY_F64) {
        return TALLY_F64;
    }
    return any_negative(&arrays[arrays[0].type == TALLY_I64 ? 0 : 1]) ? TALLY_NATURAL : TALLY_U64;
}

/* Two texts of different found types become what holds both. */
static bool level_types(input *left, input *right, tally_array arrays[2]) {
    bool found = left->form == FORM_TEXT && right->form == FORM_TEXT && left->wanted == TALLY_NATURAL;
    if (!found) {
        return same_type(left, right, arrays[0].type, arrays[1].type);
    }
    tally_type common = common_type(arrays);
    if (common == TALLY_NATURAL) {
        return complain(left->name,
                        "its integers and those of %s fit no 64-bit type together; --type f64 reads them "
                        "as floats",
                        right->name);
    }
    turn_text(left, &arrays[0], common);
    turn_text(right, &arrays[1], common);
    return true;
}

bool load_pair(tally_context *context, tally_op op, input *left, input *right, tally_array arrays[2]) {
    follow_type(left, right);
    follow_type(right, left);
    return load_input(context, op, left, &arrays[0]) && load_input(context, op, right, &arrays[1]) &&
           level_types(left, right, arrays) && same_length(left, right, arrays[0].count, arrays[1].count);
}

/* ---- states ---- */

static bool refused(const char *name) { return complain(name, "%s", tally_message()); }

bool refused_result(tally_status status, tally_op op, const char *name) {
    if (status != TALLY_OVERFLOW) {
        return refused(name);
    }
    return complain(name, "the exact %s does not fit 64 bits; --overflow wrap gives it modulo 2^64",
                    op == TALLY_STATS ? "sum" : tally_op_name(op));
}

/* Opens a state that is fed block after block. One thread reduces a block faster than a pipe, a disk or the text reader
 * brings the next; more would spin in between and take the processor from whoever writes the pipe (measured: eight
 * times slower on two busy cores). A number of threads that the user gave is kept. */
static tally_status open_fed_state(tally_context *context, tally_op op, tally_type type, int64_t first,
                                   tally_state **state) {
    tally_options kept = tally_get_options(context), fed = kept;
    fed.threads = kept.threads == 0 ? 1 : kept.threads;
    tally_status status = tally_set_options(context, &fed);
    if (status == TALLY_OK) {
        status = tally_state_open(context, op, type, first, state);
        tally_status restored = tally_set_options(context, &kept);
        status = status == TALLY_OK ? restored : status;
    }
    return status;
}

/* Room for the one result of `count` values. */
static bool make_whole(tally_context *context, tally_op op, tally_type type, int64_t count, results *made) {
    if (!make_results(made, context, op, type, 1)) {
        return false;
    }
    made->values = count;
    made->whole = true;
    return true;
}

static bool finalize(const tally_context *context, tally_status status, const results *made, const char *name) {
    if (status == TALLY_EMPTY) {
        bool skip = tally_get_options(context).nan == TALLY_NAN_SKIP && made->values > 0;
        return complain(name, "there is no value%s, and %s of nothing is not defined", skip ? " but NaN" : "",
                        tally_op_name(made->op));
    }
    return status == TALLY_OK || refused_result(status, made->op, name);
}

bool finish_state(tally_context *context, const tally_state *state, results *made) {
    if (made->save != NULL) {
        return save_state(state, made->save);
    }
    return make_whole(context, tally_state_op(state), tally_state_type(state), tally_state_count(state), made) &&
           finalize(context, tally_state_finish(state, tally_out(made->data, TALLY_NATURAL, 1)), made, made->names[0]);
}

static bool push_values(tally_state *state, input *in) {
    tally_array values;
    do {
        if (!next_values(in, block_values(in), &values)) {
            return false;
        }
        if (values.count > 0 && tally_state_push(state, values) != TALLY_OK) {
            return refused(in->name);
        }
    } while (values.count > 0);
    return true;
}

static bool push_pairs(tally_state *state, input *left, input *right) {
    int64_t most = block_values(left) < block_values(right) ? block_values(left) : block_values(right);
    tally_array values[2];
    do {
        if (!next_values(left, most, &values[0]) || !next_values(right, most, &values[1])) {
            return false;
        }
        if (values[0].count != values[1].count) {
            return complain(left->name, "it has another number of values than %s; both must have as many", right->name);
        }
        if (values[0].count > 0 && tally_state_push_pair(state, values[0], values[1]) != TALLY_OK) {
            return refused(left->name);
        }
    } while (values[0].count > 0);
    return true;
}

static bool reduce_values(tally_context *context, tally_op op, input *left, input *right, results *made) {
    tally_state *state = NULL;
    tally_type type = left->layout.type;
    if (right != NULL) {
        if (!same_type(left, right, type, right->layout.type)) {
            return false;
        }
        if (left->layout.count >= 0 && right->layout.count >= 0 &&
            !same_length(left, right, left->layout.count, right->layout.count)) {
            return false;
        }
    } else {
        left->in_memory_order = !order_shows(context, op, type);
    }
    bool fed = !values_at_hand(left) || (right != NULL && !values_at_hand(right));
    tally_status opened = fed ? open_fed_state(context, op, type, made->first, &state)
                              : tally_state_open(context, op, type, made->first, &state);
    if (opened != TALLY_OK) {
        return refused(left->name);
    }
    bool done = right != NULL ? push_pairs(state, left, right) : push_values(state, left);
    done = done && finish_state(context, state, made);
    tally_state_close(state);
    return done;
}

/* ---- in memory ---- */

static bool save_pair(tally_context *context, tally_op op, const tally_array arrays[2], results *made) {
    tally_state *state = NULL;
    bool done = tally_state_open(context, op, arrays[0].type, made->first, &state) == TALLY_OK &&
                tally_state_push_pair(state, arrays[0], arrays[1]) == TALLY_OK;
    done = done ? finish_state(context, state, made) : refused(made->names[0]);
    tally_state_close(state);
    return done;
}

static bool reduce_loaded_pair(tally_context *context, tally_op op, input *left, input *right, results *made) {
    tally_array arrays[2];
    if (made->save != NULL) {
        return load_pair(context, op, left, right, arrays) && save_pair(context, op, arrays, made);
    }
    return load_pair(context, op, left, right, arrays) &&
           make_whole(context, op, arrays[0].type, arrays[0].count, made) &&
           finalize(context,
                    tally_reduce_pair(context, op, arrays[0], arrays[1], tally_out(made->data, TALLY_NATURAL, 1)), made,
                    left->name);
}

static bool reduce_loaded(tally_context *context, tally_op op, input *in, results *made) {
    tally_array array;
    in->in_memory_order = in->form != FORM_TEXT && !order_shows(context, op, in->layout.type);
    return load_input(context, op, in, &array) && make_whole(context, op, array.type, array.count, made) &&
           finalize(context, tally_reduce(context, op, array, tally_out(made->data, TALLY_NATURAL, 1)), made, in->name);
}

/* States are the CPU's: what is asked of a GPU is brought into memory whole. */
static bool is_for_gpu(const tally_context *context) {
    tally_backend backend = tally_get_options(context).backend;
    return backend == TALLY_BACKEND_CUDA || backend == TALLY_BACKEND_SIMT;
}

/* ---- text ---- */

/* The type of text is known only at its end. One state for each type it may turn out to have reads along, so that one
 * pass does, of a pipe as of a file; a state is dropped as soon as a number rules its type out. Parsing takes far
 * longer than the states do. */
enum { FOUND_TYPES = 3 };
static const tally_type found_types[FOUND_TYPES] = {TALLY_I64, TALLY_U64, TALLY_F64};

typedef struct contest {
    const char *name;
    int count; /* 1: the type was given */
    tally_type types[FOUND_TYPES];
    tally_state *states[FOUND_TYPES]; /* NULL: ruled out, or the operator does not take the type */
    uint64_t *converted;
    size_t capacity;
} contest;

static bool rules_out_u64(const text_run *run, const void *values) {
    const int64_t *integers = values;
    for (size_t k = 0; run->type == TALLY_I64 && k < run->count; k++) {
        if (integers[k] < 0) {
            return true;
        }
    }
    return false;
}

static int rank_of(const contest *c, tally_type type) {
    int rank = 0;
    while (rank + 1 < c->count && c->types[rank] != type) {
        rank++;
    }
    return rank;
}

static void drop(contest *c, int rank) {
    tally_state_close(c->states[rank]);
    c->states[rank] = NULL;
}

static bool push_run(contest *c, int rank, const text_run *run, const void *values) {
    tally_type type = c->types[rank];
    if (type != run->type) {
        if (run->count > c->capacity) {
            free(c->converted);
            c->capacity = run->count;
            c->converted = take_memory(c->name, (int64_t)c->capacity, sizeof *c->converted);
        }
        if (c->converted == NULL) {
            return false;
        }
        text_convert(c->converted, type, values, run->type, run->count, run->zeros);
        values = c->converted;
    }
    tally_array array = tally_in(values, type, (int64_t)run->count);
    return tally_state_push(c->states[rank], array) == TALLY_OK || refused(c->name);
}

static bool take_run(void *taker, const text_run *run, const void *values) {
    contest *c = taker;
    int first = rank_of(c, run->type);
    for (int rank = 0; rank < c->count; rank++) {
        bool out = rank < first || (c->types[rank] == TALLY_U64 && c->count > 1 && rules_out_u64(run, values));
        if (out) {
            drop(c, rank);
        } else if (c->states[rank] != NULL && !push_run(c, rank, run, values)) {
            return false;
        }
    }
    return true;
}

static bool open_contest(contest *c, tally_context *context, tally_op op, tally_type wanted, int64_t first) {
    c->count = wanted == TALLY_NATURAL ? FOUND_TYPES : 1;
    bool any = false;
    for (int rank = 0; rank < c->count; rank++) {
        c->types[rank] = wanted == TALLY_NATURAL ? found_types[rank] : wanted;
        tally_status status = open_fed_state(context, op, c->types[rank], first, &c->states[rank]);
        if (status != TALLY_OK) {
            c->states[rank] = NULL;
        }
        any = any || status == TALLY_OK;
    }
    return any || refused(c->name);
}

/* The state of the text's type; where the operator does not take integers, that of f64. */
static bool finish_contest(contest *c, tally_context *context, tally_op op, tally_type type, results *made) {
    int rank = rank_of(c, type);
    while (rank + 1 < c->count && c->states[rank] == NULL) {
        rank++;
    }
    if (c->states[rank] == NULL) {
        return tally_result_type(context, op, type, NULL, NULL) != TALLY_OK && refused(c->name);
    }
    return finish_state(context, c->states[rank], made);
}

static bool reduce_text(tally_context *context, tally_op op, input *in, results *made) {
    contest c = {.name = in->name};
    tally_type type;
    bool done = open_contest(&c, context, op, in->wanted, made->first) && read_series(in, take_run, &c, &type) &&
                finish_contest(&c, context, op, type, made);
    for (int rank = 0; rank < FOUND_TYPES; rank++) {
        drop(&c, rank);
    }
    free(c.converted);
    return done;
}

bool reduce_whole(tally_context *context, tally_op op, input *left, input *right, results *made) {
    start_progress(left->file_bytes);
    bool done;
    if (right != NULL && (is_for_gpu(context) || left->form == FORM_TEXT || right->form == FORM_TEXT)) {
        done = reduce_loaded_pair(context, op, left, right, made);
    } else if (is_for_gpu(context)) {
        done = reduce_loaded(context, op, left, made);
    } else if (left->form == FORM_TEXT) {
        done = reduce_text(context, op, left, made);
    } else {
        done = reduce_values(context, op, left, right, made);
    }
    end_progress();
    return done;
}
