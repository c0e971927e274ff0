/* tally race --paper: the tables and figures of Martin, Ayuso, Torres and Gavilanes, "Algorithmic Strategies for
 * Optimizing the Parallel Reduction Primitive in CUDA" (2012), for the GPU at hand, as Markdown. Tables III and IV are
 * the simulator's on any machine. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/complain.h"
#include "gallery/command/gallery.h"

enum { MIB = 1 << 20, FEWEST = 16, SIZES = 16, TABLE_SIZE = 30, FIGURES = 5 };

/* A row of Table I or II with what the paper has of a GTX 480. */
typedef struct solution {
    const char *title, *kernel;
    const char *registers, *shared, *block, *occupancy, *resident, *blocks, *throughput;
} solution;

static const solution whole[] = {
    {"TB2", "tb2", "9", "2B+2B/nBanks", "256", "100%", "-", "61440, 120, 1", "25.53, 17.58, 0.11"},
    {"TB4-warp", "tb4_warp", "13", "4B+32", "256", "100%", "-", "30720, 30, 1", "36.36, 16.45, 0.03"},
    {"Matrix", "matrix", "10", "H(W+1)", "256", "100%", "-", "30720, 30, 1", "92.88, 26.33, 0.01"},
    {"Persistent Matrix", "persistent_matrix", "15", "H(W+1)", "256", "100%", "6", "90, 1", "94.25, 0.68"},
    {"DiffWarps", "diffwarps", "15", "2H(W+1)", "288", "94%", "5", "75, 1", "104.17, 0.74"},
};
static const solution segmented[] = {
    {"TB2", "segmented_tb2", "10", "2(2B+2B/nBanks)", "256", "100%", "-", "", ""},
    {"TB4-warp", "segmented_tb4_warp", "14", "2(4B+32)", "256", "83%", "-", "", ""},
    {"Matrix", "segmented_matrix", "11", "2H(W+1)", "256", "83%", "-", "", ""},
    {"Persistent Matrix", "segmented_persistent_matrix", "20", "2H(W+1)", "256", "83%", "5", "", ""},
    {"DiffWarps", "segmented_diffwarps", "25", "4H(W+1)", "288", "38%", "2", "", ""},
    {"DiffWarps16", "segmented_diffwarps16", "21", "2H(W+1)", "288", "94%", "5", "", ""},
};
enum { WHOLE = sizeof whole / sizeof *whole, SEGMENTED = sizeof segmented / sizeof *segmented };

static bool failed(void) { return complain(NULL, "%s", tally_message()); }

/* ---- Tables I and II ---- */

/* The time of each launch: of runs that stop after it, less those that stop before. */
static bool time_launches(const stage *s, const tally__gallery_row *row, tally__lap *lap, double *seconds) {
    double before = 0;
    tally__track_stop_after(s->track, 0);
    if (tally__track_time(s->track, row, lap) != TALLY_OK) {
        return failed();
    }
    for (int launch = 0; launch < lap->launches; launch++) {
        tally__lap part;
        tally__track_stop_after(s->track, launch + 1);
        if (tally__track_time(s->track, row, &part) != TALLY_OK) {
            return failed();
        }
        seconds[launch] = part.seconds - before;
        before = part.seconds;
    }
    tally__track_stop_after(s->track, 0);
    return true;
}

static bool print_features(const stage *s, const solution *one) {
    const tally__gallery_row *row = tally__gallery_find(one->kernel);
    double seconds[TALLY_MOST_LAUNCHES],
        element = (double)tally__track_element_bytes(s->track) + (s->segments > 0 ? 4 : 0);
    tally__lap lap;
    if (!time_launches(s, row, &lap, seconds)) {
        return false;
    }
    double threads = 100.0 * lap.resident * lap.threads / tally__track_most_threads(s->track);
    printf("| %s | %d | %d | %d | %.0f%% | %d | ", one->title, lap.registers, lap.shared_bytes, lap.threads, threads,
           lap.resident);
    for (int k = 0; k < lap.launches; k++) {
        printf("%s%d", k > 0 ? ", " : "", lap.blocks[k]);
    }
    printf(" | ");
    for (int k = 0; k < lap.launches; k++) {
        double bytes = k == 0 ? bytes_read(s, row) : lap.blocks[k - 1] * element;
        printf("%s%.*f", k > 0 ? ", " : "", k > 0 ? 2 : 0, seconds[k] > 0 ? bytes / seconds[k] / 1e9 : 0);
    }
    printf(" | %s | %s | %s | %s | %s | %s |\n", one->registers, one->shared, one->occupancy, one->resident,
           one->blocks, one->throughput);
    return true;
}

static bool print_feature_table(stage *s, const char *title, const solution *rows, int count, const char *shape) {
    int64_t values = (int64_t)TABLE_SIZE * MIB;
    if (!set_stage(s, values, shape, copies_of(s, values))) {
        return false;
    }
    printf("\n## %s\n\n%s of %s; launches of %lld values%s. GB/s are read by each launch. GTX: what the paper has of "
           "a GTX 480.%s\n\n",
           title, s->op, tally_type_name(s->type), (long long)values, shape != NULL ? " in one segment" : "",
           shape != NULL ? "" : " Its aw/ac, active warps by active cycle, take a profiler: gallery/pages/profile.py.");
    printf(
        "| | registers | shared bytes | block | occupancy | resident | blocks | GB/s | GTX: registers | shared words | "
        "occupancy | resident | blocks | "
        "GB/s |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    for (int k = 0; k < count; k++) {
        if (!print_features(s, &rows[k])) {
            return false;
        }
    }
    return true;
}

/* ---- Figures 4 and 5 ---- */

static bool is_right(const stage *s, const tally__gallery_row *row) {
    tally__lap lap;
    bool right;
    if (run_checked(s, row, &lap, &right) != TALLY_OK) {
        return failed();
    }
    return right || complain(NULL, "%s gave a wrong result", row->name);
}

/* The panel's lines are the plain read, the solutions, and Tally's own way where there is one. */
static bool fill_point(stage *s, panel *p, const solution *rows, int count, int point) {
    tally__lap lap;
    if (tally__track_time(s->track, tally__gallery_find("plain_read"), &lap) != TALLY_OK) {
        return failed();
    }
    p->y[0][point] = 1e6 * lap.seconds;
    for (int k = 0; k < count; k++) {
        const tally__gallery_row *row = tally__gallery_find(rows[k].kernel);
        if ((point == 0 && !is_right(s, row)) || (tally__track_time(s->track, row, &lap) != TALLY_OK && !failed())) {
            return false;
        }
        p->y[k + 1][point] = 1e6 * lap.seconds;
    }
    p->lines = count + 1;
    if (tally__track_time_production(s->track, &lap) == TALLY_OK) {
        p->names[p->lines] = "tally";
        p->y[p->lines++][point] = 1e6 * lap.seconds;
    }
    return true;
}

static bool fill_panel(stage *s, panel *p, const char *title, const solution *rows, int count, const char *shape) {
    *p = (panel){.title = title, .points = SIZES, .names = {"plain read"}};
    for (int k = 0; k < count; k++) {
        p->names[k + 1] = rows[k].title;
    }
    for (int point = 0; point < SIZES; point++) {
        int64_t values = (int64_t)(FEWEST + point) * MIB;
        p->x[point] = FEWEST + point;
        if (!set_stage(s, values, shape, copies_of(s, values)) || !fill_point(s, p, rows, count, point)) {
            return false;
        }
    }
    return true;
}

/* The right half of Figure 4: GB/s in place of microseconds. */
static void fill_speeds(panel *speeds, const panel *times, const char *title, double value_bytes) {
    *speeds = *times;
    speeds->title = title;
    for (int l = 0; l < times->lines; l++) {
        for (int i = 0; i < times->points; i++) {
            speeds->y[l][i] = value_bytes * times->x[i] * MIB / times->y[l][i] / 1e3;
        }
    }
}

static void print_panel(const panel *p) {
    printf("\n### %s\n\nN in units of 2^20 values.\n\n| N |", p->title);
    for (int l = 0; l < p->lines; l++) {
        printf(" %s |", p->names[l]);
    }
    printf("\n| ---: |");
    for (int l = 0; l < p->lines; l++) {
        printf(" ---: |");
    }
    for (int i = 0; i < p->points; i++) {
        printf("\n| %.0f |", p->x[i]);
        for (int l = 0; l < p->lines; l++) {
            printf(" %.1f |", p->y[l][i]);
        }
    }
    printf("\n");
}

static bool print_figures(const command *wanted, stage *s) {
    static panel panels[FIGURES];
    char title[200];
    if (!fill_panel(s, &panels[0], "Figure 4, left: whole arrays, us", whole, WHOLE, NULL) ||
        !fill_panel(s, &panels[2], "Figure 5 (a): one segment, us", segmented, SEGMENTED, "one") ||
        !fill_panel(s, &panels[3], "Figure 5 (b): segments of 10 to 50, us", segmented, SEGMENTED, "random") ||
        !fill_panel(s, &panels[4], "Figure 5 (c): segments of 3, us", segmented, SEGMENTED, "three")) {
        return false;
    }
    fill_speeds(&panels[1], &panels[0], "Figure 4, right: whole arrays, GB/s", (double)tally_type_size(s->type));
    printf("\n## Figures 4 and 5\n");
    for (int k = 0; k < FIGURES; k++) {
        print_panel(&panels[k]);
    }
    snprintf(title, sizeof title, "%s of %s on %s, by millions (2^20) of values", s->op, tally_type_name(s->type),
             tally__track_device(s->track));
    return wanted->chart == NULL || draw_panels(wanted->chart, title, panels, FIGURES);
}

/* ---- Tables III and IV, by the simulator ---- */

/* A row of Table III, and the blocks of its first launch in the paper: so many values here. */
typedef struct divergence {
    const char *title, *kernel, *shape, *blocks, *paper;
    int64_t values;
} divergence;

static bool print_divergence_of(stage *s, const divergence *row) {
    const tally__gallery_row *kernel = tally__gallery_find(row->kernel);
    tally__divergence table;
    if (!set_stage(s, row->values, row->shape, 1)) {
        return false;
    }
    if (tally__track_divergence(s->track, kernel, &table) != TALLY_OK) {
        return failed();
    }
    printf("| %s | %s |", row->title, row->blocks);
    for (int launch = -1; launch < table.launches; launch++) { /* the first does what the second does */
        int of = launch < 0 ? 0 : launch;
        printf("%s %.2f", launch < 0 ? "" : ",",
               100.0 * (double)table.of[of].divergent / (double)table.of[of].branches);
    }
    printf(" | %s |\n", row->paper);
    return true;
}

static bool print_divergence(stage *s) {
    static const divergence rows[] = {
        {"TB2, whole", "tb2", NULL, "61440, 120, 1", "0.56, 0.70, 0.56", 61440},
        {"TB2, one segment", "segmented_tb2", "one", "61440, 120, 1", "2.74, 2.74, 2.704", 61440},
        {"TB4-warp, whole", "tb4_warp", NULL, "30720, 30, 1", "0.42, 0.42, 0.42", 30720},
        {"TB4-warp, one segment", "segmented_tb4_warp", "one", "30720, 30, 1", "24.77, 24.81, 24.81", 30720},
    };
    printf("\n## Table III: divergent branches, %%, launch by launch\n\nOf the branches that kernels name, counted by "
           "the simulator; the paper's are a profiler's. Blocks whose input is whole do the same in each launch: "
           "the first is counted by the blocks of the second, which with the third are run as they are.\n\n"
           "| | blocks | here | GTX 480 |\n| --- | ---: | ---: | ---: |\n");
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        if (!print_divergence_of(s, &rows[k])) {
            return false;
        }
    }
    return true;
}

/* As the paper prints ratios: two digits, cut off. */
static void print_ratio(int64_t transfers, int64_t accesses) {
    int64_t hundredths = 100 * transfers / accesses;
    if (hundredths % 100 == 0) {
        printf(" %lld |", (long long)(hundredths / 100));
    } else if (hundredths % 10 == 0) {
        printf(" 0.%lld |", (long long)(hundredths / 10));
    } else {
        printf(" 0.%02lld |", (long long)hundredths);
    }
}

static bool print_irregular(stage *s) {
    static const struct {
        const char *title, *kernel;
        int shown;
    } rows[] = {{"TB2", "segmented_tb2", 9}, {"TB4-warp", "segmented_tb4_warp", 10}, {"Matrix", "segmented_matrix", 7}};
    if (!set_stage(s, 4096, "three", 1)) {
        return false;
    }
    printf("\n## Table IV: irregular accesses in segments of 3, first warp\n\nAccesses and transfers equal the "
           "paper's, number by number; its ratio of TB4-warp at level 5 is printed as 1, and is 11/16.\n\n"
           "| level or column | 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 |\n"
           "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        tally__irregular table;
        if (tally__track_irregular(s->track, tally__gallery_find(rows[k].kernel), &table) != TALLY_OK) {
            return failed();
        }
        for (int line = 0; line < 3; line++) {
            static const char *const lines[] = {"accesses", "transfers", "transfers / accesses"};
            printf("| %s, %s |", rows[k].title, lines[line]);
            for (int level = 0; level < 10; level++) {
                if (level >= rows[k].shown) {
                    printf(level < table.levels ? " ... |" : " - |");
                } else if (line == 2) {
                    print_ratio(table.of[level].transfers, table.of[level].accesses);
                } else {
                    printf(" %lld |", (long long)(line == 0 ? table.of[level].accesses : table.of[level].transfers));
                }
            }
            printf("\n");
        }
    }
    return true;
}

/* ---- the command ---- */

static int print_timed(const command *wanted) {
    stage s;
    int status = open_stage(wanted, TALLY_BACKEND_CUDA, &s);
    if (status == STATUS_DONE) {
        printf("# The paper's tables and figures on %s\n", tally__track_device(s.track));
        if (!print_feature_table(&s, "Table I: features and launches, whole arrays", whole, WHOLE, NULL) ||
            !print_feature_table(&s, "Table II: the same, segmented", segmented, SEGMENTED, "one") ||
            !print_figures(wanted, &s)) {
            status = STATUS_REFUSED;
        }
    }
    close_stage(&s);
    return status;
}

static int print_counted(const command *wanted) {
    stage counted;
    int status = open_stage(wanted, TALLY_BACKEND_SIMT, &counted);
    if (status == STATUS_DONE && !(print_divergence(&counted) && print_irregular(&counted))) {
        status = STATUS_REFUSED;
    }
    close_stage(&counted);
    return status;
}

int run_paper(const command *wanted) {
    int status = STATUS_DONE;
    if (!takes_only(wanted, "race --paper", ONLY(PAPER) | ONLY(DEVICE) | ONLY(CHART) | ONLY(OP) | ONLY(TYPE))) {
        return STATUS_MISSPELT;
    }
    if (wanted->options.backend != TALLY_BACKEND_SIMT) {
        status = print_timed(wanted);
    }
    return status == STATUS_DONE ? print_counted(wanted) : status;
}
