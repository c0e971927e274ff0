/* tally race: every kernel of the gallery and Tally's own way over the same values. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/complain.h"
#include "gallery/command/gallery.h"
#include "commands/gpu.h"
#include "output/output.h"
#include "base/quote.h"

enum { MOST_RUNNERS = 40, MERGED = 1 << 14, REPEATS = 1000 };

typedef struct race {
    stage stage;
    const tally__gallery_row *mine;        /* or NULL */
    tally__gallery_row rows[MOST_RUNNERS]; /* of the gallery, with the sizes that are wanted */
    int lists;
    int count;
    runner runners[MOST_RUNNERS];
    int alone_count; /* kernels whose block was timed alone */
    runner alone[MOST_RUNNERS];
} race;

/* ---- running ---- */

static void run_one(race *r, const tally__gallery_row *row) { run_measured(&r->stage, row, &r->runners[r->count++]); }

/* What one block does, at the size it is for: a launch repeats it, or it would be the launch that is timed. */
static bool run_alone(race *r) {
    int64_t count = r->stage.count;
    tally__track_repeat(r->stage.track, REPEATS);
    bool fine = true;
    for (int k = 0; k < tally__gallery_count && fine; k++) {
        const tally__gallery_row *row = &r->rows[k];
        int64_t values = tally__gallery_alone(row);
        if (values > 0 && values <= count) {
            fine = set_stage(&r->stage, values, NULL, 1);
            if (tally__track_suits(r->stage.track, row) == TALLY_OK) {
                run_measured(&r->stage, row, &r->alone[r->alone_count++]);
            }
        }
    }
    tally__track_repeat(r->stage.track, 1);
    r->stage.count = count;
    return fine;
}

static bool run_all(race *r) {
    const tally__gallery_row *merge = tally__gallery_find("merge_lists");
    for (int k = 0; k < tally__gallery_count; k++) {
        const tally__gallery_row *row = &r->rows[k];
        bool fits = row->segment_ids == (r->stage.shape != NULL) || row->number == TALLY_PLAIN_READ;
        if (row->number != merge->number && fits) {
            run_one(r, row);
        }
    }
    if (r->mine != NULL) {
        run_one(r, r->mine);
    }
    run_one(r, NULL);
    if (r->stage.shape != NULL) {
        return true;
    }
    runner own = r->runners[--r->count];
    if (!r->stage.simulated && !run_alone(r)) {
        return false;
    }
    if (!sort_stage(&r->stage, r->stage.count < MERGED ? r->stage.count : MERGED)) {
        return false;
    }
    run_one(r, merge);
    r->runners[r->count++] = own;
    return true;
}

/* ---- the table ---- */

static const char *name_of(const runner *one) { return one->row != NULL ? one->row->name : "tally"; }
static double speed(const runner *one) { return one->lap.seconds > 0 ? one->bytes / one->lap.seconds / 1e9 : 0; }

static void print_head(const race *r, int64_t count) {
    const stage *s = &r->stage;
    printf("%s of %lld %s", s->op, (long long)count, tally_type_name(s->type));
    if (s->shape != NULL) {
        printf(" in %lld segments (%s)", (long long)s->segments, s->shape);
    }
    printf(" on %s, %d multiprocessors\n\n", tally__track_device(s->track), tally__track_multiprocessors(s->track));
    if (r->stage.simulated) {
        printf("     %-28s %-6s %8s %8s %9s %9s %9s\n", "kernel", "result", "launches", "blocks", "divergent",
               "conflicts", "128 bytes");
    } else {
        printf("     %-28s %-6s %10s %8s %6s %8s %8s\n", "kernel", "result", "us", "GB/s", "share", "launches",
               "blocks");
    }
}

static void print_runner(const race *r, const runner *one) {
    double plain = speed(&r->runners[0]);
    char place[8] = "";
    if (one->row != NULL) {
        snprintf(place, sizeof place, "%d", one->row->number);
    }
    printf("%4s %-28s %s", place, name_of(one), one->right ? "right" : "WRONG");
    if (r->stage.simulated) {
        if (one->row != NULL) {
            double share =
                one->counts.branches > 0 ? 100.0 * (double)one->counts.divergent / (double)one->counts.branches : 0;
            printf("  %8d %8d %8.1f%% %9lld %9lld\n", one->lap.launches, one->lap.blocks[0], share,
                   (long long)one->counts.bank_conflicts, (long long)one->counts.transactions);
        } else {
            printf("\n");
        }
        return;
    }
    printf("  %10.1f %8.1f %6.3f %8d", 1e6 * one->lap.seconds, speed(one), plain > 0 ? speed(one) / plain : 0,
           one->lap.launches);
    if (one->row != NULL) {
        printf(" %8d", one->lap.blocks[0]);
    }
    printf("\n");
}

static void print_alone(const race *r) {
    if (r->alone_count > 0) {
        printf("\nOne block of each, %d times in a launch, over as many values as it is for\n"
               "     %-28s %-6s %10s %8s\n",
               REPEATS, "kernel", "result", "ns", "values");
    }
    for (int k = 0; k < r->alone_count; k++) {
        const runner *one = &r->alone[k];
        printf("%4d %-28s ", one->row->number, one->row->name);
        if (one->ran) {
            printf("%s  %10.0f %8lld\n", one->right ? "right" : "WRONG", 1e9 * one->lap.seconds,
                   (long long)tally__gallery_alone(one->row));
        } else {
            printf("%s\n", one->why);
        }
    }
}

/* Quicker ones first; behind them kernels over fewer values, and what did not run. */
static int compare_times(const void *a, const void *b) {
    const runner *x = a, *y = b;
    if (x->ran != y->ran) {
        return y->ran - x->ran;
    }
    if (x->bytes != y->bytes) {
        return x->bytes < y->bytes ? 1 : -1;
    }
    return (x->lap.seconds > y->lap.seconds) - (x->lap.seconds < y->lap.seconds);
}

static void print_race(const race *r, int64_t count) {
    bool refused = false;
    print_head(r, count);
    for (int k = 0; k < r->count; k++) {
        if (r->runners[k].ran) {
            print_runner(r, &r->runners[k]);
        }
    }
    for (int k = 0; k < r->count; k++) {
        if (!r->runners[k].ran) {
            printf("%s%s%s\n", refused ? "" : "\nNot run\n", r->runners[k].row == NULL ? "tally: " : "",
                   r->runners[k].why);
            refused = true;
        }
    }
    if (r->stage.shape == NULL) {
        printf("\nmerge_lists: %lld values in %d sorted lists\n", (long long)r->stage.count, r->lists);
    }
    print_alone(r);
    for (int k = 0; k < r->count && r->mine != NULL; k++) {
        if (r->runners[k].row == r->mine && r->runners[k].ran) {
            rank_mine(&r->stage, r->runners, r->count, &r->runners[k]);
        }
    }
}

/* ---- JSON ---- */

static void print_runner_json(const race *r, const runner *one) {
    printf("{\"kernel\": \"%s\"", name_of(one));
    if (!one->ran) {
        printf(", \"refused\": ");
        print_json_string(one->why, stdout);
    } else {
        printf(", \"right\": %s, \"blocks\": [", one->right ? "true" : "false");
        for (int k = 0; k < one->lap.launches && one->row != NULL; k++) {
            printf("%s%d", k > 0 ? ", " : "", one->lap.blocks[k]);
        }
        printf("], \"launches\": %d", one->lap.launches);
        if (r->stage.simulated) {
            printf(", \"branches\": %lld, \"divergent\": %lld, \"shared_requests\": %lld, \"bank_conflicts\": %lld, "
                   "\"accesses\": %lld, \"transactions\": %lld",
                   (long long)one->counts.branches, (long long)one->counts.divergent,
                   (long long)one->counts.shared_requests, (long long)one->counts.bank_conflicts,
                   (long long)one->counts.accesses, (long long)one->counts.transactions);
        } else {
            printf(", \"seconds\": %.9g, \"bytes\": %.0f, \"threads\": %d, \"registers\": %d, \"shared_bytes\": %d, "
                   "\"resident\": %d",
                   one->lap.seconds, one->bytes, one->lap.threads, one->lap.registers, one->lap.shared_bytes,
                   one->lap.resident);
        }
    }
    printf("}");
}

static void print_race_json(const race *r, int64_t count) {
    const stage *s = &r->stage;
    printf("{\"op\": \"%s\", \"type\": \"%s\", \"n\": %lld, \"segments\": %lld, \"shape\": ", s->op,
           tally_type_name(s->type), (long long)count, (long long)s->segments);
    print_json_string(s->shape != NULL ? s->shape : "", stdout);
    printf(", \"device\": ");
    print_json_string(tally__track_device(s->track), stdout);
    printf(", \"multiprocessors\": %d, \"most_threads\": %d, \"kernels\": [", tally__track_multiprocessors(s->track),
           tally__track_most_threads(s->track));
    for (int k = 0; k < r->count; k++) {
        printf(k > 0 ? ",\n " : "\n ");
        print_runner_json(r, &r->runners[k]);
    }
    printf("], \"alone\": [");
    for (int k = 0; k < r->alone_count; k++) {
        const runner *one = &r->alone[k];
        printf("%s\n {\"kernel\": \"%s\", \"n\": %lld, ", k > 0 ? "," : "", one->row->name,
               (long long)tally__gallery_alone(one->row));
        if (one->ran) {
            printf("\"right\": %s, \"seconds\": %.9g}", one->right ? "true" : "false", one->lap.seconds);
        } else {
            printf("\"refused\": ");
            print_json_string(one->why, stdout);
            printf("}");
        }
    }
    printf("]}\n");
}

/* ---- the chart ---- */

static bool draw_race(const race *r, const char *path, int64_t count) {
    bar bars[MOST_RUNNERS];
    char title[160];
    int drawn = 0;
    for (int k = 0; k < r->count; k++) {
        const runner *one = &r->runners[k];
        if (one->ran && !(one->row != NULL && one->bytes < r->runners[0].bytes)) {
            bars[drawn] = (bar){.name = name_of(one), .value = speed(one)};
            snprintf(bars[drawn].label, sizeof bars[drawn].label, "%.0f GB/s, %.1f us", speed(one),
                     1e6 * one->lap.seconds);
            drawn++;
        }
    }
    snprintf(title, sizeof title, "%s of %lld %s on %s: bytes read per second", r->stage.op, (long long)count,
             tally_type_name(r->stage.type), tally__track_device(r->stage.track));
    return draw_bars(path, title, bars, drawn);
}

/* ---- the command ---- */

static int list_kernels(const command *wanted) {
    static const char *const needs[] = {"keeps order", "commutative"};
    if (!takes_only(wanted, "race --list", ONLY(LIST))) {
        return STATUS_MISSPELT;
    }
    for (int k = 0; k < tally__gallery_count; k++) {
        const tally__gallery_row *row = &tally__gallery[k];
        printf("%2d  %-28s %-11s  %-10s  %s\n", row->number, row->name, needs[row->needs], row->source, row->what);
    }
    return STATUS_DONE;
}

static bool takes_chart(const command *wanted) {
    return !is_standard_stream(wanted->chart) ||
           complain(NULL, "race: standard output has the table; name a file for --chart");
}

/* Whether the device can be raced on, and the times, if there are any, drawn. */
static bool check_race(const command *wanted) {
    if (!takes_kernels(wanted)) {
        return false;
    }
    if (wanted->options.backend == TALLY_BACKEND_SIMT && wanted->chart != NULL) {
        return complain(NULL, "race: --chart draws times, and those of a simulator mean nothing");
    }
    return takes_chart(wanted);
}

static int race_on(const command *wanted, race *r) {
    int64_t count = count_raced(wanted, &r->stage);
    bool all_right = true;
    if (!set_stage(&r->stage, count, wanted->segments, r->stage.simulated ? 1 : copies_of(&r->stage, count)) ||
        !run_all(r)) {
        return STATUS_REFUSED;
    }
    if (r->mine != NULL && !r->stage.simulated) { /* the plain read stays first */
        qsort(r->runners + 1, (size_t)r->count - 1, sizeof *r->runners, compare_times);
    }
    if (is_given(wanted, OPTION_JSON)) {
        print_race_json(r, count);
    } else {
        print_race(r, count);
    }
    for (int k = 0; k < r->alone_count; k++) {
        all_right = all_right && (!r->alone[k].ran || r->alone[k].right ||
                                  complain(NULL, "%s, repeated, gave a wrong result", r->alone[k].row->name));
    }
    for (int k = 0; k < r->count; k++) {
        all_right = all_right && (!r->runners[k].ran || r->runners[k].right ||
                                  complain(NULL, "%s gave a wrong result", name_of(&r->runners[k])));
    }
    return all_right && (wanted->chart == NULL || draw_race(r, wanted->chart, count)) ? STATUS_DONE : STATUS_REFUSED;
}

int run_race(const command *wanted) {
    race r = {.count = 0};
    const uint64_t without_values = ONLY(LIST) | ONLY(FIX) | ONLY(PAPER) | ONLY(MINE);
    if (wanted->file_count > 0 && (wanted->given & without_values) != 0) {
        complain(NULL, "race takes no FILE with --list, --fix, --paper or --mine");
        return STATUS_MISSPELT;
    }
    if (is_given(wanted, OPTION_LIST)) {
        return list_kernels(wanted);
    }
    if (is_given(wanted, OPTION_FIX)) {
        return run_fix(wanted);
    }
    if (wanted->sweep != NULL) {
        return takes_kernels(wanted) && takes_chart(wanted) ? run_sweep(wanted) : STATUS_MISSPELT;
    }
    if (wanted->mine != NULL && is_given(wanted, OPTION_JSON)) {
        complain(NULL, "race: choose one of --mine and --json");
        return STATUS_MISSPELT;
    }
    if (wanted->output != NULL) {
        complain(NULL, "race: -o is for --fix");
        return STATUS_MISSPELT;
    }
    if (!check_race(wanted)) {
        return STATUS_MISSPELT;
    }
    if (is_given(wanted, OPTION_PAPER)) {
        return run_paper(wanted);
    }
    int status = open_race(wanted, &r.stage);
    tally__gallery_row mine;
    const tally__gallery_sizes sizes = {(int)wanted->each, (int)wanted->width, (int)wanted->height};
    r.lists = wanted->lists > 0 ? (int)wanted->lists : 32;
    for (int k = 0; k < tally__gallery_count; k++) {
        const tally__gallery_row *row = &tally__gallery[k];
        r.rows[k] = tally__gallery_with(row, sizes);
    }
    if (status == STATUS_DONE) {
        tally__track_lists(r.stage.track, r.lists);
        tally__track_shape(r.stage.track, (int)wanted->block, (int)wanted->blocks);
    }
    if (status == STATUS_DONE && wanted->mine != NULL) {
        r.mine = &mine;
        status = grade_mine(wanted, &r.stage, &mine) ? STATUS_DONE : STATUS_REFUSED;
    }
    status = status == STATUS_DONE ? race_on(wanted, &r) : status;
    close_stage(&r.stage);
    return status;
}
