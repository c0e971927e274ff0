/* gallery/pages/errata.md: each slip of the seed texts that a run can show, as the text has it, run on the
 * simulator. The right kernels are the gallery's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "simt/simt.h"
#include "simt_work.h"
#include "support.h"

#if defined(__SANITIZE_THREAD__)
#define THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define THREAD_SANITIZER 1
#endif
#endif

enum { MOST = 1024 };
typedef struct ints {
    int32_t v[2 * MOST];
} ints;
typedef struct unsigneds {
    uint32_t v[MOST];
} unsigneds;

static const int32_t *input(const test_work *work) { return (const int32_t *)(const void *)work->x; }
static int32_t *output(const test_work *work) { return (int32_t *)work->result; }

/* Runs it; false: it did not end, and *sentence says why. */
static bool run(tally__simt_entry *entry, int blocks, int threads, test_work work, const char *schedule,
                char sentence[400]) {
    tally__simt_settings settings = TALLY_SIMT_SETTINGS_INIT;
    const tally__simt_job job = {"erratum", entry, blocks, threads, 0, &work, NULL};
    assert_true(tally__simt_parse(schedule, &settings));
    settings.patience = 100000;
    tally__simt_configure(&settings);
    return tally__simt_launch(&job, sentence, 400) == 0;
}

/* ---- Kandasamy ---- */

TALLY_ENTRY_OF(MOST, errata_stride, test_work, 1) {
    TALLY_SHARED(ints, partial);
    int32_t t = tally_thread();
    partial->v[t] = input(&work)[t];
    tally_barrier();
    for (int32_t stride = tally_threads() / 2; stride > 0; stride /= stride) {
        if (t < stride) partial->v[t] += partial->v[t + stride];
        tally_barrier();
    }
    if (t == 0) output(&work)[0] = partial->v[0];
}
static void test_stride(void **state) {
    int32_t x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, sum = 0;
    char sentence[400];
    (void)state;
    EXPECT(!run(errata_stride, 1, 8, (test_work){.x = (char *)x, .result = &sum}, "round", sentence), "it ended");
    EXPECT(strstr(sentence, "livelock") != NULL, "%s", sentence);
}

TALLY_ENTRY_OF(MOST, errata_padding, test_work, 1) {
    TALLY_SHARED(ints, partial);
    int32_t t = tally_thread();
    partial->v[t] = t < work.count ? input(&work)[t] : 0;
    tally_barrier();
    for (int32_t stride = tally_threads() / 2; stride > 0; stride /= 2) {
        if (t < stride && partial->v[t + stride] < partial->v[t]) partial->v[t] = partial->v[t + stride];
        tally_barrier();
    }
    if (t == 0) output(&work)[0] = partial->v[0];
}
static void test_padding(void **state) {
    int32_t x[6] = {7, 5, 9, 6, 8, 11}, least = -1;
    char sentence[400];
    (void)state;
    EXPECT(run(errata_padding, 1, 8, (test_work){.x = (char *)x, .result = &least, .count = 6}, "round", sentence),
           "%s", sentence);
    EXPECT(least == 0, "the minimum of values from 5 on, padded with zeros, is %d", least);
}

/* ---- Cook ---- */

/* run: lists; node: who won. */
TALLY_ENTRY_OF(MOST, errata_merge, test_work, 1) {
    TALLY_SHARED(unsigneds, list_indexes);
    TALLY_SHARED(unsigneds, reduction_val);
    TALLY_SHARED(unsigneds, reduction_idx);
    const uint32_t *src_array = (const uint32_t *)(const void *)work.x;
    uint32_t tid = (uint32_t)tally_thread(), num_lists = (uint32_t)work.run, num_elements = (uint32_t)work.count;
    const uint32_t num_elements_per_list = num_elements / num_lists;
    list_indexes->v[tid] = 0;
    tally_barrier();
    for (uint32_t i = 0; i < num_elements; i++) {
        uint32_t tid_max = num_lists >> 1, data = 0xFFFFFFFF;
        if (list_indexes->v[tid] < num_elements_per_list) data = src_array[tid + list_indexes->v[tid] * num_lists];
        reduction_val->v[tid] = data;
        reduction_idx->v[tid] = tid;
        tally_barrier();
        while (tid_max != 0) {
            if (tid < tid_max) {
                const uint32_t val2_idx = tid + tid_max, val2 = reduction_val->v[val2_idx];
                if (reduction_val->v[tid] > val2) {
                    reduction_val->v[tid] = val2;
                    reduction_idx->v[tid] = reduction_idx->v[val2_idx];
                }
            }
            tid_max >>= 1;
            tally_barrier();
        }
        if (tid == 0) {
            list_indexes->v[reduction_idx->v[0]]++;
            ((uint32_t *)work.result)[i] = reduction_val->v[0];
            ((uint32_t *)work.node)[i] = reduction_idx->v[0];
        }
        tally_barrier();
    }
}
static void merge(const uint32_t *x, int count, int lists, uint32_t *merged, uint32_t *winners) {
    char sentence[400];
    EXPECT(run(errata_merge, 1, lists,
               (test_work){.x = (const char *)x, .result = merged, .node = winners, .count = count, .run = lists},
               "round", sentence),
           "%s", sentence);
}
static void test_lists(void **state) {
    const uint32_t six[6] = {10, 11, 1, 12, 13, 2};          /* one value in each of 6 lists */
    const uint32_t mark[4] = {1, 0xFFFFFFFF, 2, 0xFFFFFFFF}; /* lists 1, 2 and mark, mark */
    const uint32_t seven[7] = {1, 2, 3, 4, 5, 6, 7};         /* lists 1, 3, 5, 7 and 2, 4, 6 */
    uint32_t merged[8], winners[8];
    (void)state;
    merge(six, 6, 6, merged, winners);
    EXPECT(merged[0] != 1, "six lists merge");
    merge(mark, 4, 2, merged, winners);
    EXPECT(winners[2] == 0 && winners[3] == 0, "the list of marks is taken");
    merge(seven, 7, 2, merged, winners);
    EXPECT(merged[6] == 0xFFFFFFFF, "the seventh value is there");
}

/* ---- the paper ---- */

/* Algorithm 2; user: whether the last line is mended. */
TALLY_FN void errata_reduce_warp(int32_t *data, int32_t thid, int32_t *target) {
    for (int32_t apart = 1; apart < TALLY_WARP / 2; apart *= 2) {
        if (tally_lane() % (2 * apart) == 0) data[thid] += data[thid + apart];
        tally_warp_barrier();
    }
    if (tally_lane() == 0) *target = data[thid] + data[thid + 16];
    tally_warp_barrier();
}
TALLY_ENTRY_OF(256, errata_tb4_warp, test_work, 1) {
    TALLY_SHARED(ints, s_data);
    TALLY_SHARED(ints, s_result);
    int32_t thid = tally_thread(), warps = tally_threads() / TALLY_WARP;
    for (int32_t i = thid; i < 1024; i += tally_threads()) s_data->v[i] = input(&work)[i];
    tally_barrier();
    for (int32_t k = 0; k < 4; k++)
        errata_reduce_warp(s_data->v, thid + k * tally_threads(), &s_result->v[tally_warp() + k * warps]);
    tally_barrier();
    if (tally_warp() == 0) errata_reduce_warp(work.user ? s_result->v : s_data->v, thid, &s_data->v[0]);
    if (thid == 0) output(&work)[0] = s_data->v[0];
}
/* 1024 ones, as it stands and mended. */
static void expect_mended(tally__simt_entry *entry, int threads, const char *schedule) {
    static int32_t ones[1024];
    int32_t sum = 0;
    char sentence[400];
    for (int i = 0; i < 1024; i++) ones[i] = 1;
    for (int mended = 0; mended < 2; mended++) {
        EXPECT(
            run(entry, 1, threads, (test_work){.x = (char *)ones, .result = &sum, .user = mended}, schedule, sentence),
            "%s", sentence);
        EXPECT((sum == 1024) == mended, "1024 ones sum to %d", sum);
    }
}
static void test_algorithm_2(void **state) {
    (void)state;
    expect_mended(errata_tb4_warp, 256, "round");
}

/* Algorithm 3 with 32 threads, lines 5 to 16; user: whether a barrier of the warp stands before line 14. */
TALLY_ENTRY_OF(32, errata_matrix, test_work, 1) {
    TALLY_SHARED(ints, s_data);
    int32_t thid = tally_thread(), sum;
    for (int32_t i = thid; i < 1024; i += 32) s_data->v[i + i / 32] = input(&work)[i];
    tally_barrier();
    sum = s_data->v[thid * 33];
    for (int32_t k = 1; k < 32; k++) sum += s_data->v[thid * 33 + k];
    if (work.user) tally_warp_barrier();
    s_data->v[thid] = sum;
    tally_warp_barrier();
    errata_reduce_warp(s_data->v, thid, &s_data->v[0]);
    if (thid == 0) output(&work)[0] = s_data->v[0];
}
static void test_algorithm_3(void **state) {
    (void)state;
    expect_mended(errata_matrix, 32, "reverse");
}

/* ---- Stack Overflow ---- */

/* The last-block guard; user: whether the thread is compared with the number of blocks. `nodes`: gOut. */
TALLY_ENTRY_OF(64, errata_last_block, test_work, 1) {
    TALLY_SHARED(ints, shared);
    TALLY_SHARED(int32_t, is_last);
    int32_t t = tally_thread(), *out = (int32_t *)(void *)work.nodes;
    const int32_t gridSize = tally_threads() * tally_blocks();
    int32_t sum = 0, limit = work.user ? tally_blocks() : gridSize;
    for (int32_t i = t + tally_block() * tally_threads(); i < work.count; i += gridSize) sum += input(&work)[i];
    shared->v[t] = sum;
    tally_barrier();
    for (int32_t size = tally_threads() / 2; size > 0; size /= 2) {
        if (t < size) shared->v[t] += shared->v[t + size];
        tally_barrier();
    }
    if (t == 0) {
        out[tally_block()] = shared->v[0];
        tally_fence();
        *is_last = tally_arrive(work.arrivals, (uint32_t)tally_blocks() - 1) == (uint32_t)tally_blocks() - 1;
        tally_fence();
    }
    tally_barrier();
    if (!*is_last) return;
    shared->v[t] = t < limit ? out[t] : 0;
    tally_barrier();
    for (int32_t size = tally_threads() / 2; size > 0; size /= 2) {
        if (t < size) shared->v[t] += shared->v[t + size];
        tally_barrier();
    }
    if (t == 0) out[0] = shared->v[0];
}
static void test_last_block(void **state) {
    static int32_t ones[1000];
    char sentence[400];
    (void)state;
    for (int i = 0; i < 1000; i++) ones[i] = 1;
    for (int mended = 0; mended < 2; mended++) {
        int32_t out[64]; /* of 3 blocks: 3 elements, and what lies behind them */
        uint32_t counter = 0;
        for (int i = 0; i < 64; i++) out[i] = 7;
        EXPECT(run(errata_last_block, 3, 64,
                   (test_work){
                       .x = (char *)ones, .nodes = (char *)out, .arrivals = &counter, .count = 1000, .user = mended},
                   "round", sentence),
               "%s", sentence);
        EXPECT(out[0] == (mended ? 1000 : 1000 + 7 * 61), "1000 ones sum to %d", out[0]);
    }
}

/* One warp without synchronisation (sumCommSingleWarp); user: with it. */
TALLY_ENTRY_OF(32, errata_warp, test_work, 1) {
    TALLY_SHARED(ints, shared);
    int32_t idx = tally_thread();
    shared->v[idx] = input(&work)[idx];
    tally_warp_barrier();
    for (int32_t half = 16; half > 0; half /= 2) {
        if (idx < half) shared->v[idx] += shared->v[idx + half];
        if (work.user) tally_warp_barrier();
    }
    if (idx == 0) output(&work)[0] = shared->v[0];
}
static void test_warp(void **state) {
    int32_t ones[32], sum;
    char sentence[400];
    (void)state;
    for (int i = 0; i < 32; i++) ones[i] = 1;
    for (int mended = 0; mended < 2; mended++) {
        EXPECT(
            run(errata_warp, 1, 32, (test_work){.x = (char *)ones, .result = &sum, .user = mended}, "round", sentence),
            "%s", sentence);
        EXPECT((sum == 32) == mended, "32 ones sum to %d", sum);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stride),      cmocka_unit_test(test_padding),     cmocka_unit_test(test_lists),
        cmocka_unit_test(test_algorithm_2), cmocka_unit_test(test_algorithm_3), cmocka_unit_test(test_last_block),
        cmocka_unit_test(test_warp),
    };
    int skipped = begin_program(argc, argv);
    if (skipped) return skipped;
#ifdef THREAD_SANITIZER
    printf("SKIPPED: what is wrong here are races, which the thread sanitizer reports\n");
    return SKIPPED;
#endif
    return cmocka_run_group_tests(tests, NULL, NULL);
}
