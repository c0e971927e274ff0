/* A track from within. */
#ifndef RACE_TRACK_H
#define RACE_TRACK_H

#include "cuda/gpu.h"
#include "gallery/host/units.h"

/* A kernel, loaded. */
typedef struct tally__runner {
    tally__cu_module module;
    tally__cu_function function;
    int registers, shared_bytes, resident;
    tally__gallery_sizes sizes;
} tally__runner;

struct tally__track {
    tally_backend backend;
    tally__gallery_operator operator;
    tally_type type;
    const tally__gallery_type *host;
    tally_final final;
    tally_type result_type;
    tally_context *context; /* with which Tally's own way is measured, and results are expected */
    tally__gpu *gpu;
    char device[128];
    int most_threads;
    tally__runner runners[TALLY_GALLERY_FORMS][TALLY_GALLERY_KERNELS + 1]; /* the last: a kernel from outside */

    tally__gallery_sizes compiled; /* what the simulator's kernels were compiled for last; 0: as in the table */
    char *mine;                    /* the text of a kernel from outside, or NULL */
    const void *x, *y;             /* the caller's, while it is on the track */
    const int32_t *segment_ids;
    int64_t count, segments;           /* segments: 0 of a whole array */
    tally__lap lap;                    /* of the run that was traced last */
    int copies, lists, most_launches;  /* most_launches: 0 for as many as it takes */
    int wanted_threads, wanted_blocks; /* 0: as usual */
    int repeats;                       /* of a kernel in one launch; 1 as usual */
    bool small;                        /* for pictures: blocks as small as will do, and one multiprocessor */
    size_t value_bytes, copy_bytes, element_capacity; /* element_capacity: bytes of each memory for elements */
    tally__cu_address values, second;                 /* copies of x and y behind one another, each copy_bytes long */
    tally__cu_address elements[2], element_segment_ids[2], value_segment_ids, output, counter;
};

static inline size_t tally__track_bytes(int64_t count, size_t each) { return ((size_t)count * each + 256) / 256 * 256; }

/* On the simulator: of the sets of inputs over u64, or to merge 4 lists of i32. */
tally_status tally__track_open_pictured(bool merges, tally__track **track);
/* For the simulator: makes a kernel of its sizes the one of that name. (mine.c) */
tally_status tally__track_vary(tally__track *track, const tally__gallery_row *row);
/* The status of a driver call. */
tally_status tally__track_check(const tally__track *track, int error, const char *what);
/* One run over copy `copy`; `lap` is told what it did. What it leaves is in memory of the device when the stream gets
 * there. (runs.c) */
tally_status tally__track_go(tally__track *track, const tally__gallery_row *row, int copy, tally__lap *lap,
                             tally__cu_address *left);

#endif
