/* tally race --mine and --fix: a kernel of one's own, and exercises. */
#include <stdio.h>
#include <string.h>

#include "base/complain.h"
#include "gallery/command/gallery.h"
#include "gallery/kernels/table.h"
#include "output/output.h"

static const char *const schedules[] = {"round", "reverse", "random:1", "random:2", "greedy", "lockstep"};
enum { SCHEDULES = sizeof schedules / sizeof *schedules, COUNTED = 10000 };

static bool take_mine(const command *wanted, stage *s, tally__gallery_row *row, tally__goal *goal) {
    return tally__track_take(s->track, wanted->mine, row, goal) == TALLY_OK || complain(NULL, "%s", tally_message());
}

/* ---- right results ---- */

/* One length under one order of threads, after a sentence if the result is not right. */
static bool check_length(stage *s, const tally__gallery_row *row, int64_t count, const char *schedule) {
    tally__lap lap;
    bool right = false;
    if (!set_stage(s, count, NULL, 1)) {
        return false;
    }
    tally_status status = run_checked(s, row, &lap, &right);
    if (status != TALLY_OK) {
        printf("NOT RIGHT  %s of %lld values: %s\n", s->op, (long long)count, tally_message());
    } else if (!right) {
        printf("NOT RIGHT  %s of %lld values: a wrong result, with threads in the order %s\n", s->op, (long long)count,
               schedule);
    }
    return status == TALLY_OK && right;
}

static bool check_orders(stage *s, const tally__gallery_row *row) {
    int64_t lengths[] = {1, 2, 31, 33, 64, row->each, row->each + 1, 1000, 5000};
    bool right = true;
    int checked = 0;
    for (int k = 0; k < SCHEDULES && right; k++) {
        right = tally__gallery_schedule(schedules[k]) == TALLY_OK;
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths && right; i++) {
            if (row->plan != TALLY_PLAN_FIT || lengths[i] <= row->threads) {
                right = check_length(s, row, lengths[i], schedules[k]);
                checked++;
            }
        }
    }
    tally__gallery_schedule(NULL);
    if (right) {
        printf("right      %s, %d runs: lengths around what a block takes, threads in %d orders\n", s->op, checked,
               SCHEDULES);
    }
    return right;
}

/* A kernel that keeps the order is tried with an operator that tells. */
static bool check_order_kept(const command *wanted) {
    command composed = *wanted;
    tally__gallery_row row;
    tally__goal goal;
    stage s;
    composed.op = "compose";
    if (open_stage(&composed, TALLY_BACKEND_SIMT, &s) != STATUS_DONE) {
        return false;
    }
    bool right = take_mine(wanted, &s, &row, &goal) && check_orders(&s, &row);
    close_stage(&s);
    return right;
}

/* ---- counts ---- */

static bool say_count(const char *what, int64_t count, int64_t goal) {
    bool fine = goal < 0 || count <= goal;
    printf("%s  %s: %lld", goal < 0 ? "          " : fine ? "reached  " : "TOO MANY ", what, (long long)count);
    if (goal >= 0) {
        printf(", wanted: at most %lld", (long long)goal);
    }
    printf("\n");
    return fine;
}

static bool check_counts(stage *s, const tally__gallery_row *row, const tally__goal *goal) {
    tally__counts counts;
    int64_t count = row->plan == TALLY_PLAN_FIT ? row->threads : COUNTED;
    if (!set_stage(s, count, NULL, 1)) {
        return false;
    }
    if (tally__track_count(s->track, row, &counts) != TALLY_OK) {
        return complain(NULL, "%s", tally_message());
    }
    printf("\nCounted over %lld values\n", (long long)count);
    bool fine = say_count("divergent branches", counts.divergent, goal->divergent);
    fine = say_count("bank conflicts", counts.bank_conflicts, goal->conflicts) && fine;
    fine = say_count("transactions of 128 bytes", counts.transactions, goal->transactions) && fine;
    fine = say_count("barriers of a block", counts.barriers, goal->barriers) && fine;
    printf("\n");
    return fine;
}

static bool grade_on(const command *wanted, stage *s, tally__gallery_row *row) {
    tally__goal goal;
    return take_mine(wanted, s, row, &goal) && check_orders(s, row) &&
           (row->needs == TALLY_COMMUTES || check_order_kept(wanted)) && check_counts(s, row, &goal);
}

bool grade_mine(const command *wanted, stage *s, tally__gallery_row *row) {
    stage simulated;
    tally__goal goal;
    if (s->shape != NULL || wanted->segments != NULL) {
        return complain(NULL, "race: --mine is for kernels that reduce an array, without --segments");
    }
    if (s->simulated) {
        return grade_on(wanted, s, row);
    }
    bool right = open_stage(wanted, TALLY_BACKEND_SIMT, &simulated) == STATUS_DONE;
    right = right && grade_on(wanted, &simulated, row);
    close_stage(&simulated);
    return right && take_mine(wanted, s, row, &goal);
}

/* ---- its place among the others ---- */

/* What a kernel is ranked by, less is better; a kernel that has not run has no place. */
typedef int64_t measure(const runner *one);
static int64_t nanoseconds(const runner *one) { return (int64_t)(1e9 * one->lap.seconds); }
static int64_t transactions(const runner *one) { return one->counts.transactions; }
static int64_t conflicts(const runner *one) { return one->counts.bank_conflicts; }
static int64_t divergent(const runner *one) { return one->counts.divergent; }

static void print_place(const runner *runners, int count, const runner *mine, const char *what, measure *of) {
    int place = 1, all = 0;
    for (int k = 0; k < count; k++) {
        const tally__gallery_row *row = runners[k].row;
        bool compared = runners[k].ran && row != NULL && row->plan != TALLY_PLAN_READ && row->plan != TALLY_PLAN_MERGE;
        all += compared;
        place += compared && of(&runners[k]) < of(mine);
    }
    printf("mine: place %d of %d by %s\n", place, all, what);
}

void rank_mine(const stage *s, const runner *runners, int count, const runner *mine) {
    printf("\n");
    if (!s->simulated) {
        print_place(runners, count, mine, "time", nanoseconds);
        return;
    }
    print_place(runners, count, mine, "transactions", transactions);
    print_place(runners, count, mine, "bank conflicts", conflicts);
    print_place(runners, count, mine, "divergent branches", divergent);
    printf("a simulator has no times: without --device simt a GPU ranks by them\n");
}

/* ---- exercises ---- */

int run_fix(const command *wanted) {
    output out;
    if (!takes_only(wanted, "race --fix", ONLY(FIX) | ONLY(OUTPUT))) {
        return STATUS_MISSPELT;
    }
    for (int n = 1; wanted->fix == 0 && tally__gallery_exercise(n, false) != NULL; n++) {
        const char *text = strchr(tally__gallery_exercise(n, false), '\n') + 1;
        text += strspn(text, " *");
        printf("%2d  %.*s\n", n, (int)strcspn(text, "\n"), text);
    }
    if (wanted->fix == 0) {
        return STATUS_DONE;
    }
    const char *text = tally__gallery_exercise((int)wanted->fix, false);
    if (text == NULL) {
        complain(NULL, "there is no exercise %lld; tally race --fix 0 lists them", (long long)wanted->fix);
        return STATUS_MISSPELT;
    }
    if (!begin_output(&out, wanted->output != NULL ? wanted->output : "-")) {
        return STATUS_REFUSED;
    }
    fputs(text, out.stream);
    return end_output(&out) ? STATUS_DONE : STATUS_REFUSED;
}
