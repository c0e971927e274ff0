/* Counts past 2^31: 2 GiB of zeros, which the system makes as they are read, with a few values among them. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "support.h"

static const int64_t count = ((int64_t)1 << 31) + 5000;
static uint8_t *values;
static const int64_t places[] = {
    3, 70000, (int64_t)1 << 30, ((int64_t)1 << 31) - 1, (int64_t)1 << 31, ((int64_t)1 << 31) + 4999};
enum { PLACES = sizeof places / sizeof *places };

static int64_t available_bytes(void) {
    char line[128];
    long long kilobytes = 0;
    FILE *file = fopen("/proc/meminfo", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "MemAvailable: %lld kB", &kilobytes) == 1) break;
    if (file != NULL) fclose(file);
    return (int64_t)kilobytes * 1024;
}

static int64_t reduce(tally_op op) {
    int64_t got = -2;
    now = (scene){.op = op, .type = TALLY_U8, .size = count};
    EXPECT_OK(tally_reduce(NULL, op, tally_in(values, TALLY_U8, count), tally_out(&got, TALLY_I64, 1)));
    return got;
}

static void test_whole(void **state) {
    (void)state;
    assert_int_equal(reduce(TALLY_COUNT), PLACES);
    assert_int_equal(reduce(TALLY_SUM), 1 + 2 + 3 + 4 + 5 + 6);
    assert_int_equal(reduce(TALLY_ARGMAX), places[PLACES - 1]);
}

/* Offsets on both sides of 2^31, and lengths that add up past it. */
static void test_segments(void **state) {
    const int64_t offsets[] = {0, 3, places[3], places[4] + 1, count}, wanted[] = {0, 3, 2, 1};
    const int32_t lengths[] = {INT32_MAX, 1, 5000};
    int64_t got[4];
    (void)state;
    now = (scene){.op = TALLY_COUNT, .type = TALLY_U8, .size = count};
    EXPECT_OK(tally_reduce_segments(NULL, TALLY_COUNT, tally_in(values, TALLY_U8, count),
                                    tally_offsets(offsets, TALLY_I64, 4), tally_out(got, TALLY_I64, 4)));
    assert_memory_equal(got, wanted, sizeof wanted);
    EXPECT_OK(tally_reduce_segments(NULL, TALLY_MAX, tally_in(values, TALLY_U8, count),
                                    tally_lengths(lengths, TALLY_I32, 3), tally_out(got, TALLY_I64, 3)));
    assert_true(got[0] == 3 && got[1] == 4 && got[2] == 6);
}

/* The same bytes as 8 columns, of more than 2^28 values each, and as two long rows. */
static void test_rows(void **state) {
    int64_t got[8], sum = 0;
    (void)state;
    now = (scene){.op = TALLY_SUM, .type = TALLY_U8, .size = count, .segments = "rows"};
    EXPECT_OK(tally_reduce_segments(NULL, TALLY_SUM, tally_in(values, TALLY_U8, count), tally_rows(1, count / 8, 8),
                                    tally_out(got, TALLY_I64, 8)));
    for (int i = 0; i < 8; i++) {
        int64_t wanted = 0;
        for (int p = 0; p < PLACES; p++) wanted += places[p] % 8 == i ? p + 1 : 0;
        assert_int_equal(got[i], wanted);
        sum += got[i];
    }
    assert_int_equal(sum, 21);
    EXPECT_OK(tally_reduce_segments(NULL, TALLY_ARGMAX, tally_in(values, TALLY_U8, count), tally_rows(2, count / 2, 1),
                                    tally_out(got, TALLY_I64, 2)));
    assert_int_equal(got[0], places[2]);
    assert_int_equal(got[1], places[5] - count / 2);
}

/* A state that takes the values in two pushes, and one of strided values backwards. */
static void test_states_and_strides(void **state) {
    tally_state *all;
    int64_t got, half = places[4] + 17;
    tally_array backwards = {values + count - 1, TALLY_U8, count / 1000, -1000};
    (void)state;
    now = (scene){.op = TALLY_ARGMAX, .type = TALLY_U8, .size = count};
    EXPECT_OK(tally_state_open(NULL, TALLY_ARGMAX, TALLY_U8, 0, &all));
    EXPECT_OK(tally_state_push(all, tally_in(values, TALLY_U8, half)));
    EXPECT_OK(tally_state_push(all, tally_in(values + half, TALLY_U8, count - half)));
    EXPECT_OK(tally_state_finish(all, tally_out(&got, TALLY_I64, 1)));
    assert_int_equal(got, places[5]);
    assert_int_equal(tally_state_count(all), count);
    tally_state_close(all);
    EXPECT_OK(tally_reduce(NULL, TALLY_ARGMAX, backwards, tally_out(&got, TALLY_I64, 1)));
    assert_int_equal(got, 0);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_whole), cmocka_unit_test(test_segments),
                                       cmocka_unit_test(test_rows), cmocka_unit_test(test_states_and_strides)};
    int skipped = begin_program(argc, argv);
    if (skipped) return skipped;
    if (available_bytes() < (int64_t)6 << 30) {
        fprintf(stderr, "SKIPPED: counts past 2^31 want 6 GiB of free memory, here are %lld MiB\n",
                (long long)(available_bytes() >> 20));
        return SKIPPED;
    }
    values = mmap(NULL, (size_t)count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (values == MAP_FAILED) {
        fprintf(stderr, "SKIPPED: no address space for 2 GiB\n");
        return SKIPPED;
    }
    for (int p = 0; p < PLACES; p++) values[places[p]] = (uint8_t)(p + 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
