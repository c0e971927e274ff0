/* tally explain: the steps of a kernel as text, and as an SVG. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/complain.h"
#include "gallery/command/gallery.h"
#include "output/output.h"

enum { SET_TEXT = 48, LINE = 100 };

/* ---- words ---- */

/* The inputs of an element: "0-3", "0,8", "0,4,..,12". */
static const char *set_text(uint64_t set, char *text) {
    int at = 0, runs = 0;
    for (int i = 0; i < TALLY_MOST_PICTURED;) {
        if ((set >> i & 1) == 0) {
            i++;
            continue;
        }
        int end = i;
        while (end + 1 < TALLY_MOST_PICTURED && set >> (end + 1) & 1) {
            end++;
        }
        uint64_t rest = end + 1 < TALLY_MOST_PICTURED ? set >> (end + 1) : 0;
        if (runs < 2 || rest == 0) {
            at +=
                snprintf(text + at, (size_t)(SET_TEXT - at), end > i ? "%s%d-%d" : "%s%d", runs > 0 ? "," : "", i, end);
        } else if (runs == 2) {
            at += snprintf(text + at, (size_t)(SET_TEXT - at), ",..");
        }
        runs++;
        i = end + 1;
    }
    if (runs == 0) {
        snprintf(text, SET_TEXT, "nothing");
    }
    return text;
}

static int active_threads(const tally__picture *picture, const tally__picture_step *step) {
    char seen[1024] = {0};
    int active = 0;
    for (int m = 0; m < step->moves; m++) {
        char *mark = &seen[picture->move[step->first_move + m].thread];
        active += *mark == 0;
        *mark = 1;
    }
    return active;
}

static void step_name(const tally__picture_step *step, char *text, size_t size) {
    if (step->label < 0) {
        snprintf(text, size, "load");
    } else {
        snprintf(text, size, "step %d", step->label);
    }
}

/* Steps in which nothing is done to data, beyond the picture's values, are left out. */
static bool is_shown(const tally__picture *picture, const tally__picture_step *step) {
    for (int m = 0; m < step->moves; m++) {
        if (picture->move[step->first_move + m].holds != 0) {
            return true;
        }
    }
    return false;
}

/* ---- text ---- */

static void print_threads(const tally__picture *picture, const tally__picture_step *step) {
    char marks[65];
    memset(marks, '.', sizeof marks);
    for (int m = 0; m < step->moves; m++) {
        int t = picture->move[step->first_move + m].thread;
        if (t < 64) {
            marks[t] = '#';
        }
    }
    int last = picture->threads < 64 ? picture->threads : 64;
    marks[last] = '\0';
    printf("%s%s", marks, picture->threads > 64 ? "..." : "");
}

static void print_moves(const tally__picture *picture, const tally__picture_step *step) {
    char set[SET_TEXT], move[160];
    int column = 0;
    for (int m = 0; m < step->moves; m++) {
        const tally__move *one = &picture->move[step->first_move + m];
        if (one->holds == 0) {
            continue;
        }
        int length = snprintf(move, sizeof move, "t%d %s[%d]={%s}", one->thread, picture->place_name[one->to.place],
                              one->to.at, set_text(one->holds, set));
        if (column == 0 || column + length + 2 > LINE) {
            printf("%s          ", column > 0 ? "\n" : "");
            column = 10;
        }
        column += printf("  %s", move);
    }
    printf("\n");
}

static void print_steps(const tally__picture *picture) {
    char name[32];
    int launch = -1, block = -1;
    for (int k = 0; k < picture->steps; k++) {
        const tally__picture_step *step = &picture->step[k];
        if (!is_shown(picture, step)) {
            continue;
        }
        if (step->launch != launch || step->block != block) {
            printf("\nlaunch %d, block %d\n", step->launch, step->block);
        }
        launch = step->launch;
        block = step->block;
        step_name(step, name, sizeof name);
        printf("  %-10s", name);
        print_threads(picture, step);
        printf("  %d active", active_threads(picture, step));
        if (step->divergent > 0) {
            printf(", %d of %d branches of warps diverge", step->divergent, step->warps);
        }
        if (step->bank_conflicts > 0) {
            printf(", banks collide: %d turns lost", step->bank_conflicts);
        }
        printf("\n");
        print_moves(picture, step);
        if (step->barriers > 0) {
            printf("  ---------- barrier%s\n", step->barriers > 1 ? "s" : "");
        } else if (step->warp_barriers > 0) {
            printf("  . . . . .  warp barrier%s\n", step->warp_barriers > 1 ? "s or shuffles" : " or shuffle");
        }
    }
}

/* ---- SVG ---- */

enum { BOX = 42, ROW = 62, LABELS = 190, MOST_COLUMNS = 2048 };

typedef struct drawing {
    const tally__picture *picture;
    FILE *file;
    int columns[TALLY_MOST_PLACES][MOST_COLUMNS]; /* of each cell, 0: it never holds anything */
    int used[TALLY_MOST_PLACES], width;
    double x[TALLY_MOST_PLACES][MOST_COLUMNS],
        y[TALLY_MOST_PLACES][MOST_COLUMNS]; /* where a cell was drawn last; y 0: nowhere */
} drawing;

/* Cells that hold something lie side by side, those of each place from the left. */
static void lay_out(drawing *d) {
    const tally__picture *picture = d->picture;
    for (int m = 0; m < picture->moves; m++) {
        const tally__move *move = &picture->move[m];
        if (move->to.at < MOST_COLUMNS && move->holds != 0) {
            d->columns[move->to.place][move->to.at] = 1;
        }
        for (int f = 0; f < move->from_count; f++) {
            if (move->from[f].at < MOST_COLUMNS && move->from[f].place == 0) {
                d->columns[0][move->from[f].at] = 1;
            }
        }
    }
    for (int p = 0; p < TALLY_MOST_PLACES; p++) {
        for (int at = 0; at < MOST_COLUMNS; at++) {
            if (d->columns[p][at] != 0) {
                d->columns[p][at] = ++d->used[p];
            }
        }
        d->width = d->used[p] > d->width ? d->used[p] : d->width;
    }
}

static void draw_box(drawing *d, tally__cell cell, double y, const char *fill, const char *set, const char *thread) {
    double x = LABELS + BOX * (d->columns[cell.place][cell.at] - 0.5);
    fprintf(
        d->file,
        "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"18\" rx=\"3\" fill=\"%s\" stroke=\"#555\"/>\n"
        "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" font-size=\"%d\">%s</text>\n<text x=\"%.1f\" y=\"%.1f\" "
        "text-anchor=\"middle\" fill=\"#777\" "
        "font-size=\"8\">%s</text>\n",
        x - BOX / 2.0 + 2, y, BOX - 4, fill, x, y + 13, strlen(set) > 7 ? 7 : 10, set, x, y + 27, thread);
    d->x[cell.place][cell.at] = x;
    d->y[cell.place][cell.at] = y + 18;
}

static void draw_lines(const drawing *d, const tally__move *move, double y) {
    double x = LABELS + BOX * (d->columns[move->to.place][move->to.at] - 0.5);
    for (int f = 0; f < move->from_count; f++) {
        tally__cell from = move->from[f];
        if (from.at < MOST_COLUMNS && d->y[from.place][from.at] > 0) {
            fprintf(d->file,
                    "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#4b6cb7\" stroke-width=\"1.2\"/>\n",
                    d->x[from.place][from.at], d->y[from.place][from.at], x, y);
        }
    }
}

static void draw_labels(const drawing *d, const tally__picture_step *step, double y) {
    char name[32];
    step_name(step, name, sizeof name);
    fprintf(d->file,
            "<text x=\"8\" y=\"%.1f\" font-size=\"12\">%s</text>\n<text x=\"8\" y=\"%.1f\" fill=\"#555\">%d of %d "
            "threads</text>\n",
            y + 11, name, y + 24, active_threads(d->picture, step), d->picture->threads);
    if (step->divergent > 0) {
        fprintf(d->file, "<text x=\"8\" y=\"%.1f\" fill=\"#b23a48\">%d of %d branches diverge</text>\n", y + 36,
                step->divergent, step->warps);
    }
    if (step->bank_conflicts > 0) {
        fprintf(d->file, "<text x=\"8\" y=\"%.1f\" fill=\"#d98e04\">%d turns lost to banks</text>\n", y + 48,
                step->bank_conflicts);
    }
}

static bool writes_place(const tally__picture *picture, const tally__picture_step *step, int place) {
    for (int m = 0; m < step->moves; m++) {
        const tally__move *move = &picture->move[step->first_move + m];
        if (move->to.place == place && move->holds != 0 && move->to.at < MOST_COLUMNS) {
            return true;
        }
    }
    return false;
}

/* Registers, shared memory, and what goes out last. */
static int place_in_order(int k) {
    static const int most = TALLY_MOST_PLACES - 1;
    return k == 0          ? TALLY_PLACE_REGISTERS
           : k == most - 1 ? TALLY_PLACE_LEFT
           : k == most - 2 ? TALLY_PLACE_OUTPUT
                           : TALLY_PLACE_SHARED + k - 1;
}

/* One row for each place that is written. Lines come first, so that boxes lie above them; gives the y below. */
static double draw_step(drawing *d, const tally__picture_step *step, double y) {
    static const char *const fills[] = {"#ffffff", "#f2ecd8", "#dff0e8", "#f7dfe2", "#dbe6fb", "#e8e0f5"};
    char set[SET_TEXT], thread[16];
    draw_labels(d, step, y);
    for (int k = 0; k < TALLY_MOST_PLACES - 1; k++) {
        int place = place_in_order(k);
        if (!writes_place(d->picture, step, place)) {
            continue;
        }
        for (int pass = 0; pass < 2; pass++) {
            for (int m = 0; m < step->moves; m++) {
                const tally__move *move = &d->picture->move[step->first_move + m];
                if (move->to.place != place || move->holds == 0 || move->to.at >= MOST_COLUMNS) {
                    continue;
                }
                if (pass == 0) {
                    draw_lines(d, move, y);
                } else {
                    snprintf(thread, sizeof thread, "t%d", move->thread);
                    draw_box(d, move->to, y, fills[place < TALLY_PLACE_SHARED + 1 ? place : TALLY_PLACE_SHARED + 1],
                             set_text(move->holds, set), thread);
                }
            }
        }
        fprintf(d->file, "<text x=\"%d\" y=\"%.1f\" fill=\"#777\">%s</text>\n", LABELS + BOX * d->width + 14, y + 13,
                d->picture->place_name[place]);
        y += ROW;
    }
    if (step->barriers > 0 || step->warp_barriers > 0) {
        fprintf(d->file, "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#222\"%s/>\n", LABELS - 10,
                LABELS + BOX * d->width + 10, y - 18, y - 18,
                step->barriers > 0 ? " stroke-width=\"2\"" : " stroke-dasharray=\"3 4\"");
    }
    return y;
}

static double picture_height(const tally__picture *picture) {
    double height = 110;
    for (int k = 0; k < picture->steps; k++) {
        for (int place = 1; place < TALLY_MOST_PLACES && is_shown(picture, &picture->step[k]); place++) {
            height += writes_place(picture, &picture->step[k], place) ? ROW : 0;
        }
        height += k > 0 && picture->step[k].block == picture->step[k - 1].block &&
                          picture->step[k].launch == picture->step[k - 1].launch
                      ? 0
                      : 30;
    }
    return height;
}

/* Another block has registers and shared memory of its own. */
static double begin_block(drawing *d, const tally__picture_step *step, double y) {
    for (int place = 1; place < TALLY_MOST_PLACES; place++) {
        if (place == TALLY_PLACE_REGISTERS || place >= TALLY_PLACE_SHARED) {
            memset(d->y[place], 0, sizeof d->y[place]);
        }
    }
    fprintf(d->file, "<text x=\"%d\" y=\"%.1f\" font-size=\"12\" fill=\"#0b6e4f\">launch %d, block %d</text>\n", LABELS,
            y + 12, step->launch, step->block);
    return y + 30;
}

static void draw_picture(drawing *d, const char *title) {
    char set[SET_TEXT];
    int launch = -1, block = -1;
    double y = 44;
    lay_out(d);
    fprintf(
        d->file,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" font-family=\"sans-serif\" "
        "font-size=\"10\">\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n<text x=\"8\" y=\"20\" font-size=\"14\">%s</text>\n",
        LABELS + BOX * d->width + 100, picture_height(d->picture), title);
    for (int i = 0; i < MOST_COLUMNS; i++) {
        if (d->columns[0][i] != 0) {
            draw_box(d, (tally__cell){0, i}, y, "#ffffff", set_text(UINT64_C(1) << (i % TALLY_MOST_PICTURED), set), "");
        }
    }
    fprintf(d->file, "<text x=\"8\" y=\"%.1f\" font-size=\"12\">the values</text>\n", y + 13);
    y += ROW;
    for (int k = 0; k < d->picture->steps; k++) {
        const tally__picture_step *step = &d->picture->step[k];
        if (is_shown(d->picture, step)) {
            bool same = step->launch == launch && step->block == block;
            y = draw_step(d, step, same ? y : begin_block(d, step, y));
            launch = step->launch;
            block = step->block;
        }
    }
    fputs("</svg>\n", d->file);
}

static bool save_picture(const tally__picture *picture, const char *path, const char *title) {
    drawing *d = take_memory("explain", 1, sizeof *d);
    output out;
    bool fine = d != NULL && begin_output(&out, path);
    if (fine) {
        *d = (drawing){.picture = picture, .file = out.stream};
        draw_picture(d, title);
        fine = end_output(&out);
    }
    free(d);
    return fine;
}

/* ---- the command ---- */

static int explain(const command *wanted, const tally__gallery_row *row) {
    int64_t count = wanted->n != 0 ? wanted->n : 16;
    int32_t segment_ids[TALLY_MOST_PICTURED];
    tally__picture picture;
    char title[300];
    int64_t segments = 0;
    if (row->segment_ids) {
        segments = cut_into(wanted->segments != NULL ? wanted->segments : "three",
                            count < TALLY_MOST_PICTURED ? count : TALLY_MOST_PICTURED, segment_ids);
    }
    if (tally__picture_draw(row, count, row->segment_ids ? segment_ids : NULL, segments, &picture) != TALLY_OK) {
        complain(NULL, "%s", tally_message());
        return STATUS_REFUSED;
    }
    snprintf(title, sizeof title, "%s: %lld values, blocks of %d threads, launches: %d", row->name, (long long)count,
             picture.threads, picture.launches);
    if (!is_standard_stream(wanted->output)) {
        printf("%s\n%s\n\nThreads: # takes part, . does not. {0-3}: the values 0 to 3, combined. Elements have 8 "
               "bytes.\n",
               title, row->what);
        print_steps(&picture);
    }
    bool fine = wanted->output == NULL || save_picture(&picture, wanted->output, title);
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
    return explain(wanted, row);
}
