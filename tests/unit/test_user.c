/* Operators of the caller's own: results against plain loops, the promises made to callbacks, and definitions that are
 * refused. */
#include <string.h>

#include "operators.h"

enum { VALUES = 0, OUT = 1, INDEX = 2, SPARE = 3 };

static tally_context *context_of(int threads, tally_backend backend) {
    tally_context *context;
    tally_options options = TALLY_OPTIONS_INIT;
    options.threads = threads;
    options.backend = backend;
    EXPECT_OK(tally_context_create(NULL, &context));
    EXPECT_OK(tally_set_options(context, &options));
    return context;
}

static char *random_values(size_t bytes) {
    char *values = scratch(VALUES, bytes + 8);
    uint64_t random = seed;
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t r = next_random(&random);
        memcpy(values + i, &r, 8);
    }
    return values;
}

/* ---- the operators on runs, against loops ---- */

static const int64_t sizes[] = {0,  1,   2,   6,   7,   8,   9,   49,   50,   63,   64,
                                65, 127, 448, 449, 511, 512, 513, 1025, 3000, 9001, 140001};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void check_squares(tally_context *context, size_t bytes, const char *values, int64_t n, tally_op op) {
    tally_array in = {values, TALLY_STRUCT, n, 0};
    int64_t wanted = 0, got;
    tally_output out = tally_out(&got, TALLY_NATURAL, 1);
    for (int64_t i = 0; i < n; i++) {
        int64_t v = integer_of(values + (size_t)i * bytes, bytes);
        wanted -= v * v; /* finish negates */
    }
    now.size = n;
    EXPECT_OK(tally_reduce(context, op, in, out));
    EXPECT(got == wanted, "struct of %zu bytes: %lld where %lld was due", bytes, (long long)got, (long long)wanted);
    in.stride = -(int64_t)bytes; /* commutes: backwards is the same */
    if (n > 0) in.data = values + (size_t)(n - 1) * bytes;
    EXPECT_OK(tally_reduce(context, op, in, out));
    EXPECT(got == wanted, "struct of %zu bytes backwards: %lld where %lld was due", bytes, (long long)got,
           (long long)wanted);
}

static void test_struct_sizes(void **state) {
    char *values = random_values(64 * 10000 + 1) + 1;
    (void)state;
    for (size_t bytes = 1; bytes <= 64; bytes++) {
        tally_context *context = context_of(1 + (int)bytes % 3, TALLY_BACKEND_CPU);
        tally_op op = define(context, squares_operator(bytes));
        for (int i = 0; i < SIZES && sizes[i] < 10000; i++) check_squares(context, bytes, values, sizes[i], op);
        tally_context_destroy(context);
    }
    assert_int_equal(broken_promises, 0);
}

static int32_t affine_by_loop(const affine *maps, int64_t n, int64_t step) {
    affine all = {1, 0};
    for (int64_t i = 0; i < n; i++) all = compose(all, maps[i * step]);
    return (int32_t)((all.a + all.b) % AFFINE_PRIME);
}

static const affine *affine_values(int64_t n) {
    affine *maps = (affine *)(void *)random_values((size_t)n * sizeof *maps);
    for (int64_t i = 0; i < n; i++) maps[i] = (affine){maps[i].a % AFFINE_PRIME, maps[i].b % AFFINE_PRIME};
    return maps;
}

static void test_order_is_kept(void **state) {
    (void)state;
    for (int threads = 1; threads <= 5; threads += 2)
        for (int backend = TALLY_BACKEND_CPU; backend <= TALLY_BACKEND_REFERENCE; backend++) {
            tally_context *context = context_of(threads, (tally_backend)backend);
            tally_op op = define(context, affine_operator());
            for (int i = 0; i < SIZES; i++) {
                const affine *maps = affine_values(sizes[i]);
                tally_array in = {maps, TALLY_STRUCT, sizes[i], 0};
                int32_t got, wanted = affine_by_loop(maps, sizes[i], 1);
                now.size = sizes[i];
                EXPECT_OK(tally_reduce(context, op, in, tally_out(&got, TALLY_I32, 1)));
                EXPECT(got == wanted, "%d maps compose to %d, not %d", (int)sizes[i], got, wanted);
            }
            tally_context_destroy(context);
        }
    assert_int_equal(broken_promises, 0);
}

/* ---- segmentations ---- */

static void expect_runs(const index_run *got, const int64_t *lengths, int64_t count, const char *segments) {
    for (int64_t s = 0; s < count; s++) {
        int64_t first = lengths[s] ? 0 : -1, last = lengths[s] - 1;
        EXPECT(got[s].whole == 1 && got[s].first == first && got[s].last == last,
               "%s, segment %lld of %lld values: indices %lld to %lld, whole %lld", segments, (long long)s,
               (long long)lengths[s], (long long)got[s].first, (long long)got[s].last, (long long)got[s].whole);
    }
}

/* Each segment's indices begin at 0, whatever the segmentation and the stride; callbacks see every index once and in
 * order. */
static void test_indices(void **state) {
    enum { SEGMENTS = 600 };
    int64_t lengths[SEGMENTS], offsets[SEGMENTS + 1] = {0}, *segment_ids;
    index_run *got = scratch(OUT, SEGMENTS * sizeof *got);
    uint64_t random = seed;
    (void)state;
    for (int64_t s = 0; s < SEGMENTS; s++) {
        lengths[s] = s % 97 == 0 ? 5000 : random_below(&random, s % 5 ? 12 : 130);
        offsets[s + 1] = offsets[s] + lengths[s];
    }
    segment_ids = scratch(INDEX, (size_t)offsets[SEGMENTS] * sizeof *segment_ids);
    for (int64_t s = 0; s < SEGMENTS; s++)
        for (int64_t i = offsets[s]; i < offsets[s + 1]; i++) segment_ids[i] = s;
    for (int apart = 0; apart < 2; apart++) {
        tally_context *context = context_of(3, TALLY_BACKEND_CPU);
        tally_op op = define(context, run_operator(TALLY_F64));
        tally_array in = {random_values((size_t)offsets[SEGMENTS] * 16), TALLY_F64, offsets[SEGMENTS], apart ? 16 : 0};
        tally_output out = {got, TALLY_NATURAL, SEGMENTS, 0};
        EXPECT_OK(tally_reduce_segments(context, op, in, tally_offsets(offsets, TALLY_I64, SEGMENTS), out));
        expect_runs(got, lengths, SEGMENTS, "offsets");
        EXPECT_OK(tally_reduce_segments(context, op, in, tally_lengths(lengths, TALLY_I64, SEGMENTS), out));
        expect_runs(got, lengths, SEGMENTS, "lengths");
        EXPECT_OK(tally_reduce_segments(context, op, in, tally_segment_ids(segment_ids, TALLY_I64, SEGMENTS), out));
        expect_runs(got, lengths, SEGMENTS, "segment_ids");
        tally_context_destroy(context);
    }
    assert_int_equal(broken_promises, 0);
}

static void check_affine_rows(tally_context *context, tally_op op, int64_t outer, int64_t length, int64_t inner) {
    const affine *maps = affine_values(outer * length * inner);
    int32_t *got = scratch(OUT, (size_t)(outer * inner) * sizeof *got);
    tally_array in = {maps, TALLY_STRUCT, outer * length * inner, 0};
    EXPECT_OK(tally_reduce_segments(context, op, in, tally_rows(outer, length, inner),
                                    tally_out(got, TALLY_I32, outer * inner)));
    for (int64_t r = 0; r < outer * inner; r++) {
        int32_t wanted = affine_by_loop(maps + r / inner * length * inner + r % inner, length, inner);
        EXPECT(got[r] == wanted, "rows %d x %d x %d, result %d: %d where %d was due", (int)outer, (int)length,
               (int)inner, (int)r, got[r], wanted);
    }
}

static void test_rows(void **state) {
    static const int64_t shapes[][3] = {{1, 5, 1},    {3, 600, 1},  {2, 7, 3},     {40, 65, 2}, {1, 50, 300},
                                        {2, 1300, 3}, {2, 600, 40}, {100, 13, 17}, {3, 0, 4},   {1, 40000, 2}};
    tally_context *context = context_of(3, TALLY_BACKEND_CPU);
    tally_op op = define(context, affine_operator());
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        check_affine_rows(context, op, shapes[i][0], shapes[i][1], shapes[i][2]);
    tally_context_destroy(context);
    assert_int_equal(broken_promises, 0);
}

/* ---- the canonical order ---- */

/* Groups of seven folded from the left, then the adjacent-pair tree; leaf: 1024 values of f32. */
static float pairs_of(const float *x, int64_t n, int64_t unit, float (*leaf)(const float *, int64_t)) {
    int64_t left = unit;
    if (n <= unit) return leaf(x, n);
    while (2 * left < n) left *= 2;
    return pairs_of(x, left, unit, leaf) + pairs_of(x + left, n - left, unit, leaf);
}
static float seven(const float *x, int64_t n) {
    float sum = x[0];
    for (int64_t i = 1; i < n; i++) sum += x[i];
    return sum;
}
static float ordered_leaf(const float *x, int64_t n) { return pairs_of(x, n, 7, seven); }

/* Rounding shows the order: a sum that commutes has the built-in sum's bits, one that does not those of groups of
 * seven. */
static void test_canonical_order(void **state) {
    tally_context *context = context_of(2, TALLY_BACKEND_CPU);
    subject fast = {TALLY_SUM, TALLY_F32, TALLY_NAN_PROPAGATE, 0, TALLY_FAST};
    tally_op commutes = define(context, float_sum_operator(1)), kept = define(context, float_sum_operator(0));
    (void)state;
    for (int i = 1; i < SIZES; i++) {
        const float *x = data_of(TALLY_F32, CANCELLATION, sizes[i]);
        float *y = scratch(SPARE, (size_t)sizes[i] * sizeof *y), got, wanted;
        for (int64_t k = 0; k < sizes[i]; k++) y[k] = x[k] * 0.7f + 0.1f * (float)(k % 11);
        tally_array in = tally_in(y, TALLY_F32, sizes[i]);
        now.size = sizes[i];
        EXPECT_OK(
            tally_reduce(context_for(&fast, TALLY_BACKEND_CPU, 2), TALLY_SUM, in, tally_out(&wanted, TALLY_F32, 1)));
        EXPECT_OK(tally_reduce(context, commutes, in, tally_out(&got, TALLY_F32, 1)));
        EXPECT_BITS(&got, &wanted, 4, "a sum that commutes, against the built-in one");
        wanted = pairs_of(y, sizes[i], 1024, ordered_leaf);
        EXPECT_OK(tally_reduce(context, kept, in, tally_out(&got, TALLY_F32, 1)));
        EXPECT_BITS(&got, &wanted, 4, "a sum that keeps order, against groups of seven");
    }
    tally_context_destroy(context);
    assert_int_equal(broken_promises, 0);
}

/* ---- types and definitions ---- */

static void test_results_convert(void **state) {
    tally_context *context = context_of(1, TALLY_BACKEND_CPU);
    tally_op op = define(context, squares_operator(2)), run = define(context, run_operator(TALLY_I8));
    int16_t x[2] = {20, 3};
    tally_array in = {x, TALLY_STRUCT, 2, 0};
    tally_type type;
    size_t bytes;
    int8_t narrow;
    float real;
    (void)state;
    now = (scene){.segments = "results of user operators"};
    EXPECT_OK(tally_reduce(context, op, in, tally_out(&real, TALLY_F32, 1)));
    assert_true(real == -409);
    EXPECT_STATUS(tally_reduce(context, op, in, tally_out(&narrow, TALLY_I8, 1)), TALLY_OVERFLOW);
    assert_int_equal(narrow, -128);
    EXPECT_OK(tally_result_type(context, run, TALLY_I8, &type, &bytes));
    assert_true(type == TALLY_STRUCT && bytes == sizeof(index_run));
    EXPECT_STATUS(tally_reduce(context, run, tally_in(x, TALLY_I8, 2), tally_out(&real, TALLY_F32, 1)), TALLY_BAD_TYPE);
    EXPECT_STATUS(tally_reduce(context, run, tally_in(x, TALLY_I16, 2), tally_out(&real, TALLY_NATURAL, 1)),
                  TALLY_BAD_TYPE);
    EXPECT_STATUS(tally_reduce(context, op, tally_in(x, TALLY_I16, 2), tally_out(&real, TALLY_F32, 1)), TALLY_BAD_TYPE);
    EXPECT_STATUS(tally_reduce(NULL, op, in, tally_out(&real, TALLY_F32, 1)), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_reduce(context, op + 2, in, tally_out(&real, TALLY_F32, 1)), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_reduce_pair(context, op, in, in, tally_out(&real, TALLY_F32, 1)), TALLY_BAD_ARGUMENT);
    assert_null(tally_op_name(op));
    assert_int_equal(tally_op_inputs(op), 0);
    tally_context_destroy(context);
}

static void expect_refused(tally_context *context, tally_operator definition, tally_status status) {
    tally_op op = 77;
    EXPECT_STATUS(tally_define(context, &definition, &op), status);
    EXPECT(op == 77, "a refused definition gave a number");
}

static void test_definitions_refused(void **state) {
    static const char *const bad_names[] = {
        NULL, "", "a b", "caf\xc3\xa9", "a.b", "12345678901234567890123456789012", "sum", "logsumexp", "twice"};
    tally_context *context = context_of(1, TALLY_BACKEND_CPU);
    tally_operator good = run_operator(TALLY_F32), d = good;
    tally_op op;
    (void)state;
    good.name = "twice";
    define(context, good);
    for (size_t i = 0; i < sizeof bad_names / sizeof *bad_names; i++) {
        now = (scene){.data = bad_names[i], .segments = "names of operators"};
        d.name = bad_names[i];
        expect_refused(context, d, TALLY_BAD_ARGUMENT);
    }
    now = (scene){.segments = "definitions that contradict themselves"};
    good.name = "good";
#define REFUSED(field, value, status) d = good, d.field = (value), expect_refused(context, d, status);
    REFUSED(size, 0, TALLY_BAD_ARGUMENT)
    REFUSED(size, sizeof(tally_operator) + 8, TALLY_BAD_ARGUMENT)
    REFUSED(input, TALLY_NATURAL, TALLY_BAD_ARGUMENT)
    REFUSED(input, TALLY_TYPE_END, TALLY_BAD_ARGUMENT)
    REFUSED(input, TALLY_STRUCT, TALLY_BAD_ARGUMENT) /* no size */
    REFUSED(input_size, 8, TALLY_BAD_ARGUMENT)       /* not f32's */
    REFUSED(acc_size, 0, TALLY_BAD_ARGUMENT)
    REFUSED(acc_size, 65, TALLY_BAD_ARGUMENT)
    REFUSED(acc_size, 16, TALLY_BAD_ARGUMENT) /* no finish, and not the result's */
    REFUSED(result, TALLY_NATURAL, TALLY_BAD_ARGUMENT)
    REFUSED(result_size, 0, TALLY_BAD_ARGUMENT)
    REFUSED(result_size, 65, TALLY_BAD_ARGUMENT)
    REFUSED(identity, NULL, TALLY_BAD_ARGUMENT)
    REFUSED(lift, NULL, TALLY_UNSUPPORTED)
    REFUSED(combine, NULL, TALLY_UNSUPPORTED)
#undef REFUSED
    expect_refused(NULL, good, TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_define(context, NULL, &op), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_define(context, &good, NULL), TALLY_BAD_ARGUMENT);
    good.input = TALLY_STRUCT, good.input_size = 65;
    expect_refused(context, good, TALLY_BAD_ARGUMENT);
    tally_context_destroy(context);
}

/* Definition and identity are copied: what they were made of may go. Many operators fit one context. */
static void test_definitions_are_copied(void **state) {
    tally_context *context = context_of(1, TALLY_BACKEND_CPU);
    tally_op ops[100];
    (void)state;
    now = (scene){.segments = "many operators"};
    for (int i = 0; i < 100; i++) {
        char name[32];
        index_run identity = {-1, -1, 1};
        tally_operator d = run_operator(TALLY_U16);
        for (int k = 0; k < 31; k++) name[k] = (char)('A' + (i >> (k % 7) & 1));
        name[31] = '\0';
        d.name = name;
        d.identity = &identity;
        ops[i] = define(context, d);
        memset(name, 'x', sizeof name);
        memset(&identity, 0x55, sizeof identity);
    }
    for (int i = 0; i < 100; i++) {
        index_run got;
        EXPECT_OK(tally_reduce(context, ops[i], tally_in(NULL, TALLY_U16, 0), tally_out(&got, TALLY_NATURAL, 1)));
        assert_true(got.first == -1 && got.last == -1 && got.whole == 1);
    }
    tally_context_destroy(context);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_struct_sizes),
        cmocka_unit_test(test_order_is_kept),
        cmocka_unit_test(test_indices),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_canonical_order),
        cmocka_unit_test(test_results_convert),
        cmocka_unit_test(test_definitions_refused),
        cmocka_unit_test(test_definitions_are_copied),
    };
    int skipped = begin_program(argc, argv);
    return skipped ? skipped : cmocka_run_group_tests(tests, NULL, NULL);
}
