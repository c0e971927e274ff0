/* Running the gallery (gallery/kernels): one operator on one type on one device, an array there, and any of the kernels
 * over it. For the command and the tests; no part of libtally. Functions fail with a status and leave a sentence in
 * tally_message(). */
#ifndef RACE_GALLERY_H
#define RACE_GALLERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tally/tally.h"

/* Sizes that some kernels can have otherwise than usual; 0: as usual, or a kernel has no such size. */
typedef struct tally__gallery_sizes {
    int per_thread;    /* elements of a thread */
    int width, height; /* of a matrix */
} tally__gallery_sizes;

/* A row of gallery/kernels/table.h; plan and needs are words of that table. */
typedef struct tally__gallery_row {
    int number;
    const char *name;
    int plan, needs, threads, least, each, shared;
    bool segment_ids;
    const char *source, *what;
    tally__gallery_sizes sizes;
    const char *text; /* of a kernel from outside; NULL: it is one of gallery/kernels */
} tally__gallery_row;
extern const tally__gallery_row tally__gallery[];
extern const int tally__gallery_count;

/* The row of a kernel with those of the sizes that it can have: powers of two, 4 to 64 elements of a thread, matrices 8
 * to 128 wide and 32 to 128 high. On the simulator such a kernel is compiled when it is first run, by the machine's C
 * compiler. */
tally__gallery_row tally__gallery_with(const tally__gallery_row *row, tally__gallery_sizes sizes);

enum { TALLY_PLAIN_READ = 0 }; /* the number of the kernel that reduces nothing */

/* By name or number; NULL: there is none. */
const tally__gallery_row *tally__gallery_find(const char *word);

/* ---- a track ---- */

typedef struct tally__track tally__track;

/* `backend` is TALLY_BACKEND_CUDA or TALLY_BACKEND_SIMT. `op` is the name of an operator, or "compose", the gallery's
 * own, which does not commute. The simulator has some operators and types (TALLY_UNSUPPORTED says which). */
tally_status tally__track_open(tally_backend backend, int device, const char *op, tally_type type,
                               tally__track **track);
void tally__track_close(tally__track *track); /* NULL is fine */

/* Puts `count` values on the track, 0 to 2^31 - 1; y is the second input of dot and otherwise NULL. `copies` of them,
 * so that a GPU that reads one after the other does not find them in its cache. What was there before is gone, segments
 * too. */
tally_status tally__track_load(tally__track *track, const void *x, const void *y, int64_t count, int copies);
/* Gives them segments: segment_ids[i], ascending, 0 to segments - 1, is the segment of value i. */
tally_status tally__track_segments(tally__track *track, const int32_t *segment_ids, int64_t segments);
/* How many lists the values are for merge_lists; 32 at first. */
void tally__track_lists(tally__track *track, int lists);

/* Blocks of `threads` threads, a power of two, where a kernel takes any; `blocks` of them where they stay or stride
 * over the array. 0: as usual. Before values are loaded. */
void tally__track_shape(tally__track *track, int threads, int blocks);

/* The most launches of a run, to time them one after another; 0: all. What such a run leaves is no result. */
void tally__track_stop_after(tally__track *track, int launches);

/* A launch does its work `times` times, from the start, one after another; 1 as usual. For what one block does. */
void tally__track_repeat(tally__track *track, int times);
/* How many values a block of a kernel is for, where they take one launch of one block; else 0. */
int64_t tally__gallery_alone(const tally__gallery_row *row);

/* Whether a kernel can run on what is on the track; else TALLY_UNSUPPORTED and why not. */
tally_status tally__track_suits(const tally__track *track, const tally__gallery_row *row);

enum { TALLY_MOST_LAUNCHES = 32 };

/* What a run did. */
typedef struct tally__lap {
    int launches, threads; /* of a block */
    int blocks[TALLY_MOST_LAUNCHES];
    int registers, shared_bytes; /* of a thread; of a block */
    int resident;                /* blocks that a multiprocessor holds */
    double seconds;              /* of one run, when it was timed; of one of its repetitions */
} tally__lap;

/* One run, and its results: one, or one for each segment, tally__track_result_bytes() each, side by side in `results`;
 * of merge_lists `count` values. Indices of arg operators count from the array's start. */
tally_status tally__track_run(tally__track *track, const tally__gallery_row *row, void *results, tally__lap *lap);
/* The time of a run: the median of 5 batches, each of as many runs, one behind the other, as take some milliseconds;
 * over the copies in turn. Outputs of segments are not cleared between runs. */
tally_status tally__track_time(tally__track *track, const tally__gallery_row *row, tally__lap *lap);
/* The same two of Tally's own way: tally_reduce, or tally_reduce_segments, with everything on the device. */
tally_status tally__track_run_production(tally__track *track, void *results);
tally_status tally__track_time_production(tally__track *track, tally__lap *lap);

/* What the results of a kernel (NULL: of Tally's own way) must be: by Tally on the CPU, or for compose by folding from
 * left to right. And whether results are that: exactly, or for sums and products of floats within what rounding in any
 * order can do to ordinary data. */
tally_status tally__track_expect(const tally__track *track, const tally__gallery_row *row, void *results);
bool tally__track_agrees(const tally__track *track, const tally__gallery_row *row, const void *results,
                         const void *expected, int64_t *first_wrong);

/* ---- what the simulator counts ---- */

typedef struct tally__counts {
    int64_t branches, divergent;             /* of warps; those where some lanes go one way and some the other */
    int64_t shared_requests, bank_conflicts; /* of warps; turns they take beyond what their words need */
    int64_t accesses, transactions;  /* global memory: of lanes; the different 128 bytes that each warp's request
                                        touches */
    int64_t barriers, warp_barriers; /* where thread 0 of the first block meets its block; its warp, shuffles too */
    double loads;                    /* reads of global memory by a thread of the first launch, on average */
} tally__counts;
/* One run, counted; TALLY_UNSUPPORTED on a GPU. */
tally_status tally__track_count(tally__track *track, const tally__gallery_row *row, tally__counts *counts);

/* Branches of warps, launch by launch: the paper's Table III. */
typedef struct tally__divergence {
    int launches;
    struct {
        int64_t branches, divergent;
    } of[TALLY_MOST_LAUNCHES];
} tally__divergence;
tally_status tally__track_divergence(tally__track *track, const tally__gallery_row *row, tally__divergence *table);

enum { TALLY_MOST_LEVELS = 64 };

/* What the first warp of the first block reads of the output, level by level of a tree or column by column of a matrix:
 * the paper's Table IV. */
typedef struct tally__irregular {
    int levels;
    struct {
        int64_t accesses, transfers;
    } of[TALLY_MOST_LEVELS];
} tally__irregular;
tally_status tally__track_irregular(tally__track *track, const tally__gallery_row *row, tally__irregular *table);

/* ---- pictures ---- */

enum { TALLY_MOST_PICTURED = 64, TALLY_MOST_PLACES = 24, TALLY_PICTURED_LANES = 4 };

/* Where elements are. What blocks leave is for the next launch, which leaves its own elsewhere, or the result. From
 * TALLY_PLACE_SHARED on, objects of shared memory. Cell t of the registers is thread t's. */
enum {
    TALLY_PLACE_INPUT,
    TALLY_PLACE_REGISTERS,
    TALLY_PLACE_LEFT,
    TALLY_PLACE_LEFT_NEXT,
    TALLY_PLACE_OUTPUT,
    TALLY_PLACE_SHARED
};

/* What one thread puts into one cell at one time, and the boxes that it is made of: picture.from[first_from ...
 * first_from + froms - 1]. The first picture.count boxes are the inputs, which nobody makes (frame -1). */
typedef struct tally__box {
    int frame, level; /* level: boxes of a frame that are made of others of it are a level below those */
    int block, thread, place, at;
    uint64_t holds; /* the inputs in it, a bit for each */
    int first_from, froms;
} tally__box;

/* What all blocks of a launch do between two barriers, in one step. */
typedef struct tally__frame {
    int launch, epoch;           /* epoch: barriers before it */
    int step, label;             /* steps since then that its threads have begun; what the last is called, or -1 */
    int boxes, active;           /* that are made; threads that make one */
    int branches, divergent;     /* of warps; those in which some lanes go one way and some the other */
    int bank_conflicts;          /* turns of shared memory that are lost */
    int transactions;            /* of global memory */
    int barriers, warp_barriers; /* that end it; meetings of each warp in it, shuffles too */
    int fences, arrivals, last;  /* of the last-block guard: its steps, and which block finds that it is last, or -1 */
} tally__frame;

typedef struct tally__picture {
    int count, frames, boxes, froms, places, launches;
    int threads, blocks; /* of a block; of the first launch */
    tally__frame *frame;
    tally__box *box;
    int *from;
    char place_name[TALLY_MOST_PLACES][32];
} tally__picture;

/* Draws from a run on the simulator, whose warps have 4 lanes there and whose blocks and matrices are as much smaller:
 * of sets of inputs, so that an element tells what it is made of; merge_lists of 4 lists of i32. At most
 * TALLY_MOST_PICTURED values, in segments if segment_ids is not NULL. The caller frees the picture.
 * TALLY_UNSUPPORTED: the plain read. */
tally_status tally__picture_draw(const tally__gallery_row *row, int64_t count, const int32_t *segment_ids,
                                 int64_t segments, tally__picture *picture);
void tally__picture_free(tally__picture *picture);

/* How many values show what a kernel is about. */
int tally__picture_usual_count(const tally__gallery_row *row);

/* ---- kernels from outside ---- */

/* What an exercise asks beside right results, at most: "want: 0 conflicts, 330 transactions" in the opening comment.
 * -1: as many as it likes. */
typedef struct tally__goal {
    int64_t divergent, conflicts, transactions, barriers;
} tally__goal;

/* Reads a kernel in the words of gallery/kernels/contract.h that is called mine. Its first line says what a row of
 * table.h does: "mine: passes, 256 threads, 512 each, 512 shared", and "commutes" if it needs that. The row can be run
 * on this track alone. For the simulator it is compiled here, by the C compiler of the machine ($CC or cc), for the
 * operator and type of the track. TALLY_UNSUPPORTED: there is none, or the text does not compile (the compiler says
 * why). */
tally_status tally__track_take(tally__track *track, const char *path, tally__gallery_row *row, tally__goal *goal);

/* The order in which the simulator runs threads from now on, as TALLY_SIMT_SCHEDULE names it; NULL: the usual one. */
tally_status tally__gallery_schedule(const char *name);

/* Exercise number `number`, from 1, and its solution; NULL: there is none. */
const char *tally__gallery_exercise(int number, bool solved);

/* ---- texts ---- */

/* A kernel's file in gallery/kernels; its form as plain CUDA, with a host that runs it; and "course/NAME", a file of
 * the course. All live as long as the program. NULL: there is none. */
const char *tally__gallery_kernel_text(const tally__gallery_row *row);
const char *tally__gallery_cuda_text(const tally__gallery_row *row);
const char *tally__course_text(const char *name);

size_t tally__track_result_bytes(const tally__track *track);
tally_type tally__track_result_type(const tally__track *track);
int64_t tally__track_result_count(const tally__track *track, const tally__gallery_row *row);
size_t tally__track_element_bytes(const tally__track *track);
const char *tally__track_device(const tally__track *track); /* its name */
int tally__track_multiprocessors(const tally__track *track);
int tally__track_most_threads(const tally__track *track); /* that a multiprocessor holds */

#endif
