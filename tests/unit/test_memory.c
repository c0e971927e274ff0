/* An allocator that fails at the first, the second, the third ... allocation, for every kind of call: the status is OK
 * or NO_MEMORY, results that are said to be right are right, nothing leaks, and the same context works again
 * afterwards. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "operators.h"
#include "tally/tally_nodes.h"

/* ---- the allocator ---- */

/* Counts of one run; Tally allocates from several threads at once. */
typedef struct bank {
    _Atomic int64_t calls, live, broken;
    int64_t fails_at; /* this allocation fails; -1: none does */
} bank;

enum { MARK = 0x5ca1ab1e, FRONT = 16 };
typedef struct front {
    size_t bytes;
    uint32_t mark;
} front;
_Static_assert(sizeof(front) <= FRONT, "the front of an allocation does not fit");

/* Memory is full of junk when given, and again when taken back. */
static void *bank_allocate(size_t bytes, void *user) {
    bank *b = user;
    char *memory;
    if (b->calls++ == b->fails_at) return NULL;
    memory = malloc(bytes + FRONT);
    if (memory == NULL) return NULL;
    memset(memory, 0xcd, bytes + FRONT);
    *(front *)(void *)memory = (front){bytes, MARK};
    b->live++;
    return memory + FRONT;
}

static void bank_release(void *memory, void *user) {
    bank *b = user;
    front *f;
    if (memory == NULL) return;
    f = (front *)(void *)((char *)memory - FRONT);
    b->broken += f->mark != MARK;
    b->live--;
    f->mark = 0;
    memset(memory, 0xdd, f->bytes);
    free(f);
}

/* ---- the calls ---- */

enum { VALUES = 600000, RESULTS = 40000, STATE_BYTES = 1 << 16 };

/* A call makes what it needs in a context and writes `bytes` bytes of results. */
typedef struct job {
    const char *name;
    tally_status (*run)(tally_context *context, char *out);
    size_t bytes;
    tally_backend backend;
} job;

static tally_array doubles(void) { return tally_in(data_of(TALLY_F64, SMALL_INTEGERS, VALUES), TALLY_F64, VALUES); }
static tally_array apart(void) {
    tally_array in = doubles();
    in.stride = 16;
    in.count = VALUES / 2;
    return in;
}

static tally_status run_reduce(tally_context *context, char *out) {
    return tally_reduce(context, TALLY_SUM, doubles(), tally_out(out, TALLY_F64, 1));
}
static tally_status run_strided(tally_context *context, char *out) {
    return tally_reduce(context, TALLY_VAR, apart(), tally_out(out, TALLY_F64, 1));
}

/* Three segments: one long enough for all threads, between short ones. */
static const int64_t uneven[4] = {0, 10, VALUES / 2, VALUES / 2};

static tally_status run_offsets(tally_context *context, char *out) {
    return tally_reduce_segments(context, TALLY_SUM, doubles(), tally_offsets(uneven, TALLY_I64, 3),
                                 tally_out(out, TALLY_F64, 3));
}
static tally_status run_offsets_strided(tally_context *context, char *out) {
    return tally_reduce_segments(context, TALLY_ARGMAX, apart(), tally_offsets(uneven, TALLY_I64, 2),
                                 tally_out(out, TALLY_I32, 2));
}
static tally_status run_lengths(tally_context *context, char *out) {
    int32_t *lengths = scratch(0, RESULTS * sizeof *lengths);
    for (int i = 0; i < RESULTS; i++) lengths[i] = i % 29;
    return tally_reduce_segments(context, TALLY_SUM, doubles(), tally_lengths(lengths, TALLY_I32, RESULTS),
                                 tally_out(out, TALLY_F64, RESULTS));
}
static tally_status run_segment_ids(tally_context *context, char *out) {
    int32_t *segment_ids = scratch(1, VALUES * sizeof *segment_ids);
    for (int i = 0; i < VALUES; i++) segment_ids[i] = i / 17;
    return tally_reduce_segments(context, TALLY_MAX, doubles(),
                                 tally_segment_ids(segment_ids, TALLY_I32, VALUES / 17 + 1),
                                 tally_out(out, TALLY_F64, VALUES / 17 + 1));
}

static tally_status run_plan(tally_context *context, char *out) {
    int32_t *lengths = scratch(0, RESULTS * sizeof *lengths);
    tally_plan *plan;
    tally_status status;
    for (int i = 0; i < RESULTS; i++) lengths[i] = i % 29;
    status = tally_plan_open(context, TALLY_F64, VALUES, tally_lengths(lengths, TALLY_I32, RESULTS), &plan);
    if (status != TALLY_OK) return status;
    status =
        tally_reduce_segments(context, TALLY_SUM, doubles(), tally_planned(plan), tally_out(out, TALLY_F64, RESULTS));
    tally_plan_close(plan);
    return status;
}

static tally_status run_rows(tally_context *context, int64_t outer, int64_t length, int64_t inner, tally_type type,
                             char *out) {
    return tally_reduce_segments(context, TALLY_SUM, doubles(), tally_rows(outer, length, inner),
                                 tally_out(out, type, outer * inner));
}
static tally_status run_last_axis(tally_context *context, char *out) {
    return run_rows(context, 600, 1000, 1, TALLY_F64, out);
}
static tally_status run_blocks(tally_context *context, char *out) {
    return run_rows(context, 10000, 20, 3, TALLY_F64, out);
}
static tally_status run_panels(tally_context *context, char *out) {
    return run_rows(context, 10, 200, 300, TALLY_F32, out);
}
static tally_status run_long_axis(tally_context *context, char *out) {
    return run_rows(context, 1, VALUES / 2, 2, TALLY_F64, out);
}
static tally_status run_wide_axis(tally_context *context, char *out) {
    return run_rows(context, 2, 7500, 40, TALLY_F64, out);
}

static tally_status run_user(tally_context *context, char *out) {
    tally_op op = 0;
    for (int i = 0; i < 5; i++) {
        tally_operator d = run_operator(TALLY_F64);
        const char *const names[] = {"one", "two", "three", "four", "five"};
        tally_status status;
        d.name = names[i];
        status = tally_define(context, &d, &op);
        if (status != TALLY_OK) return status;
    }
    return tally_reduce(context, op, doubles(), tally_out(out, TALLY_NATURAL, 1));
}

#define TRY(call)                               \
    do {                                        \
        status = (call);                        \
        if (status != TALLY_OK) goto close_all; \
    } while (0)

/* Open, push, merge, save, load, finish. Whatever was opened is closed, also on failure. */
static tally_status run_states(tally_context *context, char *out) {
    tally_state *a = NULL, *b = NULL, *c = NULL;
    tally_array x = doubles(), y = doubles();
    char *saved = scratch(2, STATE_BYTES);
    size_t size;
    tally_status status;
    x.count = 300001, y.count = 5000;
    TRY(tally_state_open(context, TALLY_SUM, TALLY_F64, 0, &a));
    TRY(tally_state_open(context, TALLY_SUM, TALLY_F64, 300001, &b));
    TRY(tally_state_push(a, x));
    TRY(tally_state_push(b, y));
    TRY(tally_state_save(b, saved, STATE_BYTES, &size));
    TRY(tally_state_load(context, saved, size, &c));
    TRY(tally_state_merge(a, c));
    TRY(tally_state_finish(a, tally_out(out, TALLY_F64, 1)));
close_all:
    tally_state_close(a), tally_state_close(b), tally_state_close(c);
    return status;
}

/* Nodes of lengths, counted, merged and finished; what the nodes lie in is this test's. */
static tally_status run_nodes(tally_context *context, char *out) {
    static char nodes[1000 * 24], more[1000 * 24];
    static int32_t few[1000];
    static int64_t counts[1000];
    const tally_segments segments = tally_lengths(few, TALLY_I32, 1000);
    const tally_array in = tally_in(data_of(TALLY_I32, SMALL_INTEGERS, 1000 * 500), TALLY_I32, 1000 * 500);
    int64_t results;
    tally_status status;
    for (int i = 0; i < 1000; i++) few[i] = 500;
    status = tally_reduce_segments_nodes(context, TALLY_SUM, in, segments, nodes, sizeof nodes);
    if (status == TALLY_OK) status = tally_segment_counts(context, in.count, segments, counts, 1000, &results);
    if (status == TALLY_OK) status = tally_reduce_segments_nodes(context, TALLY_SUM, in, segments, more, sizeof more);
    if (status == TALLY_OK) status = tally_merge_nodes(context, TALLY_SUM, TALLY_I32, 1000, nodes, more);
    if (status == TALLY_OK)
        status = tally_finish_nodes(context, TALLY_SUM, TALLY_I32, 1000, nodes, tally_out(out, TALLY_I64, 1000));
    return status;
}

static const job jobs[] = {
    {"reduce", run_reduce, 8, TALLY_BACKEND_CPU},
    {"reduce, strided", run_strided, 8, TALLY_BACKEND_CPU},
    {"offsets", run_offsets, 24, TALLY_BACKEND_CPU},
    {"offsets, strided", run_offsets_strided, 8, TALLY_BACKEND_CPU},
    {"lengths", run_lengths, RESULTS * 8, TALLY_BACKEND_CPU},
    {"segment_ids", run_segment_ids, (VALUES / 17 + 1) * 8, TALLY_BACKEND_CPU},
    {"a plan", run_plan, RESULTS * 8, TALLY_BACKEND_CPU},
    {"rows of the last axis", run_last_axis, 600 * 8, TALLY_BACKEND_CPU},
    {"rows in blocks", run_blocks, 30000 * 8, TALLY_BACKEND_CPU},
    {"rows in panels", run_panels, 3000 * 4, TALLY_BACKEND_CPU},
    {"rows of a long axis", run_long_axis, 16, TALLY_BACKEND_CPU},
    {"rows of a wide axis", run_wide_axis, 80 * 8, TALLY_BACKEND_CPU},
    {"user operators", run_user, sizeof(index_run), TALLY_BACKEND_CPU},
    {"states", run_states, 8, TALLY_BACKEND_CPU},
    {"nodes", run_nodes, 1000 * 8, TALLY_BACKEND_CPU},
    {"the reference's reduce", run_reduce, 8, TALLY_BACKEND_REFERENCE},
    {"the reference's offsets", run_offsets, 24, TALLY_BACKEND_REFERENCE},
    {"the reference's rows", run_panels, 3000 * 4, TALLY_BACKEND_REFERENCE},
    {"the reference's states", run_states, 8, TALLY_BACKEND_REFERENCE},
};
enum { JOBS = sizeof jobs / sizeof *jobs, MOST_OUT = RESULTS * 8 };

/* ---- failing ---- */

static tally_context *open_context(const tally_allocator *allocator, tally_backend backend) {
    tally_context *context = NULL;
    tally_options options = TALLY_OPTIONS_INIT;
    options.threads = 3;
    options.backend = backend;
    if (tally_context_create(allocator, &context) != TALLY_OK) return NULL;
    EXPECT_OK(tally_set_options(context, &options));
    return context;
}

/* Runs the job with the k-th allocation failing; returns whether there was a k-th. */
static bool fail_once(const job *j, int64_t k, const char *wanted) {
    bank b = {.fails_at = k};
    tally_allocator allocator = {bank_allocate, bank_release, &b};
    tally_context *context = open_context(&allocator, j->backend);
    char *out = scratch(4, MOST_OUT);
    int64_t calls = b.calls;
    now.segment = k;
    EXPECT(context != NULL || (k == 0 && tally_message()[0] != '\0'),
           "no context, although its allocation did not fail");
    if (context != NULL) {
        tally_status status = j->run(context, out);
        EXPECT(status == TALLY_OK || status == TALLY_NO_MEMORY, "the status is %s", tally_status_name(status));
        EXPECT(status != TALLY_NO_MEMORY || b.calls > k, "no memory, although no allocation failed");
        if (status == TALLY_OK) EXPECT(memcmp(out, wanted, j->bytes) == 0, "said to be right, but wrong");
        calls = b.calls;
        b.fails_at = -1;
        if (j->run != run_user) { /* which would define its operators a second time */
            EXPECT_OK(j->run(context, out));
            EXPECT(memcmp(out, wanted, j->bytes) == 0, "the same context is wrong afterwards");
        }
        tally_context_destroy(context);
    }
    EXPECT(b.live == 0, "%lld allocations are left", (long long)b.live);
    EXPECT(b.broken == 0, "%lld releases of what was not allocated", (long long)b.broken);
    return calls > k;
}

static void test_each_allocation_fails(void **state) {
    (void)state;
    for (int i = 0; i < JOBS; i++) {
        tally_context *context = open_context(NULL, jobs[i].backend);
        char *wanted = scratch(3, MOST_OUT);
        int64_t k = 0;
        now = (scene){.segments = jobs[i].name, .layout = "the failing allocation is the 'segment'", .threads = 3};
        EXPECT_OK(jobs[i].run(context, wanted));
        tally_context_destroy(context);
        while (fail_once(&jobs[i], k, wanted)) k += k < 40 ? 1 : 397; /* the reference allocates for each row */
        EXPECT(k >= 1, "%s allocates nothing", jobs[i].name);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_allocation_fails)};
    int skipped = begin_program(argc, argv);
    return skipped ? skipped : cmocka_run_group_tests(tests, NULL, NULL);
}
