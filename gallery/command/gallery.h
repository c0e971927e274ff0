/* The commands about the gallery, race and explain, and what they share. */
#ifndef GALLERY_H
#define GALLERY_H

#include "command.h"
#include "gallery/host/gallery.h"

/* tally race: kernels side by side. Returns the exit status. */
int run_race(const command *wanted);
/* tally race --paper, and --sweep. */
int run_paper(const command *wanted);
int run_sweep(const command *wanted);
/* tally explain KERNEL. */
int run_explain(const command *wanted);

/* tally course. */
int run_course(const command *wanted);
/* tally emit KERNEL: whether that is asked for, and the kernel as plain CUDA. */
bool is_kernel(const command *wanted);
int run_emit_kernel(const command *wanted);

/* ---- what is raced over (stage.c) ---- */

/* Values and their segments, on a track. */
typedef struct stage {
    tally__track *track;
    bool simulated;         /* which counts in place of timing */
    bool is_file;           /* the values are those of a file, all of them */
    const char *op, *shape; /* shape: NULL for a whole array */
    tally_type type;
    int64_t count, segments, capacity; /* capacity: how many values there are to take `count` of */
    void *x, *y;
    int32_t *segment_ids;
} stage;

/* Opens a track as the command wants it; the default operator is min, the default type f32. Returns the exit status,
 * after a complaint. */
int open_stage(const command *wanted, tally_backend backend, stage *made);
/* The same for a race: on a GPU, unless the command names the simulator; with the values of FILE, if it names one. And
 * how many values are then raced over. */
int open_race(const command *wanted, stage *made);
int64_t count_raced(const command *wanted, const stage *s);
/* The same values for everybody: random (floats from 0 to 1), in segments of the stage's shape. `copies`: as
 * tally__track_load has it. */
bool set_stage(stage *s, int64_t count, const char *shape, int copies);
bool sort_stage(stage *s, int64_t count); /* with the first `count` values, in ascending order */
void close_stage(stage *s);

/* Whether --segments can be that, after a complaint if not; and segment ids of `count` values in that shape, which
 * gives the number of segments. */
bool is_shape(const char *word);
int64_t segments_of_shape(const char *shape, int64_t count, int32_t *segment_ids);
/* Enough copies of the values that no cache holds them. */
int copies_of(const stage *s, int64_t count);

/* Bytes that a kernel has to read: the values, and with segments their segment ids. */
double bytes_read(const stage *s, const tally__gallery_row *row);

/* One run of a kernel, or with NULL of Tally's own way, and whether its results are what they must be. Fails with the
 * sentence in tally_message(). */
tally_status run_checked(const stage *s, const tally__gallery_row *row, tally__lap *lap, bool *right);

/* A kernel that has run, was checked, and then timed or counted. */
typedef struct runner {
    const tally__gallery_row *row; /* NULL: Tally's own way */
    bool ran, right;
    double bytes;
    tally__lap lap;
    tally__counts counts; /* on the simulator */
    char why[400];        /* it did not run */
} runner;
void run_measured(const stage *s, const tally__gallery_row *row, runner *one);

/* ---- a kernel of one's own (mine.c) ---- */

/* tally race --mine: whether the kernel is right, said line by line, on the simulator; `row` can then be raced on the
 * stage. Then its place among the kernels that reduced the same: by time, or on the simulator by counts. And tally
 * race --fix. */
bool grade_mine(const command *wanted, stage *s, tally__gallery_row *row);
void rank_mine(const stage *s, const runner *runners, int count, const runner *mine);
int run_fix(const command *wanted);

/* ---- charts (charts.c) ---- */

typedef struct bar {
    const char *name;
    double value;
    char label[48];
} bar;
/* Writes bars that are longer for larger values; the first stands for 100 %. */
bool draw_bars(const char *path, const char *title, const bar *bars, int count);

enum { MOST_LINES = 12, MOST_POINTS = 16 };
/* Lines over the same x, from 0 to the largest y; a y of NAN is left out. */
typedef struct panel {
    const char *title;
    bool doubles; /* x is drawn by its logarithm */
    int lines, points;
    const char *names[MOST_LINES];
    double x[MOST_POINTS], y[MOST_LINES][MOST_POINTS];
} panel;
bool draw_panels(const char *path, const char *title, const panel *panels, int count);

#endif
