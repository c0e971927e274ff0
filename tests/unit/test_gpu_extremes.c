/* Exact sums of the largest and the smallest values of each float type, of either sign and both, against GMP and MPFR
 * (tests/unit/truth.h, which shares nothing with the library): whole arrays, segments in each form, rows of both axes,
 * states; on the reference backend, the CPU and the simulator, or with --cuda a GPU. */
#include <math.h>
#include <string.h>

#include "gpu_host.h"
#include "truth.h"

enum { LEAST, LEAST_AND_SUBNORMAL, MOST, MOST_SINGLE_BITS, BOTH_ENDS, ENDS };
enum { NEGATIVE, POSITIVE, MIXED, SIGNS };
static const char *const names[ENDS][SIGNS] = {
    {"smallest, negative", "smallest, positive", "smallest, mixed"},
    {"subnormal, negative", "subnormal, positive", "subnormal, mixed"},
    {"largest, negative", "largest, positive", "largest, mixed"},
    {"largest powers of two, negative", "largest powers of two, positive", "largest powers of two, mixed"},
    {"both ends, negative", "both ends, positive", "both ends, mixed"},
};

static int fraction_bits(tally_type type) {
    return type == TALLY_F64 ? 52 : type == TALLY_F32 ? 23 : type == TALLY_F16 ? 10 : 7;
}

/* A value by its bits: sign, exponent field, fraction. */
static void put_bits(tally_type type, char *values, int64_t i, int ends, int signs, uint64_t *random) {
    const int bytes = (int)tally_type_size(type), fraction = fraction_bits(type),
              most = (1 << (8 * bytes - 1 - fraction)) - 2;
    const uint64_t u = next_random(random), digits = (u >> 8) & (((uint64_t)1 << fraction) - 1);
    const bool is_negative = signs == NEGATIVE || (signs == MIXED && (u & 1));
    const int near = (int)(u >> 1 & 3) * (fraction > 10 ? 4 : 1);
    const bool is_large = ends == MOST || ends == MOST_SINGLE_BITS || (ends == BOTH_ENDS && (u & 8));
    const int field = is_large ? most - near : ends == LEAST_AND_SUBNORMAL ? near / 2 % 2 : 1 + near;
    const uint64_t bits = (uint64_t)is_negative << (8 * bytes - 1) | (uint64_t)field << fraction |
                          (ends == MOST_SINGLE_BITS ? 0 : digits);
    memcpy(values + i * bytes, &bits, (size_t)bytes);
}

static void expect_double(double got, double wanted, const char *what) {
    const bool same = isnan(got) ? isnan(wanted) : got == wanted && signbit(got) == signbit(wanted);
    EXPECT(same, "%s, data %s: %s is %a, the truth is %a", now.layout, now.data, what, got, wanted);
}
static void expect_truth(truth *t, const subject *s, const char *result) {
    tally_stats stats;
    double got;
    if (s->op != TALLY_STATS) {
        memcpy(&got, result, sizeof got);
        expect_double(got, truth_of(t, s->op, s->ddof, format_of(TALLY_F64)), "the result");
        return;
    }
    memcpy(&stats, result, sizeof stats);
    EXPECT(stats.count == t->n, "count %lld", (long long)stats.count);
    expect_double(stats.sum.f, truth_of(t, TALLY_SUM, 0, format_of(s->type == TALLY_F64 ? TALLY_F64 : TALLY_F32)),
                  "the sum");
    expect_double(stats.mean, truth_of(t, TALLY_MEAN, 0, format_of(TALLY_F64)), "the mean");
    expect_double(stats.var, truth_of(t, TALLY_VAR, s->ddof, format_of(TALLY_F64)), "the variance");
    expect_double(stats.min.f, t->least, "the minimum");
    expect_double(stats.max.f, t->greatest, "the maximum");
}

enum { MOST_ROWS = 9 };
typedef struct table {
    const subject *s;
    const char *x, *y;               /* row by row */
    const char *x_across, *y_across; /* column by column */
    int64_t rows, length;
    truth truths[MOST_ROWS];
} table;

static tally_output output_of(const table *t, char *results) {
    return (tally_output){results, t->s->op == TALLY_STATS ? TALLY_NATURAL : TALLY_F64, t->rows, 0};
}
static void expect_rows(table *t, const char *results, int64_t rows) {
    const size_t bytes = t->s->op == TALLY_STATS ? sizeof(tally_stats) : sizeof(double);
    for (now.segment = 0; now.segment < rows; now.segment++)
        expect_truth(&t->truths[now.segment], t->s, results + (size_t)now.segment * bytes);
    now.segment = 0;
}

static void check_segmentations(table *t, tally_context *context) {
    static const char *const forms[] = {"offsets", "lengths", "segment_ids", "rows", "columns"};
    int64_t offsets[MOST_ROWS + 1], lengths[MOST_ROWS], *segment_ids = scratch(4, (size_t)(t->rows * t->length) * 8);
    const int64_t n = t->rows * t->length;
    char results[MOST_ROWS * sizeof(tally_stats)];
    for (int64_t r = 0; r <= t->rows; r++) offsets[r] = r * t->length;
    for (int64_t r = 0; r < t->rows; r++) lengths[r] = t->length;
    for (int64_t i = 0; i < n; i++) segment_ids[i] = i / t->length;
    const tally_segments segmentations[] = {tally_offsets(offsets, TALLY_I64, t->rows),
                                            tally_lengths(lengths, TALLY_I64, t->rows),
                                            tally_segment_ids(segment_ids, TALLY_I64, t->rows),
                                            tally_rows(t->rows, t->length, 1), tally_rows(1, t->length, t->rows)};
    for (int form = 0; form < 5; form++) {
        now.segments = forms[form];
        memset(results, 0x5a, sizeof results);
        EXPECT_OK(perform(context, t->s->op, tally_in(form == 4 ? t->x_across : t->x, t->s->type, n),
                          tally_in(form == 4 ? t->y_across : t->y, t->s->type, n), &segmentations[form],
                          output_of(t, results)));
        expect_rows(t, results, t->rows);
    }
    now.segments = NULL;
}
static void check_whole(table *t, tally_context *context) {
    char result[sizeof(tally_stats)];
    tally_output out = output_of(t, result);
    out.count = 1;
    EXPECT_OK(perform(context, t->s->op, tally_in(t->x, t->s->type, t->length), tally_in(t->y, t->s->type, t->length),
                      NULL, out));
    expect_rows(t, result, 1);
}

static void push(const table *t, tally_state *state, int64_t from, int64_t to) {
    const int64_t bytes = (int64_t)tally_type_size(t->s->type);
    const tally_array x = tally_in(t->x + from * bytes, t->s->type, to - from),
                      y = tally_in(t->y + from * bytes, t->s->type, to - from);
    if (t->s->op == TALLY_DOT)
        EXPECT_OK(tally_state_push_pair(state, x, y));
    else
        EXPECT_OK(tally_state_push(state, x));
}
/* Two states, merged, saved and loaded. */
static void check_states(table *t, tally_context *context) {
    char result[sizeof(tally_stats)], saved[4096];
    const int64_t half = t->length / 2;
    tally_state *states[3];
    size_t size;
    tally_output out = output_of(t, result);
    out.count = 1;
    now.segments = "states";
    EXPECT_OK(tally_state_open(context, t->s->op, t->s->type, 0, &states[0]));
    EXPECT_OK(tally_state_open(context, t->s->op, t->s->type, half, &states[1]));
    push(t, states[0], 0, half);
    push(t, states[1], half, t->length);
    EXPECT_OK(tally_state_merge(states[0], states[1]));
    EXPECT_OK(tally_state_save(states[0], saved, sizeof saved, &size));
    EXPECT_OK(tally_state_load(context, saved, size, &states[2]));
    EXPECT_OK(tally_state_finish(states[2], out));
    for (int i = 0; i < 3; i++) tally_state_close(states[i]);
    expect_rows(t, result, 1);
    now.segments = NULL;
}

static void check_table(const subject *s, int ends, int signs, int64_t rows, int64_t length, uint64_t *random) {
    const size_t bytes = tally_type_size(s->type), n = (size_t)(rows * length);
    const tally_backend backends[] = {TALLY_BACKEND_REFERENCE, TALLY_BACKEND_CPU, backend};
    static const char *const backend_names[] = {"reference", "CPU", "GPU"};
    char *space[4];
    table t = {.s = s, .rows = rows, .length = length};
    for (int k = 0; k < 4; k++) space[k] = scratch(k, n * bytes);
    for (int64_t i = 0; i < (int64_t)n; i++)
        for (int k = 0; k < 2; k++) put_bits(s->type, space[k], i, ends, signs, random);
    for (int64_t r = 0; r < rows; r++) {
        begin_truth(&t.truths[r]);
        for (int64_t i = 0; i < length; i++) {
            const int64_t at = r * length + i;
            const double x = (double)number_at(s->type, space[0], at);
            add_truth(&t.truths[r], x, s->op == TALLY_DOT ? (double)number_at(s->type, space[1], at) : x);
            for (int k = 0; k < 2; k++)
                memcpy(space[2 + k] + (size_t)(i * rows + r) * bytes, space[k] + (size_t)at * bytes, bytes);
        }
    }
    t.x = space[0], t.y = space[1], t.x_across = space[2], t.y_across = space[3];
    now = (scene){
        .op = s->op, .type = s->type, .ddof = s->ddof, .data = names[ends][signs], .size = length, .outer = rows};
    for (int b = 0; b < 3; b++) {
        tally_context *context = context_for(s, backends[b], 1);
        now.layout = backend_names[b];
        check_whole(&t, context);
        if (rows > 1) check_segmentations(&t, context);
        check_states(&t, context);
    }
    for (int64_t r = 0; r < rows; r++) end_truth(&t.truths[r]);
}

static void test_extremes(void **unused) {
    static const int64_t shapes[][2] = {{1, 1}, {9, 3}, {4, 70}, {2, 2100}, {1, 9000}};
    subject s = {.op = -1};
    uint64_t random = seed;
    int trial = 0;
    (void)unused;
    while (next_subject(&s)) {
        if (!is_float(s.type) || !is_exact_sum(&s) || s.nan != TALLY_NAN_PROPAGATE) continue;
        for (int ends = 0; ends < ENDS; ends++)
            for (int signs = 0; signs < SIGNS; signs++, trial++) {
                const int many = quick ? 2 : 1 + trial % 4; /* one alone always, the others in turn */
                check_table(&s, ends, signs, 1, 1, &random);
                check_table(&s, ends, signs, shapes[many][0], shapes[many][1], &random);
            }
    }
}

int main(int argc, char **argv) {
    int skipped = begin_gpu_program(argc, argv);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_extremes)};
    return skipped ? skipped : cmocka_run_group_tests(tests, NULL, NULL);
}
