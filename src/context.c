/* Contexts: options, memory, and the caller's own operators. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

static void *allocate_plain(size_t bytes, void *user) {
    (void)user;
    return malloc(bytes);
}
static void release_plain(void *memory, void *user) {
    (void)user;
    free(memory);
}

static const tally_context process_context = {TALLY_OPTIONS_INIT, {allocate_plain, release_plain, NULL}, NULL, 0};

const tally_context *tally__context(const tally_context *context) { return context ? context : &process_context; }

tally_status tally_context_create(const tally_allocator *allocator, tally_context **context) {
    tally_context *made;
    TALLY_CHECK(context != NULL, BAD_ARGUMENT, "tally_context_create needs a place for the context");
    *context = NULL;
    if (allocator == NULL) allocator = &process_context.allocator;
    TALLY_CHECK(allocator->allocate != NULL && allocator->release != NULL, BAD_ARGUMENT,
                "an allocator needs both allocate and release");
    made = tally__allocate(allocator, sizeof *made);
    TALLY_CHECK(made != NULL, NO_MEMORY, "no memory for a context of %zu bytes", sizeof *made);
    *made = process_context;
    made->allocator = *allocator;
    *context = made;
    return TALLY_OK;
}

void tally_context_destroy(tally_context *context) {
    tally_allocator allocator;
    if (context == NULL) return;
    allocator = context->allocator;
    tally__forget(context, false);
    for (int i = 0; i < context->user_count; i++) {
        tally__release(&allocator, (void *)(uintptr_t)context->users[i]->definition.text);
        tally__release(&allocator, context->users[i]);
    }
    tally__release(&allocator, context->users);
    tally__release(&allocator, context);
}

tally_status tally_set_options(tally_context *context, const tally_options *options) {
    TALLY_CHECK(context != NULL, BAD_ARGUMENT,
                "the process's own context keeps its defaults: make one with tally_context_create");
    TALLY_CHECK(options != NULL, BAD_ARGUMENT, "options is NULL");
    TALLY_CHECK(options->size == sizeof *options, BAD_ARGUMENT,
                "options.size is %zu where this version has %zu: begin with TALLY_OPTIONS_INIT", options->size,
                sizeof *options);
    TALLY_CHECK((int)options->accuracy >= TALLY_BEST && options->accuracy <= TALLY_EXACT, BAD_ARGUMENT,
                "accuracy %d is not TALLY_BEST, TALLY_FAST or TALLY_EXACT", (int)options->accuracy);
    TALLY_CHECK((int)options->nan >= TALLY_NAN_PROPAGATE && options->nan <= TALLY_NAN_TOTAL, BAD_ARGUMENT,
                "NaN policy %d is not propagate, skip or total", (int)options->nan);
    TALLY_CHECK(options->threads >= 0 && options->threads <= TALLY_MOST_THREADS, BAD_ARGUMENT,
                "threads is %d; it may be 0, the default, or 1 to %d", options->threads, TALLY_MOST_THREADS);
    TALLY_CHECK(options->ddof >= 0 && options->ddof <= TALLY_MOST_DDOF, BAD_ARGUMENT, "ddof is %d; it may be 0 to %d",
                options->ddof, TALLY_MOST_DDOF);
    TALLY_CHECK((int)options->overflow >= TALLY_OVERFLOW_REFUSED && options->overflow <= TALLY_OVERFLOW_WRAPS,
                BAD_ARGUMENT, "overflow %d is not TALLY_OVERFLOW_REFUSED or TALLY_OVERFLOW_WRAPS",
                (int)options->overflow);
    TALLY_CHECK((int)options->backend >= TALLY_BACKEND_AUTO && options->backend <= TALLY_BACKEND_SIMT, BAD_ARGUMENT,
                "backend %d is unknown", (int)options->backend);
    TALLY_CHECK((options->scratch != NULL || options->scratch_bytes == 0) && (uintptr_t)options->scratch % 16 == 0,
                BAD_ARGUMENT, "scratch is NULL with scratch_bytes of %zu, or does not begin at a multiple of 16",
                options->scratch_bytes);
    TALLY_CHECK(options->checked == 0 || options->checked == 1, BAD_ARGUMENT, "checked is %d, not 0 or 1",
                options->checked);
    TALLY_CHECK(options->device >= 0, BAD_ARGUMENT, "device is %d: GPUs are counted from 0", options->device);
    tally__forget(context, true); /* the old scratch memory: the caller may free it now */
    context->options = *options;
    return TALLY_OK;
}

tally_options tally_get_options(const tally_context *context) { return tally__context(context)->options; }
