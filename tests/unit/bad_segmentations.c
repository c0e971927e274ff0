#include "bad_segmentations.h"

#include <stdlib.h>
#include <string.h>

/* In order, exact, and where order does not show, by an index of 4 bytes, unless only 8 can say it, and of 8. */
static void expect_refused_by(int narrowest, tally_segmentation form, const int64_t *index, int64_t entries,
                              int64_t segments, int64_t values) {
    now.segments = segmentation_names[form];
    for (int kind = narrowest; kind < 6; kind++) {
        const int wide = kind % 2;
        subject s = {kind < 4 ? TALLY_SUM : TALLY_MAX, TALLY_F32, 0, 0, kind < 2 ? TALLY_FAST : TALLY_BEST};
        tally_type type = wide ? TALLY_I64 : TALLY_I32;
        if (wide < narrowest) continue;
        char *memory = scratch(INDEX, (size_t)entries * 8), *out = scratch(OUT, (size_t)segments * 4 + 4);
        for (int64_t i = 0; i < entries; i++) put_index(type, memory, i, index[i]);
        tally__cu_address x, copy = device_copy(memory, (size_t)entries * tally_type_size(type), 0);
        tally_array array = on_device(data_of(TALLY_F32, SMALL_INTEGERS, values), TALLY_F32, values, 0, &x);
        tally_segments refused = {form, (const void *)(uintptr_t)copy, type, segments, 0, 0,
                                  NULL, TALLY_OUTSIDE_REFUSED,         NULL};
        now.index_type = type;
        tally_plan *plan;
        EXPECT_STATUS(tally_reduce_segments(context_for(&s, backend, 1), s.op, array, refused,
                                            tally_out(out, TALLY_NATURAL, segments)),
                      TALLY_BAD_SEGMENTS);
        EXPECT_STATUS(tally_plan_open(context_for(&s, backend, 1), TALLY_F32, values, refused, &plan),
                      TALLY_BAD_SEGMENTS);
        /* To GPU memory: never known, unless asked for. */
        tally__cu_address results = device_copy(out, (size_t)segments * 4, 0);
        for (int checked = 0; checked < 2; checked++) {
            tally_context *context = checked_context_for(&s, checked);
            EXPECT_STATUS(tally_reduce_segments(context, s.op, array, refused,
                                                tally_out((void *)(uintptr_t)results, TALLY_NATURAL, segments)),
                          checked ? TALLY_BAD_SEGMENTS : TALLY_OK);
            EXPECT(driver->stream_wait(NULL) == 0, "the kernel failed");
            tally_context_destroy(context);
        }
        driver->release(results);
        driver->release(copy);
        driver->release(x);
    }
}

static void expect_refused(tally_segmentation form, const int64_t *index, int64_t entries, int64_t segments,
                           int64_t values) {
    expect_refused_by(0, form, index, entries, segments, values);
}

void test_bad_segmentations(void **state) {
    enum { COUNT = 4000, VALUES = 9000, FEWER = 800, FEWEST = 60 };
    static const int64_t bad[] = {-1, -1000000, INT32_MAX, INT32_MIN, 8999, 0};
    int64_t *index = malloc((VALUES + COUNT) * sizeof *index);
    scene fresh = {.op = TALLY_SUM, .type = TALLY_F32, .data = "a bad segmentation"};
    (void)state;
    now = fresh;
    for (int b = 0; b < (quick ? 2 : (int)(sizeof bad / sizeof *bad)); b++)
        for (int k = 0; k < 3; k++) {
            int64_t at = k == 0 ? 0 : k == 1 ? COUNT / 2 : COUNT - 1;
            choose_schedule(b + k);
            for (int64_t i = 0; i <= COUNT; i++) index[i] = 2 * i;
            now.segment = at;
            now.size = bad[b];
            if (!(at == 0 && bad[b] == 0)) {
                index[at] = bad[b];
                expect_refused(TALLY_OFFSETS, index, COUNT + 1, COUNT, VALUES);
            }
            for (int64_t i = 0; i < COUNT; i++) index[i] = 2;
            if (bad[b] != 0 && bad[b] != 8999) {
                index[at] = bad[b];
                expect_refused(TALLY_LENGTHS, index, COUNT, COUNT, VALUES);
            }
            for (int64_t i = 0; i < VALUES; i++) index[i] = i / 3;
            index[at + 4] = bad[b] == 0 && at == 0 ? 2 : bad[b];
            expect_refused(TALLY_SEGMENT_IDS, index, VALUES, COUNT, VALUES);
        }
    for (int b = 0; b < (quick ? 2 : (int)(sizeof bad / sizeof *bad)); b++)
        for (int64_t at = 0; at < FEWEST; at += FEWEST / 4 - 1) { /* segments of many values */
            choose_schedule(b);
            for (int64_t i = 0; i <= FEWEST; i++) index[i] = VALUES / FEWEST * i;
            if (index[at] == bad[b]) continue;
            index[at] = bad[b];
            expect_refused(TALLY_OFFSETS, index, FEWEST + 1, FEWEST, VALUES);
        }
    for (int64_t i = 0; i <= 21; i++)
        index[i] = i % 2 ? 8000 : 0; /* in one tile, which has no room for so many leaves */
    expect_refused(TALLY_OFFSETS, index, 22, 21, 8000);
    for (int64_t each = 2; each <= 11; each += 9) /* right but for the upper half of one */
        for (int k = 0; k < 3; k++) {
            const int64_t count = each == 2 ? COUNT : FEWER, at = k == 0 ? 0 : k == 1 ? count / 2 : count;
            for (int64_t i = 0; i <= count; i++) index[i] = each * i;
            index[at] += k == 1 ? (int64_t)5 << 32 : -((int64_t)1 << 32);
            expect_refused_by(1, TALLY_OFFSETS, index, count + 1, count, VALUES);
        }
    for (int64_t i = 0; i <= FEWER; i++)
        index[i] = i % 40 == 39 ? 7 * i : 11 * i; /* segments of some length that overlap */
    expect_refused(TALLY_OFFSETS, index, FEWER + 1, FEWER, VALUES);
    for (int64_t i = 0; i <= FEWER; i++) index[i] = (i * 7919) % VALUES;
    expect_refused(TALLY_OFFSETS, index, FEWER + 1, FEWER, VALUES);
    for (int64_t i = 0; i <= COUNT; i++) index[i] = 3 * i; /* beyond the array */
    expect_refused(TALLY_OFFSETS, index, COUNT + 1, COUNT, VALUES);
    for (int64_t i = 0; i <= COUNT; i++) index[i] = (i * 7919) % VALUES;
    expect_refused(TALLY_OFFSETS, index, COUNT + 1, COUNT, VALUES);
    for (int64_t i = 0; i < VALUES; i++) index[i] = (i * 7919) % COUNT;
    expect_refused(TALLY_SEGMENT_IDS, index, VALUES, COUNT, VALUES);
    for (int64_t i = 0; i < COUNT; i++) index[i] = INT32_MAX;
    expect_refused(TALLY_LENGTHS, index, COUNT, COUNT, VALUES);
    for (int64_t i = 0; i < COUNT; i++) index[i] = 2; /* whose offsets, in 32 bits, are those of an array */
    index[COUNT / 2] = (int64_t)1 << 32;
    expect_refused_by(1, TALLY_LENGTHS, index, COUNT, COUNT, 2 * (COUNT - 1));
    free(index);
}

/* One segment id below the one before it, anywhere in a tile or at its boundary, among short segments and in long ones.
 */
void test_bad_segment_ids(void **state) {
    enum { COUNT = 4000, VALUES = 9000 };
    static const int64_t places[] = {0,    1,    3,    4,    127,  128,  131,  1023, 2046, 2047, 2048, 2049,
                                     2400, 3001, 3071, 3072, 3073, 4500, 6143, 6144, 7000, 8998, 8999};
    int64_t *index = malloc(VALUES * sizeof *index);
    scene fresh = {.op = TALLY_SUM, .type = TALLY_F32, .data = "a bad segment id"};
    (void)state;
    now = fresh;
    for (int64_t each = 1; each <= 3000; each = each == 1 ? 3 : each == 3 ? 3000 : 3001)
        for (size_t k = 0; k < sizeof places / sizeof *places; k += quick ? 5 : 1) {
            for (int64_t i = 0; i < VALUES; i++) index[i] = i / each - (each == 1 ? i / 3 : 0);
            index[places[k]] = places[k] == 0 ? -1 : index[places[k] - 1] - 1;
            now.segment = places[k];
            choose_schedule((int)k);
            expect_refused(TALLY_SEGMENT_IDS, index, VALUES, each == 1 ? 6000 : COUNT, VALUES);
        }
    for (int64_t i = 0; i < VALUES; i++) index[i] = i / 3;
    index[VALUES - 1] = COUNT; /* one more than there are */
    expect_refused(TALLY_SEGMENT_IDS, index, VALUES, COUNT, VALUES);
    free(index);
}
