/* tally_merge of arrays in GPU memory: the bits, the origins, the statuses and the sentences that it gives on the CPU,
 * which test_merge.c compares with a sort. On the simulator as it is; with --cuda on a GPU. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_host.h"
#include "merge/merge.h"
#include "merge_orders.h"
#include "tally/tally_merge.h"

enum { MOST_ARRAYS = 64 };
enum { SINGLES, VALUES, WANTED, WANTED_ORIGINS, GOT, GOT_ORIGINS, SPREAD };

static tally_context *context_on(tally_backend on) {
    const subject s = {.op = TALLY_MIN, .type = type_now, .nan = is_total ? TALLY_NAN_TOTAL : TALLY_NAN_PROPAGATE};
    return context_for(&s, on, 1);
}
typedef struct problem {
    int64_t count, total, counts[MOST_ARRAYS];
    unsigned char *values; /* the arrays one behind the other, each sorted */
} problem;

/* Sorts by a merge of arrays of one value each. */
static void sort(const unsigned char *from, int64_t count, unsigned char *to) {
    const size_t width = tally_type_size(type_now);
    tally_array *const singles = scratch(SINGLES, ((size_t)count + 1) * sizeof *singles);
    for (int64_t i = 0; i < count; i++) singles[i] = tally_in(from + (size_t)i * width, type_now, 1);
    EXPECT_OK(tally_merge(context_on(TALLY_BACKEND_REFERENCE), singles, count, tally_out(to, type_now, count),
                          (tally_output){0}));
}
static void make_problem(problem *p, data_class class, uint64_t *random) {
    const size_t width = tally_type_size(type_now);
    p->total = 0;
    for (int64_t i = 0; i < p->count; i++) p->total += p->counts[i];
    const unsigned char *data = data_of(type_now, class, p->total + 64);
    data += (size_t)random_below(random, 64) * width;
    p->values = scratch(VALUES, (size_t)p->total * width + 1);
    for (int64_t i = 0, begin = 0; i < p->count; begin += p->counts[i++]) {
        unsigned char *to = p->values + (size_t)begin * width;
        for (int64_t k = 0; k < p->counts[i]; k += 256, to += 256 * width) { /* pieces, which are quick to sort */
            const int64_t n = p->counts[i] - k < 256 ? p->counts[i] - k : 256;
            sort(data + (size_t)(begin + k) * width, n, to);
        }
        if (p->counts[i] <= 256) continue;
        tally_array pieces[64];
        int64_t piece_count = 0;
        unsigned char *const whole = scratch(SPREAD, (size_t)p->counts[i] * width);
        for (int64_t k = 0; k < p->counts[i]; k += 256)
            pieces[piece_count++] = tally_in(p->values + (size_t)(begin + k) * width, type_now,
                                             p->counts[i] - k < 256 ? p->counts[i] - k : 256);
        EXPECT_OK(tally_merge(context_on(TALLY_BACKEND_CPU), pieces, piece_count,
                              tally_out(whole, type_now, p->counts[i]), (tally_output){0}));
        memcpy(p->values + (size_t)begin * width, whole, (size_t)p->counts[i] * width);
    }
}

/* ---- one merge ---- */

/* How arrays and outputs lie: bytes before the first value, and from one to the next, in values and bytes more. */
typedef struct placing {
    size_t offset, times, more;
} placing;

/* A problem's arrays and outputs on the device; to be released. */
typedef struct far {
    tally__cu_address arrays[MOST_ARRAYS], out, origins;
    tally_array near_lists[MOST_ARRAYS], lists[MOST_ARRAYS];
    tally_output to, origins_to;
} far;

static tally_array send_one(far *f, int64_t i, const unsigned char *values, int64_t count, placing how) {
    const size_t width = tally_type_size(type_now), stride = how.times * width + how.more;
    unsigned char *const spread = scratch(SPREAD, (size_t)count * stride + 1);
    memset(spread, 0x5a, (size_t)count * stride + 1);
    for (int64_t k = 0; k < count; k++) memcpy(spread + (size_t)k * stride, values + (size_t)k * width, width);
    f->arrays[i] = device_copy(spread, (size_t)count * stride, how.offset);
    return (tally_array){(const char *)(uintptr_t)f->arrays[i] + how.offset, type_now, count,
                         stride == width ? 0 : (int64_t)stride};
}
static void send(const problem *p, placing how, bool with_origins, far *f) {
    const size_t width = tally_type_size(type_now), stride = how.times * width + how.more,
                 bytes = (size_t)p->total * stride, origin_bytes = (size_t)p->total * (8 * how.times + how.more);
    memset(f, 0, sizeof *f);
    for (int64_t i = 0, begin = 0; i < p->count; begin += p->counts[i++]) {
        f->near_lists[i] = tally_in(p->values + (size_t)begin * width, type_now, p->counts[i]);
        f->lists[i] = send_one(f, i, p->values + (size_t)begin * width, p->counts[i], how);
    }
    void *const blank = scratch(GOT, bytes + origin_bytes + 1);
    memset(blank, 0x5a, bytes + origin_bytes + 1);
    f->out = device_copy(blank, bytes, how.offset);
    f->origins = device_copy(blank, origin_bytes, how.offset);
    f->to = (tally_output){.data = (char *)(uintptr_t)f->out + how.offset,
                           .type = TALLY_NATURAL,
                           .count = p->total,
                           .stride = stride == width ? 0 : (int64_t)stride};
    f->origins_to = (tally_output){.data = with_origins ? (char *)(uintptr_t)f->origins + how.offset : NULL,
                                   .type = TALLY_I64,
                                   .count = p->total,
                                   .stride = stride == width ? 0 : (int64_t)(8 * how.times + how.more)};
}
static void release(const problem *p, const far *f) {
    for (int64_t i = 0; i < p->count; i++) driver->release(f->arrays[i]);
    driver->release(f->out);
    driver->release(f->origins);
}

static void compare(const problem *p, const far *f, placing how, bool with_origins) {
    const size_t width = tally_type_size(type_now), stride = how.times * width + how.more,
                 origin_stride = 8 * how.times + how.more;
    unsigned char *const wanted = scratch(WANTED, (size_t)p->total * width + 1);
    int64_t *const wanted_origins = scratch(WANTED_ORIGINS, (size_t)p->total * 8 + 1);
    EXPECT_OK(tally_merge(context_on(TALLY_BACKEND_CPU), f->near_lists, p->count, tally_out(wanted, type_now, p->total),
                          tally_out(wanted_origins, TALLY_I64, p->total)));
    unsigned char *const got = scratch(GOT, (size_t)p->total * stride + 1), *const origins = scratch(
                                                                                GOT_ORIGINS,
                                                                                (size_t)p->total * origin_stride + 1);
    device_read(got, f->out + how.offset, (size_t)p->total * stride);
    device_read(origins, f->origins + how.offset, (size_t)p->total * origin_stride);
    for (int64_t k = 0; k < p->total; k++) {
        int64_t from = -1;
        now.segment = k;
        EXPECT_BITS(got + (size_t)k * stride, wanted + (size_t)k * width, width, "a merged value");
        for (size_t b = width; b < stride; b++)
            EXPECT(got[(size_t)k * stride + b] == 0x5a, "a byte between two results was written");
        memcpy(&from, origins + (size_t)k * origin_stride, sizeof from);
        if (with_origins)
            EXPECT(from == wanted_origins[k], "value %lld comes from %lld, not %lld", (long long)k,
                   (long long)wanted_origins[k], (long long)from);
        else
            EXPECT(from == INT64_C(0x5a5a5a5a5a5a5a5a), "origins that nobody wants were written");
    }
}

static void check(const problem *p, placing how, bool with_origins) {
    static far f;
    now.type = type_now;
    now.nan = is_total ? TALLY_NAN_TOTAL : TALLY_NAN_PROPAGATE;
    now.size = p->total;
    now.length = p->count;
    send(p, how, with_origins, &f);
    EXPECT_OK(tally_merge(context_on(backend), f.lists, p->count, f.to, f.origins_to));
    compare(p, &f, how, with_origins);
    release(p, &f);
}

/* ---- what is merged ---- */

/* Lengths near one another; around powers of two; many empty; one of some tiles among short ones; two of some tiles. */
enum { KINDS = 5 };
static void choose_counts(problem *p, int kind, uint64_t *random) {
    for (int64_t i = 0; i < p->count; i++) {
        const int64_t power = INT64_C(1) << random_below(random, 9);
        switch (kind) {
        case 0: p->counts[i] = random_below(random, 40); break;
        case 1: p->counts[i] = power - 1 + random_below(random, 3); break;
        case 2: p->counts[i] = random_below(random, 3) ? 0 : random_below(random, 300); break;
        case 3: p->counts[i] = i == p->count / 2 ? 5000 : random_below(random, 6); break;
        default: p->counts[i] = i == 0 || i == p->count / 2 ? 4090 + random_below(random, 12) : 1; break;
        }
    }
}

/* Passes of 2, 4 or 8 runs. */
static void choose_fan(int variant) {
    char shape[16];
    snprintf(shape, sizeof shape, "0,%d,0", 2 << variant % 3);
    if (backend == TALLY_BACKEND_SIMT) setenv("TALLY_MERGE_SHAPE", shape, 1);
}

static const placing placings[] = {{0, 1, 0}, {0, 1, 0}, {1, 1, 0}, {0, 2, 0}, {3, 1, 1}};

static void test_all(void **state) {
    static const int64_t array_counts[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 64};
    static problem p;
    uint64_t random = seed;
    int trial = 0;
    (void)state;
    for (begin_orders(); next_order();)
        for (size_t c = 0; c < sizeof array_counts / sizeof *array_counts; c++)
            for (int kind = 0; kind < KINDS; kind++, trial++) {
                const int every = backend == TALLY_BACKEND_CUDA ? 1 : quick ? 13 : 3, variant = trial / every;
                if (trial % every != 0) continue;
                p.count = array_counts[c];
                choose_counts(&p, kind, &random);
                const data_class class = (data_class)(variant % DATA_CLASSES);
                now = (scene){.data = class_names[class]};
                make_problem(&p, class, &random);
                choose_schedule(variant);
                choose_fan(variant);
                check(&p, placings[variant % (int)(sizeof placings / sizeof *placings)], variant % 2 == 0);
            }
}

/* All values are equal, or of two kinds that are: what comes first is told by origins, and by the bits. */
static void test_equal(void **state) {
    static const double equal[][2] = {{0.0, -0.0}, {(double)NAN, -(double)NAN}, {1.0, 1.0}};
    static problem p;
    static double values[9 * 700];
    uint64_t random = seed + 1;
    (void)state;
    now = (scene){.data = "equal values"};
    type_now = TALLY_F64;
    is_total = false;
    for (p.count = 1; p.count <= 9; p.count++)
        for (size_t e = 0; e < 3; e++) {
            p.total = 0;
            for (int64_t i = 0; i < p.count; i++) p.total += p.counts[i] = random_below(&random, 700);
            for (int64_t k = 0; k < p.total; k++) values[k] = equal[e][random_below(&random, 2)];
            p.values = (unsigned char *)values;
            check(&p, placings[0], true);
        }
}

/* ---- what is refused, and what fails ---- */

/* Two values of an array change places: the status and sentence of the CPU. */
static void test_unsorted(void **state) {
    static problem p;
    static far f;
    uint64_t random = seed + 2;
    int seen = 0;
    (void)state;
    for (begin_orders(); next_order();)
        for (int trial = 0; trial < (quick ? KINDS : 4 * KINDS); trial++) {
            const size_t width = tally_type_size(type_now);
            unsigned char kept[8];
            char sentence[200];
            p.count = 1 + random_below(&random, 9);
            choose_counts(&p, trial % KINDS, &random);
            choose_fan(trial);
            make_problem(&p, ANY_BITS, &random);
            const int64_t one = random_below(&random, p.total + 1), other = random_below(&random, p.total + 1);
            if (one == p.total || other == p.total) continue;
            memcpy(kept, p.values + (size_t)one * width, width);
            memcpy(p.values + (size_t)one * width, p.values + (size_t)other * width, width);
            memcpy(p.values + (size_t)other * width, kept, width);
            now = (scene){.type = type_now, .size = p.total, .length = p.count};
            send(&p, placings[trial % 3], trial % 2, &f);
            unsigned char *const got = scratch(WANTED, (size_t)p.total * width);
            const tally_status wanted = tally_merge(context_on(TALLY_BACKEND_CPU), f.near_lists, p.count,
                                                    tally_out(got, type_now, p.total), (tally_output){0});
            snprintf(sentence, sizeof sentence, "%s", tally_message());
            EXPECT_STATUS(tally_merge(context_on(backend), f.lists, p.count, f.to, f.origins_to), wanted);
            if (wanted != TALLY_OK)
                EXPECT(strcmp(sentence, tally_message()) == 0, "'%s', not '%s'", tally_message(), sentence);
            seen += wanted == TALLY_BAD_ORDER;
            release(&p, &f);
        }
    EXPECT(seen > 10, "%d arrays that are not sorted are too few", seen);
}

/* One value alone is out of order, at the edge of a block's tile as well; the array is the first of a pair, or the
 * second behind an empty one. */
static void test_edges(void **state) {
    enum {
        EACH = TALLY_MERGE_EACH_OF(4),
        OF_TWO = TALLY_MERGE_TILE_OF(EACH, 2),
        OF_FOUR = TALLY_MERGE_TILE_OF(EACH, 4)
    };
    static const int64_t places[] = {1, 2, OF_FOUR - 1, OF_FOUR, OF_FOUR + 1, OF_TWO - 1, OF_TWO, OF_TWO + 1, 4999};
    static int32_t values[5001];
    static far f;
    static problem p;
    (void)state;
    type_now = TALLY_I32;
    is_total = false;
    for (size_t e = 0; e < sizeof places / sizeof *places; e++)
        for (int form = 0; form < 2; form++) {
            const int64_t place = places[e], first = form;
            char wanted[100];
            choose_fan(e >= 2 && e < 5);
            for (int64_t i = 0; i < 5000; i++) values[i] = (int32_t)(i < place ? i : i - 2);
            values[5000] = INT32_MAX; /* of the array behind */
            p = (problem){.count = 2, .values = (unsigned char *)values};
            p.counts[first] = 5000;
            p.counts[1 - first] = first == 0;
            p.total = p.counts[0] + p.counts[1];
            now = (scene){.type = type_now, .size = p.total, .length = place};
            send(&p, placings[0], false, &f);
            EXPECT_STATUS(tally_merge(context_on(backend), f.lists, p.count, f.to, f.origins_to), TALLY_BAD_ORDER);
            snprintf(wanted, sizeof wanted, "array %d is not sorted: its value %d belongs before value %d", (int)first,
                     (int)place, (int)place - 1);
            EXPECT(strcmp(wanted, tally_message()) == 0, "'%s', not '%s'", tally_message(), wanted);
            release(&p, &f);
        }
}

/* A value that is too small leads searches astray: threads must go on where others have ended, or two of them pass over
 * it. */
static void test_astray(void **state) {
    static far f;
    static problem p;
    uint64_t random = seed + 3;
    (void)state;
    type_now = TALLY_I32;
    is_total = false;
    for (int trial = 0; trial < (quick ? 60 : 300); trial++) {
        static int32_t values[8 * 512];
        choose_fan(trial);
        p = (problem){.count = 2 << trial % 3, .values = (unsigned char *)values};
        for (int64_t i = 0; i < p.count; i++) {
            int32_t last = 0;
            for (int k = 0; k < 512; k++) values[512 * i + k] = last += (int32_t)random_below(&random, 5);
            p.total += p.counts[i] = 512;
        }
        const int64_t array = random_below(&random, p.count), place = 1 + random_below(&random, 511);
        char wanted[100];
        values[512 * array + place] = -1;
        now = (scene){.type = type_now, .size = p.total, .length = place};
        send(&p, placings[0], false, &f);
        EXPECT_STATUS(tally_merge(context_on(backend), f.lists, p.count, f.to, f.origins_to), TALLY_BAD_ORDER);
        snprintf(wanted, sizeof wanted, "array %d is not sorted: its value %d belongs before value %d", (int)array,
                 (int)place, (int)place - 1);
        EXPECT(strcmp(wanted, tally_message()) == 0, "'%s', not '%s'", tally_message(), wanted);
        release(&p, &f);
    }
}

static double doubles[6] = {1, 2};
static tally_array pair[3];
static tally_output output;

static tally_status merge_pair(tally_context *context, const void *of) {
    (void)of;
    return tally_merge(context, pair, 3, output, (tally_output){0});
}
/* Memory that a driver fails to tell anything of is taken for the host's. */
static tally_status merge_or_fail(tally_context *context, const void *of) {
    const tally_status status = merge_pair(context, of);
    return status == TALLY_UNSUPPORTED && strstr(tally_message(), "in host memory") ? TALLY_DEVICE_FAILED : status;
}

static void test_refused(void **state) {
    const tally__cu_address data = device_copy(doubles, 16, 0), out = device_copy(doubles, 48, 0);
    const tally_array far_array = tally_in((const void *)(uintptr_t)data, TALLY_F64, 2);
    tally_context *const context = context_of(backend), *const host = context_of(TALLY_BACKEND_CPU);
    double near_output[6];
    (void)state;
    now = (scene){.type = TALLY_F64, .size = 6};
    pair[0] = pair[1] = pair[2] = far_array;
    output = tally_out((void *)(uintptr_t)out, TALLY_F64, 6);
    EXPECT_OK(merge_pair(context, NULL));
    if (backend == TALLY_BACKEND_CUDA) EXPECT_STATUS(merge_pair(host, NULL), TALLY_BAD_ARGUMENT);
    fail_every_call(TALLY_FAST, merge_or_fail, NULL);
    pair[1] = tally_in(doubles, TALLY_F64, 2);
    EXPECT_STATUS(merge_pair(context, NULL), TALLY_UNSUPPORTED);
    pair[1] = far_array;
    output = tally_out(near_output, TALLY_F64, 6);
    EXPECT_STATUS(merge_pair(context, NULL), TALLY_UNSUPPORTED);
    output = tally_out((void *)(uintptr_t)out, TALLY_F64, 5);
    EXPECT_STATUS(merge_pair(context, NULL), TALLY_BAD_ARGUMENT);
    int64_t taken[3];
    EXPECT_STATUS(tally_merge_ready(context, pair, (const unsigned char *)"\0\0", 3, taken), TALLY_UNSUPPORTED);
    tally_context_destroy(context);
    tally_context_destroy(host);
    driver->release(data);
    driver->release(out);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all),      cmocka_unit_test(test_equal),
                                       cmocka_unit_test(test_unsorted), cmocka_unit_test(test_edges),
                                       cmocka_unit_test(test_astray),   cmocka_unit_test(test_refused)};
    const int ended = begin_gpu_program(argc, argv);
    return ended ? ended : cmocka_run_group_tests_name("gpu_merge", tests, NULL, NULL);
}
