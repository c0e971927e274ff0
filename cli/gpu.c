#include "gpu.h"

#include <stdio.h>
#include <stdlib.h>

#include "complain.h"
#include "numbers.h"
#include "output.h"
#include "progress.h"

/* ---- words ---- */

static bool read_operator(const char *word, tally_op *op) {
    *op = tally_op_from_name(word);
    if (*op != TALLY_OP_END) {
        return true;
    }
    const char *nearest = nearest_operator(word);
    return nearest != NULL ? complain(NULL, "there is no operator %s; did you mean %s?", word, nearest)
                           : complain(NULL, "there is no operator %s; tally list names them all", word);
}

static bool read_kernel_type(const char *word, tally_type *type) {
    *type = tally_type_from_name(word);
    return *type != TALLY_NATURAL || complain(NULL, "there is no type %s, only " COMMAND_TYPES, word);
}

static tally_context *make_context(const tally_options *options) {
    tally_context *context = NULL;
    if (tally_context_create(NULL, &context) != TALLY_OK || tally_set_options(context, options) != TALLY_OK) {
        complain(NULL, "%s", tally_message());
        tally_context_destroy(context);
        return NULL;
    }
    return context;
}

bool takes_kernels(const command *wanted) {
    tally_backend backend = wanted->options.backend;
    return (backend != TALLY_BACKEND_CPU && backend != TALLY_BACKEND_REFERENCE) ||
           complain(NULL, "%s: kernels are for GPUs: choose --device cuda or simt", wanted->word);
}

/* ---- emit ---- */

static bool write_source(const char *text, size_t size, const char *path) {
    output out;
    if (!begin_output(&out, path)) {
        return false;
    }
    fwrite(text, 1, size, out.stream);
    return end_output(&out);
}

static bool emit_source(const tally_context *context, tally_op op, tally_type type, const char *path) {
    size_t size = 0;
    tally_status status = tally_emit(context, op, type, NULL, 0, &size);
    char *text = status == TALLY_OK ? take_memory(NULL, (int64_t)size, 1) : NULL;
    if (text != NULL) {
        status = tally_emit(context, op, type, text, size, &size);
    }
    bool done = status == TALLY_OK ? text != NULL && write_source(text, size - 1, path)
                                   : complain(NULL, "%s", tally_message());
    free(text);
    return done;
}

int run_emit(const command *wanted) {
    tally_op op;
    tally_type type;
    if (wanted->file_count != 2) {
        complain(NULL, "emit takes an OPERATOR and a TYPE: tally emit sum f32");
        return STATUS_MISSPELT;
    }
    if (!read_operator(wanted->files[0], &op) || !read_kernel_type(wanted->files[1], &type)) {
        return STATUS_MISSPELT;
    }
    tally_context *context = make_context(&wanted->options);
    bool done = context != NULL && emit_source(context, op, type, wanted->output != NULL ? wanted->output : "-");
    tally_context_destroy(context);
    return done ? STATUS_DONE : STATUS_REFUSED;
}

/* ---- warm ---- */

/* What is to be compiled: everything within these limits that is defined. */
typedef struct range {
    tally_op first_op, end_op;
    tally_type first_type, end_type;
    tally_accuracy first_accuracy, last_accuracy;
    tally_nan first_nan, last_nan;
} range;

static range range_of(const command *wanted, tally_op op, tally_type type) {
    range r = {0,          TALLY_OP_END, TALLY_NATURAL + 1,   TALLY_STRUCT,
               TALLY_BEST, TALLY_FAST,   TALLY_NAN_PROPAGATE, TALLY_NAN_TOTAL};
    if (op != TALLY_OP_END) {
        r.first_op = op;
        r.end_op = op + 1;
    }
    if (type != TALLY_NATURAL) {
        r.first_type = type;
        r.end_type = type + 1;
    }
    if (is_given(wanted, OPTION_ACCURACY)) {
        r.first_accuracy = r.last_accuracy = wanted->options.accuracy;
    }
    if (is_given(wanted, OPTION_NAN)) {
        r.first_nan = r.last_nan = wanted->options.nan;
    }
    return r;
}

/* Operators may share a kernel: what is ready takes no time. */
static bool warm_one(tally_context *context, tally_op op, tally_type type, bool only_counts, int64_t *count) {
    if (tally_result_type(context, op, type, NULL, NULL) != TALLY_OK) {
        return true; /* it is not defined */
    }
    ++*count;
    if (only_counts) {
        return true;
    }
    if (tally_warm(context, op, type) != TALLY_OK) {
        return complain(NULL, "%s of %s: %s", tally_op_name(op), tally_type_name(type), tally_message());
    }
    advance_progress(1);
    return true;
}

/* Accuracy and NaNs are for floats: others are taken once. */
static bool warm_types(tally_context *context, const range *r, bool is_first, bool only_counts, int64_t *count) {
    for (tally_op op = r->first_op; op < r->end_op; op++) {
        for (int type = (int)r->first_type; type < (int)r->end_type; type++) {
            if ((is_first || type_class((tally_type)type) == TALLY_CLASS_FLOAT) &&
                !warm_one(context, op, (tally_type)type, only_counts, count)) {
                return false;
            }
        }
    }
    return true;
}

static bool warm_range(tally_context *context, const command *wanted, const range *r, bool only_counts,
                       int64_t *count) {
    tally_options options = wanted->options;
    for (int accuracy = (int)r->first_accuracy; accuracy <= (int)r->last_accuracy; accuracy++) {
        for (int nan = (int)r->first_nan; nan <= (int)r->last_nan; nan++) {
            options.accuracy = (tally_accuracy)accuracy;
            options.nan = (tally_nan)nan;
            if (tally_set_options(context, &options) != TALLY_OK) {
                return complain(NULL, "%s", tally_message());
            }
            if (!warm_types(context, r, accuracy == (int)r->first_accuracy && nan == (int)r->first_nan, only_counts,
                            count)) {
                return false;
            }
        }
    }
    return true;
}

static bool warm_all(tally_context *context, const command *wanted, const range *r) {
    int64_t total = 0, done = 0;
    if (!warm_range(context, wanted, r, true, &total)) {
        return false;
    }
    if (total == 0) { /* one operator and type that do not go together: the library has the sentence */
        return complain(NULL, "%s", tally_message());
    }
    if (wanted->options.backend != TALLY_BACKEND_SIMT && tally_cache_folder() == NULL) {
        return complain(NULL, "%s", tally_message());
    }
    start_counting(total, "reductions");
    bool fine = warm_range(context, wanted, r, false, &done);
    end_progress();
    return fine;
}

int run_warm(const command *wanted) {
    tally_op op = TALLY_OP_END;
    tally_type type = TALLY_NATURAL;
    if (wanted->file_count > 2) {
        complain(NULL, "warm takes an OPERATOR and a TYPE at most: tally warm sum f32");
        return STATUS_MISSPELT;
    }
    if (!takes_kernels(wanted) || (wanted->file_count > 0 && !read_operator(wanted->files[0], &op)) ||
        (wanted->file_count > 1 && !read_kernel_type(wanted->files[1], &type))) {
        return STATUS_MISSPELT;
    }
    tally_context *context = make_context(&wanted->options);
    range r = range_of(wanted, op, type);
    bool done = context != NULL && warm_all(context, wanted, &r);
    tally_context_destroy(context);
    return done ? STATUS_DONE : STATUS_REFUSED;
}
