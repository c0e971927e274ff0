/* tally explain: the frames of a kernel's picture as text, and as an SVG. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/complain.h"
#include "gallery/command/picture.h"
#include "output/output.h"

enum { LINE = 100, MOST_MARKS = 64 };

/* ---- text ---- */

/* Blocks of a launch beside each other: # makes something, . does not. */
static void print_threads(const tally__picture *picture, int f) {
    int printed = 0;
    for (int block = 0; block < picture->blocks && printed < MOST_MARKS; block++) {
        for (int t = 0; t < picture->threads && printed < MOST_MARKS; t++, printed++) {
            printf("%s%c", t == 0 && block > 0 ? " " : "", is_active(picture, f, block, t) ? '#' : '.');
        }
    }
    printf("%s", picture->blocks * picture->threads > MOST_MARKS ? "..." : "");
}

static bool comes_before(const tally__picture *picture, int b, int c) {
    const tally__box *x = &picture->box[b], *y = &picture->box[c];
    if (x->block != y->block || x->thread != y->thread) {
        return x->block != y->block ? x->block < y->block : x->thread < y->thread;
    }
    return b < c;
}

/* The box of a frame behind box b in the order of blocks and threads, the first if b is -1; -1: none. */
static int next_box(const tally__picture *picture, int f, int b) {
    int next = -1;
    for (int c = picture->count; c < picture->boxes; c++) {
        if (picture->box[c].frame == f && (b < 0 || comes_before(picture, b, c)) &&
            (next < 0 || comes_before(picture, c, next))) {
            next = c;
        }
    }
    return next;
}

static void print_boxes(const tally__picture *picture, int f) {
    char set[SET_TEXT], text[160], block[16] = "";
    int column = 0;
    for (int b = next_box(picture, f, -1); b >= 0; b = next_box(picture, f, b)) {
        const tally__box *box = &picture->box[b];
        if (picture->blocks > 1) {
            snprintf(block, sizeof block, "b%d ", box->block);
        }
        int length = snprintf(text, sizeof text, "%st%d %s[%d]={%s}", block, box->thread,
                              picture->place_name[box->place], box->at, set_text(box->holds, set));
        if (column == 0 || column + length + 2 > LINE) {
            printf("%s    ", column > 0 ? "\n" : "");
            column = 4;
        }
        column += printf("  %s", text);
    }
    printf("\n");
}

static void print_frames(const tally__picture *picture) {
    char text[FRAME_TEXT];
    int launch = -1;
    for (int f = 0; f < picture->frames; f++) {
        const tally__frame *frame = &picture->frame[f];
        if (frame->launch != launch) {
            printf("\nlaunch %d\n", frame->launch + 1);
        }
        launch = frame->launch;
        printf("  %-28s", frame_text(picture, f, text));
        print_threads(picture, f);
        printf("  %d active", frame->active);
        if (frame->divergent > 0) {
            printf(", %d of %d branches of warps diverge", frame->divergent, frame->branches);
        }
        if (frame->bank_conflicts > 0) {
            printf(", bank conflicts: %d", frame->bank_conflicts);
        }
        printf("\n");
        print_boxes(picture, f);
        if (guard_text(picture, f, text)[0] != '\0') {
            printf("  %s\n", text);
        }
        if (frame->barriers > 0) {
            printf("  ---------- barrier%s\n", frame->barriers > 1 ? "s" : "");
        } else if (frame->warp_barriers > 0) {
            printf("  . . . . .  warp barrier%s\n", frame->warp_barriers > 1 ? "s or shuffles" : " or shuffle");
        }
    }
}

/* ---- SVG ---- */

static bool save_picture(const tally__picture *picture, const char *path, drawing_function *draw, drawing_style style) {
    output out;
    if (!begin_output(&out, path)) {
        return false;
    }
    if (!draw(picture, style, out.stream)) {
        drop_output(&out);
        return false;
    }
    return end_output(&out);
}

/* ---- the command ---- */

static int explain(const command *wanted, const tally__gallery_row *row) {
    const paper_figure *figure = is_given(wanted, OPTION_PAPER) ? find_figure(row) : NULL;
    int64_t count = wanted->n != 0 ? wanted->n : figure != NULL ? figure->count : tally__picture_usual_count(row);
    int32_t segment_ids[TALLY_MOST_PICTURED];
    tally__picture picture;
    char title[300];
    int64_t segments = 0;
    if (row->segment_ids) {
        segments = segments_of_shape(wanted->segments != NULL ? wanted->segments : "three",
                                     count < TALLY_MOST_PICTURED ? count : TALLY_MOST_PICTURED, segment_ids);
    }
    if (tally__picture_draw(row, count, row->segment_ids ? segment_ids : NULL, segments, &picture) != TALLY_OK) {
        complain(NULL, "%s", tally_message());
        return STATUS_REFUSED;
    }
    if (figure != NULL) {
        snprintf(title, sizeof title, "The paper's %s: %s", figure->name, row->name);
    } else {
        snprintf(title, sizeof title, "%s: %lld values, blocks of %d threads, launches: %d", row->name,
                 (long long)count, picture.threads, picture.launches);
    }
    if (!is_standard_stream(wanted->output)) {
        printf("%s\n%s\n\nWarps have %d lanes here, so that little shows much. Threads: # makes something, . does not. "
               "{0-3}: the values 0 to 3, combined.\n",
               title, row->what, TALLY_PICTURED_LANES);
        print_frames(&picture);
    }
    bool fine =
        wanted->output == NULL || save_picture(&picture, wanted->output, figure != NULL ? figure->draw : draw_picture,
                                               (drawing_style){title, row->segment_ids ? segment_ids : NULL});
    tally__picture_free(&picture);
    return fine ? STATUS_DONE : STATUS_REFUSED;
}

int run_explain(const command *wanted) {
    const tally__gallery_row *row = wanted->file_count == 1 ? tally__gallery_find(wanted->files[0]) : NULL;
    if (wanted->file_count != 1) {
        complain(NULL, "explain takes a KERNEL: tally explain tb2; tally race --list names them");
        return STATUS_MISSPELT;
    }
    if (row == NULL) {
        complain(NULL, "there is no kernel %s; tally race --list names them", wanted->files[0]);
        return STATUS_MISSPELT;
    }
    if (wanted->segments != NULL && !is_shape(wanted->segments)) {
        return STATUS_MISSPELT;
    }
    if (wanted->segments != NULL && !row->segment_ids) {
        complain(NULL, "explain: --segments is for kernels that reduce segments, and %s reduces an array", row->name);
        return STATUS_MISSPELT;
    }
    if (is_given(wanted, OPTION_PAPER) && (find_figure(row) == NULL || wanted->output == NULL)) {
        complain(NULL, find_figure(row) == NULL
                           ? "explain: the paper has figures of matrix, persistent_matrix and diffwarps"
                           : "explain: --paper draws; name a file with -o");
        return STATUS_MISSPELT;
    }
    return explain(wanted, row);
}
