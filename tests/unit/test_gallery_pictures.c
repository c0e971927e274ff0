/* The gallery's pictures: of every kernel, at every size around what its blocks take. Pictures are of sets of inputs,
 * so that each box says what is in it: the boxes that its lines come from must make just that. */
#include <string.h>

#include "gallery/host/gallery.h"
#include "gallery/host/kernels.h"
#include "simt/simt.h"
#include "support.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))
static const int64_t sizes[] = {1, 2, 3, 7, 8, 9, 16, 17, 31, 32, 33, 48, 64};

/* Segments of `length` values; gives how many. */
static int64_t segments_every(int64_t length, int64_t count, int32_t *segment_ids) {
    for (int64_t i = 0; i < count; i++) segment_ids[i] = (int32_t)(i / length);
    return (count + length - 1) / length;
}

static void draw(const char *kernel, int64_t count, tally__picture *picture) {
    EXPECT_OK(tally__picture_draw(tally__gallery_find(kernel), count, NULL, 0, picture));
}

/* ---- what each box is made of ---- */

static void check_box(const tally__picture *picture, const char *kernel, int b) {
    const tally__box *box = &picture->box[b];
    uint64_t made = 0;
    for (int k = 0; k < box->froms; k++) {
        const tally__box *from = &picture->box[picture->from[box->first_from + k]];
        bool is_above = from->frame < box->frame || (from->frame == box->frame && from->level < box->level);
        bool is_in_reach = from->block == box->block || from->frame < 0 ||
                           (from->place != TALLY_PLACE_REGISTERS && from->place < TALLY_PLACE_SHARED);
        bool is_there = from->frame < box->frame || from->thread == box->thread || from->block != box->block;
        EXPECT(is_above, "%s: box %d is made of box %d, which is not above it", kernel, b,
               picture->from[box->first_from + k]);
        EXPECT(is_in_reach, "%s: box %d is made of one of another block", kernel, b);
        EXPECT(is_there, "%s of %d: box %d is made of what another thread makes in the same step", kernel,
               picture->count, b);
        EXPECT((made & from->holds) == 0, "%s of %d: an input comes twice into box %d", kernel, picture->count, b);
        made |= from->holds;
    }
    EXPECT(made == box->holds, "%s of %d: box %d, in %s[%d] by thread %d of frame %d, holds %llx and is made of %llx",
           kernel, picture->count, b, picture->place_name[box->place], box->at, box->thread, box->frame,
           (unsigned long long)box->holds, (unsigned long long)made);
}

static void check_frames(const tally__picture *picture, const char *kernel) {
    int boxes = 0;
    for (int f = 0; f < picture->frames; f++) {
        const tally__frame *frame = &picture->frame[f];
        boxes += frame->boxes;
        EXPECT(frame->boxes > 0 && frame->active > 0, "%s: frame %d makes nothing", kernel, f);
        EXPECT(frame->active <= picture->threads * picture->blocks, "%s: %d threads are active", kernel, frame->active);
    }
    EXPECT(boxes == picture->boxes - picture->count, "%s: %d boxes are in frames, of %d", kernel, boxes,
           picture->boxes - picture->count);
}

/* In the end all inputs are in one element, or those of each segment in its output. */
static void check_picture(const tally__gallery_row *row, int64_t count, int64_t length) {
    int32_t segment_ids[TALLY_MOST_PICTURED];
    uint64_t all = 0, outputs[TALLY_MOST_PICTURED] = {0}, wanted[TALLY_MOST_PICTURED] = {0};
    int64_t segments = segments_every(length, count, segment_ids);
    tally__picture picture;
    now.size = count;
    EXPECT(tally__picture_draw(row, count, row->segment_ids ? segment_ids : NULL, segments, &picture) == TALLY_OK,
           "%s: %s", row->name, tally_message());
    for (int b = picture.count; b < picture.boxes; b++) {
        const tally__box *box = &picture.box[b];
        check_box(&picture, row->name, b);
        if (box->place == TALLY_PLACE_LEFT || box->place == TALLY_PLACE_LEFT_NEXT)
            all = row->plan == TALLY_PLAN_HOST ? all | box->holds : box->holds;
        if (box->place == TALLY_PLACE_OUTPUT) outputs[box->at] = box->holds;
    }
    check_frames(&picture, row->name);
    for (int64_t i = 0; i < count; i++) wanted[row->segment_ids ? segment_ids[i] : 0] |= UINT64_C(1) << i;
    EXPECT(row->segment_ids || all == wanted[0], "%s of %lld: %llx is left", row->name, (long long)count,
           (unsigned long long)all);
    for (int64_t s = 0; row->segment_ids && s < segments; s++)
        EXPECT(outputs[s] == wanted[s], "%s of %lld: output %lld is %llx", row->name, (long long)count, (long long)s,
               (unsigned long long)outputs[s]);
    tally__picture_free(&picture);
}

static void test_every_picture(void **state) {
    static const int64_t lengths[] = {1, 3, 5, 64};
    (void)state;
    for (int k = 1; k < tally__gallery_count; k++)
        for (int s = 0; s < COUNT(sizes); s++)
            for (int h = 0; h < (tally__gallery[k].segment_ids ? COUNT(lengths) : 1); h++)
                if (tally__gallery[k].plan != TALLY_PLAN_MERGE) check_picture(&tally__gallery[k], sizes[s], lengths[h]);
}

static void test_merge(void **state) {
    tally__picture picture;
    int merged = 0;
    (void)state;
    draw("merge_lists", 10, &picture);
    for (int b = picture.count; b < picture.boxes; b++) {
        check_box(&picture, "merge_lists", b);
        if (picture.box[b].place != TALLY_PLACE_LEFT) continue;
        EXPECT(picture.box[b].at == merged && picture.box[b].holds == UINT64_C(1) << merged, "value %d of a merge",
               merged);
        merged++;
    }
    EXPECT(merged == 10, "%d values are merged", merged);
    check_frames(&picture, "merge_lists");
    tally__picture_free(&picture);
}

/* ---- what the frames of some say ---- */

static void expect_active(const char *kernel, int64_t count, const int *active, int frames) {
    tally__picture picture;
    draw(kernel, count, &picture);
    EXPECT(picture.frames == frames, "%s: %d frames", kernel, picture.frames);
    for (int f = 0; f < frames; f++)
        EXPECT(picture.frame[f].active == active[f], "%s: %d threads are active in frame %d", kernel,
               picture.frame[f].active, f);
    tally__picture_free(&picture);
}
static void test_active(void **state) {
    static const int tree[] = {16, 8, 4, 2, 1, 1}, one_block[] = {4, 2, 1, 1}, shuffles[] = {16, 16, 16, 4, 4, 4};
    (void)state;
    expect_active("interleaved", 16, tree, 6); /* the last puts the result where the host finds it */
    expect_active("halves", 16, tree, 6);
    expect_active("one_block", 16, one_block, 4);    /* what all threads read is no step */
    expect_active("warp_shuffles", 16, shuffles, 6); /* all lanes combine, needed or not */
}

static int sum_of(const char *kernel, int64_t count, bool divergent) {
    tally__picture picture;
    int sum = 0;
    draw(kernel, count, &picture);
    for (int f = 0; f < picture.frames; f++)
        sum += divergent ? picture.frame[f].divergent : picture.frame[f].bank_conflicts;
    tally__picture_free(&picture);
    return sum;
}
/* Warps of 4 lanes show in 16 values what 32 show in a thousand. */
static void test_lessons(void **state) {
    (void)state;
    EXPECT(sum_of("interleaved", 16, true) == 4 + 4 + 2 + 1, "interleaved diverges %d times",
           sum_of("interleaved", 16, true));
    EXPECT(sum_of("halves", 16, true) == 2, "halves diverges %d times", sum_of("halves", 16, true));
    EXPECT(sum_of("halves", 16, false) == 0 && sum_of("tb2", 16, false) == 0, "halves or tb2 has bank conflicts");
    EXPECT(sum_of("two_loads", 16, false) > 0, "two_loads has no bank conflicts");
}

/* The last block's guard: each block counts, behind a fence, and one finds that it is the last. */
static void test_guard(void **state) {
    tally__picture picture;
    int arrivals = 0, last = 0, fences = 0;
    (void)state;
    draw("last_block", 16, &picture);
    for (int f = 0; f < picture.frames; f++) {
        arrivals += picture.frame[f].arrivals;
        fences += picture.frame[f].fences;
        last += picture.frame[f].last >= 0;
    }
    EXPECT(picture.blocks == 2 && arrivals == 2 && last == 1 && fences >= 2, "%d arrivals, %d fences, %d are last",
           arrivals, fences, last);
    tally__picture_free(&picture);
}

/* Producers load the next matrix in the frames in which the consumer folds one. */
static void test_overlap(void **state) {
    tally__picture picture;
    int overlaps = 0;
    (void)state;
    draw("diffwarps", 32, &picture);
    for (int f = 0; f < picture.frames; f++) {
        bool loads = false, folds = false;
        for (int b = picture.count; b < picture.boxes; b++)
            for (int g = 0; g < picture.frames; g++)
                if (picture.box[b].frame == g && picture.frame[g].epoch == picture.frame[f].epoch) {
                    loads = loads || picture.box[b].thread >= TALLY_PICTURED_LANES;
                    folds = folds || picture.box[b].thread < TALLY_PICTURED_LANES;
                }
        overlaps += loads && folds;
    }
    EXPECT(overlaps > 0, "diffwarps never loads while it folds");
    tally__picture_free(&picture);
}

static void test_refusals(void **state) {
    tally__picture picture;
    (void)state;
    EXPECT_STATUS(tally__picture_draw(tally__gallery_find("tb2"), 65, NULL, 0, &picture), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally__picture_draw(tally__gallery_find("tb2"), 0, NULL, 0, &picture), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally__picture_draw(tally__gallery_find("plain_read"), 16, NULL, 0, &picture), TALLY_UNSUPPORTED);
    EXPECT(tally__simt_configured().lanes == 32, "a picture leaves warps of %d lanes behind",
           tally__simt_configured().lanes);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_picture), cmocka_unit_test(test_merge), cmocka_unit_test(test_active),
        cmocka_unit_test(test_lessons),       cmocka_unit_test(test_guard), cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_refusals),
    };
    int skipped = begin_program(argc, argv);
    if (skipped) return skipped;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
