/* What a call on a GPU may ask for beside the reduction: a result in device memory of any type, scratch memory of the
 * caller's, and states of arrays in device memory; on the simulator, or with --cuda on a GPU. */
#include <string.h>

#include "gpu_host.h"
#include "tally/tally_nodes.h"

static void set_scene_of(const subject *s, data_class class, int64_t size, const char *what) {
    set_scene(s, class, size);
    now.segments = what;
}

static void *address(tally__cu_address a) { return (void *)(uintptr_t)a; }

static tally_options options_of(const subject *s) {
    tally_options options = TALLY_OPTIONS_INIT;
    options.backend = backend;
    options.accuracy = s->accuracy;
    options.nan = s->nan;
    options.ddof = s->ddof;
    return options;
}

/* ---- results of other types ---- */

/* The bits that the CPU writes for each type, whether they fit or not; what cannot be is refused alike. */
static void compare_type(const subject *s, data_class class, int64_t count, tally_type wanted_type,
                         tally__cu_address out) {
    const char *x = data_of(s->type, class, count);
    size_t bytes = 2 * tally_type_size(wanted_type);
    char wanted[16], got[16];
    tally_array host = {x, s->type, count, 0}, in = host;
    tally__cu_address copy = device_copy(x, (size_t)count * tally_type_size(s->type), 0);
    set_scene_of(s, class, count, tally_type_name(wanted_type));
    memset(wanted, 0x5a, sizeof wanted);
    memset(got, 0x5a, sizeof got);
    EXPECT(driver->copy_in(out + 1, got, sizeof got, NULL) == 0 && driver->stream_wait(NULL) == 0, "no copy");
    in.data = address(copy);
    tally_status due = perform(context_for(s, TALLY_BACKEND_CPU, 1), s->op, host, host, NULL,
                               (tally_output){wanted, wanted_type, 1, 0});
    tally_status status =
        perform(context_for(s, backend, 1), s->op, in, in, NULL, (tally_output){address(out + 1), wanted_type, 1, 0});
    if (due == TALLY_BAD_TYPE || count == 0)
        EXPECT(status == due, "status %s where the CPU gives %s", tally_status_name(status), tally_status_name(due));
    else {
        EXPECT_OK(status);
        EXPECT(due == TALLY_OK || due == TALLY_OVERFLOW || due == TALLY_EMPTY, "the CPU gives %s",
               tally_status_name(due));
    }
    device_read(got, out + 1, bytes);
    EXPECT_BITS(got, wanted, bytes, "the result, and what lies behind it");
    driver->release(copy);
}

static void test_types(void **state) {
    subject s = {.op = -1};
    tally__cu_address out;
    (void)state;
    EXPECT(driver->allocate(&out, 64) == 0, "no device memory");
    for (int trial = 0; next_subject(&s); trial++)
        for (tally_type type = TALLY_NATURAL + 1; type < TALLY_STRUCT; type++) {
            int at = trial + (int)type;
            if (at % (quick ? 23 : backend == TALLY_BACKEND_SIMT ? 3 : 1) != 0) continue;
            choose_schedule(at);
            compare_type(&s, (data_class)(at / 3 % DATA_CLASSES), at % 13 == 0 ? 0 : 1 + at % 150, type, out);
        }
    driver->release(out);
}

/* ---- scratch memory of the caller's ---- */

static void reduce_with(tally_context *context, const subject *s, const tally_array *in, const void *x,
                        tally__cu_address out, const char *what) {
    char wanted[64], got[64];
    set_scene_of(s, SMALL_INTEGERS, in->count, what);
    EXPECT_OK(tally_reduce(context_for(s, TALLY_BACKEND_CPU, 1), s->op, (tally_array){x, s->type, in->count, 0},
                           tally_out(wanted, TALLY_NATURAL, 1)));
    EXPECT_OK(tally_reduce(context, s->op, *in, tally_out(address(out), TALLY_NATURAL, 1)));
    device_read(got, out, result_bytes(s));
    EXPECT_BITS(got, wanted, result_bytes(s), "the result");
}

/* Memory full of anything is taken; nothing else is, from the second call of a kernel on, nor anything kept. */
static void test_scratch(void **state) {
    static const subject some[] = {{TALLY_SUM, TALLY_F32, 0, 0, TALLY_FAST},
                                   {TALLY_SUM, TALLY_F64, 0, 0, TALLY_BEST},
                                   {TALLY_STATS, TALLY_F32, 0, 0, TALLY_FAST},
                                   {TALLY_ARGMAX, TALLY_I64, 0, 0, TALLY_BEST}};
    static char dirt[1 << 20];
    tally_context *context = context_of(backend);
    tally__cu_address out;
    (void)state;
    memset(dirt, 0xa7, sizeof dirt);
    EXPECT(driver->allocate(&out, 64) == 0, "no device memory");
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        const subject *s = &some[i];
        int64_t most = tally_leaf_length(s->type) * 8 * 65 + 5;
        const char *x = data_of(s->type, SMALL_INTEGERS, most);
        tally__cu_address copy = device_copy(x, (size_t)most * tally_type_size(s->type), 0), memory;
        tally_options options = options_of(s);
        tally_array in = {address(copy), s->type, most, 0}, small = {address(copy), s->type, 100, 0};
        size_t bytes = 0, least = 0;
        choose_schedule((int)i);
        EXPECT_OK(tally_set_options(context, &options));
        EXPECT_OK(tally_scratch_bytes(context, s->op, s->type, most, &bytes));
        EXPECT_OK(tally_scratch_bytes(context, s->op, s->type, 0, &least));
        EXPECT(least > 0 && bytes >= least && bytes < sizeof dirt, "%zu and %zu bytes", least, bytes);
        memory = device_copy(dirt, bytes, 0);
        options.scratch = address(memory);
        options.scratch_bytes = bytes;
        EXPECT_OK(tally_set_options(context, &options));
        EXPECT_OK(tally_warm(context, s->op, s->type));
        tally__simt_live before = tally__simt_live_now();
        reduce_with(context, s, &small, x, out, "dirty memory");
        for (int64_t n = most; n > most - 3; n--) {
            in.count = n;
            reduce_with(context, s, &in, x, out, "given memory");
        }
        tally__simt_live after = tally__simt_live_now();
        EXPECT(after.allocations == before.allocations && after.streams == before.streams, "the calls took memory");
        /* The caller uses it for something else, says so by setting the options, and gives it back. */
        EXPECT_OK(tally_set_options(context, &options));
        EXPECT(driver->copy_in(memory, dirt, bytes, NULL) == 0 && driver->stream_wait(NULL) == 0, "no copy");
        reduce_with(context, s, &in, x, out, "memory given again");
        in.count = most;
        options.scratch_bytes = least - 1;
        EXPECT_OK(tally_set_options(context, &options));
        EXPECT_STATUS(tally_reduce(context, s->op, small, tally_out(address(out), TALLY_NATURAL, 1)), TALLY_NO_SPACE);
        options.scratch_bytes = least;
        EXPECT_OK(tally_set_options(context, &options));
        reduce_with(context, s, &small, x, out, "as little as can be");
        tally_status status = tally_reduce(context, s->op, in, tally_out(address(out), TALLY_NATURAL, 1));
        EXPECT(status == (bytes == least ? TALLY_OK : TALLY_NO_SPACE), "too little for many tiles gives %s",
               tally_status_name(status));
        options.scratch = dirt; /* the host's */
        options.scratch_bytes = sizeof dirt;
        if (((uintptr_t)dirt & 15) == 0) {
            EXPECT_OK(tally_set_options(context, &options));
            EXPECT_STATUS(tally_reduce(context, s->op, small, tally_out(address(out), TALLY_NATURAL, 1)),
                          TALLY_BAD_ARGUMENT);
        }
        options.scratch = address(memory + 8);
        EXPECT_STATUS(tally_set_options(context, &options), TALLY_BAD_ARGUMENT);
        options.scratch = NULL;
        EXPECT_STATUS(tally_set_options(context, &options), TALLY_BAD_ARGUMENT);
        options.scratch_bytes = 0;
        EXPECT_OK(tally_set_options(context, &options));
        driver->release(memory);
        reduce_with(context, s, &small, x, out, "the context's own again");
        driver->release(copy);
    }
    EXPECT_STATUS(tally_scratch_bytes(context, TALLY_SUM, TALLY_F32, -1, &(size_t){0}), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_scratch_bytes(context, TALLY_SUM, TALLY_F32, 1, NULL), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_scratch_bytes(context, TALLY_XOR, TALLY_F32, 1, &(size_t){0}), TALLY_BAD_TYPE);
    driver->release(out);
    tally_context_destroy(context);
}

/* ---- states ---- */

/* Values in device memory, and the same on the host; two for dot. */
typedef struct arrays {
    tally_array host, x, y;
} arrays;

static tally_status push(tally_state *state, const subject *s, const arrays *a, int64_t from, int64_t count,
                         bool on_host) {
    int64_t bytes = (int64_t)tally_type_size(s->type);
    tally_array x = on_host ? a->host : a->x, y = on_host ? a->host : a->y;
    x.data = (const char *)x.data + from * (x.stride ? x.stride : bytes);
    y.data = (const char *)y.data + from * (y.stride ? y.stride : bytes);
    x.count = y.count = count;
    return tally_op_inputs(s->op) == 2 ? tally_state_push_pair(state, x, y) : tally_state_push(state, x);
}

static void expect_whole(const subject *s, const tally_state *state, const char *wanted, tally_status due) {
    char got[65];
    EXPECT_STATUS(tally_state_finish(state, tally_out(got, TALLY_NATURAL, 1)), due);
    EXPECT_BITS(got, wanted, result_bytes(s), "the state's result");
    memset(got, 0x5a, sizeof got);
    tally__cu_address there = device_copy(got, sizeof got, 1);
    EXPECT_STATUS(tally_state_finish(state, tally_out(address(there + 1), TALLY_NATURAL, 1)), due);
    device_read(got, there + 1, sizeof got);
    EXPECT_BITS(got, wanted, result_bytes(s), "the state's result in device memory");
    EXPECT(got[result_bytes(s)] == 0x5a, "more was written");
    driver->release(there);
}

/* Pushed in pieces with boundaries anywhere, some of them from the host, and merged of two: the bits of the whole. */
static void compare_states(const subject *s, data_class class, int64_t count, int trial, tally_context *context) {
    int64_t bytes = (int64_t)tally_type_size(s->type), stride = trial % 4 == 3 ? 2 * bytes : bytes;
    const char *x = data_of(s->type, class, count);
    char wanted[64], *apart = scratch(2, (size_t)(count * stride) + 1);
    uint64_t random = seed + (uint64_t)trial;
    tally_state *first, *second;
    tally_options options = options_of(s);
    for (int64_t i = 0; i < count; i++) memcpy(apart + i * stride, x + i * bytes, (size_t)bytes);
    tally__cu_address copy = device_copy(apart, (size_t)(count * stride), 0);
    arrays a = {
        {x, s->type, count, 0}, {address(copy), s->type, count, stride}, {address(copy), s->type, count, stride}};
    int64_t middle = random_below(&random, count + 1);
    tally_status due =
        perform(context_for(s, TALLY_BACKEND_CPU, 1), s->op, a.host, a.host, NULL, tally_out(wanted, TALLY_NATURAL, 1));
    EXPECT_OK(tally_set_options(context, &options));
    EXPECT_OK(tally_state_open(context, s->op, s->type, 0, &first));
    EXPECT_OK(tally_state_open(context, s->op, s->type, middle, &second));
    for (int64_t at = 0, n; at < count; at += n) {
        int64_t boundary = at < middle ? middle : count;
        n = 1 + random_below(&random, boundary - at);
        EXPECT_OK(push(at < middle ? first : second, s, &a, at, n, random_below(&random, 3) == 0));
    }
    EXPECT_OK(tally_state_merge(first, second));
    expect_whole(s, first, wanted, due);
    tally_state_close(first);
    tally_state_close(second);
    driver->release(copy);
}

static void test_states(void **state) {
    subject s = {.op = -1};
    tally_context *context = context_of(backend);
    (void)state;
    for (int trial = 0; next_subject(&s); trial++) {
        int64_t count = tally_leaf_length(s.type) * (trial % 5) + 1 + trial % 301;
        data_class class = (data_class)(trial % DATA_CLASSES);
        if (trial % (quick ? 19 : 2) != 0) continue;
        choose_schedule(trial);
        set_scene_of(&s, class, count, "states");
        compare_states(&s, class, count, trial, context);
    }
    tally_context_destroy(context);
}

/* A push that fails midway leaves the state as it was. */
static void test_failing_pushes(void **state) {
    static const subject some[] = {{TALLY_SUM, TALLY_F32, 0, 0, TALLY_FAST}, {TALLY_SUM, TALLY_F64, 0, 0, TALLY_BEST}};
    (void)state;
    if (backend != TALLY_BACKEND_SIMT) return;
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        const subject *s = &some[i];
        int64_t count = tally_leaf_length(s->type) * 5 + 77;
        const char *x = data_of(s->type, SMALL_INTEGERS, count);
        tally__cu_address copy = device_copy(x, (size_t)count * tally_type_size(s->type), 0);
        arrays a = {{x, s->type, count, 0}, {address(copy), s->type, count, 0}, {address(copy), s->type, count, 0}};
        tally_context *context = context_of(backend);
        tally_options options = options_of(s);
        char begun[64], wanted[64];
        bool done = false;
        int failed = 0;
        set_scene_of(s, SMALL_INTEGERS, count, "failing pushes");
        EXPECT_OK(tally_set_options(context, &options));
        a.host.count = 100;
        EXPECT_OK(
            tally_reduce(context_for(s, TALLY_BACKEND_CPU, 1), s->op, a.host, tally_out(begun, TALLY_NATURAL, 1)));
        a.host.count = count;
        EXPECT_OK(
            tally_reduce(context_for(s, TALLY_BACKEND_CPU, 1), s->op, a.host, tally_out(wanted, TALLY_NATURAL, 1)));
        for (int n = 1; !done && n < 500; n++) {
            tally_state *pushed;
            EXPECT_OK(tally_state_open(context, s->op, s->type, 0, &pushed));
            EXPECT_OK(push(pushed, s, &a, 0, 100, true));
            int64_t before = tally__simt_calls();
            tally__simt_fail_call(n);
            tally_status status = push(pushed, s, &a, 100, count - 100, false);
            done = tally__simt_calls() - before < n;
            tally__simt_fail_call(0);
            failed += status != TALLY_OK;
            EXPECT(status == TALLY_OK || (tally_message()[0] != '\0' && tally_state_count(pushed) == 100),
                   "call %d gave %s and %lld values", n, tally_status_name(status),
                   (long long)tally_state_count(pushed));
            if (status != TALLY_OK) {
                expect_whole(s, pushed, begun, TALLY_OK);
                EXPECT_OK(push(pushed, s, &a, 100, count - 100, false));
            }
            expect_whole(s, pushed, wanted, TALLY_OK);
            tally_state_close(pushed);
        }
        EXPECT(done && failed > 3, "%d calls failed", failed);
        tally_context_destroy(context);
        driver->release(copy);
    }
}

/* Where order shows: states of segments that lie on a GPU. */
static void test_states_of_segments(void **state) {
    enum { COUNT = 3000, SEGMENTS = 3 };
    const int64_t offsets[SEGMENTS + 1] = {0, 1500, 1501, COUNT};
    const float *x = data_of(TALLY_F32, CANCELLATION, COUNT);
    float got, wanted[SEGMENTS];
    const tally_segments segments = tally_offsets(offsets, TALLY_I64, SEGMENTS);
    tally_context *context = context_of(backend);
    tally__cu_address far_x = device_copy(x, COUNT * sizeof *x, 0), index = device_copy(offsets, sizeof offsets, 0);
    const tally_segments segmentations[] = {segments, tally_offsets(address(index), TALLY_I64, SEGMENTS)};
    tally_state *states[SEGMENTS];
    (void)state;
    EXPECT_OK(tally_reduce_segments(NULL, TALLY_PROD, tally_in(x, TALLY_F32, COUNT), segments,
                                    tally_out(wanted, TALLY_F32, SEGMENTS)));
    for (int c = 0; c < 2; c++) {
        for (int s = 0; s < SEGMENTS; s++) EXPECT_OK(tally_state_open(context, TALLY_PROD, TALLY_F32, 0, &states[s]));
        EXPECT_OK(tally_push_segments(context, TALLY_PROD, tally_in(address(far_x), TALLY_F32, COUNT), segmentations[c],
                                      states, SEGMENTS));
        for (int s = 0; s < SEGMENTS; s++) {
            EXPECT_OK(tally_state_finish(states[s], tally_out(&got, TALLY_F32, 1)));
            EXPECT_BITS(&got, &wanted[s], sizeof got, "a state of a GPU's segment");
            tally_state_close(states[s]);
        }
    }
    driver->release(index);
    driver->release(far_x);
    tally_context_destroy(context);
}

static void test_refusals(void **state) {
    subject s = {TALLY_DOT, TALLY_F32, 0, 0, TALLY_FAST};
    tally_context *context = context_of(backend);
    float x[4] = {1, 2, 3, 4};
    tally__cu_address copy = device_copy(x, sizeof x, 0);
    tally_state *opened;
    (void)state;
    set_scene_of(&s, SMALL_INTEGERS, 4, "refusals");
    EXPECT_OK(tally_state_open(context, TALLY_DOT, TALLY_F32, 0, &opened));
    EXPECT_STATUS(tally_state_push_pair(opened, tally_in(address(copy), TALLY_F32, 4), tally_in(x, TALLY_F32, 4)),
                  TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_state_push_pair(opened, tally_in(x, TALLY_F32, 4), tally_in(address(copy), TALLY_F32, 4)),
                  TALLY_BAD_ARGUMENT);
    EXPECT(tally_state_count(opened) == 0, "something was pushed");
    tally_state_close(opened);
    driver->release(copy);
    tally_context_destroy(context);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_scratch),
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_failing_pushes),
        cmocka_unit_test(test_states_of_segments),
        cmocka_unit_test(test_refusals),
    };
    int skipped = begin_gpu_program(argc, argv);
    if (skipped) return skipped;
    compile_kernels(TALLY_OF_ARRAYS);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
