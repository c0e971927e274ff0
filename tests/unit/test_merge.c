/* tally_merge beside a stable sort of all values (a merge sort of the test's own, by a comparison that shares nothing
 * with the library): every type, both orders, any number of arrays, lengths around those of vectors and blocks, values
 * that repeat, strides, threads; arrays that are not sorted, and hostile arguments. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "merge_orders.h"
#include "support.h"
#include "tally/tally_merge.h"

enum { MOST_ARRAYS = 300 };

/* ---- the oracle ---- */

/* -1, 0 or 1: whether the value at x comes before the one at y. */
static int order_of(const void *x, const void *y) {
    const long double a = number_at(type_now, x, 0), b = number_at(type_now, y, 0);
    if (type_now == TALLY_BOOL) return (a != 0) - (b != 0);
    if (is_float(type_now) && is_total) {
        const size_t width = tally_type_size(type_now);
        uint64_t p = 0, q = 0;
        memcpy(&p, x, width);
        memcpy(&q, y, width);
        const uint64_t sign = UINT64_C(1) << (8 * width - 1);
        if ((p & sign) != (q & sign)) return p & sign ? -1 : 1;
        const int upwards = (p > q) - (p < q);
        return p & sign ? -upwards : upwards;
    }
    if (isnan(a) || isnan(b)) return (isnan(a) != 0) - (isnan(b) != 0);
    return (a > b) - (a < b);
}

/* Sorts the places `order` of `values`, stably; `spare` is as large. */
static void sort_stably(const unsigned char *values, size_t width, int64_t *order, int64_t count, int64_t *spare) {
    if (count < 2) return;
    const int64_t middle = count / 2;
    sort_stably(values, width, order, middle, spare);
    sort_stably(values, width, order + middle, count - middle, spare);
    memcpy(spare, order, (size_t)count * sizeof *order);
    for (int64_t i = 0, j = middle, k = 0; k < count; k++) {
        const bool from_right = i == middle || (j < count && order_of(values + (size_t)spare[j] * width,
                                                                      values + (size_t)spare[i] * width) < 0);
        order[k] = from_right ? spare[j++] : spare[i++];
    }
}

/* ---- one merge ---- */

typedef struct problem {
    int64_t count, total;
    int64_t counts[MOST_ARRAYS], begins[MOST_ARRAYS];
    unsigned char *values; /* the arrays one behind the other, each sorted */
    int64_t *order;        /* where each value of the merged array is in them */
} problem;

enum { SHUFFLED, PLACED_FIRST, ORDER = PLACED_FIRST + 4, SPARE, GOT, ORIGINS };

static void make_problem(problem *p, data_class class, uint64_t *random) {
    const size_t width = tally_type_size(type_now);
    p->total = 0;
    for (int64_t i = 0; i < p->count; i++) {
        p->begins[i] = p->total;
        p->total += p->counts[i];
    }
    const unsigned char *const data = data_of(type_now, class, p->total + 64);
    unsigned char *const values = scratch(SHUFFLED, (size_t)p->total * width + 1);
    int64_t *const order = scratch(ORDER, (size_t)p->total * sizeof *order + 1);
    int64_t *const spare = scratch(SPARE, (size_t)p->total * sizeof *spare + 1);
    const int64_t first = random_below(random, 64);
    for (int64_t i = 0; i < p->count; i++) {
        for (int64_t k = 0; k < p->counts[i]; k++) order[k] = first + p->begins[i] + k;
        sort_stably(data, width, order, p->counts[i], spare);
        for (int64_t k = 0; k < p->counts[i]; k++)
            memcpy(values + (size_t)(p->begins[i] + k) * width, data + (size_t)order[k] * width, width);
    }
    for (int64_t k = 0; k < p->total; k++) order[k] = k;
    sort_stably(values, width, order, p->total, spare);
    p->values = values;
    p->order = order;
}

static tally_context *context_of(tally_backend backend, int threads) {
    const subject s = {.op = TALLY_MIN, .type = type_now, .nan = is_total ? TALLY_NAN_TOTAL : TALLY_NAN_PROPAGATE};
    return context_for(&s, backend, threads);
}

/* Merges with every array and output laid out so, and compares. */
static void check(const problem *p, tally_backend backend, int threads, const layout *l, bool with_origins) {
    static tally_array arrays[MOST_ARRAYS];
    const size_t width = tally_type_size(type_now);
    const int64_t stride = l->times * (int64_t)width + l->plus;
    size_t bytes = 0;
    for (int64_t i = 0; i < p->count; i++) bytes += layout_bytes(l, width, p->counts[i]);
    char *placed = scratch(PLACED_FIRST, bytes + 1);
    for (int64_t i = 0; i < p->count; i++) {
        arrays[i] = lay_out(l, p->values + (size_t)p->begins[i] * width, type_now, p->counts[i], placed);
        placed += layout_bytes(l, width, p->counts[i]);
    }
    const int64_t out_stride = l->plus == 0 && l->times == 1 ? 0 : stride < 0 ? -stride : stride;
    const bool is_narrow = out_stride != 0 && out_stride < (int64_t)width;
    const int64_t step = out_stride == 0 || is_narrow ? (int64_t)width : out_stride;
    unsigned char *const got = scratch(GOT, (size_t)(p->total * step) + width + 8);
    const int64_t origin_step = out_stride == 0 ? 8 : 24;
    unsigned char *const origins = scratch(ORIGINS, (size_t)(p->total * origin_step) + 8);
    memset(got, 0x5a, (size_t)(p->total * step) + width + 8);
    const tally_output out = {
        .data = got + 1, .type = type_now, .count = p->total, .stride = is_narrow ? 0 : out_stride};
    const tally_output origin = {
        .data = with_origins ? origins : NULL, .type = TALLY_I64, .count = p->total, .stride = origin_step};
    now.type = type_now;
    now.nan = is_total ? TALLY_NAN_TOTAL : TALLY_NAN_PROPAGATE;
    now.layout = l->name;
    now.threads = threads;
    now.size = p->total;
    now.length = p->count;
    EXPECT_OK(tally_merge(context_of(backend, threads), arrays, p->count, out, origin));
    EXPECT(got[0] == 0x5a && got[1 + p->total * step] == 0x5a, "a byte beside the output was written");
    for (int64_t k = 0; k < p->total; k++) {
        int64_t from = -1;
        now.segment = k;
        EXPECT_BITS(got + 1 + k * step, p->values + (size_t)p->order[k] * width, width, "a merged value");
        if (with_origins) {
            memcpy(&from, origins + k * origin_step, sizeof from);
            EXPECT(from == p->order[k], "value %lld comes from %lld, not %lld", (long long)k, (long long)p->order[k],
                   (long long)from);
        }
    }
}

/* ---- what is merged ---- */

/* Lengths of all kinds: near one another, around powers of two, empty, one long among short ones. */
static void choose_counts(problem *p, int kind, uint64_t *random) {
    for (int64_t i = 0; i < p->count; i++) {
        const int64_t power = INT64_C(1) << random_below(random, 9);
        switch (kind) {
        case 0: p->counts[i] = random_below(random, 40); break;
        case 1: p->counts[i] = power - 1 + random_below(random, 3); break;
        case 2: p->counts[i] = random_below(random, 4) == 0 ? 0 : random_below(random, 300); break;
        default: p->counts[i] = i == p->count / 2 ? 3000 : random_below(random, 6); break;
        }
    }
}

static void test_all(void **state) {
    static const int64_t array_counts[] = {1, 2, 3, 4, 5, 7, 8, 11, 16, 33, 64, 100};
    static problem p;
    uint64_t random = seed;
    int trial = 0;
    (void)state;
    for (begin_orders(); next_order();) {
        for (size_t c = 0; c < sizeof array_counts / sizeof array_counts[0]; c++) {
            for (int kind = 0; kind < 4; kind++, trial++) {
                if (trial % (quick ? 7 : 2) != 0) continue;
                const int variant = trial / (quick ? 7 : 2);
                p.count = array_counts[c];
                choose_counts(&p, kind, &random);
                const data_class class = (data_class)(variant % DATA_CLASSES);
                now.data = class_names[class];
                make_problem(&p, class, &random);
                const layout *const l = &layouts[variant % 3 ? 0 : variant / 3 % LAYOUTS];
                check(&p, TALLY_BACKEND_CPU, variant % 2 ? 1 : 3, l, variant % 4 < 2);
                if (variant % 4 == 3) check(&p, TALLY_BACKEND_REFERENCE, 1, l, true);
            }
        }
    }
}

/* Enough for several shares and blocks. */
static void test_long(void **state) {
    static const int64_t array_counts[] = {1, 2, 3, 17, MOST_ARRAYS};
    static problem p;
    uint64_t random = seed;
    int trial = 0;
    (void)state;
    for (begin_orders(); next_order();) {
        for (size_t c = 0; c < sizeof array_counts / sizeof array_counts[0]; c++, trial++) {
            if (trial % (quick ? 11 : 4) != 0) continue;
            p.count = array_counts[c];
            for (int64_t i = 0; i < p.count; i++) p.counts[i] = random_below(&random, 2 * 100000 / p.count);
            const data_class class = trial % 2 ? ANY_BITS : (data_class)(trial / 2 % DATA_CLASSES);
            now.data = class_names[class];
            make_problem(&p, class, &random);
            check(&p, TALLY_BACKEND_CPU, 4, &layouts[trial % 4 == 0 ? trial % LAYOUTS : 0], trial % 2 == 0);
        }
    }
}

/* The same piece by piece, as far as tally_merge_ready allows. */
static void test_pieces(void **state) {
    static problem p;
    static tally_array arrays[MOST_ARRAYS];
    static int64_t taken[MOST_ARRAYS], at[MOST_ARRAYS];
    static unsigned char more[MOST_ARRAYS];
    uint64_t random = seed;
    (void)state;
    for (begin_orders(); next_order();) {
        const size_t width = tally_type_size(type_now);
        for (int trial = 0; trial < (quick ? 3 : 12); trial++) {
            p.count = 1 + random_below(&random, 12);
            choose_counts(&p, trial % 4, &random);
            make_problem(&p, (data_class)(trial % DATA_CLASSES), &random);
            tally_context *const context = context_of(TALLY_BACKEND_CPU, 1);
            unsigned char *const got = scratch(GOT, (size_t)p.total * width + 1);
            int64_t done = 0;
            memset(at, 0, sizeof at);
            while (done < p.total) {
                int64_t all = 0, refillable = 0, pieces = 0;
                for (int64_t i = 0; i < p.count; i++) {
                    const int64_t left = p.counts[i] - at[i], piece = 1 + random_below(&random, 50);
                    more[i] = piece < left;
                    pieces += more[i];
                    arrays[i] =
                        tally_in(p.values + (size_t)(p.begins[i] + at[i]) * width, type_now, more[i] ? piece : left);
                }
                EXPECT_OK(tally_merge_ready(context, arrays, more, p.count, taken));
                for (int64_t i = 0; i < p.count; i++) {
                    EXPECT(taken[i] >= 0 && taken[i] <= arrays[i].count, "too many of array %d", (int)i);
                    refillable += more[i] && taken[i] == arrays[i].count;
                    arrays[i].count = taken[i];
                    all += taken[i];
                    at[i] += taken[i];
                }
                EXPECT(pieces == 0 || refillable > 0, "no array with more to come was taken whole");
                EXPECT_OK(tally_merge(context, arrays, p.count, tally_out(got + (size_t)done * width, type_now, all),
                                      (tally_output){0}));
                done += all;
            }
            for (int64_t k = 0; k < p.total; k++)
                EXPECT_BITS(got + (size_t)k * width, p.values + (size_t)p.order[k] * width, width, "a merged value");
        }
    }
}

/* ---- refused ---- */

/* One value of one array changes places with one that is not its equal. */
static void test_unsorted(void **state) {
    static problem p;
    static tally_array arrays[MOST_ARRAYS];
    uint64_t random = seed;
    (void)state;
    for (begin_orders(); next_order();) {
        const size_t width = tally_type_size(type_now);
        for (int trial = 0; trial < (quick ? 6 : 60); trial++) {
            p.count = 1 + random_below(&random, 9);
            choose_counts(&p, trial % 4, &random);
            if (trial == 9) p.counts[0] = 70000;
            make_problem(&p, trial % 3 ? ANY_BITS : TIES, &random);
            for (int64_t i = 0; i < p.count; i++)
                arrays[i] = tally_in(p.values + (size_t)p.begins[i] * width, type_now, p.counts[i]);
            const int64_t chosen = random_below(&random, p.count), n = p.counts[chosen];
            if (n < 2) continue;
            unsigned char *const array = p.values + (size_t)p.begins[chosen] * width;
            const int64_t one = random_below(&random, n - 1), other = one + 1 + random_below(&random, n - 1 - one);
            unsigned char kept[8];
            if (order_of(array + (size_t)one * width, array + (size_t)other * width) == 0) continue;
            memcpy(kept, array + (size_t)one * width, width);
            memcpy(array + (size_t)one * width, array + (size_t)other * width, width);
            memcpy(array + (size_t)other * width, kept, width);
            int64_t first = 1;
            while (order_of(array + (size_t)(first - 1) * width, array + (size_t)first * width) <= 0) first++;
            char wanted[100];
            snprintf(wanted, sizeof wanted, "array %lld is not sorted: its value %lld belongs before",
                     (long long)chosen, (long long)first);
            void *const got = scratch(GOT, (size_t)p.total * width);
            for (int backend = 0; backend < 2; backend++) {
                EXPECT_STATUS(tally_merge(context_of(backend ? TALLY_BACKEND_REFERENCE : TALLY_BACKEND_CPU, 2), arrays,
                                          p.count, tally_out(got, type_now, p.total), (tally_output){0}),
                              TALLY_BAD_ORDER);
                EXPECT(strstr(tally_message(), wanted) != NULL, "'%s' does not begin '%s'", tally_message(), wanted);
            }
        }
    }
}

static void test_refused(void **state) {
    const double a[] = {1, 2}, b[] = {1, 3};
    const float c[] = {1};
    double out[4];
    int64_t origins[4];
    const tally_array two[] = {tally_in(a, TALLY_F64, 2), tally_in(b, TALLY_F64, 2)};
    const tally_array mixed[] = {two[0], tally_in(c, TALLY_F32, 1)};
    const tally_array null[] = {two[0], tally_in(NULL, TALLY_F64, 1)}, negative[] = {tally_in(a, TALLY_F64, -1)};
    const tally_array far[] = {tally_in(a, TALLY_F64, INT64_MAX / 8)};
    const tally_array many[] = {{a, TALLY_F64, INT64_MAX / 2, 1}, {a, TALLY_F64, INT64_MAX / 2, 1}};
    const tally_array structs[] = {tally_in(a, TALLY_STRUCT, 2)}, nature[] = {tally_in(a, TALLY_NATURAL, 2)};
    const tally_output output = tally_out(out, TALLY_F64, 4), none = {0};
    tally_context *context;
    tally_options options = TALLY_OPTIONS_INIT;
    (void)state;
    EXPECT_STATUS(tally_merge(NULL, mixed, 2, output, none), TALLY_BAD_TYPE);
    EXPECT_STATUS(tally_merge(NULL, structs, 1, output, none), TALLY_BAD_TYPE);
    EXPECT_STATUS(tally_merge(NULL, nature, 1, output, none), TALLY_BAD_TYPE);
    EXPECT_STATUS(tally_merge(NULL, two, 2, tally_out(out, TALLY_F32, 4), none), TALLY_BAD_TYPE);
    EXPECT_STATUS(tally_merge(NULL, two, 2, output, tally_out(origins, TALLY_I32, 4)), TALLY_BAD_TYPE);
    EXPECT_STATUS(tally_merge(NULL, null, 2, output, none), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_merge(NULL, NULL, 2, output, none), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_merge(NULL, two, -1, output, none), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_merge(NULL, two, INT64_MAX, output, none), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_merge(NULL, negative, 1, output, none), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_merge(NULL, far, 1, output, none), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_merge(NULL, many, 2, output, none), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_merge(NULL, two, 2, tally_out(out, TALLY_F64, 3), none), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_merge(NULL, two, 2, tally_out(NULL, TALLY_F64, 4), none), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_merge(NULL, two, 2, output, tally_out(origins, TALLY_I64, 3)), TALLY_BAD_ARGUMENT);
    EXPECT_OK(tally_merge(NULL, NULL, 0, none, none));
    EXPECT_OK(tally_merge(NULL, two, 2, tally_out(out, TALLY_NATURAL, 4), tally_out(origins, TALLY_NATURAL, 4)));
    EXPECT(out[0] == 1 && out[3] == 3 && origins[0] == 0 && origins[1] == 2 && origins[3] == 3, "1 1 2 3");
    int64_t taken[2] = {7, 7};
    const unsigned char more[] = {0, 1};
    const tally_array empty[] = {two[0], tally_in(NULL, TALLY_F64, 0)};
    EXPECT_STATUS(tally_merge_ready(NULL, two, NULL, 2, taken), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_merge_ready(NULL, two, more, 2, NULL), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_merge_ready(NULL, NULL, more, 2, taken), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_merge_ready(NULL, mixed, more, 2, taken), TALLY_BAD_TYPE);
    EXPECT_OK(tally_merge_ready(NULL, empty, more, 2, taken));
    EXPECT(taken[0] == 0 && taken[1] == 0, "an empty array with more to come, and others are taken");
    EXPECT_OK(tally_context_create(NULL, &context));
    options.nan = TALLY_NAN_SKIP;
    EXPECT_OK(tally_set_options(context, &options));
    EXPECT_STATUS(tally_merge(context, two, 2, output, none), TALLY_BAD_ARGUMENT);
    options.nan = TALLY_NAN_PROPAGATE;
    options.backend = TALLY_BACKEND_SIMT;
    EXPECT_OK(tally_set_options(context, &options));
    EXPECT_STATUS(tally_merge(context, two, 2, output, none), TALLY_UNSUPPORTED);
    tally_context_destroy(context);
}

static void *no_memory(size_t bytes, void *user) {
    int *const left = user;
    return (*left)-- > 0 ? malloc(bytes) : NULL;
}
static void release(void *memory, void *user) {
    (void)user;
    free(memory);
}

static void test_no_memory(void **state) {
    int left = 1; /* for the context */
    const tally_allocator allocator = {no_memory, release, &left};
    const int32_t a[] = {1, 2};
    const tally_array arrays[] = {tally_in(a, TALLY_I32, 2), tally_in(a, TALLY_I32, 2)};
    int32_t out[4];
    tally_context *context;
    (void)state;
    EXPECT_OK(tally_context_create(&allocator, &context));
    EXPECT_STATUS(tally_merge(context, arrays, 2, tally_out(out, TALLY_I32, 4), (tally_output){0}), TALLY_NO_MEMORY);
    left = 1;
    EXPECT_OK(tally_merge(context, arrays, 2, tally_out(out, TALLY_I32, 4), (tally_output){0}));
    tally_context_destroy(context);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all),     cmocka_unit_test(test_long),
                                       cmocka_unit_test(test_pieces),  cmocka_unit_test(test_unsorted),
                                       cmocka_unit_test(test_refused), cmocka_unit_test(test_no_memory)};
    const int status = begin_program(argc, argv);
    return status ? status : cmocka_run_group_tests_name("merge", tests, NULL, NULL);
}
