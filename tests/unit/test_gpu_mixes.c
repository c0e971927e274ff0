/* Segments on the GPU backend, of segmentations, values and layouts that nobody chose: every problem is drawn at
 * random, of stretches of segments of one kind each, and compared with the CPU's slices; every fourth is spoilt, and
 * compared with what the CPU says of it. --problems N: so many (a soak takes thousands);
 * --first K: from number K on, which a failure names as its rows; --op sum --type f32: of these alone, so that few
 * kernels are compiled. On the simulator as it is; with --cuda on a GPU. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "float_ranges.h"
#include "partition/partition.h"
#include "segment_problems.h"

enum { VALUES = 6, OTHERS = 7 };            /* further scratch memory */
enum { MOST_SEGMENTS = 60000, TIMES = 50 }; /* of a problem, and so many times that of a large one */
static int64_t first_problem = 0, problems = 0;
static const char *only_op = "", *only_type = "";

static int64_t between(uint64_t *random, int64_t least, int64_t most) {
    return least + random_below(random, most - least + 1);
}
/* As often of one size as of another. */
static int64_t log_below(uint64_t *random, int log2_most) {
    return random_below(random, (int64_t)1 << random_below(random, log2_most + 1));
}

/* ---- segmentations ---- */

/* So many segments of one kind, all of a length or of lengths up to it. */
typedef enum kind { EQUAL, UNIFORM, ANY_SIZE, RARE, LONG, KINDS } kind;
typedef struct stretch {
    kind kind;
    int64_t segments, length;
} stretch;

static stretch draw_stretch(int64_t leaf, uint64_t *random) {
    const int64_t special[] = {
        0,   1,   2,   3,   4,   5,   7,        8,    9,        16,       17,           31,        32,
        33,  63,  64,  65,  97,  98,  112,      127,  128,      129,      195,          196,       256,
        300, 511, 512, 513, 951, 952, leaf - 1, leaf, leaf + 1, 2 * leaf, 3 * leaf + 1, 64 * leaf, 64 * leaf + 1};
    stretch s = {.segments = 1 + log_below(random, 11)};
    s.kind = (kind)random_below(random, KINDS);
    s.length = s.kind == EQUAL  ? special[random_below(random, sizeof special / sizeof *special)]
               : s.kind == LONG ? 40 * leaf
                                : 1 + log_below(random, 10);
    if (s.kind == LONG) s.segments = 1 + random_below(random, 3);
    if (s.length > leaf / 2) s.segments = 1 + s.segments % 8;
    return s;
}

static int64_t draw_length(const stretch *s, uint64_t *random) {
    switch (s->kind) {
    case EQUAL: return s->length;
    case ANY_SIZE: return log_below(random, 10);
    case RARE: return random_below(random, 8) ? 0 : random_below(random, s->length + 1);
    default: return random_below(random, s->length + 1);
    }
}

/* Some have three tiles, some more; of a GPU's some so many that each of its blocks has several. */
static ragged draw_segments(tally_type type, uint64_t *random) {
    const int64_t leaf = tally_leaf_length(type), width = (int64_t)tally_type_size(type);
    const int64_t times = backend == TALLY_BACKEND_CUDA && random_below(random, 40) == 0 ? TIMES : 1,
                  most_segments = times * MOST_SEGMENTS;
    const int64_t most =
        1 + times * random_below(random, (random_below(random, 8) ? 3 : 24) * TALLY_TILE_BYTES) / width;
    ragged r = {.skip = log_below(random, 6),
                .slack = log_below(random, 6),
                .lengths = scratch(LENGTHS, (size_t)most_segments * sizeof(int64_t))};
    int64_t total = 0;
    do {
        const stretch s = draw_stretch(leaf, random);
        for (int64_t i = 0; i < s.segments && r.count < most_segments; i++) {
            const int64_t length = draw_length(&s, random);
            r.lengths[r.count++] = length < most - total ? length : most - total;
            total += r.lengths[r.count - 1];
        }
    } while (total < most && r.count < most_segments && random_below(random, 20 * times) != 0);
    r.values = r.skip + total + r.slack;
    return r;
}

/* ---- values ---- */

/* Stretches of several classes side by side, from any place of theirs. */
static const char *draw_values(int number, tally_type type, int64_t count, uint64_t *random) {
    const size_t width = tally_type_size(type);
    char *values = scratch(number, (size_t)count * width + 1);
    const int only = random_below(random, 2) ? (int)random_below(random, DATA_CLASSES) : -1;
    for (int64_t at = 0; at < count;) {
        const int64_t more = 1 + log_below(random, 14), n = more < count - at ? more : count - at,
                      from = random_below(random, 1000);
        const data_class class = only < 0 ? (data_class)random_below(random, DATA_CLASSES) : (data_class)only;
        memcpy(values + (size_t)at * width, (const char *)data_of(type, class, from + n) + (size_t)from * width,
               (size_t)n * width);
        at += n;
    }
    return values;
}

/* Values whose exact sums are at the boundary of what a way of adding them up can do; some segments are of -0 alone,
 * some of one value many times, which deviate by exactly nothing. */
static const char *draw_ranges(const subject *s, const ragged *r, uint64_t *random) {
    const float_segments f = {s->type, r->lengths, r->count, (int)random_below(random, 100),
                              scratch(VALUES, (size_t)r->values * tally_type_size(s->type) + 1)};
    const int64_t way = random_below(random, s->type == TALLY_F64 ? 4 : 3);
    memset(f.values, 0, (size_t)r->values * tally_type_size(s->type));
    if (way == 3)
        fill_full(&f, (int)random_below(random, 4));
    else if (way == 2)
        fill_wide(&f);
    else
        fill_narrow(&f, between(random, 1, s->type == TALLY_F64 ? 45 : 30));
    const size_t width = tally_type_size(s->type);
    char *at = f.values;
    for (int64_t k = 0; k < r->count; at += (size_t)r->lengths[k++] * width) {
        const int64_t what = random_below(random, 16);
        if (what == 0) memcpy(at, data_of(s->type, MINUS_ZEROS, r->lengths[k]), (size_t)r->lengths[k] * width);
        for (int64_t i = 1; what == 1 && i < r->lengths[k]; i++) memcpy(at + (size_t)i * width, at, width);
    }
    return f.values;
}

static problem draw_problem(const subject *s, uint64_t *random) {
    ragged r = draw_segments(s->type, random);
    const bool of_ranges = is_exact_sum(s) && s->type >= TALLY_F32 && random_below(random, 2);
    if (of_ranges) r.values -= r.skip, r.skip = 0;
    set_scene(s, ANY_BITS, r.values);
    now.data = of_ranges ? "ranges" : "a mix";
    const char *x = of_ranges ? draw_ranges(s, &r, random) : draw_values(VALUES, s->type, r.values, random);
    return pose_values(s, x, draw_values(OTHERS, s->type, r.values, random), r);
}

/* ---- segmentations that may be none ---- */

/* Some entries are other ones; what the CPU says of the whole, and if that is a segmentation every result, is to be
 * said by the GPU backend. */
static void compare_spoilt(const problem *p, tally_segmentation form, tally_type index_type, uint64_t *random) {
    const subject *s = p->s;
    const size_t bytes = result_bytes(s), width = tally_type_size(s->type), index_width = tally_type_size(index_type);
    int64_t skip, count;
    size_t index_bytes;
    const tally_segments segments = make_segments(form, index_type, &p->r, 0, &skip, &count, &index_bytes);
    const int64_t entries = (int64_t)(index_bytes / index_width), places = 1 + log_below(random, 4);
    char *index = scratch(INDEX, index_bytes); /* where make_cut has left it */
    char *wanted = scratch(WANTED, bytes * (size_t)p->r.count + 1), *got = scratch(OUT, bytes * (size_t)p->r.count + 1);
    for (int64_t k = 0; k < places && entries > 0; k++) {
        const int64_t at = random_below(random, 3)   ? random_below(random, entries)
                           : random_below(random, 2) ? entries - 1
                                                     : 0;
        const int64_t others[] = {random_below(random, count + 1),
                                  random_below(random, p->r.count + 1),
                                  log_below(random, 40),
                                  -log_below(random, 40),
                                  INT32_MAX,
                                  INT32_MIN};
        put_index(index_type, index, at, others[random_below(random, 6)]);
    }
    const tally_array x = tally_in(p->x + skip * (int64_t)width, s->type, count),
                      y = tally_in(p->y + skip * (int64_t)width, s->type, count);
    memset(wanted, 0xa5, bytes * (size_t)p->r.count);
    memset(got, 0xa5, bytes * (size_t)p->r.count);
    const tally_status due = perform(context_for(s, TALLY_BACKEND_CPU, 1), s->op, x, y, &segments,
                                     tally_out(wanted, TALLY_NATURAL, p->r.count));
    now.data = "a spoilt segmentation";
    EXPECT_STATUS(
        perform(context_for(s, backend, 1), s->op, x, y, &segments, tally_out(got, TALLY_NATURAL, p->r.count)), due);
    if (due == TALLY_BAD_SEGMENTS) return;
    expect_results(got, (int64_t)bytes, wanted, bytes, p->r.count);
}

/* ---- the run ---- */

static bool is_wanted(const subject *s) {
    return (only_op[0] == 0 || tally_op_from_name(only_op) == s->op) &&
           (only_type[0] == 0 || tally_type_from_name(only_type) == s->type);
}

static void test_mixes(void **state) {
    static subject subjects[2000];
    int count = 0;
    (void)state;
    for (subject s = {.op = -1}; count < 2000 && next_subject(&s);)
        if (is_wanted(&s)) subjects[count++] = s;
    assert_int_not_equal(count, 0);
    for (int64_t k = first_problem; k < first_problem + problems; k++) {
        uint64_t random = seed ^ (uint64_t)k * 0xd1342543de82ef95u;
        const problem p = draw_problem(&subjects[random_below(&random, count)], &random);
        const tally_segmentation form = (tally_segmentation)random_below(&random, 3);
        const tally_type index_type = random_below(&random, 2) ? TALLY_I64 : TALLY_I32;
        const int trial = (int)random_below(&random, 180);
        now.outer = k;
        if (random_below(&random, 4) == 0)
            compare_spoilt(&p, form, index_type, &random);
        else if (random_below(&random, 3) == 0)
            compare_host(&p, form, index_type, trial);
        else
            compare_device(&p, form, index_type, trial);
    }
    printf("problems %lld to %lld of seed %llu\n", (long long)first_problem, (long long)(first_problem + problems - 1),
           (unsigned long long)seed);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_mixes)};
    int skipped = begin_gpu_program(argc, argv);
    if (skipped) return skipped;
    problems = quick ? 40 : 400;
    for (int i = 1; i + 1 < argc; i++) {
        if (strcmp(argv[i], "--problems") == 0) problems = atoll(argv[i + 1]);
        if (strcmp(argv[i], "--first") == 0) first_problem = atoll(argv[i + 1]);
        if (strcmp(argv[i], "--op") == 0) only_op = argv[i + 1];
        if (strcmp(argv[i], "--type") == 0) only_type = argv[i + 1];
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
