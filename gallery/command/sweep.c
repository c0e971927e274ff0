/* tally race --sweep: the kernels that have a parameter, at each value of it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/complain.h"
#include "gallery/command/gallery.h"
#include "gallery/kernels/table.h"

enum { MERGED = 1 << 14, MERGED_SIMULATED = 256, FIRST_BLOCK = 32, MOST_METRICS = 4 };

/* Values are powers of two, from `first` to `last`. */
typedef struct parameter {
    const char *name, *what;
    int first, last;
    command_option option;
} parameter;
static const parameter parameters[] = {
    {"block", "threads of a block", FIRST_BLOCK, 1024, OPTION_BLOCK},
    {"each", "elements of a thread", 4, 64, OPTION_EACH},
    {"width", "columns of a matrix", 8, 128, OPTION_WIDTH},
    {"height", "rows of a matrix", 32, 128, OPTION_HEIGHT},
    {"blocks", "blocks", 1, 4096, OPTION_BLOCKS},
    {"lists", "lists", 1, 1024, OPTION_LISTS},
};

static const char *const counted[MOST_METRICS] = {"transactions of 128 bytes", "bank conflicts",
                                                  "divergent branches of warps", "barriers of a block"};
static const char *const timed[] = {"microseconds"};

typedef struct sweep {
    stage stage;
    const parameter *of;
    int64_t count;
    int lines, metrics;
    panel panels[MOST_METRICS]; /* one for each metric; NAN where a kernel cannot have that value */
} sweep;

/* ---- what is swept ---- */

static bool has_parameter(const sweep *w, const tally__gallery_row *row) {
    int plan = row->plan;
    if (row->segment_ids != (w->stage.shape != NULL)) {
        return false;
    }
    switch (w->of->option) {
    case OPTION_LISTS: return plan == TALLY_PLAN_MERGE;
    case OPTION_EACH: return row->sizes.per_thread != 0;
    case OPTION_WIDTH:
    case OPTION_HEIGHT: return row->sizes.width != 0;
    case OPTION_BLOCK: return row->least < row->threads && plan != TALLY_PLAN_FIT && plan != TALLY_PLAN_MERGE;
    default: return plan == TALLY_PLAN_TWICE || plan == TALLY_PLAN_GUARD || plan == TALLY_PLAN_PERSISTENT;
    }
}

static tally__gallery_row row_with(const sweep *w, const tally__gallery_row *row, int value) {
    tally__gallery_sizes sizes = {0};
    sizes.per_thread = w->of->option == OPTION_EACH ? value : 0;
    sizes.width = w->of->option == OPTION_WIDTH ? value : 0;
    sizes.height = w->of->option == OPTION_HEIGHT ? value : 0;
    return tally__gallery_with(row, sizes);
}

/* Whether the run had the value: blocks are no more than there is work for, and threads no more than a kernel takes. */
static bool had_value(const sweep *w, const tally__lap *lap, int value) {
    switch (w->of->option) {
    case OPTION_BLOCK: return value == lap->threads;
    case OPTION_BLOCKS: return value == lap->blocks[0];
    default: return true;
    }
}

/* ---- running ---- */

static bool set_value(sweep *w, int value) {
    stage *s = &w->stage;
    if (w->of->option == OPTION_LISTS) {
        tally__track_lists(s->track, value);
        return true;
    }
    tally__track_shape(s->track, w->of->option == OPTION_BLOCK ? value : 0, w->of->option == OPTION_BLOCKS ? value : 0);
    return set_stage(s, w->count, s->shape, s->simulated ? 1 : copies_of(s, w->count));
}

static bool fill_point(sweep *w, const tally__gallery_row *row, int line, int value) {
    runner one;
    int point = w->panels[0].points - 1;
    tally__gallery_row swept = row_with(w, row, value);
    for (int m = 0; m < w->metrics; m++) {
        w->panels[m].y[line][point] = NAN;
    }
    if (tally__track_suits(w->stage.track, &swept) != TALLY_OK) { /* too much shared memory */
        return true;
    }
    run_measured(&w->stage, &swept, &one);
    if (!one.ran) {
        return complain(NULL, "%s", one.why);
    }
    if (!one.right) {
        return complain(NULL, "%s gave a wrong result with %d %s", row->name, value, w->of->what);
    }
    const tally__counts *c = &one.counts;
    double simulated[MOST_METRICS] = {(double)c->transactions, (double)c->bank_conflicts, (double)c->divergent,
                                      (double)c->barriers};
    for (int m = 0; m < w->metrics; m++) {
        double y = w->stage.simulated ? simulated[m] : 1e6 * one.lap.seconds;
        w->panels[m].y[line][point] = had_value(w, &one.lap, value) ? y : NAN;
    }
    return true;
}

static bool add_value(sweep *w, int value) {
    int line = 0;
    for (int m = 0; m < w->metrics; m++) {
        w->panels[m].x[w->panels[m].points++] = value;
    }
    bool fine = set_value(w, value);
    for (int k = 0; k < tally__gallery_count && fine; k++) {
        const tally__gallery_row *row = &tally__gallery[k];
        if (has_parameter(w, row) && tally__track_suits(w->stage.track, row) == TALLY_OK) {
            fine =
                (line < MOST_LINES || complain(NULL, "race: more than %d kernels have %s", MOST_LINES, w->of->name)) &&
                fill_point(w, row, line, value);
            for (int m = 0; m < w->metrics && fine; m++) {
                w->panels[m].names[line] = row->name;
            }
            line++;
        }
    }
    w->lines = line;
    return fine;
}

/* Whether no kernel can have the value that came last. */
static bool is_beyond(const sweep *w) {
    const panel *p = &w->panels[0];
    for (int line = 0; line < w->lines; line++) {
        if (!isnan(p->y[line][p->points - 1])) {
            return false;
        }
    }
    return true;
}

static bool fill_panels(sweep *w) {
    stage *s = &w->stage;
    bool merges = w->of->option == OPTION_LISTS;
    int64_t most = s->simulated ? MERGED_SIMULATED : MERGED;
    int last = w->of->last;
    if (merges) {
        w->count = w->count < most ? w->count : most;
        last = last < w->count ? last : (int)w->count;
        if (!set_stage(s, w->count, NULL, 1) || !sort_stage(s, w->count)) {
            return false;
        }
    }
    for (int value = w->of->first; value <= last; value *= 2) {
        if (!add_value(w, value)) {
            return false;
        }
        if (is_beyond(w)) {
            for (int m = 0; m < w->metrics; m++) {
                w->panels[m].points--;
            }
        }
    }
    for (int m = 0; m < w->metrics; m++) {
        w->panels[m].lines = w->lines;
    }
    return w->panels[0].points > 0 ||
           complain(NULL, "race: no kernel can have that parameter with these values: take another --op, or more --n");
}

/* ---- what is said ---- */

static void print_panel(const panel *p, const char *what) {
    printf("\n%-28s", p->title);
    for (int i = 0; i < p->points; i++) {
        printf(" %9.0f", p->x[i]);
    }
    printf("  %s\n", what);
    for (int line = 0; line < p->lines; line++) {
        printf("%-28s", p->names[line]);
        for (int i = 0; i < p->points; i++) {
            if (isnan(p->y[line][i])) {
                printf(" %9s", "-");
            } else {
                printf(" %9.6g", p->y[line][i]);
            }
        }
        printf("\n");
    }
}

static bool run_sweep_on(sweep *w, const char *chart) {
    const stage *s = &w->stage;
    char title[200];
    for (int m = 0; m < w->metrics; m++) {
        w->panels[m].title = s->simulated ? counted[m] : timed[m];
        w->panels[m].doubles = true;
    }
    if (!fill_panels(w)) {
        return false;
    }
    const char *segments = s->shape != NULL ? ", segments: " : "";
    snprintf(title, sizeof title, "%s of %lld %s%s%s on %s, by %s", s->op, (long long)w->count,
             tally_type_name(s->type), segments, s->shape != NULL ? s->shape : "", tally__track_device(s->track),
             w->of->what);
    printf("%s\n", title);
    for (int m = 0; m < w->metrics; m++) {
        print_panel(&w->panels[m], w->of->what);
    }
    return chart == NULL || draw_panels(chart, title, w->panels, w->metrics);
}

/* ---- the command ---- */

/* What --sweep names; NULL after a complaint. */
static const parameter *find_parameter(const command *wanted) {
    for (size_t k = 0; k < sizeof parameters / sizeof *parameters; k++) {
        if (strcmp(parameters[k].name, wanted->sweep) == 0) {
            return &parameters[k];
        }
    }
    complain(NULL, "--sweep takes block, each, width, height, blocks or lists, not '%s'", wanted->sweep);
    return NULL;
}

int run_sweep(const command *wanted) {
    static sweep w;
    bool simulated = wanted->options.backend == TALLY_BACKEND_SIMT;
    w = (sweep){.of = find_parameter(wanted), .metrics = simulated ? MOST_METRICS : 1};
    if (w.of == NULL ||
        !takes_only(wanted, "race --sweep",
                    ONLY(SWEEP) | ONLY(DEVICE) | ONLY(OP) | ONLY(TYPE) | ONLY(N) | ONLY(SEGMENTS) | ONLY(CHART))) {
        return STATUS_MISSPELT;
    }
    if (wanted->segments != NULL && w.of->option == OPTION_LISTS) {
        complain(NULL, "race: --sweep lists merges lists, and takes no --segments");
        return STATUS_MISSPELT;
    }
    int status = open_race(wanted, &w.stage);
    if (status == STATUS_DONE) {
        w.stage.shape = wanted->segments;
        w.count = count_raced(wanted, &w.stage);
        status = run_sweep_on(&w, wanted->chart) ? STATUS_DONE : STATUS_REFUSED;
    }
    close_stage(&w.stage);
    return status;
}
