/* Figures 1 and 2 of the paper, in its own layout: the matrix in shared memory, and what each warp does between two
 * barriers. Both are drawn from a run, as the steps of a picture are. */
#include <string.h>

#include "gallery/command/picture.h"

enum { LANES = TALLY_PICTURED_LANES, WARPS = 32, PERIODS = 32, SIDE = 40, TALL = 22, TOP = 74 };

static bool is_shared(const tally__box *box) { return box->place >= TALLY_PLACE_SHARED; }

/* The figures are of one block. */
static bool is_drawn(const tally__picture *picture, const tally__box *box) {
    return box->frame >= 0 && picture->frame[box->frame].launch == 0 && box->block == 0;
}

/* Whether the box brings an input into shared memory. */
static bool is_load(const tally__picture *picture, const tally__box *box) {
    return is_shared(box) && box->froms == 1 && picture->box[picture->from[box->first_from]].place == TALLY_PLACE_INPUT;
}

static void draw_words(FILE *file, const char *kind, double x, double y, const char *words) {
    fprintf(file, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", kind, x, y, words);
}

/* ---- Figure 1: the matrix ---- */

enum { LEFT = 92, COLUMNS = LANES + 1, FOLDED = LEFT + COLUMNS * SIDE + 76, STRIDE = 76 };

static double row_y(int row) { return TOP + row * (TALL + 12); }

static void draw_cell(FILE *file, int row, int column, const tally__box *box) {
    double x = LEFT + column * SIDE, y = row_y(row);
    char set[SET_TEXT], thread[32];
    fprintf(file, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\"/>\n", box != NULL ? "sh" : "in",
            x, y, SIDE - 2, TALL);
    fprintf(file, "<rect class=\"b%d\" x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"3\"/>\n",
            (row * COLUMNS + column) % LANES, x + 1, y + TALL - 3.5, SIDE - 4);
    if (box != NULL) {
        snprintf(thread, sizeof thread, "t%d", box->thread);
        draw_words(file, "", x + SIDE / 2.0 - 1, y + 13, set_text(box->holds, set));
        draw_words(file, "t", x + SIDE / 2.0 - 1, y + TALL + 9, thread);
    }
}

/* The matrix as the block left it when all had loaded; a cell that nothing was put into stays empty. */
static void draw_cells(const tally__picture *picture, FILE *file) {
    const tally__box *cells[LANES * COLUMNS] = {NULL};
    for (int b = picture->count; b < picture->boxes; b++) {
        const tally__box *box = &picture->box[b];
        if (is_drawn(picture, box) && is_load(picture, box) && box->at < LANES * COLUMNS) {
            cells[box->at] = box;
        }
    }
    for (int at = 0; at < LANES * COLUMNS; at++) {
        draw_cell(file, at / COLUMNS, at % COLUMNS, cells[at]);
    }
}

/* What the warp makes of the rows, a column for each step: a box stands in the row of the thread that made it. */
static void draw_folds(const tally__picture *picture, FILE *file) {
    int columns = 0, last = -1;
    char set[SET_TEXT];
    for (int b = picture->count; b < picture->boxes; b++) {
        const tally__box *box = &picture->box[b];
        if (!is_drawn(picture, box) || !is_shared(box) || is_load(picture, box)) {
            continue;
        }
        columns += box->frame != last;
        last = box->frame;
        double x = FOLDED + (columns - 1) * STRIDE, y = row_y(box->thread);
        for (int k = 0; k < box->froms; k++) {
            const tally__box *from = &picture->box[picture->from[box->first_from + k]];
            double start = x + SIDE - STRIDE, from_y = row_y(from->thread);
            if (!is_shared(from) || is_load(picture, from)) { /* a row */
                start = LEFT + COLUMNS * SIDE;
                from_y = y;
            }
            fprintf(file, "<path d=\"M%.1f %.1fL%.1f %.1f\"/>\n", start, from_y + TALL / 2.0, x, y + TALL / 2.0);
        }
        fprintf(file, "<rect class=\"sh\" x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\"/>\n", x, y, SIDE, TALL);
        draw_words(file, "", x + SIDE / 2.0, y + 14, set_text(box->holds, set));
    }
}

static bool draw_matrix(const tally__picture *picture, drawing_style style, FILE *file) {
    char words[48];
    begin_svg(file, FOLDED + 3 * STRIDE + 40, row_y(LANES) + 30, style.title);
    snprintf(words, sizeof words, "W = %d columns", LANES);
    draw_words(file, "", LEFT + LANES * SIDE / 2.0, TOP - 10, words);
    draw_words(file, "t", LEFT + LANES * SIDE + SIDE / 2.0, TOP - 10, "unused");
    draw_words(file, "", FOLDED + SIDE / 2.0, TOP - 10, "rows folded");
    for (int row = 0; row < LANES; row++) {
        snprintf(words, sizeof words, "row %d: thread %d", row, row);
        draw_words(file, "p", 8, row_y(row) + 14, words);
    }
    draw_cells(picture, file);
    fputs("<g class=\"lines\">\n", file);
    draw_folds(picture, file);
    fputs("</g>\n", file);
    snprintf(words, sizeof words, "H = %d rows; below a value who loaded it", LANES);
    draw_words(file, "p", 8, row_y(LANES) + 18, words);
    fputs("</svg>\n", file);
    return true;
}

/* ---- Figure 2: the warps ---- */

/* What a warp does between two barriers: what it loads, and in how many steps; the same of what it folds. */
typedef struct deed {
    uint64_t loads, folds;
    int load_steps, fold_steps;
} deed;
typedef struct timeline {
    int periods, warps;
    deed of[PERIODS][WARPS];
} timeline;

/* Steps are those of the warp's first lane; a load is one. */
static void note_box(const tally__picture *picture, const tally__box *box, deed *of, int *last_frame) {
    bool loads = is_load(picture, box), is_first = box->thread % LANES == 0;
    if (loads) {
        of->loads |= box->holds;
        of->load_steps += is_first;
        return;
    }
    of->fold_steps += is_first && box->frame != *last_frame;
    *last_frame = is_first ? box->frame : *last_frame;
    for (int k = 0; k < box->froms; k++) {
        const tally__box *from = &picture->box[picture->from[box->first_from + k]];
        of->folds |= is_load(picture, from) ? from->holds : 0;
    }
}

static void read_timeline(const tally__picture *picture, timeline *t) {
    int last_frame[WARPS], epoch = -1;
    *t = (timeline){.warps = picture->threads / LANES};
    memset(last_frame, -1, sizeof last_frame);
    for (int f = 0; f < picture->frames && picture->frame[f].launch == 0; f++) {
        t->periods += picture->frame[f].epoch != epoch;
        epoch = picture->frame[f].epoch;
        for (int b = picture->count; b < picture->boxes && t->periods <= PERIODS; b++) {
            const tally__box *box = &picture->box[b];
            int warp = box->thread / LANES;
            if (box->frame == f && is_drawn(picture, box) && warp < WARPS) {
                note_box(picture, box, &t->of[t->periods - 1][warp], &last_frame[warp]);
            }
        }
    }
    t->periods = t->periods < PERIODS ? t->periods : PERIODS;
}

enum { WIDE = 132, STEP = 20, LABEL = 20 };

/* A part of a warp's period; gives the y below. */
static double draw_part(FILE *file, const char *kind, double x, double y, int steps, const char *verb, uint64_t set) {
    char text[SET_TEXT], words[SET_TEXT + 16];
    if (steps == 0) {
        return y;
    }
    fprintf(file, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\"/>\n", kind, x, y + 1, WIDE - 8,
            steps * STEP - 2);
    snprintf(words, sizeof words, "%s %s", set != 0 ? verb : "store", set_text(set, text));
    draw_words(file, "", x + WIDE / 2.0 - 4, y + steps * STEP / 2.0 + 4, words);
    return y + steps * STEP;
}

/* The steps of the warp that takes most. */
static int steps_of(const timeline *t, int period) {
    int most = 0;
    for (int w = 0; w < t->warps; w++) {
        int steps = t->of[period][w].load_steps + t->of[period][w].fold_steps;
        most = steps > most ? steps : most;
    }
    return most;
}

/* Gives the y below. */
static double draw_period(const timeline *t, int period, double top, FILE *file) {
    double end = top + steps_of(t, period) * STEP;
    for (int w = 0; w < t->warps; w++) {
        const deed *of = &t->of[period][w];
        double x = LABEL + w * WIDE, y = draw_part(file, "in", x, top, of->load_steps, "load", of->loads);
        y = draw_part(file, "sh", x, y, of->fold_steps, "fold", of->folds);
        if (y < end) {
            draw_words(file, "t", x + WIDE / 2.0 - 4, (y + end) / 2 + 3, "waits");
        }
    }
    if (period + 1 < t->periods) {
        fprintf(file, "<line class=\"barrier\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>\n", LABEL - 6,
                LABEL + t->warps * WIDE, end + 3, end + 3);
    }
    return end + 6;
}

/* Whether warp 0 leaves loading to the others. */
static bool is_split(const timeline *t) {
    uint64_t loads = 0;
    for (int period = 0; period < t->periods; period++) {
        loads |= t->of[period][0].loads;
    }
    return loads == 0;
}

static double draw_periods(const timeline *t, FILE *file) {
    double y = TOP;
    char name[32];
    for (int w = 0; w < t->warps; w++) {
        const char *role = w == 0 ? ", the consumer" : ", a producer";
        snprintf(name, sizeof name, "W%d%s", w, is_split(t) ? role : "");
        draw_words(file, "", LABEL + w * WIDE + WIDE / 2.0 - 4, TOP - 10, name);
    }
    for (int period = 0; period < t->periods; period++) {
        y = draw_period(t, period, y, file);
    }
    return y;
}

static double height_of(const timeline *t) {
    double height = TOP;
    for (int period = 0; period < t->periods; period++) {
        height += steps_of(t, period) * STEP + 6;
    }
    return height;
}

static bool draw_timeline(const tally__picture *picture, drawing_style style, FILE *file) {
    timeline t;
    read_timeline(picture, &t);
    begin_svg(file, LABEL + (t.warps > 3 ? t.warps : 3) * WIDE + 16, height_of(&t) + 30, style.title);
    double y = draw_periods(&t, file);
    draw_words(file, "p", LABEL - 6, y + 16, "Downwards: steps of a warp, which are no times. A line is a barrier.");
    fputs("</svg>\n", file);
    return true;
}

/* ---- the table ---- */

static const paper_figure figures[] = {
    {"matrix", "Figure 1", LANES *LANES, draw_matrix},
    {"persistent_matrix", "Figure 2, right", 4 * LANES *LANES, draw_timeline},
    {"diffwarps", "Figure 2, left", 4 * LANES *LANES, draw_timeline},
};

const paper_figure *find_figure(const tally__gallery_row *row) {
    for (size_t k = 0; k < sizeof figures / sizeof *figures; k++) {
        if (strcmp(figures[k].kernel, row->name) == 0) {
            return &figures[k];
        }
    }
    return NULL;
}
