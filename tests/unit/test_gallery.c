/* The gallery's kernels against the CPU's reference: every kernel, some operators and types of each kind, all sizes
 * around what blocks take, segments of every shape, several schedules of the simulator; with --cuda the same on a GPU,
 * and more operators. What a kernel cannot do is refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda/cache.h"
#include "cuda/gpu.h"
#include "gallery/host/gallery.h"
#include "gallery/host/kernels.h"
#include "gallery/host/units.h"
#include "support.h"

static tally_backend backend = TALLY_BACKEND_SIMT;

typedef struct problem {
    const char *op;
    tally_type type;
    data_class data;
} problem;
/* Sums are of values that are exact in any order; an operator that does not commute tells any change of order. */
static const problem problems[] = {
    {"sum", TALLY_I32, ANY_BITS},       {"min", TALLY_F32, SPECIALS},     {"argmin", TALLY_F64, TIES},
    {"sum", TALLY_F32, SMALL_INTEGERS}, {"compose", TALLY_I32, ANY_BITS}, {"compose", TALLY_U8, ANY_BITS},
    {"argmin", TALLY_U8, TIES},         {"min", TALLY_I32, ANY_BITS},     {"sum", TALLY_U8, ANY_BITS},
    {"sum", TALLY_F64, SMALL_INTEGERS}, {"min", TALLY_F64, MIXED_ZEROS},  {"min", TALLY_U8, ALL_EQUAL},
    {"argmin", TALLY_I32, TIES},        {"argmin", TALLY_F32, SPECIALS},  {"sum", TALLY_F64, SPECIALS},
};
/* The simulator does without these. */
static const problem more_problems[] = {
    {"prod", TALLY_I64, ANY_BITS},
    {"max", TALLY_BF16, SPECIALS},
    {"argmax", TALLY_I16, TIES},
    {"minmax", TALLY_F16, SPECIALS},
    {"any", TALLY_BOOL, TIES},
    {"all", TALLY_F32, SMALL_INTEGERS},
    {"count", TALLY_F64, SPECIALS},
    {"and", TALLY_U64, ANY_BITS},
    {"or", TALLY_I8, TIES},
    {"xor", TALLY_U16, ANY_BITS},
    {"mean", TALLY_I8, ANY_BITS},
    {"var", TALLY_I32, SMALL_INTEGERS},
    {"stats", TALLY_I16, SMALL_INTEGERS},
    {"norm1", TALLY_F16, SMALL_INTEGERS},
    {"norm2", TALLY_U32, SMALL_INTEGERS},
    {"norminf", TALLY_BF16, SPECIALS},
    {"sumsq", TALLY_I16, SMALL_INTEGERS},
    {"logsumexp", TALLY_F64, SMALL_INTEGERS},
    {"dot", TALLY_I64, ANY_BITS},
    {"dot", TALLY_F32, SMALL_INTEGERS},
    {"std", TALLY_F64, SMALL_INTEGERS},
    {"compose", TALLY_F64, ANY_BITS},
    {"sum", TALLY_I8, ANY_BITS},
    {"sum", TALLY_U64, ANY_BITS},
};

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

static tally__track *open_track(const problem *p) {
    tally__track *track;
    EXPECT_OK(tally__track_open(backend, 0, p->op, p->type, &track));
    now.op = tally_op_from_name(p->op);
    now.type = p->type;
    now.data = class_names[p->data];
    return track;
}

static void configure(const char *schedule) {
    tally__simt_settings settings = TALLY_SIMT_SETTINGS_INIT;
    now.layout = schedule;
    assert_true(tally__simt_parse(schedule, &settings));
    tally__simt_configure(&settings);
}

/* ---- the kernels over what is on a track ---- */

/* A kernel that is refused where it must not be is a failure of the caller's. */
static void check_kernel(tally__track *track, const tally__gallery_row *row) {
    int64_t count = tally__track_result_count(track, row), wrong = -1;
    size_t bytes = tally__track_result_bytes(track) > 8 ? tally__track_result_bytes(track) : 8;
    char *results = scratch(0, (size_t)(count + 1) * bytes), *expected = scratch(1, (size_t)(count + 1) * bytes);
    tally__lap lap;
    memset(results, 0x5a, (size_t)count * bytes);
    EXPECT(tally__track_run(track, row, results, &lap) == TALLY_OK, "%s: %s", row->name, tally_message());
    EXPECT_OK(tally__track_expect(track, row, expected));
    const bool agrees = tally__track_agrees(track, row, results, expected, &wrong);
    const size_t at = agrees ? 0 : (size_t)wrong * tally__track_result_bytes(track);
    uint64_t got, wanted;
    memcpy(&got, results + at, sizeof got);
    memcpy(&wanted, expected + at, sizeof wanted);
    EXPECT(agrees, "%s: result %lld is wrong: begins with %016llx, not %016llx", row->name, (long long)wrong,
           (unsigned long long)got, (unsigned long long)wanted);
}

static int check_kernels(tally__track *track) {
    int run = 0;
    for (int k = 0; k < tally__gallery_count; k++) {
        if (tally__gallery[k].plan == TALLY_PLAN_MERGE || tally__track_suits(track, &tally__gallery[k]) != TALLY_OK)
            continue;
        check_kernel(track, &tally__gallery[k]);
        run++;
    }
    return run;
}

/* ---- whole arrays ---- */

static void check_whole(const problem *p, int64_t count) {
    tally__track *track = open_track(p);
    const char *data = data_of(p->type, p->data, count + 64);
    int run;
    now.size = count;
    EXPECT_OK(tally__track_load(track, data, data + 7 * tally_type_size(p->type), count, 1));
    run = check_kernels(track);
    EXPECT(run >= 9, "%d kernels ran", run);
    tally__track_close(track);
}

static void test_sizes(void **state) {
    static const int64_t sizes[] = {0,   1,   2,    3,    5,    31,   32,   33,   63,   64,    65,    127,  511,
                                    512, 513, 1023, 1024, 1025, 2047, 2049, 4099, 8193, 16384, 16411, 33791};
    (void)state;
    configure("round");
    for (int s = 0; s < COUNT(sizes); s++)
        for (int k = 0; k < COUNT(problems); k++)
            if (k % (quick || sizes[s] > 10000 ? 9 : 3) == s % 3) check_whole(&problems[k], sizes[s]);
}

/* Third launches: more than 512 * 512 values. */
static void test_many_launches(void **state) {
    (void)state;
    configure("greedy");
    check_whole(&problems[4], quick ? 40000 : 300007);
    if (backend == TALLY_BACKEND_CUDA && !quick) check_whole(&problems[4], 20000003);
}

/* What one block does, three times in one launch: the result is that of once. Of more blocks it is refused. */
static void check_repeated(const problem *p) {
    tally__track *track = open_track(p);
    const char *data = data_of(p->type, p->data, 3000);
    tally__lap lap;
    int run = 0;
    for (int k = 0; k < tally__gallery_count; k++) {
        const tally__gallery_row *row = &tally__gallery[k];
        for (now.size = tally__gallery_alone(row); now.size > 0; now.size = now.size > 100 ? 33
                                                                            : now.size > 7 ? 7
                                                                                           : 0) {
            if (now.size > row->each) continue;
            EXPECT_OK(tally__track_load(track, data, NULL, now.size, 1));
            tally__track_repeat(track, 3);
            if (tally__track_suits(track, row) != TALLY_OK) break;
            check_kernel(track, row);
            run++;
        }
    }
    EXPECT(run >= 20, "%d kernels were repeated", run);
    EXPECT_OK(tally__track_load(track, data, NULL, 2000, 1));
    EXPECT_STATUS(tally__track_run(track, tally__gallery_find("tb2"), scratch(0, 64), &lap), TALLY_UNSUPPORTED);
    tally__track_close(track);
}
static void test_repeats(void **state) {
    (void)state;
    configure("random:1");
    check_repeated(&problems[1]);
    check_repeated(&problems[4]);
}

/* Segment ids of `count` values in a shape; gives the number of segments. */
static int64_t make_segment_ids(const char *shape, int64_t count, int32_t *segment_ids) {
    uint64_t state = seed + (uint64_t)count;
    int32_t segment_id = 0;
    int64_t left = 0;
    if (strcmp(shape, "one") == 0) return memset(segment_ids, 0, (size_t)count * sizeof *segment_ids), 1;
    for (int64_t i = 0; i < count; i++, left--) {
        if (left == 0) {
            if (i > 0) segment_id++;
            left = 1;
            if (strcmp(shape, "three") == 0) left = 3;
            if (strcmp(shape, "10..50") == 0) left = 10 + random_below(&state, 41);
            if (strcmp(shape, "tail") == 0) left = 1 + ((int64_t)1 << random_below(&state, 12));
            if (strcmp(shape, "sparse") == 0)
                segment_id += (int32_t)random_below(&state, 9), left = 1 + random_below(&state, 3);
            if (strcmp(shape, "1024") == 0) left = 1024;
            if (strcmp(shape, "1025") == 0) left = 1025;
            if (strcmp(shape, "two") == 0) left = i == 0 ? count / 2 + 1 : count;
        }
        segment_ids[i] = segment_id;
    }
    return segment_id + (strcmp(shape, "sparse") == 0 ? 5 : 1);
}

/* Kernels of other sizes than those of the table, and of these again. */
static void check_sizes(tally__track *track, tally__gallery_sizes sizes, int64_t count) {
    for (int k = 0; k < tally__gallery_count; k++) {
        tally__gallery_row row = tally__gallery_with(&tally__gallery[k], sizes);
        int32_t *result = scratch(0, 4 * (size_t)count);
        tally__lap lap;
        bool varies = (sizes.per_thread > 0 && row.sizes.per_thread > 0) || (sizes.width > 0 && row.sizes.width > 0);
        if (!varies || tally__track_suits(track, &row) != TALLY_OK) continue;
        check_kernel(track, &row);
        EXPECT_OK(tally__track_run(track, &row, result, &lap));
        EXPECT(row.plan != TALLY_PLAN_PASSES || lap.blocks[0] == (count + row.each - 1) / row.each,
               "%s: %d blocks of %d", row.name, lap.blocks[0], row.each);
    }
}
static void test_sizes_of_kernels(void **state) {
    static const tally__gallery_sizes of[] = {{32, 0, 0},  {8, 0, 0},    {0, 8, 32}, {0, 128, 32},
                                              {0, 32, 64}, {0, 16, 128}, {0, 32, 32}};
    const int64_t count = 16384 * 3 + 5;
    int32_t *segment_ids = scratch(2, (size_t)count * sizeof *segment_ids);
    (void)state;
    configure("round");
    if (system("cc --version >/dev/null 2>&1") != 0 && backend == TALLY_BACKEND_SIMT) {
        printf("SKIPPED: kernels of other sizes: there is no cc\n");
        return;
    }
    /* sum of i32, and compose, which tells any change of order; on a GPU each kernel is compiled for each size */
    for (int p = backend == TALLY_BACKEND_CUDA ? 4 : 0; p <= 4; p += 4) {
        tally__track *track = open_track(&problems[p]);
        const char *data = data_of(problems[p].type, problems[p].data, count);
        for (int s = 0; s < COUNT(of); s++) {
            EXPECT_OK(tally__track_load(track, data, NULL, count, 1));
            check_sizes(track, of[s], count);
            EXPECT_OK(tally__track_segments(track, segment_ids, make_segment_ids("tail", count, segment_ids)));
            check_sizes(track, of[s], count);
        }
        tally__track_close(track);
    }
}

static void test_schedules(void **state) {
    static const char *const schedules[] = {"reverse", "random:1", "random:2", "greedy", "lockstep"};
    (void)state;
    if (backend == TALLY_BACKEND_CUDA) return;
    for (int s = 0; s < COUNT(schedules); s++) {
        configure(schedules[s]);
        for (int k = 0; k < (quick ? 2 : 6); k++) check_whole(&problems[(k + s) % COUNT(problems)], 5000 + 37 * k);
    }
    configure("round");
}

static void test_more_operators(void **state) {
    (void)state;
    if (backend == TALLY_BACKEND_SIMT || quick) return;
    for (int k = 0; k < COUNT(more_problems); k++)
        for (int64_t n = 1; n < 3000000; n = 7 * n + 1) {
            tally__track *track = open_track(&more_problems[k]);
            const char *data = data_of(more_problems[k].type, more_problems[k].data, n + 64);
            now.size = n;
            EXPECT_OK(tally__track_load(track, data, data + 7 * tally_type_size(more_problems[k].type), n, 1));
            check_kernels(track);
            tally__track_close(track);
        }
}

/* Blocks of other sizes, and other numbers of them. */
static void test_shapes(void **state) {
    static const int threads[] = {0, 1, 2, 32, 64, 1024}, blocks[] = {0, 1, 3, 1000};
    (void)state;
    configure("round");
    for (int t = 0; t < COUNT(threads); t++)
        for (int b = 0; b < COUNT(blocks); b++)
            for (int k = 3; k < (quick ? 4 : 5); k++) {
                const int64_t count = 700 + 13 * b;
                tally__track *track = open_track(&problems[k]);
                now.size = count;
                tally__track_shape(track, threads[t], blocks[b]);
                EXPECT_OK(tally__track_load(track, data_of(problems[k].type, problems[k].data, count), NULL, count, 1));
                EXPECT(check_kernels(track) >= 9, "too few kernels ran");
                tally__track_close(track);
            }
}

/* ---- what compose is, by a formula of its own ---- */

static void test_compose(void **state) {
    const problem p = {"compose", TALLY_I32, ANY_BITS};
    const uint32_t *values = data_of(TALLY_I32, ANY_BITS, 3000);
    uint64_t one = 1, got;
    tally__lap lap;
    (void)state;
    configure("round");
    for (int i = 0; i < 3000; i++) one = (2 * (uint64_t)values[i] + 1) * one + (uint64_t)values[i] * values[i] + 1;
    tally__track *track = open_track(&p);
    EXPECT_OK(tally__track_load(track, values, NULL, 3000, 1));
    EXPECT_OK(tally__track_run(track, tally__gallery_find("tb2"), &got, &lap));
    EXPECT_BITS(&got, &one, sizeof got, "compose");
    /* It must tell order, or none of this says anything about order. */
    EXPECT_OK(tally__track_load(track, values, NULL, 2, 1));
    EXPECT_OK(tally__track_run(track, tally__gallery_find("tb2"), &one, &lap));
    EXPECT_OK(tally__track_load(track, (uint32_t[]){values[1], values[0]}, NULL, 2, 1));
    EXPECT_OK(tally__track_run(track, tally__gallery_find("tb2"), &got, &lap));
    EXPECT(got != one, "compose commutes");
    tally__track_close(track);
}

/* ---- segments ---- */

static const char *const shapes[] = {"one", "single", "three", "10..50", "tail", "sparse", "1024", "1025", "two"};

static void check_segments(const problem *p, const char *shape, int64_t count) {
    tally__track *track = open_track(p);
    int32_t *segment_ids = scratch(2, (size_t)(count + 1) * sizeof *segment_ids);
    int64_t segments = make_segment_ids(shape, count, segment_ids);
    int run;
    now.segments = shape;
    now.size = count;
    EXPECT_OK(tally__track_load(track, data_of(p->type, p->data, count), NULL, count, 1));
    EXPECT_OK(tally__track_segments(track, segment_ids, segments));
    run = check_kernels(track);
    EXPECT(run >= 6, "%d kernels ran", run); /* the plain read is one */
    tally__track_close(track);
    now.segments = NULL;
}

static void test_segments(void **state) {
    static const int64_t sizes[] = {0, 1, 2, 33, 511, 512, 513, 1024, 1025, 3001, 8191, 20011};
    (void)state;
    configure("round");
    for (int h = 0; h < COUNT(shapes); h++)
        for (int s = 0; s < COUNT(sizes); s++)
            for (int k = 0; k < 6; k++)
                if (k % (quick ? 6 : 3) == (h + s) % 3) check_segments(&problems[k], shapes[h], sizes[s]);
}

static void test_segment_schedules(void **state) {
    static const char *const schedules[] = {"reverse", "random:3", "random:4", "greedy", "lockstep"};
    (void)state;
    if (backend == TALLY_BACKEND_CUDA) return;
    for (int s = 0; s < COUNT(schedules); s++) {
        configure(schedules[s]);
        for (int h = 0; h < COUNT(shapes); h += quick ? 4 : 1) check_segments(&problems[4], shapes[h], 5000);
    }
    configure("round");
}

/* ---- merging ---- */

static int compare_keys(const void *a, const void *b) {
    const float *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}
/* Sorts list l = values l, l + lists, ... */
static void sort_lists(float *values, int64_t count, int lists) {
    float *list = scratch(3, (size_t)(count + 1) * sizeof *list);
    for (int l = 0; l < lists; l++) {
        int64_t n = 0;
        for (int64_t i = l; i < count; i += lists) list[n++] = values[i];
        qsort(list, (size_t)n, sizeof *list, compare_keys);
        n = 0;
        for (int64_t i = l; i < count; i += lists) values[i] = list[n++];
    }
}
static void test_merge(void **state) {
    static const int lists[] = {1, 2, 3, 6, 32, 100, 1024};
    const problem p = {"min", TALLY_F32, TIES};
    (void)state;
    configure("round");
    for (int k = 0; k < COUNT(lists); k++)
        for (int64_t n = 0; n < (quick ? 50 : 300); n = 3 * n + 1) {
            tally__track *track = open_track(&p);
            float *values = scratch(4, (size_t)(n + 1) * sizeof *values);
            for (int64_t i = 0; i < n; i++) values[i] = (float)((i * 7919) % 101 - 50);
            sort_lists(values, n, lists[k]);
            tally__track_lists(track, lists[k]);
            now.size = n;
            EXPECT_OK(tally__track_load(track, values, NULL, n, 1));
            check_kernel(track, tally__gallery_find("merge_lists"));
            tally__track_close(track);
        }
}

/* ---- what the simulator counts ---- */

/* Table IV of the paper, number by number: by running the kernels on segments of 3. The paper truncates its ratios,
 * which follow. */
static void expect_irregular(const char *kernel, const int *accesses, const int *transfers, int levels) {
    static int32_t segment_ids[4096];
    static float values[4096];
    const problem p = {"min", TALLY_F32, TIES};
    tally__track *track = open_track(&p);
    tally__irregular table;
    for (int i = 0; i < 4096; i++) segment_ids[i] = i / 3;
    EXPECT_OK(tally__track_load(track, values, NULL, 4096, 1));
    EXPECT_OK(tally__track_segments(track, segment_ids, 4095 / 3 + 1));
    EXPECT_OK(tally__track_irregular(track, tally__gallery_find(kernel), &table));
    EXPECT(table.levels >= levels, "%s: %d levels", kernel, table.levels);
    for (int l = 0; l < levels; l++)
        EXPECT(table.of[l].accesses == accesses[l] && table.of[l].transfers == transfers[l],
               "%s, level %d: %lld accesses, %lld transfers", kernel, l, (long long)table.of[l].accesses,
               (long long)table.of[l].transfers);
    tally__track_close(track);
}
static void test_table_4(void **state) {
    static const int tb2[2][9] = {{11, 21, 32, 32, 16, 8, 4, 2, 1}, {1, 2, 3, 6, 6, 6, 4, 2, 1}};
    static const int tb4[2][10] = {{5, 5, 4, 2, 1, 16, 8, 4, 2, 1}, {1, 1, 1, 1, 1, 11, 8, 4, 2, 1}};
    static const int matrix[2][7] = {{11, 10, 11, 11, 10, 11, 11}, {11, 10, 11, 11, 10, 11, 11}};
    (void)state;
    if (backend != TALLY_BACKEND_SIMT) return;
    configure("round");
    expect_irregular("segmented_tb2", tb2[0], tb2[1], 9);
    expect_irregular("segmented_tb4_warp", tb4[0], tb4[1], 10);
    expect_irregular("segmented_matrix", matrix[0], matrix[1], 7);
}

/* Counts that can be told without running: of one block of 1024 values. */
static void expect_counts(const char *kernel, int64_t branches, int64_t divergent, int64_t conflicts,
                          int64_t transactions) {
    static float values[1024];
    const problem p = {"min", TALLY_F32, TIES};
    tally__track *track = open_track(&p);
    tally__counts counts;
    EXPECT_OK(tally__track_load(track, values, NULL, 1024, 1));
    EXPECT_OK(tally__track_count(track, tally__gallery_find(kernel), &counts));
    EXPECT(counts.branches == branches && counts.divergent == divergent && counts.bank_conflicts == conflicts &&
               counts.transactions == transactions,
           "%s: %lld branches, %lld divergent, %lld conflicts, %lld transactions", kernel, (long long)counts.branches,
           (long long)counts.divergent, (long long)counts.bank_conflicts, (long long)counts.transactions);
    tally__track_close(track);
}
static void test_counts(void **state) {
    (void)state;
    if (backend != TALLY_BACKEND_SIMT) return;
    configure("round");
    /* 32 warps take 10 steps and one test of the end of the input. Neighbours diverge in all warps for 5 steps, and
     * then in those that have the threads that are left: 16, 8, 4, 2, 1 of them. Halves diverge in one warp for the
     * last 5. Of 4 bytes, no lanes collide in either. */
    expect_counts("interleaved", 32 * 11, 32 * 5 + 16 + 8 + 4 + 2 + 1, 0, 33);
    expect_counts("halves", 32 * 11, 5, 0, 33);
    /* Lane 0 takes the result of 32 from lane 16 and so on: no condition but the end of the input, and that of the
     * second launch. */
    expect_counts("warp_shuffles", 32 + 1, 0, 0, 32 + 32 + 1 + 1);
}

/* ---- refusals ---- */

static void expect_refusal(tally__track *track, const char *kernel, const char *why) {
    EXPECT_STATUS(tally__track_suits(track, tally__gallery_find(kernel)), TALLY_UNSUPPORTED);
    EXPECT(strstr(tally_message(), why) != NULL, "%s: \"%s\" does not say \"%s\"", kernel, tally_message(), why);
}
static void test_refusals(void **state) {
    const problem compose = {"compose", TALLY_I32, ANY_BITS}, argmin = {"argmin", TALLY_F64, TIES},
                  min = {"min", TALLY_F32, TIES};
    const int32_t segment_ids[3] = {0, 1, 1}, wrong[3] = {1, 0, 1}, beyond[3] = {0, 1, 2};
    tally__track *track = open_track(&compose);
    (void)state;
    EXPECT_OK(tally__track_load(track, data_of(TALLY_I32, ANY_BITS, 5000), NULL, 5000, 1));
    for (int k = 1; k < tally__gallery_count; k++)
        if (tally__gallery[k].needs == TALLY_COMMUTES)
            expect_refusal(track, tally__gallery[k].name, "does not commute");
    expect_refusal(track, "interleaved", "one block has at most 1024; these are 5000");
    expect_refusal(track, "segmented_tb2", "the values have none");
    tally__track_close(track);

    track = open_track(&argmin);
    EXPECT_OK(tally__track_load(track, data_of(TALLY_F64, TIES, 3), NULL, 3, 1));
    expect_refusal(track, "diffwarps", "keeps 2113 accumulators in shared memory");
    expect_refusal(track, "merge_lists", "merges by the minimum, not by argmin");
    EXPECT_OK(tally__track_segments(track, segment_ids, 2));
    expect_refusal(track, "tb2", "the values have segments");
    EXPECT_STATUS(tally__track_segments(track, wrong, 2), TALLY_BAD_SEGMENTS);
    EXPECT_STATUS(tally__track_segments(track, beyond, 2), TALLY_BAD_SEGMENTS);
    EXPECT_STATUS(tally__track_segments(track, segment_ids, 0), TALLY_BAD_SEGMENTS);
    EXPECT_STATUS(tally__track_load(track, NULL, NULL, -1, 1), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally__track_load(track, segment_ids, NULL, (int64_t)INT32_MAX + 1, 1), TALLY_BAD_ARGUMENT);
    tally__track_close(track);

    track = open_track(&min);
    tally__track_lists(track, 1025);
    expect_refusal(track, "merge_lists", "a thread for each list");
    tally__track_close(track);
    EXPECT_STATUS(tally__track_open(backend, 0, "no_such", TALLY_F32, &track), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally__track_open(backend, 0, "and", TALLY_F32, &track), TALLY_BAD_TYPE);
    if (backend == TALLY_BACKEND_SIMT)
        EXPECT_STATUS(tally__track_open(backend, 0, "stats", TALLY_F32, &track), TALLY_UNSUPPORTED);
    EXPECT(tally__gallery_find("36") == NULL && tally__gallery_find("tb3") == NULL && tally__gallery_find("") == NULL,
           "found what is not there");
    EXPECT(tally__gallery_find("16") == tally__gallery_find("tb2"), "numbers do not find kernels");
}

/* ---- kernels ahead of the tests ---- */

/* Compiles kernels into the cache on disk, by several processes: NVRTC lets only one thread of each compile. What does
 * not compile is told when it is run. */
static void compile_all(int processes) {
    const int all = COUNT(problems) + (quick ? 0 : COUNT(more_problems));
    tally__gpu *gpu;
    for (int p = 0; p < processes; p++) {
        if (fork() != 0) continue;
        if (tally__gpu_open(&tally__nvidia_platform, 0, &gpu) != TALLY_OK) _exit(0);
        for (int turn = p; turn < 2 * all * tally__gallery_count; turn += processes) {
            tally__gallery_form form =
                turn < all * tally__gallery_count ? TALLY_GALLERY_OF_VALUES : TALLY_GALLERY_OF_ELEMENTS;
            const tally__gallery_row *row = &tally__gallery[turn % tally__gallery_count];
            int number = turn / tally__gallery_count % all;
            const problem *of = number < COUNT(problems) ? &problems[number] : &more_problems[number - COUNT(problems)];
            tally__gallery_operator operator;
            tally__unit unit;
            const tally__image *image;
            char *text;
            bool again =
                row->plan == TALLY_PLAN_PASSES || row->plan == TALLY_PLAN_PERSISTENT || row->plan == TALLY_PLAN_TWICE;
            if (form == TALLY_GALLERY_OF_ELEMENTS && !again) continue;
            if (tally__gallery_operator_named(of->op, &operator) != TALLY_OK) continue;
            if (tally__gallery_unit(&operator, of->type, row, form, &unit, &text) != TALLY_OK) continue;
            if (tally__image_of(&tally__nvidia_platform, &unit, gpu->sm, &image) != TALLY_OK) continue;
            free(text);
        }
        _exit(0);
    }
    while (wait(NULL) > 0) continue;
}

/* Table III: blocks whose input is whole do the same in each launch. */
static void test_table_3(void **state) {
    const problem p = {"min", TALLY_F32, SMALL_INTEGERS};
    tally__divergence table;
    (void)state;
    if (backend == TALLY_BACKEND_CUDA) return;
    configure("round");
    tally__track *track = open_track(&p);
    int64_t count = 512 * 512;
    EXPECT_OK(tally__track_load(track, data_of(p.type, p.data, count), NULL, count, 1));
    EXPECT_OK(tally__track_divergence(track, tally__gallery_find("tb2"), &table));
    EXPECT(table.launches == 2 && table.of[1].divergent > 0, "%d launches", table.launches);
    EXPECT(table.of[0].branches == 512 * table.of[1].branches && table.of[0].divergent == 512 * table.of[1].divergent,
           "512 blocks: %lld of %lld, and one: %lld of %lld", (long long)table.of[0].divergent,
           (long long)table.of[0].branches, (long long)table.of[1].divergent, (long long)table.of[1].branches);
    tally__track_close(track);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_many_launches),
        cmocka_unit_test(test_repeats),
        cmocka_unit_test(test_table_3),
        cmocka_unit_test(test_sizes_of_kernels),
        cmocka_unit_test(test_schedules),
        cmocka_unit_test(test_more_operators),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_compose),
        cmocka_unit_test(test_segments),
        cmocka_unit_test(test_segment_schedules),
        cmocka_unit_test(test_merge),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_table_4),
        cmocka_unit_test(test_counts),
    };
    tally__track *track;
    if (argc > 1 && strcmp(argv[1], "--cuda") == 0) {
        backend = TALLY_BACKEND_CUDA;
        argv[1] = argv[0];
        argc--, argv++;
    }
    if (argc > 2 && strcmp(argv[1], "--only") == 0) {
        cmocka_set_test_filter(argv[2]);
        argv[2] = argv[0];
        argc -= 2, argv += 2;
    }
    int skipped = begin_program(argc, argv);
    if (skipped) return skipped;
    if (backend == TALLY_BACKEND_CUDA)
        compile_all(16); /* before this process touches the driver, which does not survive a fork */
    if (tally__track_open(backend, 0, "sum", TALLY_I32, &track) != TALLY_OK) {
        printf("SKIPPED: %s\n", tally_message());
        return SKIPPED;
    }
    tally__track_close(track);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
