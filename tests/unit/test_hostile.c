/* Calls that lie: each gives the documented status and a message, and touches nothing it should not. And arrays that
 * end or begin at a page that cannot be touched: kernels read their values and nothing else. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support.h"

/* ---- one call in many wrong ways ---- */

static double numbers[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
static double results[16];

static tally_array good_input(void) { return tally_in(numbers, TALLY_F64, 16); }
static tally_output good_output(void) { return tally_out(results, TALLY_F64, 16); }

static void refuse_reduce(const char *what, tally_op op, tally_array in, tally_output out, tally_status wanted) {
    now = (scene){.op = op, .type = in.type, .size = in.count, .segments = what};
    EXPECT_STATUS(tally_reduce(NULL, op, in, out), wanted);
}

static void test_bad_inputs(void **state) {
    const struct {
        const char *what;
        tally_array in;
        tally_status status;
    } cases[] = {
        {"NULL data", {NULL, TALLY_F64, 1, 0}, TALLY_BAD_ARGUMENT},
        {"a negative count", {numbers, TALLY_F64, -1, 0}, TALLY_BAD_ARGUMENT},
        {"the most negative count", {numbers, TALLY_F64, INT64_MIN, 0}, TALLY_BAD_ARGUMENT},
        {"a count beyond memory", {numbers, TALLY_F64, INT64_MAX, 0}, TALLY_BAD_ARGUMENT},
        {"a count that wraps", {numbers, TALLY_F64, INT64_MAX / 8 + 2, 0}, TALLY_BAD_ARGUMENT},
        {"a stride that wraps", {numbers, TALLY_F64, 3, INT64_MAX}, TALLY_BAD_ARGUMENT},
        {"a stride that wraps back", {numbers, TALLY_F64, 3, INT64_MIN}, TALLY_BAD_ARGUMENT},
        {"the most negative stride", {numbers, TALLY_F64, 2, INT64_MIN}, TALLY_BAD_ARGUMENT},
        {"below address 0", {numbers, TALLY_F64, 2, -INT64_MAX}, TALLY_BAD_ARGUMENT},
        {"no type", {numbers, TALLY_NATURAL, 1, 0}, TALLY_BAD_TYPE},
        {"a struct", {numbers, TALLY_STRUCT, 1, 0}, TALLY_BAD_TYPE},
        {"type 99", {numbers, (tally_type)99, 1, 0}, TALLY_BAD_TYPE},
        {"type -1", {numbers, (tally_type)-1, 1, 0}, TALLY_BAD_TYPE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        refuse_reduce(cases[i].what, TALLY_SUM, cases[i].in, good_output(), cases[i].status);
        EXPECT_STATUS(
            tally_reduce_segments(NULL, TALLY_SUM, cases[i].in, tally_rows(cases[i].in.count, 1, 1), good_output()),
            cases[i].status);
        EXPECT_STATUS(tally_reduce_pair(NULL, TALLY_DOT, good_input(), cases[i].in, good_output()), TALLY_BAD_ARGUMENT);
    }
    refuse_reduce("operator -1", -1, good_input(), good_output(), TALLY_BAD_ARGUMENT);
    refuse_reduce("operator END", TALLY_OP_END, good_input(), good_output(), TALLY_BAD_ARGUMENT);
    refuse_reduce("a user operator of nobody", TALLY_OP_USER, good_input(), good_output(), TALLY_BAD_ARGUMENT);
    refuse_reduce("operator INT32_MAX", INT32_MAX, good_input(), good_output(), TALLY_BAD_ARGUMENT);
    refuse_reduce("operator INT32_MIN", INT32_MIN, good_input(), good_output(), TALLY_BAD_ARGUMENT);
    refuse_reduce("bits of floats", TALLY_XOR, good_input(), good_output(), TALLY_BAD_TYPE);
    refuse_reduce("logsumexp of integers", TALLY_LOGSUMEXP, tally_in(numbers, TALLY_I64, 1), good_output(),
                  TALLY_BAD_TYPE);
}

static void test_bad_outputs(void **state) {
    const struct {
        const char *what;
        tally_output out;
        tally_status status;
    } cases[] = {
        {"a NULL output", {NULL, TALLY_F64, 1, 0}, TALLY_BAD_ARGUMENT},
        {"an output without space", {results, TALLY_F64, 0, 0}, TALLY_BAD_ARGUMENT},
        {"an output of negative count", {results, TALLY_F64, -1, 0}, TALLY_BAD_ARGUMENT},
        {"an output of type 99", {results, (tally_type)99, 16, 0}, TALLY_BAD_TYPE},
        {"an output of a struct", {results, TALLY_STRUCT, 16, 0}, TALLY_BAD_TYPE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refuse_reduce(cases[i].what, TALLY_SUM, good_input(), cases[i].out, cases[i].status);
    now.segments = "outputs of segments";
    EXPECT_STATUS(
        tally_reduce_segments(NULL, TALLY_SUM, good_input(), tally_rows(4, 4, 1), tally_out(results, TALLY_F64, 3)),
        TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_reduce_segments(NULL, TALLY_SUM, good_input(), tally_rows(4, 4, 1),
                                        (tally_output){results, TALLY_F64, 4, INT64_MAX / 2}),
                  TALLY_BAD_ARGUMENT);
}

static void test_wrong_number_of_inputs(void **state) {
    tally_segments segments = tally_rows(16, 1, 1);
    tally_array shorter = tally_in(numbers, TALLY_F64, 15);
    (void)state;
    now = (scene){.op = TALLY_DOT, .type = TALLY_F64, .segments = "one or two inputs"};
    EXPECT_STATUS(tally_reduce(NULL, TALLY_DOT, good_input(), good_output()), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_reduce_segments(NULL, TALLY_DOT, good_input(), segments, good_output()), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_reduce_pair(NULL, TALLY_SUM, good_input(), good_input(), good_output()), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_reduce_segments_pair(NULL, TALLY_SUM, good_input(), good_input(), segments, good_output()),
                  TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_reduce_pair(NULL, TALLY_DOT, good_input(), shorter, good_output()), TALLY_BAD_ARGUMENT);
}

/* ---- contexts ---- */

static void test_bad_options(void **state) {
    tally_context *context;
    const tally_options good = TALLY_OPTIONS_INIT;
    tally_options o, kept;
    (void)state;
    now = (scene){.segments = "options"};
    EXPECT_OK(tally_context_create(NULL, &context));
    o = good, o.threads = 3, o.ddof = 1, o.nan = TALLY_NAN_SKIP;
    EXPECT_OK(tally_set_options(context, &o));
#define REFUSED(field, value, status) \
    o = good, o.field = (value);      \
    EXPECT_STATUS(tally_set_options(context, &o), status);
    REFUSED(size, 0, TALLY_BAD_ARGUMENT)
    REFUSED(size, sizeof o + 8, TALLY_BAD_ARGUMENT)
    REFUSED(accuracy, (tally_accuracy)3, TALLY_BAD_ARGUMENT)
    REFUSED(accuracy, (tally_accuracy)-1, TALLY_BAD_ARGUMENT)
    REFUSED(nan, (tally_nan)3, TALLY_BAD_ARGUMENT)
    REFUSED(nan, (tally_nan)-1, TALLY_BAD_ARGUMENT)
    REFUSED(threads, -1, TALLY_BAD_ARGUMENT)
    REFUSED(threads, INT32_MAX, TALLY_BAD_ARGUMENT)
    REFUSED(ddof, -1, TALLY_BAD_ARGUMENT)
    REFUSED(ddof, 1001, TALLY_BAD_ARGUMENT)
    REFUSED(backend, (tally_backend)5, TALLY_BAD_ARGUMENT)
    REFUSED(device, -1, TALLY_BAD_ARGUMENT)
    REFUSED(checked, 2, TALLY_BAD_ARGUMENT)
    REFUSED(backend, (tally_backend)-1, TALLY_BAD_ARGUMENT)
#undef REFUSED
    EXPECT_STATUS(tally_set_options(context, NULL), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_set_options(NULL, &good), TALLY_BAD_ARGUMENT);
    kept = tally_get_options(context);
    EXPECT(kept.threads == 3 && kept.ddof == 1 && kept.nan == TALLY_NAN_SKIP, "a refused call changed the options");
    kept = tally_get_options(NULL);
    EXPECT(kept.size == sizeof kept && kept.threads == 0 && kept.ddof == 0 && kept.nan == 0 && kept.backend == 0,
           "the process's own context has other options");
    o = good, o.nan = TALLY_NAN_TOTAL;
    EXPECT_OK(tally_set_options(context, &o));
    EXPECT_STATUS(tally_reduce(context, TALLY_SUM, good_input(), good_output()), TALLY_BAD_ARGUMENT);
    tally_context_destroy(context);
    tally_context_destroy(NULL);
    EXPECT_STATUS(tally_context_create(NULL, NULL), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_context_create(&(tally_allocator){NULL, NULL, NULL}, &context), TALLY_BAD_ARGUMENT);
}

static void test_names(void **state) {
    (void)state;
    for (tally_op op = 0; op < TALLY_OP_END; op++) {
        assert_int_equal(tally_op_from_name(tally_op_name(op)), op);
        assert_non_null(tally_op_summary(op));
        if (op <= TALLY_DOT) assert_int_equal(tally_op_inputs(op), op == TALLY_DOT ? 2 : 1);
    }
    for (int type = TALLY_BOOL; type < TALLY_STRUCT; type++) {
        assert_int_equal(tally_type_from_name(tally_type_name((tally_type)type)), type);
        assert_int_equal(tally_leaf_length((tally_type)type) * (int64_t)tally_type_size((tally_type)type), 4096);
    }
    const int unknown[] = {-1, TALLY_OP_END, TALLY_OP_USER, INT32_MAX, INT32_MIN};
    for (int i = 0; i < 5; i++) {
        assert_null(tally_op_name(unknown[i]));
        assert_null(tally_op_summary(unknown[i]));
        assert_int_equal(tally_op_inputs(unknown[i]), 0);
        assert_null(tally_type_name((tally_type)unknown[i]));
        assert_int_equal(tally_type_size((tally_type)unknown[i]), 0);
        assert_int_equal(tally_leaf_length((tally_type)unknown[i]), 0);
        assert_null(tally_status_name((tally_status)unknown[i]));
    }
    assert_int_equal(tally_op_from_name(NULL), TALLY_OP_END);
    assert_int_equal(tally_op_from_name("SUM"), TALLY_OP_END);
    assert_int_equal(tally_type_from_name(NULL), TALLY_NATURAL);
    assert_int_equal(tally_type_from_name(""), TALLY_NATURAL);
    assert_string_equal(tally_status_name(TALLY_BAD_SEGMENTS), "BAD_SEGMENTS");
    assert_string_equal(tally_version(), "0.1.0");
    assert_true(tally_cpu_threads() >= 1);
}

/* ---- segmentations ---- */

static void refuse_segments(const char *what, tally_segments segments, tally_status wanted) {
    tally_output out = good_output();
    for (int backend = TALLY_BACKEND_CPU; backend <= TALLY_BACKEND_REFERENCE; backend++) {
        subject s = {TALLY_SUM, TALLY_F64, 0, 0, TALLY_BEST};
        now = (scene){.op = TALLY_SUM,
                      .type = TALLY_F64,
                      .size = 16,
                      .segments = what,
                      .index_type = segments.index_type,
                      .data = backend == TALLY_BACKEND_CPU ? "cpu" : "reference"};
        EXPECT_STATUS(
            tally_reduce_segments(context_for(&s, (tally_backend)backend, 1), TALLY_SUM, good_input(), segments, out),
            wanted);
    }
}

static void test_bad_indices(void **state) {
    static const struct {
        const char *what;
        tally_segmentation form;
        int64_t count, index[17];
    } cases[] = {
        {"decreasing offsets", TALLY_OFFSETS, 3, {0, 9, 8, 16}},
        {"negative offsets", TALLY_OFFSETS, 2, {-1, 4, 8}},
        {"offsets beyond the array", TALLY_OFFSETS, 2, {0, 4, 17}},
        {"all offsets beyond the array", TALLY_OFFSETS, 2, {17, 17, 17}},
        {"extreme offsets", TALLY_OFFSETS, 2, {INT32_MIN, INT32_MAX, 3}},
        {"offsets that come back", TALLY_OFFSETS, 4, {0, 16, 0, 16, 16}},
        {"a negative length", TALLY_LENGTHS, 3, {4, -1, 4}},
        {"lengths beyond the array", TALLY_LENGTHS, 3, {8, 8, 1}},
        {"a length beyond the array", TALLY_LENGTHS, 2, {0, 17}},
        {"extreme lengths", TALLY_LENGTHS, 4, {INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX}},
        {"lengths that cancel", TALLY_LENGTHS, 3, {INT32_MAX, 1, INT32_MIN}},
        {"unsorted segment ids", TALLY_SEGMENT_IDS, 5, {0, 0, 1, 0, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4}},
        {"segment ids out of range", TALLY_SEGMENT_IDS, 4, {0, 0, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4}},
        {"negative segment ids", TALLY_SEGMENT_IDS, 5, {-1, 0, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4}},
        {"extreme segment ids", TALLY_SEGMENT_IDS, 5, {INT32_MIN, 0, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, INT32_MAX}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int32_t narrow[17];
        for (int k = 0; k < 17; k++) narrow[k] = (int32_t)cases[i].index[k];
        refuse_segments(cases[i].what,
                        (tally_segments){cases[i].form, cases[i].index, TALLY_I64, cases[i].count, 0, 0, NULL,
                                         TALLY_OUTSIDE_REFUSED, NULL},
                        TALLY_BAD_SEGMENTS);
        refuse_segments(
            cases[i].what,
            (tally_segments){cases[i].form, narrow, TALLY_I32, cases[i].count, 0, 0, NULL, TALLY_OUTSIDE_REFUSED, NULL},
            TALLY_BAD_SEGMENTS);
    }
}

static void test_extreme_indices(void **state) {
    const int64_t offsets[][3] = {
        {INT64_MIN, 0, 16}, {0, INT64_MAX, INT64_MIN}, {INT64_MAX, INT64_MAX, INT64_MAX}, {0, INT64_MAX, 16}};
    const int64_t lengths[][3] = {
        {INT64_MAX, INT64_MAX, 2}, {INT64_MIN, INT64_MIN, 0}, {8, INT64_MAX, 0}, {INT64_MIN, INT64_MAX, 1}};
    int64_t segment_ids[16] = {0};
    (void)state;
    for (int i = 0; i < 4; i++) {
        refuse_segments("extreme i64 offsets", tally_offsets(offsets[i], TALLY_I64, 2), TALLY_BAD_SEGMENTS);
        refuse_segments("extreme i64 lengths", tally_lengths(lengths[i], TALLY_I64, 3), TALLY_BAD_SEGMENTS);
    }
    segment_ids[15] = INT64_MAX;
    refuse_segments("extreme i64 segment ids", tally_segment_ids(segment_ids, TALLY_I64, 3), TALLY_BAD_SEGMENTS);
    segment_ids[0] = INT64_MIN;
    refuse_segments("extreme i64 segment ids", tally_segment_ids(segment_ids, TALLY_I64, 3), TALLY_BAD_SEGMENTS);
}

/* The sentence names the first segment without values. */
static void expect_named(tally_segments segments, int64_t count, const char *name) {
    double x[16] = {0}, out[5];
    const tally_backend backends[] = {TALLY_BACKEND_CPU, TALLY_BACKEND_REFERENCE};
    for (size_t b = 0; b < sizeof backends / sizeof *backends; b++) {
        subject s = {TALLY_MIN, TALLY_F64, 0, 0, TALLY_BEST};
        now = (scene){.op = TALLY_MIN, .type = TALLY_F64, .segments = name};
        EXPECT_STATUS(tally_reduce_segments(context_for(&s, backends[b], 1), TALLY_MIN, tally_in(x, TALLY_F64, count),
                                            segments, tally_out(out, TALLY_F64, 5)),
                      TALLY_EMPTY);
        EXPECT(strncmp(tally_message(), name, strlen(name)) == 0, "the sentence does not begin with that: %s",
               tally_message());
    }
}
static void test_empty_is_named(void **state) {
    const int32_t offsets[] = {0, 4, 9, 9, 16, 16}, lengths[] = {3, 0, 5, 0, 8}, gap[] = {0, 0, 1, 3, 3, 3, 4},
                  missing[] = {0, 0, 1, 1, 2, 3};
    (void)state;
    expect_named(tally_offsets(offsets, TALLY_I32, 5), 16, "segment 2 ");
    expect_named(tally_lengths(lengths, TALLY_I32, 5), 16, "segment 1 ");
    expect_named(tally_segment_ids(gap, TALLY_I32, 5), 7, "segment 2 ");
    expect_named(tally_segment_ids(missing, TALLY_I32, 5), 6, "segment 4 ");
    expect_named(tally_segment_ids(missing + 2, TALLY_I32, 4), 4, "segment 0 ");
    expect_named(tally_rows(5, 0, 1), 0, "segment 0 ");
}

static void test_bad_descriptions(void **state) {
    int64_t offsets[17] = {0};
    (void)state;
    refuse_segments("no plan",
                    (tally_segments){TALLY_PLANNED, offsets, TALLY_I64, 1, 0, 0, NULL, TALLY_OUTSIDE_REFUSED, NULL},
                    TALLY_BAD_ARGUMENT);
    refuse_segments(
        "kind 7",
        (tally_segments){(tally_segmentation)7, offsets, TALLY_I64, 1, 0, 0, NULL, TALLY_OUTSIDE_REFUSED, NULL},
        TALLY_BAD_ARGUMENT);
    refuse_segments(
        "kind -1",
        (tally_segments){(tally_segmentation)-1, offsets, TALLY_I64, 1, 0, 0, NULL, TALLY_OUTSIDE_REFUSED, NULL},
        TALLY_BAD_ARGUMENT);
    for (int form = TALLY_OFFSETS; form <= TALLY_SEGMENT_IDS; form++) {
        tally_segments segments = {(tally_segmentation)form, offsets, TALLY_I64, 2, 0, 0, NULL,
                                   TALLY_OUTSIDE_REFUSED,    NULL};
        segments.count = -1;
        refuse_segments("a negative number of segments", segments, TALLY_BAD_ARGUMENT);
        segments.count = 2, segments.index = NULL;
        refuse_segments("no index", segments, TALLY_BAD_ARGUMENT);
        segments.index = offsets;
        const tally_type others[] = {TALLY_NATURAL, TALLY_U32, TALLY_I16, TALLY_F64, (tally_type)99};
        for (int i = 0; i < 5; i++) {
            segments.index_type = others[i];
            refuse_segments("an index of another type", segments, TALLY_BAD_ARGUMENT);
        }
    }
    refuse_segments("more offsets than memory", tally_offsets(offsets, TALLY_I64, INT64_MAX), TALLY_BAD_ARGUMENT);
    refuse_segments("more lengths than memory", tally_lengths(offsets, TALLY_I64, INT64_MAX / 8), TALLY_BAD_ARGUMENT);
    refuse_segments("segment ids of no segments", tally_segment_ids(offsets, TALLY_I64, 0), TALLY_BAD_SEGMENTS);
    refuse_segments("rows that are too few", tally_rows(3, 5, 1), TALLY_BAD_SEGMENTS);
    refuse_segments("rows that are too many", tally_rows(3, 6, 1), TALLY_BAD_SEGMENTS);
    refuse_segments("rows that wrap to the count", tally_rows(INT64_MAX / 2 + 1, 2, 1), TALLY_BAD_SEGMENTS);
    refuse_segments("rows that wrap twice", tally_rows((int64_t)1 << 62, (int64_t)1 << 62, 16), TALLY_BAD_SEGMENTS);
    refuse_segments("negative rows", tally_rows(-4, 4, -1), TALLY_BAD_ARGUMENT);
    refuse_segments("rows of negative length", tally_rows(4, -4, -1), TALLY_BAD_ARGUMENT);
    refuse_segments("no rows of so many values", tally_rows(0, 16, 1), TALLY_BAD_SEGMENTS);
}

/* Indices that lie anew in each stretch of segments that threads check: long segments must not be counted twice over.
 */
static void test_bad_indices_of_many(void **state) {
    enum { SEGMENTS = 512 * 40, VALUES = 8 << 20 };
    subject s = {TALLY_SUM, TALLY_U8, 0, 0, TALLY_BEST};
    uint8_t *x = scratch(0, VALUES);
    int32_t *offsets = scratch(1, (SEGMENTS + 1) * 4), *segment_ids = scratch(2, VALUES * (size_t)4);
    uint64_t *out = scratch(3, SEGMENTS * 8);
    (void)state;
    memset(x, 1, VALUES);
    for (int i = 0; i <= SEGMENTS; i++) {
        int k = i % 512, block = i / 512;
        offsets[i] = block % 2 ? (k < 511 ? VALUES : 0) : k < 8 ? k << 20 : VALUES;
    }
    for (int i = 0; i < VALUES; i++) segment_ids[i] = (VALUES - i) / (300 << 10) * 2 + (i >> 10) % 2;
    for (int threads = 1; threads <= 5; threads += 2) {
        now = (scene){.op = TALLY_SUM,
                      .type = TALLY_U8,
                      .threads = threads,
                      .size = VALUES,
                      .segments = "offsets that come back many times"};
        tally_context *context = context_for(&s, TALLY_BACKEND_CPU, threads);
        tally_output output = tally_out(out, TALLY_U64, SEGMENTS);
        EXPECT_STATUS(tally_reduce_segments(context, TALLY_SUM, tally_in(x, TALLY_U8, VALUES),
                                            tally_offsets(offsets, TALLY_I32, SEGMENTS), output),
                      TALLY_BAD_SEGMENTS);
        now.segments = "segment ids that come back many times";
        EXPECT_STATUS(tally_reduce_segments(context, TALLY_SUM, tally_in(x, TALLY_U8, VALUES),
                                            tally_segment_ids(segment_ids, TALLY_I32, SEGMENTS), output),
                      TALLY_BAD_SEGMENTS);
    }
}

/* ---- guard pages ---- */

/* `bytes` bytes that end, or begin, at a page that cannot be touched. */
enum { GUARDED = 1 << 16 };
static char *guarded(bool at_end, size_t bytes) {
    static char *middle[2];
    size_t page = (size_t)sysconf(_SC_PAGESIZE), space = (GUARDED + page - 1) / page * page;
    if (middle[at_end] == NULL) {
        char *all = mmap(NULL, space + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_true(all != MAP_FAILED);
        middle[at_end] = all + page;
        assert_int_equal(mprotect(middle[at_end], space, PROT_READ | PROT_WRITE), 0);
    }
    return at_end ? middle[at_end] + space - bytes : middle[at_end];
}

static void reduce_guarded(const subject *s, bool at_end, int64_t n, const tally_segments *segments, int64_t count) {
    size_t bytes = tally_type_size(s->type), in_bytes = (size_t)n * bytes, out_bytes = result_bytes(s) * (size_t)count;
    char *x = guarded(at_end, in_bytes);
    memcpy(x, data_of(s->type, SMALL_INTEGERS, n), in_bytes);
    tally_array in = tally_in(x, s->type, n);
    tally_status status;
    now.op = s->op, now.type = s->type, now.size = n,
    now.layout = at_end ? "before a guard page" : "behind a guard page";
    status = perform(context_for(s, TALLY_BACKEND_CPU, 1), s->op, in, in, segments,
                     tally_out(scratch(4, out_bytes), TALLY_NATURAL, count));
    EXPECT(status == TALLY_OK || status == TALLY_EMPTY, "the status is %s", tally_status_name(status));
}

/* A touch of the guard ends the program by a signal: that is the failure. */
static void test_guarded_arrays(void **state) {
    subject s = {.op = -1};
    (void)state;
    while (next_subject(&s))
        for (int at_end = 0; at_end < 2; at_end++)
            for (int64_t n = 1; n < 1100; n += n < 70 ? 1 : 97) {
                if (quick && n % 5) continue;
                reduce_guarded(&s, at_end, n, NULL, 1);
                reduce_guarded(
                    &s, at_end, n,
                    &(tally_segments){TALLY_ROWS, NULL, TALLY_NATURAL, 1, 1, n, NULL, TALLY_OUTSIDE_REFUSED, NULL}, n);
            }
}

/* Small segments at the very end: 1 to 20 values after a longer one, the index ends at a guard page as well. */
static void test_guarded_segments(void **state) {
    enum { BATCH = 64 }; /* as many as kernels take together */
    subject s = {.op = -1};
    char *index_page = NULL;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    (void)state;
    index_page = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(index_page != MAP_FAILED);
    assert_int_equal(mprotect(index_page + page, page, PROT_NONE), 0);
    while (next_subject(&s))
        for (int64_t last = 0; last <= 20; last++)
            for (int form = TALLY_OFFSETS; form <= TALLY_SEGMENT_IDS; form++) {
                int64_t lengths[BATCH] = {70, 0, 3}, n = 0, entries, at = 0;
                for (int k = 3; k < BATCH; k++) lengths[k] = k == BATCH - 2 ? last : k == BATCH - 1 ? last % 3 : k % 3;
                for (int k = 0; k < BATCH; k++) n += lengths[k];
                entries = form == TALLY_OFFSETS ? BATCH + 1 : form == TALLY_LENGTHS ? BATCH : n;
                int32_t *index = (int32_t *)(void *)(index_page + page) - entries;
                for (int k = 0; k < BATCH; k++) {
                    if (form == TALLY_OFFSETS) index[k] = (int32_t)at, index[k + 1] = (int32_t)(at + lengths[k]);
                    if (form == TALLY_LENGTHS) index[k] = (int32_t)lengths[k];
                    for (int64_t i = 0; form == TALLY_SEGMENT_IDS && i < lengths[k]; i++) index[at + i] = k;
                    at += lengths[k];
                }
                now.segments = "small segments at the end", now.segment = last;
                reduce_guarded(&s, true, n,
                               &(tally_segments){(tally_segmentation)form, index, TALLY_I32, BATCH, 0, 0, NULL,
                                                 TALLY_OUTSIDE_REFUSED, NULL},
                               BATCH);
                reduce_guarded(&s, false, n,
                               &(tally_segments){(tally_segmentation)form, index, TALLY_I32, BATCH, 0, 0, NULL,
                                                 TALLY_OUTSIDE_REFUSED, NULL},
                               BATCH);
            }
    munmap(index_page, 2 * page);
}

/* Rows of every path, and strided arrays whose last value ends at the page. */
static void test_guarded_rows(void **state) {
    static const int64_t shapes[][3] = {{5, 9, 3}, {2, 70, 17}, {1, 130, 20}, {3, 5, 64}, {40, 3, 2}, {7, 33, 1}};
    subject s = {.op = -1};
    (void)state;
    while (next_subject(&s))
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
            for (int at_end = 0; at_end < 2; at_end++) {
                tally_segments segments = tally_rows(shapes[i][0], shapes[i][1], shapes[i][2]);
                now.outer = segments.count, now.length = segments.length, now.inner = segments.inner;
                reduce_guarded(&s, at_end, segments.count * segments.length * segments.inner, &segments,
                               segments.count * segments.inner);
            }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_inputs),
        cmocka_unit_test(test_bad_outputs),
        cmocka_unit_test(test_wrong_number_of_inputs),
        cmocka_unit_test(test_bad_options),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_bad_indices),
        cmocka_unit_test(test_extreme_indices),
        cmocka_unit_test(test_empty_is_named),
        cmocka_unit_test(test_bad_descriptions),
        cmocka_unit_test(test_bad_indices_of_many),
        cmocka_unit_test(test_guarded_arrays),
        cmocka_unit_test(test_guarded_segments),
        cmocka_unit_test(test_guarded_rows),
    };
    int skipped = begin_program(argc, argv);
    return skipped ? skipped : cmocka_run_group_tests(tests, NULL, NULL);
}
