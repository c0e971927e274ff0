/* The GPU backend against the CPU backend, bit for bit: every operator, type and NaN policy, over sizes at the
 * boundaries of leaves, tiles and groups of tiles, host and device memory, layouts, schedules. On the simulator as it
 * is; with --cuda on a GPU, where sizes are larger. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/exact_rows.h"
#include "gpu_host.h"

/* ---- whole arrays ---- */

static void compare(const subject *s, data_class class, int64_t size, int trial) {
    const char *x = data_of(s->type, class, size),
               *y = data_of(s->type, (data_class)((class + 5) % DATA_CLASSES), size);
    tally_array left = {x, s->type, size, 0}, right = {y, s->type, size, 0};
    char wanted[64], got[64];
    size_t bytes = result_bytes(s);
    memset(got, 0x5a, sizeof got);
    tally_status due = perform(context_for(s, TALLY_BACKEND_CPU, 1), s->op, left, right, NULL,
                               (tally_output){wanted, TALLY_NATURAL, 1, 0});
    set_scene(s, class, size);
    choose_schedule(trial);
    EXPECT_STATUS(
        perform(context_for(s, backend, 1), s->op, left, right, NULL, (tally_output){got, TALLY_NATURAL, 1, 0}), due);
    EXPECT_BITS(got, wanted, bytes, "the result");
}

/* Leaves, parts of one, and a tile of 8 leaves. */
static int list_sizes(tally_type type, int64_t *sizes) {
    int64_t leaf = tally_leaf_length(type);
    int count = 0;
    for (int64_t n = 0; n <= 9; n++) sizes[count++] = n;
    for (int64_t n = 16; n <= 128; n *= 2)
        for (int64_t d = -1; d <= 1; d++) sizes[count++] = n + d;
    for (int64_t k = 1; k <= 8; k++) sizes[count++] = leaf * k / 8 + (k % 3 - 1);
    for (int64_t k = 2; k <= 8; k *= 2)
        for (int64_t d = -1; d <= 1; d++) sizes[count++] = leaf * k + d;
    sizes[count++] = leaf * 17 + 65;
    return count;
}

static void test_sizes(void **state) {
    subject s = {.op = -1};
    (void)state;
    for (int trial = 0; next_subject(&s); trial++) {
        int64_t sizes[64];
        int count = list_sizes(s.type, sizes);
        for (int i = 0; i < count; i++) {
            int64_t leaf = tally_leaf_length(s.type);
            int every = quick ? 24 : backend != TALLY_BACKEND_SIMT ? 1 : sizes[i] > leaf ? 8 : 3;
            if ((trial + i) % every != 0) continue;
            compare(&s, (data_class)((trial + i) % DATA_CLASSES), sizes[i], trial + i);
        }
    }
}

/* Every kind of data, in arrays of several leaves. */
static void test_data(void **state) {
    subject s = {.op = -1};
    (void)state;
    for (int trial = 0; next_subject(&s); trial++)
        for (int c = 0; c < DATA_CLASSES; c++) {
            if (backend == TALLY_BACKEND_SIMT && !is_exact_sum(&s) && (trial + c) % 5 != 0) continue;
            if (quick && (trial + c) % 11 != 0) continue;
            compare(&s, (data_class)c, tally_leaf_length(s.type) * (2 + c % 2) + 77 * (c % 3), trial + c);
        }
}

/* More tiles than one group has, and more groups than one. */
static void test_groups(void **state) {
    (void)state;
    for (size_t i = 0; i < FEW_SUBJECTS; i++) {
        int64_t tile = 8 * tally_leaf_length(few_subjects[i].type),
                most = backend == TALLY_BACKEND_SIMT || quick ? 66 : 9000;
        if (quick && i % 3 != 0) continue;
        for (int64_t tiles = 63; tiles <= most; tiles = tiles < 66 ? tiles + 1 : tiles * 3 + 1)
            compare(&few_subjects[i], SMALL_INTEGERS, tiles * tile - 3, (int)i);
        compare(&few_subjects[i], CANCELLATION, 65 * tile + 1, (int)i + 1);
    }
}

/* ---- device memory ---- */

/* Arrays at any address and stride, the result in device memory. */
static void test_device_memory(void **state) {
    subject s = {.op = -1};
    tally__cu_address out;
    (void)state;
    EXPECT(driver->allocate(&out, 64) == 0, "no device memory");
    for (int trial = 0; next_subject(&s); trial++) {
        int64_t count = tally_leaf_length(s.type) * (trial % 3) + 131 * (trial % 4),
                bytes = (int64_t)tally_type_size(s.type);
        const layout *l = &layouts[trial % LAYOUTS];
        data_class class = (data_class)(trial % DATA_CLASSES);
        char wanted[64], got[64];
        if (trial % (quick ? 17 : backend == TALLY_BACKEND_SIMT ? 2 : 1) != 0) continue;
        const char *x = data_of(s.type, class, count);
        size_t space = layout_bytes(l, (size_t)bytes, count);
        tally_array host = lay_out(l, x, s.type, count, scratch(0, space + 64)), array = host;
        const char *memory = scratch(0, 1);
        set_scene(&s, class, count);
        choose_schedule(trial);
        tally__cu_address copy = device_copy(memory, space, 0);
        array.data = (const char *)(uintptr_t)copy + ((const char *)host.data - memory);
        tally_status due = perform(context_for(&s, TALLY_BACKEND_CPU, 1), s.op, host, host, NULL,
                                   (tally_output){wanted, TALLY_NATURAL, 1, 0});
        tally_status got_status = perform(context_for(&s, backend, 1), s.op, array, array, NULL,
                                          (tally_output){(void *)(uintptr_t)out, TALLY_NATURAL, 1, 0});
        /* Of the values nothing is known when the call returns. */
        EXPECT(got_status == (count == 0 ? due : TALLY_OK), "status %s", tally_status_name(got_status));
        device_read(got, out, result_bytes(&s));
        EXPECT_BITS(got, wanted, result_bytes(&s), "the result in device memory");
        driver->release(copy);
    }
    driver->release(out);
}

/* Data of a class, or beyond those: finite values of all sizes that the type has, which few doubles do not hold, and
 * whose sum is 0; and of two sizes, for which it takes several, and of which the larger have that sign. */
enum { WIDE = DATA_CLASSES, TWO_SIZES, SMALL_CLASSES };
static void fill(tally_type type, int class, int sign, int64_t count, char *to) {
    const int reach = type == TALLY_F16 ? 12 : type == TALLY_F64 ? 900 : 90;
    uint64_t state = 1, random = 0;
    if (class < DATA_CLASSES)
        memcpy(to, data_of(type, (data_class) class, count), (size_t)count * tally_type_size(type));
    for (int64_t i = 0; i < count && class >= DATA_CLASSES; i++) {
        if (class == TWO_SIZES || i % 2 == 0) random = next_random(&state);
        const double value = 1 + (double)(random >> 57) / 128;
        if (class == WIDE)
            put_number(type, to, i, ldexp(i % 2 ? -value : value, (int)(random % (uint64_t)(2 * reach)) - reach));
        else
            put_number(type, to, i, i % 2 ? sign * value : ldexp(value, type == TALLY_F16 ? -12 : -70));
    }
}

/* Exact sums of few values (kernels/production/arrays/small_exact.h): as many as one block has, and several, up to one
 * more than are few; kinds of data one behind the other, so that what doubles hold meets what they do not. */
static void test_small_arrays(void **state) {
    subject s = {.op = -1};
    tally__cu_address out;
    (void)state;
    EXPECT(driver->allocate(&out, 64) == 0, "no device memory");
    for (int trial = 0; next_subject(&s); trial++) {
        const int64_t bytes = (int64_t)tally_type_size(s.type), iteration = TALLY_SMALL_ITERATION_BYTES / bytes,
                      most = TALLY_SMALL_ITERATIONS * TALLY_SMALL_BLOCKS * iteration;
        const int64_t sizes[] = {
            1,    33,       iteration - 1, iteration + 1, 8 * iteration, 8 * iteration + 1, 17 * iteration + 5,
            most, most + 1, 12 * iteration};
        if (!is_exact_sum(&s)) continue;
        for (int i = 0; i < (int)(sizeof sizes / sizeof *sizes); i++) {
            const int64_t count = sizes[i];
            const int64_t third = count / 3;
            const bool is_last = count == 12 * iteration; /* larger values of the first and the last blocks cancel, what
                                                             is left has several parts */
            const int class = is_last ? TWO_SIZES : (trial + i) % SMALL_CLASSES,
                      other = is_last ? WIDE : (trial / 3 + 2 * i) % SMALL_CLASSES;
            char wanted[64], got[64];
            if ((trial + i) % (quick ? 9 : backend != TALLY_BACKEND_SIMT ? 1 : count >= most ? 24 : 3) != 0) continue;
            char *x = scratch(0, (size_t)(count * bytes));
            fill(s.type, class, 1, third, x);
            fill(s.type, other, 1, third, x + third * bytes);
            fill(s.type, class, -1, count - 2 * third, x + 2 * third * bytes);
            tally_array host = {x, s.type, count, 0}, array = host;
            set_scene(&s, SMALL_INTEGERS, count);
            now.data = class == WIDE ? "wide" : class == TWO_SIZES ? "two sizes" : class_names[class];
            choose_schedule(trial + i);
            tally__cu_address copy = device_copy(x, (size_t)(count * bytes), 0);
            array.data = (const char *)(uintptr_t)copy;
            for (int call = 0; call < 2; call++) { /* the second finds the scratch memory as the first has left it */
                perform(context_for(&s, TALLY_BACKEND_CPU, 1), s.op, host, host, NULL,
                        (tally_output){wanted, TALLY_NATURAL, 1, 0});
                EXPECT_OK(perform(context_for(&s, backend, 1), s.op, array, array, NULL,
                                  (tally_output){(void *)(uintptr_t)out, TALLY_NATURAL, 1, 0}));
                device_read(got, out, result_bytes(&s));
                EXPECT_BITS(got, wanted, result_bytes(&s), "the result of few values");
            }
            driver->release(copy);
        }
    }
    driver->release(out);
}

/* Exact sums of products of arrays that are large enough to be reduced as a row (src/cuda/exact_rows.c): values that
 * two doubles decide, and such that are left. */
static void test_long_arrays(void **state) {
    subject s = {.op = -1};
    (void)state;
#ifdef TEST_NO_SEGMENTS
    if (backend == TALLY_BACKEND_SIMT) skip(); /* rows are left out of this build (TALLY_SIMT_SEGMENTS) */
#endif
    for (int trial = 0; next_subject(&s); trial++) {
        tally__spec spec;
        EXPECT_OK(tally__specify(context_for(&s, backend, 1), s.op, s.type, &spec));
        if (!tally__may_be_exact_row(&spec) || (quick && trial % 7 != 0)) continue;
        const int64_t count = ((int64_t)gpu->multiprocessors << 20) / (int64_t)tally_type_size(s.type) + trial % 1000;
        compare(&s, SMALL_INTEGERS, count, trial);
        compare(&s, (data_class)(trial % DATA_CLASSES), count, trial + 1);
    }
}

/* ---- failures ---- */

static tally_status sum_whole(tally_context *context, const void *of) {
    double got;
    return tally_reduce(context, TALLY_SUM, *(const tally_array *)of, (tally_output){&got, TALLY_F64, 1, 0});
}

static void test_failing_driver(void **state) {
    const tally_array floats = {data_of(TALLY_F32, SMALL_INTEGERS, 3000), TALLY_F32, 3000, 0};
    const tally_array doubles = {data_of(TALLY_F64, SMALL_INTEGERS, 3000), TALLY_F64, 3000, 0};
    (void)state;
    fail_every_call(TALLY_FAST, sum_whole, &floats);
    fail_every_call(TALLY_BEST, sum_whole, &doubles);
}

static void test_refusals(void **state) {
    float x[4] = {1, 2, 3, 4}, out[4];
    tally_options options = TALLY_OPTIONS_INIT;
    tally_context *context;
    (void)state;
    options.backend = backend;
    options.device = 77;
    EXPECT_OK(tally_context_create(NULL, &context));
    EXPECT_OK(tally_set_options(context, &options));
    EXPECT_STATUS(
        tally_reduce(context, TALLY_SUM, (tally_array){x, TALLY_F32, 4, 0}, (tally_output){out, TALLY_NATURAL, 1, 0}),
        TALLY_NO_DEVICE);
    tally_context_destroy(context);
}

/* ---- threads ---- */

static void *reduce_often(void *argument) {
    subject s = {TALLY_SUM, TALLY_F32, 0, 0, *(const tally_accuracy *)argument};
    const float *x = data_of(TALLY_F32, SMALL_INTEGERS, 20000);
    tally_context *context;
    tally_options options = TALLY_OPTIONS_INIT;
    float first = 0;
    options.backend = backend;
    options.accuracy = s.accuracy;
    if (tally_context_create(NULL, &context) != TALLY_OK || tally_set_options(context, &options) != TALLY_OK)
        return "no context";
    for (int i = 0; i < 6; i++) {
        float got;
        if (tally_reduce(context, TALLY_SUM, (tally_array){x, TALLY_F32, 20000, 0},
                         (tally_output){&got, TALLY_NATURAL, 1, 0}) != TALLY_OK)
            return "failed";
        if (i > 0 && got != first) return "another result";
        first = got;
    }
    tally_context_destroy(context);
    return NULL;
}
static void test_threads(void **state) {
    static const tally_accuracy accuracies[] = {TALLY_BEST, TALLY_FAST};
    pthread_t threads[4];
    (void)state;
    data_of(TALLY_F32, SMALL_INTEGERS, 20000); /* made before threads share it */
    for (int t = 0; t < 4; t++)
        EXPECT(pthread_create(&threads[t], NULL, reduce_often, (void *)(uintptr_t)&accuracies[t % 2]) == 0,
               "no thread");
    for (int t = 0; t < 4; t++) {
        void *why;
        pthread_join(threads[t], &why);
        EXPECT(why == NULL, "a thread: %s", (const char *)why);
    }
}

/* What launches reckon with is what the host's own kernels have of the same operators. */
static void test_geometry(void **state) {
    subject s = {.op = -1};
    (void)state;
    while (next_subject(&s)) {
        tally__spec spec;
        EXPECT_OK(tally__specify(context_for(&s, TALLY_BACKEND_REFERENCE, 1), s.op, s.type, &spec));
        const tally__geometry sizes = tally__geometry_of(&spec);
        const tally__kernel *kernel = spec.kernel;
        EXPECT(sizes.value_bytes == kernel->value_bytes && sizes.leaf == kernel->leaf &&
                   sizes.node_size == kernel->node_size && sizes.node_bytes == kernel->node_bytes,
               "%s of %s: other sizes", spec.name, tally_type_name(s.type));
        EXPECT(!spec.exact || (sizes.adds_values == kernel->adds_values &&
                               sizes.adds_products == kernel->adds_products && sizes.keeps_keys == kernel->keeps_keys),
               "%s of %s: other parts", spec.name, tally_type_name(s.type));
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),         cmocka_unit_test(test_data),           cmocka_unit_test(test_groups),
        cmocka_unit_test(test_device_memory), cmocka_unit_test(test_small_arrays),   cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_threads),       cmocka_unit_test(test_failing_driver), cmocka_unit_test(test_geometry),
        cmocka_unit_test(test_long_arrays),
    };
    int skipped = begin_gpu_program(argc, argv);
    if (skipped) return skipped;
    compile_kernels(TALLY_OF_ARRAYS);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
