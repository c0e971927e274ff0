#include "commands/gpu.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/complain.h"
#include "formats/numbers.h"
#include "output/output.h"

/* ---- words ---- */

bool read_operator(const char *word, tally_op *op) {
    *op = tally_op_from_name(word);
    if (*op != TALLY_OP_END) {
        return true;
    }
    const char *nearest = nearest_operator(word);
    return nearest != NULL ? complain(NULL, "there is no operator %s; did you mean %s?", word, nearest)
                           : complain(NULL, "there is no operator %s; tally list names them all", word);
}

bool read_kernel_type(const char *word, tally_type *type) {
    *type = tally_type_from_name(word);
    return *type != TALLY_NATURAL || complain(NULL, "there is no type %s, only " COMMAND_TYPES, word);
}

tally_context *make_context(const tally_options *options) {
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
    bool done =
        status == TALLY_OK ? text != NULL && write_source(text, size - 1, path) : complain(NULL, "%s", tally_message());
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
