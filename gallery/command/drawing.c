/* Pictures as SVG: a row of boxes for what is made at once, a line from each box to what is made of it. */
#include <stdlib.h>
#include <string.h>

#include "base/complain.h"
#include "gallery/command/picture.h"

enum {
    BOX = 40,
    GAP = 30,
    HIGH = 20,
    ROW = GAP + HIGH + 12,
    LABELS = 196,
    NAMES = 74,
    MOST_AT = 2304,
    BANKS = TALLY_PICTURED_LANES
};

typedef struct drawing {
    const tally__picture *picture;
    drawing_style style;
    FILE *file;
    int left, width;                         /* where boxes begin, and how wide all of them are */
    double *x, *y;                           /* of each box */
    int columns[TALLY_MOST_PLACES][MOST_AT]; /* of the cells of a block's registers and shared memory */
} drawing;

/* ---- where boxes are ---- */

static bool is_of_block(int place) { return place == TALLY_PLACE_REGISTERS || place >= TALLY_PLACE_SHARED; }

/* Numbers the cells that a block uses in a launch from the left, each place by itself; gives the most of a place. */
static int number_cells(drawing *d, int launch, int block) {
    const tally__picture *picture = d->picture;
    int most = 0;
    memset(d->columns, 0, sizeof d->columns);
    for (int b = picture->count; b < picture->boxes; b++) {
        const tally__box *box = &picture->box[b];
        if (box->block == block && picture->frame[box->frame].launch == launch && is_of_block(box->place)) {
            d->columns[box->place][box->at] = 1;
        }
    }
    for (int p = 0; p < TALLY_MOST_PLACES; p++) {
        int used = 0;
        for (int at = 0; at < MOST_AT; at++) {
            used += d->columns[p][at] != 0;
            d->columns[p][at] = used - 1;
        }
        most = p != TALLY_PLACE_REGISTERS && used > most ? used : most;
        most = p == TALLY_PLACE_REGISTERS && most == 0 ? used : most;
    }
    return most > 0 ? most : 1;
}

/* Registers stand where what is made in them comes from; a thread's next one under the last. */
static double register_column(const drawing *d, const tally__box *box) {
    double sum = 0;
    for (int k = 0; k < box->froms; k++) {
        int from = d->picture->from[box->first_from + k];
        if (d->picture->box[from].place == TALLY_PLACE_REGISTERS && d->picture->box[from].thread == box->thread) {
            return d->x[from];
        }
        sum += d->x[from];
    }
    return box->froms > 0 ? sum / box->froms : 0;
}

static void place_block(drawing *d, int launch, int block, int start) {
    for (int b = d->picture->count; b < d->picture->boxes; b++) {
        const tally__box *box = &d->picture->box[b];
        if (box->block != block || d->picture->frame[box->frame].launch != launch) {
            continue;
        }
        if (is_of_block(box->place)) {
            d->x[b] = d->left + BOX * (start + d->columns[box->place][box->at] + 0.5);
        } else if (box->place == TALLY_PLACE_OUTPUT) {
            d->x[b] = d->left + BOX * (box->at + 0.5);
        } else {
            d->x[b] = d->left + BOX * (start + 0.5);
        }
    }
}

/* Boxes of one row that would overlap move to the right. */
static void part_boxes(drawing *d, int frame, int level, int place) {
    double end = 0;
    for (int moved = 1, turn = 0; moved > 0 && turn < 99; turn++) {
        moved = 0;
        for (int b = d->picture->count; b < d->picture->boxes; b++) {
            const tally__box *box = &d->picture->box[b];
            if (box->frame != frame || box->level != level || box->place != place) {
                continue;
            }
            for (int c = d->picture->count; c < d->picture->boxes; c++) {
                const tally__box *other = &d->picture->box[c];
                if (c != b && other->frame == frame && other->level == level && other->place == place &&
                    d->x[c] > d->x[b] - BOX + 0.5 && (d->x[c] < d->x[b] || (d->x[c] == d->x[b] && c < b))) {
                    d->x[b] = d->x[c] + BOX;
                    moved++;
                }
            }
            end = d->x[b] > end ? d->x[b] : end;
        }
    }
    int width = (int)(end + BOX / 2.0 - d->left + 0.5);
    d->width = width > d->width ? width : d->width;
}

static int blocks_of(const tally__picture *picture, int launch) {
    int blocks = 0;
    for (int b = picture->count; b < picture->boxes; b++) {
        const tally__box *box = &picture->box[b];
        if (picture->frame[box->frame].launch == launch && box->block >= blocks) {
            blocks = box->block + 1;
        }
    }
    return blocks;
}

static bool has_row(const tally__picture *picture, int frame, int level, int place) {
    for (int b = picture->count; b < picture->boxes; b++) {
        const tally__box *box = &picture->box[b];
        if (box->frame == frame && box->level == level && box->place == place) {
            return true;
        }
    }
    return false;
}

static void place_columns(drawing *d) {
    const tally__picture *picture = d->picture;
    for (int i = 0; i < picture->count; i++) {
        d->x[i] = d->left + BOX * (i + 0.5);
    }
    d->width = BOX * picture->count;
    for (int launch = 0; launch < picture->launches; launch++) {
        int start = 0;
        for (int block = 0; block < blocks_of(picture, launch); block++) {
            int used = number_cells(d, launch, block);
            place_block(d, launch, block, start);
            start += used;
        }
    }
    for (int b = picture->count; b < picture->boxes; b++) {
        if (picture->box[b].place == TALLY_PLACE_REGISTERS) {
            d->x[b] = register_column(d, &picture->box[b]);
        }
    }
    for (int f = 0; f < picture->frames; f++) {
        for (int level = 0; level < 4; level++) {
            for (int place = 1; place < TALLY_MOST_PLACES; place++) {
                part_boxes(d, f, level, place);
            }
        }
    }
}

/* ---- what is drawn ---- */

static void draw_box(const drawing *d, int b) {
    const tally__box *box = &d->picture->box[b];
    char set[SET_TEXT];
    double x = d->x[b], y = d->y[b];
    set_text(box->holds, set);
    const char *kind = box->frame < 0                        ? "in"
                       : box->place == TALLY_PLACE_REGISTERS ? "reg"
                       : box->place >= TALLY_PLACE_SHARED    ? "sh"
                                                             : "out";
    char owner[16] = "";
    if (d->style.segment_ids != NULL) {
        int first = 0;
        while ((box->holds >> first & 1) == 0) {
            first++;
        }
        snprintf(owner, sizeof owner, " s%d", d->style.segment_ids[first] % 6);
    }
    fprintf(d->file, "<rect class=\"%s%s\" x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" rx=\"3\"/>", kind, owner,
            x - BOX / 2.0 + 2, y, BOX - 4, HIGH);
    if (box->place >= TALLY_PLACE_SHARED) {
        fprintf(d->file, "<rect class=\"b%d\" x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"3\"/>", box->at % BANKS,
                x - BOX / 2.0 + 3, y + HIGH - 3.5, BOX - 6);
    }
    size_t length = strlen(set);
    fprintf(d->file, "<text x=\"%.1f\" y=\"%.1f\"%s", x, y + 13,
            length > 7   ? " class=\"tiny\""
            : length > 5 ? " class=\"less\""
                         : "");
    if (d->style.title == NULL) { /* for the page, which can show values too */
        fprintf(d->file, " data-h=\"%llx\"", (unsigned long long)box->holds);
    }
    fprintf(d->file, ">%s</text>", set);
    if (box->frame >= 0) {
        fprintf(d->file, "<text class=\"t\" x=\"%.1f\" y=\"%.1f\">t%d</text>", x, y + HIGH + 9, box->thread);
    }
    fputc('\n', d->file);
}

static void draw_lines(const drawing *d, int b) {
    const tally__box *box = &d->picture->box[b];
    for (int k = 0; k < box->froms; k++) {
        int from = d->picture->from[box->first_from + k];
        double below = d->y[from] + HIGH + (d->picture->box[from].frame >= 0 ? 10 : 0);
        fprintf(d->file, "<path d=\"M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f\"/>", d->x[from], below, d->x[from],
                below + (d->y[b] - below) * 0.5, d->x[b], d->y[b] - (d->y[b] - below) * 0.5, d->x[b], d->y[b]);
    }
}

static void draw_label(const drawing *d, int f, double y) {
    const tally__frame *frame = &d->picture->frame[f];
    char text[FRAME_TEXT];
    double line = y + GAP + 8;
    if (f > 0 && frame->launch != frame[-1].launch) {
        fprintf(d->file, "<text class=\"p guard\" x=\"%d\" y=\"%.1f\">launch %d</text>\n", d->left, y + 4,
                frame->launch + 1);
    }
    if (d->style.title == NULL) {
        fprintf(d->file, "<text class=\"n\" x=\"%d\" y=\"%.1f\">%d</text>\n", d->left - 12, y + GAP + 14, f + 1);
        return;
    }
    fprintf(d->file, "<text class=\"step\" x=\"8\" y=\"%.1f\">%s</text>", line, frame_text(d->picture, f, text));
    fprintf(d->file, "<text class=\"l\" x=\"8\" y=\"%.1f\">threads: %d</text>", line += 13, frame->active);
    if (frame->divergent > 0) {
        fprintf(d->file, "<text class=\"l bad\" x=\"8\" y=\"%.1f\">%d of %d branches diverge</text>", line += 12,
                frame->divergent, frame->branches);
    }
    if (frame->bank_conflicts > 0) {
        fprintf(d->file, "<text class=\"l bad\" x=\"8\" y=\"%.1f\">bank conflicts: %d</text>", line += 12,
                frame->bank_conflicts);
    }
    if (guard_text(d->picture, f, text)[0] != '\0') {
        fprintf(d->file, "<text class=\"l guard\" x=\"8\" y=\"%.1f\">%s</text>", line + 12, text);
    }
    fputc('\n', d->file);
}

/* Each box of a row, or the lines to it. */
static void draw_row(drawing *d, int f, int level, int place, bool lines) {
    for (int b = d->picture->count; b < d->picture->boxes; b++) {
        const tally__box *box = &d->picture->box[b];
        if (box->frame == f && box->level == level && box->place == place) {
            (lines ? draw_lines : draw_box)(d, b);
        }
    }
}

static double end_frame(const drawing *d, int f, double y) {
    const tally__frame *frame = &d->picture->frame[f];
    if (frame->barriers == 0 && frame->warp_barriers == 0) {
        return y;
    }
    fprintf(d->file, "<line class=\"%s\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>\n",
            frame->barriers > 0 ? "barrier" : "meeting", d->left - 4, d->left + d->width + 2, y + 4, y + 4);
    return y + 8;
}

/* Its rows of boxes, or the lines to them. Gives the y below. */
static double draw_frame(drawing *d, int f, double y, bool lines) {
    const tally__picture *picture = d->picture;
    fprintf(d->file, "<g class=\"%s\" data-f=\"%d\" data-y=\"%.0f\">\n", lines ? "lines" : "frame", f, y);
    if (!lines) {
        draw_label(d, f, y);
    }
    for (int level = 0; level < 4; level++) {
        for (int p = 1; p < TALLY_MOST_PLACES; p++) {
            if (!has_row(picture, f, level, p)) {
                continue;
            }
            for (int b = picture->count; b < picture->boxes; b++) {
                const tally__box *box = &picture->box[b];
                d->y[b] = box->frame == f && box->level == level && box->place == p ? y + GAP : d->y[b];
            }
            draw_row(d, f, level, p, lines);
            if (!lines) {
                fprintf(d->file, "<text class=\"p\" x=\"%d\" y=\"%.1f\">%s</text>\n", d->left + d->width + 8,
                        y + GAP + 14, picture->place_name[p]);
            }
            y += ROW;
        }
    }
    y = lines ? y + (picture->frame[f].barriers > 0 || picture->frame[f].warp_barriers > 0 ? 8 : 0)
              : end_frame(d, f, y);
    fputs("</g>\n", d->file);
    return y;
}

static const char *const colours =
    "<style>svg{--ink:#1b1f24;--soft:#59636e;--line:#8a94a0;--paper:#fff;--in:#fff;--reg:#f5edd4;--sh:#dde8fa;--out:#"
    "d9efe3;"
    "--bad:#b3261e;--guard:#0b6e4f}@media(prefers-color-scheme:dark){svg{--ink:#e6e9ed;--soft:#9aa5b1;--line:#6f7b88;"
    "--paper:#15181c;--in:#22272e;--reg:#3d3720;--sh:#1f3352;--out:#1d3d2e;--bad:#ff8a80;--guard:#7fd6b2}}"
    ".paper{fill:var(--paper)}text{fill:var(--ink);text-anchor:middle;font-size:10px}.less{font-size:8.5px}.tiny{font-"
    "size:6.5px}"
    ".t{fill:var(--soft);font-size:8px}.p,.l,.step,.title{text-anchor:start}.p,.l{fill:var(--soft)}.step{font-size:"
    "12px}"
    ".title{font-size:14px}.bad{fill:var(--bad)}.guard{fill:var(--guard)}rect{stroke:var(--soft)}.in{fill:var(--in)}"
    ".reg{fill:var(--reg)}.sh{fill:var(--sh)}.out{fill:var(--out)}.lines "
    "path{fill:none;stroke:var(--line);stroke-width:1.2}"
    ".barrier{stroke:var(--ink);stroke-width:2}.meeting{stroke:var(--ink);stroke-dasharray:3 4}"
    ".b0,.b1,.b2,.b3{stroke:none}.b0{fill:#4b7bd1}.b1{fill:#d98e04}.b2{fill:#3f9b6c}.b3{fill:#b0529c}"
    ".s0{stroke:#4b6cb7}.s1{stroke:#d98e04}.s2{stroke:#0b8f63}.s3{stroke:#b23a8a}.s4{stroke:#7b5ea7}.s5{stroke:#8a6d3b}"
    ".s0,.s1,.s2,.s3,.s4,.s5{stroke-width:2.2}</style>\n";

/* The lines of all frames, or what lies above them. */
static double draw_frames(drawing *d, double y, bool lines) {
    int launch = -1;
    for (int f = 0; f < d->picture->frames; f++) {
        if (d->picture->frame[f].launch != launch) {
            launch = d->picture->frame[f].launch;
            y += launch > 0 ? 16 : 0;
        }
        y = draw_frame(d, f, y, lines);
    }
    return y;
}

static double draw_all(drawing *d, double y) {
    for (int i = 0; i < d->picture->count; i++) {
        d->y[i] = y;
    }
    draw_frames(d, y + HIGH, true);
    fputs("<g class=\"inputs\">\n", d->file);
    for (int i = 0; i < d->picture->count; i++) {
        draw_box(d, i);
    }
    fprintf(d->file, "<text class=\"p\" x=\"%d\" y=\"%.1f\">x</text></g>\n", d->left + d->width + 8, y + 14);
    return draw_frames(d, y + HIGH, false);
}

void begin_svg(FILE *file, double width, double height, const char *title) {
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\" "
            "font-family=\"system-ui, sans-serif\" role=\"img\">\n",
            width, height, width, height);
    if (title != NULL) {
        fprintf(file,
                "%s<rect class=\"paper\" stroke=\"none\" width=\"100%%\" height=\"100%%\" style=\"stroke:none\"/>\n"
                "<text class=\"title\" x=\"8\" y=\"20\">%s</text>\n",
                colours, title);
    }
}

/* Twice: once into nothing, to know how high it is. */
bool draw_picture(const tally__picture *picture, drawing_style style, FILE *file) {
    drawing *d = take_memory("explain", 1, sizeof *d);
    double *at = take_memory("explain", 2 * (int64_t)picture->boxes, sizeof *at);
    FILE *nothing = fopen("/dev/null", "w");
    bool fine = d != NULL && at != NULL && nothing != NULL;
    if (fine) {
        *d = (drawing){.picture = picture,
                       .style = style,
                       .file = nothing,
                       .left = style.title != NULL ? LABELS : 24,
                       .x = at,
                       .y = at + picture->boxes};
        place_columns(d);
        double top = style.title != NULL ? 40 : 6, height = draw_all(d, top) + 10;
        d->file = file;
        begin_svg(file, d->left + d->width + NAMES, height, style.title);
        draw_all(d, top);
        fputs("</svg>\n", file);
    }
    if (nothing != NULL) {
        fclose(nothing);
    }
    free(at);
    free(d);
    return fine;
}
