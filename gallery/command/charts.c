/* Charts of bars and of lines, as SVG. */
#include "gallery/command/gallery.h"

#include <math.h>
#include <stdio.h>

#include "output/output.h"

enum { LEFT = 230, WIDTH = 560, STEP = 20, TOP = 44 };

static bool begin_chart(output *out, const char *path, const char *title, int width, int height, int font, int at) {
    if (!begin_output(out, path)) {
        return false;
    }
    fprintf(
        out->stream,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" "
        "font-size=\"%d\">\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n<text x=\"10\" y=\"%d\" font-size=\"14\">%s</text>\n",
        width, height, font, at, title);
    return true;
}

bool draw_bars(const char *path, const char *title, const bar *bars, int count) {
    output out;
    if (!begin_chart(&out, path, title, LEFT + WIDTH + 130, TOP + STEP * count + 16, 12, 24)) {
        return false;
    }
    FILE *file = out.stream;
    for (int k = 0; k < count; k++) {
        int y = TOP + STEP * k;
        double length = bars[0].value > 0 ? bars[k].value / bars[0].value * WIDTH : 0;
        fprintf(file,
                "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n"
                "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"14\" fill=\"%s\"/>\n<text x=\"%.1f\" y=\"%d\" "
                "fill=\"#444\">%s</text>\n",
                LEFT - 8, y + 12, bars[k].name, LEFT, y + 1, length,
                k == 0           ? "#999999"
                : k == count - 1 ? "#0b6e4f"
                                 : "#4b6cb7",
                LEFT + length + 6, y + 12, bars[k].label);
    }
    fputs("</svg>\n", file);
    return end_output(&out);
}

/* ---- lines ---- */

enum { PANEL_WIDTH = 420, PANEL_HEIGHT = 300, MARGIN = 52, LEGEND = 170 };
static const char *const colours[MOST_LINES] = {"#999999", "#b23a48", "#d98e04", "#4b6cb7", "#7b5ea7", "#0b6e4f",
                                                "#6bbf9c", "#222222", "#c06c9b", "#8a6d3b", "#2b9eb3", "#a3b18a"};

static double largest(const panel *p) {
    double most = 0;
    for (int l = 0; l < p->lines; l++) {
        for (int i = 0; i < p->points; i++) {
            most = !isnan(p->y[l][i]) && p->y[l][i] > most ? p->y[l][i] : most;
        }
    }
    return most > 0 ? most : 1;
}

static void draw_panel(const panel *p, int left, int top, FILE *file) {
    double most = largest(p), first = p->x[0], last = p->x[p->points - 1];
    int width = PANEL_WIDTH - MARGIN - 10, height = PANEL_HEIGHT - 2 * MARGIN + 10;
    int bottom = top + MARGIN + height;
    fprintf(file, "<text x=\"%d\" y=\"%d\" font-size=\"13\">%s</text>\n", left + MARGIN, top + MARGIN - 10, p->title);
    for (int tick = 0; tick <= 4; tick++) {
        double y = bottom - height * tick / 4.0;
        fprintf(file,
                "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>\n<text x=\"%d\" y=\"%.1f\" "
                "text-anchor=\"end\" fill=\"#444\">%.3g</text>\n",
                left + MARGIN, left + MARGIN + width, y, y, left + MARGIN - 5, y + 4, most * tick / 4);
    }
    for (int l = 0; l < p->lines; l++) {
        fprintf(file, "<polyline fill=\"none\" stroke-width=\"1.8\" stroke=\"%s\" points=\"", colours[l]);
        for (int i = 0; i < p->points; i++) {
            if (isnan(p->y[l][i])) {
                continue;
            }
            double along = last <= first ? 0
                           : p->doubles  ? log(p->x[i] / first) / log(last / first)
                                         : (p->x[i] - first) / (last - first);
            fprintf(file, "%.1f,%.1f ", left + MARGIN + along * width, bottom - p->y[l][i] / most * height);
        }
        fprintf(file, "\"/>\n");
    }
    fprintf(file,
            "<text x=\"%d\" y=\"%d\" fill=\"#444\">%g</text>\n<text x=\"%d\" y=\"%d\" text-anchor=\"end\" "
            "fill=\"#444\">%g</text>\n",
            left + MARGIN, bottom + 16, first, left + MARGIN + width, bottom + 16, last);
}

bool draw_panels(const char *path, const char *title, const panel *panels, int count) {
    output out;
    if (!begin_chart(&out, path, title, 2 * (PANEL_WIDTH + LEGEND), 24 + (count + 1) / 2 * PANEL_HEIGHT, 11, 20)) {
        return false;
    }
    FILE *file = out.stream;
    for (int k = 0; k < count; k++) {
        int left = k % 2 * (PANEL_WIDTH + LEGEND), top = 16 + k / 2 * PANEL_HEIGHT;
        draw_panel(&panels[k], left, top, file);
        for (int l = 0; l < panels[k].lines; l++) {
            fprintf(file, "<text x=\"%d\" y=\"%d\" fill=\"%s\">%s</text>\n", left + PANEL_WIDTH + 2,
                    top + MARGIN + 8 + 16 * l, colours[l], panels[k].names[l]);
        }
    }
    fputs("</svg>\n", file);
    return end_output(&out);
}
