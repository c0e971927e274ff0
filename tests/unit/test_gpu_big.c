/* Segments and rows on the GPU backend where numbers of values, of segments, and places of both, pass 2^31 and 2^32:
 * arrays of zeros with a few values among them. With --cuda on a GPU (some 80 GB of its memory); on the simulator,
 * which would take hours, the same with 2^16 in place of 2^32. --log2 K: 2^K. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_host.h"

enum { CHUNK = 1 << 22, PLACES = 7 };
static int64_t boundary;       /* 2^32 */
static int64_t places[PLACES]; /* of values that are not 0, on both sides of it, or another, and of its half */
static uint64_t chunk[CHUNK];  /* of an array on its way to the device, or back */
static uint64_t expected[CHUNK];

/* ---- arrays, a chunk at a time ---- */

/* Entry i of an array; entries of some bytes, at most 8, are put side by side. */
typedef int64_t entry_at(int64_t i);
static void fill_chunk(uint64_t *to, size_t width, int64_t first, int64_t count, entry_at *entry) {
    for (int64_t i = 0; i < count; i++) {
        const int64_t value = entry(first + i);
        if (width == 8)
            to[i] = (uint64_t)value;
        else if (width == 1)
            ((uint8_t *)to)[i] = (uint8_t)value;
        else
            memcpy((char *)to + (size_t)i * width, &value, width); /* its low bytes */
    }
}
static tally__cu_address make_on_device(size_t width, int64_t count, entry_at *entry) {
    tally__cu_address memory;
    EXPECT(driver->allocate(&memory, (size_t)count * width + 1) == 0, "no device memory for %lld entries of %zu bytes",
           (long long)count, width);
    for (int64_t first = 0; first < count; first += CHUNK) {
        const int64_t n = count - first < CHUNK ? count - first : CHUNK;
        fill_chunk(chunk, width, first, n, entry);
        EXPECT(driver->copy_in(memory + (uint64_t)first * width, chunk, (size_t)n * width, NULL) == 0 &&
                   driver->stream_wait(NULL) == 0,
               "no copy to the device");
    }
    return memory;
}
static void expect_on_device(tally__cu_address memory, size_t width, int64_t count, entry_at *entry) {
    for (int64_t first = 0; first < count; first += CHUNK) {
        const int64_t n = count - first < CHUNK ? count - first : CHUNK;
        device_read(chunk, memory + (uint64_t)first * width, (size_t)n * width);
        fill_chunk(expected, width, first, n, entry);
        if (memcmp(chunk, expected, (size_t)n * width) == 0) continue;
        for (now.segment = first; now.segment < first + n; now.segment++) {
            const size_t at = (size_t)(now.segment - first) * width;
            EXPECT_BITS((char *)chunk + at, (char *)expected + at, width, "a result");
        }
    }
}

static void set_places(int64_t at) {
    const int64_t all[PLACES] = {3, at / 4, at / 2 - 1, at / 2, at - 1, at, at + 5000};
    memcpy(places, all, sizeof all);
}
static int64_t value_at(int64_t i) {
    for (int k = 0; k < PLACES; k++)
        if (i == places[k]) return k + 1;
    return 0;
}
static int64_t zero_at(int64_t i) { return (void)i, 0; }

/* ---- what is compared ---- */

/* The results of a segmentation of `count` values, all in device memory, with what each is to be, of `width` bytes. */
static void compare(tally_op op, tally_type type, int64_t count, tally_segments segments, size_t width,
                    entry_at *wanted) {
    const size_t bytes = tally_type_size(type);
    const int64_t results = segments.count * (segments.inner > 1 ? segments.inner : 1);
    tally_context *context = context_of(backend);
    tally__cu_address values = make_on_device(bytes, count, value_at), out = make_on_device(width, results, zero_at);
    tally_options options = tally_get_options(context);
    options.checked = 1;
    EXPECT_OK(tally_set_options(context, &options));
    choose_schedule(0); /* with more patience than by itself */
    now = (scene){
        .op = op, .type = type, .size = count, .index_type = segments.index_type, .data = "zeros and a few others"};
    EXPECT_OK(tally_reduce_segments(context, op, tally_in((const void *)(uintptr_t)values, type, count), segments,
                                    tally_out((void *)(uintptr_t)out, TALLY_NATURAL, results)));
    expect_on_device(out, width, results, wanted);
    driver->release(values);
    driver->release(out);
    tally_context_destroy(context);
}

/* ---- few segments of many values ---- */

enum { FEW = 7 };
static int64_t few_offsets[FEW + 1];
static int64_t few_at(int64_t i) { return few_offsets[i]; }
static int64_t few_length_at(int64_t i) { return few_offsets[i + 1] - few_offsets[i]; }
static int64_t few_sum_at(int64_t s) {
    int64_t sum = 0;
    for (int k = 0; k < PLACES; k++)
        if (places[k] >= few_offsets[s] && places[k] < few_offsets[s + 1]) sum += k + 1;
    return sum;
}
static int64_t few_most_at(int64_t s) { /* the last place is the largest */
    int64_t at = 0;
    for (int k = 0; k < PLACES; k++)
        if (places[k] >= few_offsets[s] && places[k] < few_offsets[s + 1]) at = places[k] - few_offsets[s];
    return at;
}

static void test_values(void **state) {
    const int64_t ends[FEW + 1] = {
        0, 3, boundary / 2 - 1, boundary / 2, boundary - 1, boundary + 1, boundary + 4999, boundary + 12345};
    (void)state;
    set_places(boundary);
    memcpy(few_offsets, ends, sizeof ends);
    tally__cu_address offsets = make_on_device(8, FEW + 1, few_at), lengths = make_on_device(8, FEW, few_length_at);
    const tally_segments by_offsets = tally_offsets((const void *)(uintptr_t)offsets, TALLY_I64, FEW),
                         by_lengths = tally_lengths((const void *)(uintptr_t)lengths, TALLY_I64, FEW);
    compare(TALLY_SUM, TALLY_U8, ends[FEW], by_offsets, 8, few_sum_at);
    compare(TALLY_ARGMAX, TALLY_U8, ends[FEW], by_lengths, 8, few_most_at);
    driver->release(offsets);
    driver->release(lengths);
}

/* Rows of a third of the array, along the last axis and along the first. */
static int64_t third;
static int64_t row_sum_at(int64_t row) {
    int64_t sum = 0;
    for (int k = 0; k < PLACES; k++) sum += places[k] / third == row ? k + 1 : 0;
    return sum;
}
static int64_t column_sum_at(int64_t column) {
    int64_t sum = 0;
    for (int k = 0; k < PLACES; k++) sum += places[k] % 3 == column ? k + 1 : 0;
    return sum;
}
static void test_rows(void **state) {
    (void)state;
    set_places(boundary);
    third = boundary / 3 + 4115;
    compare(TALLY_SUM, TALLY_U8, 3 * third, tally_rows(3, third, 1), 8, row_sum_at);
    compare(TALLY_SUM, TALLY_U8, 3 * third, tally_rows(1, third, 3), 8, column_sum_at);
}

/* ---- many segments ---- */

/* Three values each, by segment ids: they become offsets, or where there are fewer than 2^32 of 4 bytes tiles look at
 * them.
 */
static int64_t third_of(int64_t i) { return i / 3; }
static int64_t has_of_three(int64_t s) {
    for (int k = 0; k < PLACES; k++)
        if (places[k] < now.size && places[k] / 3 == s) return 1;
    return 0;
}
static void compare_segment_ids(tally_type type, int64_t count, tally_type index_type) {
    tally__cu_address segment_ids = make_on_device(tally_type_size(index_type), count, third_of);
    compare(TALLY_ANY, type, count,
            tally_segment_ids((const void *)(uintptr_t)segment_ids, index_type, (count + 2) / 3), 1, has_of_three);
    driver->release(segment_ids);
}
static void test_segment_ids(void **state) {
    (void)state;
    set_places(boundary);
    compare_segment_ids(TALLY_U8, boundary + 12345, TALLY_I64);
    compare_segment_ids(TALLY_I32, boundary / 2 + 5000, TALLY_I32);
    compare_segment_ids(TALLY_I32, boundary / 2 - 1, TALLY_I32);
}

/* More segments than 2^32, one value for each eighth of them; and segment ids with such gaps. */
static int64_t eighth_of(int64_t i) { return i / 8; }
static int64_t eighth_has(int64_t s) { return s % 8 == 7 && value_at(s / 8) != 0; } /* s / 8 values lie before it */
static int64_t eight_times(int64_t i) { return 8 * i + 7; }
static void test_segments(void **state) {
    const int64_t values = boundary / 8 + 100;
    (void)state;
    set_places(boundary / 8);
    tally__cu_address offsets = make_on_device(8, 8 * values + 1, eighth_of),
                      segment_ids = make_on_device(8, values, eight_times);
    compare(TALLY_ANY, TALLY_U8, values, tally_offsets((const void *)(uintptr_t)offsets, TALLY_I64, 8 * values), 1,
            eighth_has);
    driver->release(offsets);
    compare(TALLY_ANY, TALLY_U8, values, tally_segment_ids((const void *)(uintptr_t)segment_ids, TALLY_I64, 8 * values),
            1, eighth_has);
    driver->release(segment_ids);
}

/* ---- vectors of features, begins and ends, ids in any order ---- */

enum { FEATURES = 5 };
static int64_t feature_sum_at(int64_t result) {
    const int64_t s = result / FEATURES;
    int64_t sum = 0;
    for (int k = 0; k < PLACES; k++)
        if (places[k] % FEATURES == result % FEATURES && places[k] / FEATURES >= few_offsets[s] &&
            places[k] / FEATURES < few_offsets[s + 1])
            sum += k + 1;
    return sum;
}
/* The last segment first, and the others two values longer than their offsets say. */
static int64_t few_begin_at(int64_t s) { return few_offsets[FEW - 1 - s]; }
static int64_t few_end_at(int64_t s) { return few_offsets[FEW - s] + (s > 0 ? 2 : 0); }
static int64_t overlapping_sum_at(int64_t s) {
    int64_t sum = 0;
    for (int k = 0; k < PLACES; k++)
        if (places[k] >= few_begin_at(s) && places[k] < few_end_at(s)) sum += k + 1;
    return sum;
}
static void test_features(void **state) {
    const int64_t vectors = (boundary + 12345) / FEATURES, half = boundary / 2 / FEATURES, last = boundary / FEATURES;
    const int64_t ends[FEW + 1] = {0, 1, half, half + 1, last, last + 1, last + 999, vectors};
    (void)state;
    set_places(boundary);
    memcpy(few_offsets, ends, sizeof ends);
    tally__cu_address offsets = make_on_device(8, FEW + 1, few_at);
    compare(TALLY_SUM, TALLY_U8, vectors * FEATURES,
            tally_features(tally_offsets((const void *)(uintptr_t)offsets, TALLY_I64, FEW), FEATURES), 8,
            feature_sum_at);
    for (int k = 0; k <= FEW; k++) few_offsets[k] *= FEATURES;
    tally__cu_address begins = make_on_device(8, FEW, few_begin_at), behind = make_on_device(8, FEW, few_end_at);
    compare(TALLY_SUM, TALLY_U8, vectors * FEATURES,
            tally_begin_end((const void *)(uintptr_t)begins, (const void *)(uintptr_t)behind, TALLY_I64, FEW), 8,
            overlapping_sum_at);
    driver->release(offsets);
    driver->release(begins);
    driver->release(behind);
}

/* As many values as fit an order of 64 bits each, twice, into the memory: past 2^31. */
static int64_t id_at(int64_t i) { return i % 3; }
static void test_unsorted_ids(void **state) {
    const int64_t most = (int64_t)1 << 31, at = boundary < most ? boundary : most, count = at + 12345;
    (void)state;
    set_places(at);
    tally__cu_address ids = make_on_device(4, count, id_at);
    compare(TALLY_SUM, TALLY_U8, count,
            tally_unsorted_ids((const void *)(uintptr_t)ids, TALLY_I32, 3, TALLY_OUTSIDE_REFUSED), 8, column_sum_at);
    driver->release(ids);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values),      cmocka_unit_test(test_rows),
                                       cmocka_unit_test(test_segment_ids), cmocka_unit_test(test_segments),
                                       cmocka_unit_test(test_features),    cmocka_unit_test(test_unsorted_ids)};
    int skipped = begin_gpu_program(argc, argv), log2_boundary = backend == TALLY_BACKEND_CUDA ? 32 : 16;
    if (skipped) return skipped;
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], "--log2") == 0) log2_boundary = atoi(argv[i + 1]);
    boundary = (int64_t)1 << log2_boundary;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
