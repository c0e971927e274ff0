/* Fuzz target: segment descriptors. The first bytes choose operator, type, cut and counts, the rest is the index,
 * copied to a block of its exact size so that a read outside it is seen. The backends, and a plan of the cut, must
 * agree on whether the cut is good, and if so on every bit. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/tally.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { VALUES_MOST = 6000, SEGMENTS_MOST = 3000, RESULT_MOST = 48 };

static tally_context *context_with(tally_backend backend, int threads) {
    tally_context *context = NULL;
    tally_options options = TALLY_OPTIONS_INIT;
    options.backend = backend;
    options.threads = threads;
    if (tally_context_create(NULL, &context) != TALLY_OK || tally_set_options(context, &options) != TALLY_OK) abort();
    return context;
}

/* The cut that the bytes describe, its index in *index. */
static tally_segments cut_from(const uint8_t *choice, const uint8_t *bytes, size_t size, int64_t values, void **index) {
    tally_segments cut = {0};
    size_t width = choice[3] & 1 ? 8 : 4;
    int64_t entries = (int64_t)(size / width);
    *index = NULL;
    cut.kind = (tally_segmentation)(choice[2] % 4);
    cut.index_type = width == 8 ? TALLY_I64 : TALLY_I32;
    cut.count = cut.kind == TALLY_SEGMENT_IDS ? (choice[3] >> 1) * 8 : entries - (cut.kind == TALLY_OFFSETS);
    if (cut.kind == TALLY_ROWS) {
        cut.count = choice[3];
        cut.length = size > 0 ? bytes[0] : 0;
        cut.inner = size > 1 ? bytes[1] % 32 : 1;
        return cut;
    }
    if (cut.count > SEGMENTS_MOST) cut.count = SEGMENTS_MOST;
    if (cut.kind == TALLY_SEGMENT_IDS && entries < values) cut.count = -1; /* too few segment ids to read */
    *index = malloc(size ? size : 1);
    if (*index == NULL) abort();
    memcpy(*index, bytes, size);
    cut.index = *index;
    return cut;
}

/* By a plan of the cut; where there is none, the reason. */
static tally_status reduce_by_plan(tally_context *context, tally_op op, tally_array in, tally_segments cut,
                                   tally_output out) {
    tally_plan *plan;
    tally_status status = tally_plan_open(context, in.type, in.count, cut, &plan);
    if (status == TALLY_OK) status = tally_reduce_segments(context, op, in, tally_planned(plan), out);
    tally_plan_close(plan);
    return status;
}

static void compare(const char *by, tally_status status, tally_status expected, const void *fast, const void *slow,
                    size_t bytes) {
    if (status != expected) {
        fprintf(stderr, "fuzz_segments: %s says %s, the reference %s\n", by, tally_status_name(status),
                tally_status_name(expected));
        abort();
    }
    if (status == TALLY_OK && memcmp(fast, slow, bytes) != 0) {
        fprintf(stderr, "fuzz_segments: the results by %s differ\n", by);
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static tally_context *cpu, *reference;
    static uint64_t values[VALUES_MOST];
    static unsigned char fast[SEGMENTS_MOST * 32 * RESULT_MOST], slow[SEGMENTS_MOST * 32 * RESULT_MOST];
    if (cpu == NULL) {
        cpu = context_with(TALLY_BACKEND_CPU, 3);
        reference = context_with(TALLY_BACKEND_REFERENCE, 1);
        for (size_t i = 0; i < VALUES_MOST; i++) values[i] = 0x9e3779b97f4a7c15u * (i + 1);
    }
    if (size < 6) return 0;
    tally_op op = data[0] % TALLY_OP_END;
    tally_type type = (tally_type)(1 + data[1] % (TALLY_STRUCT - 1));
    int64_t count = (data[4] | data[5] << 8) % VALUES_MOST;
    size_t bytes = 0;
    void *index;
    if (tally_result_type(NULL, op, type, NULL, &bytes) != TALLY_OK || tally_op_inputs(op) != 1) return 0;
    tally_segments cut = cut_from(data, data + 6, size - 6, count, &index);
    tally_array in = tally_in(values, type, count);
    tally_output out = tally_out(fast, TALLY_NATURAL, SEGMENTS_MOST * 32);
    memset(fast, 0, sizeof fast);
    memset(slow, 0, sizeof slow);
    tally_status status = tally_reduce_segments(cpu, op, in, cut, out);
    out.data = slow;
    tally_status expected = tally_reduce_segments(reference, op, in, cut, out);
    compare("the cpu", status, expected, fast, slow, sizeof fast);
    memset(fast, 0, sizeof fast);
    out.data = fast;
    compare("a plan", reduce_by_plan(cpu, op, in, cut, out), expected, fast, slow, sizeof fast);
    free(index);
    return 0;
}
