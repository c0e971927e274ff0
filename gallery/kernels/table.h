/* The gallery's kernels in teaching order, each said once: kernels, host, tests, command and documents expand this
 * list. */
#ifndef TALLY_GALLERY_TABLE_H
#define TALLY_GALLERY_TABLE_H

#include <stdint.h>

/* How a kernel is launched until one accumulator is left, or with segments one for each. */
enum {
    TALLY_PLAN_READ,       /* as PASSES, but it reduces nothing: what the others are measured against */
    TALLY_PLAN_FIT,        /* one block with a thread for each value, so that arrays are no longer than a block */
    TALLY_PLAN_ONE,        /* one block, whatever the length */
    TALLY_PLAN_PASSES,     /* a block for each `each` elements; launched again for what they leave, until one is left */
    TALLY_PLAN_HOST,       /* one such launch; the host combines the rest */
    TALLY_PLAN_TWICE,      /* two blocks on a multiprocessor stride over the array; one more launch for the rest */
    TALLY_PLAN_GUARD,      /* the same blocks, the last of which combines what the others left, in one launch */
    TALLY_PLAN_PERSISTENT, /* as many blocks as the GPU holds share the pieces of `each` elements; launched again until
                              one is left */
    TALLY_PLAN_TREE,       /* as PASSES, but one launch, in which the blocks combine what they leave */
    TALLY_PLAN_MERGE       /* one block merges sorted lists: a reduction for each value */
};

/* What a kernel asks of an operator. */
enum {
    TALLY_KEEPS_ORDER, /* any associative one */
    TALLY_COMMUTES     /* one whose operands may change places */
};

/* Sources: the texts Tally comes from.
 * Kandasamy: N. Kandasamy, "Parallel Reduction", ECE Department, Drexel University.
 * Hwu: W. Hwu, "Heterogeneous Parallel Programming", lecture 4.2, "A Basic Reduction Kernel", University of Illinois.
 * Cook: S. Cook, "CUDA Programming", section "Parallel reduction" (merge_array5, figure 6.12).
 * Martin: P. J. Martin, L. F. Ayuso, R. Torres, A. Gavilanes, "Algorithmic Strategies for Optimizing the Parallel
 *   Reduction Primitive in
 *         CUDA", HPCS 2012: "the paper".
 * Harris: M. Harris, "Optimizing Parallel Reduction in CUDA", NVIDIA, 2007. Volkov: V. Volkov, "Better Performance at
 *   Lower Occupancy", 2010. Luitjens: J. Luitjens, "Faster Parallel Reductions on Kepler", NVIDIA, 2014.
 * SO: "Parallel reduction (e.g. how to sum an array)", Stack Overflow Documentation, CUDA. */

/* threads: of a block; least: it can do with any power of two of them from so many on, and takes as much less at a
 * time. each: elements that a block takes at a time. shared: elements it keeps in shared memory. segment ids: 1 with
 * segments; then it keeps as many segment ids. */
/* clang-format off */
/* number, name, plan, needs, threads, least, each, shared, segment ids; below them source, what it is */
#define TALLY_GALLERY(X)                                                                                    \
    X(0,  plain_read,                  TALLY_PLAN_READ,       TALLY_KEEPS_ORDER, 256,  256,  8192, 0,    0, \
      "Tally", "no reduction: every value is read once")                                                    \
    X(1,  interleaved,                 TALLY_PLAN_FIT,        TALLY_KEEPS_ORDER, 1024, 1,    1024, 1024, 0, \
      "Kandasamy", "tree of neighbours; threads that are left lie apart")                                   \
    X(2,  halves,                      TALLY_PLAN_FIT,        TALLY_COMMUTES,    1024, 1,    1024, 1024, 0, \
      "Kandasamy", "tree of halves; threads that are left lie together")                                    \
    X(3,  two_loads,                   TALLY_PLAN_PASSES,     TALLY_KEEPS_ORDER, 256,  1,    512,  512,  0, \
      "Hwu", "two values a thread, one result a block, launched until one is left")                         \
    X(4,  host_finish,                 TALLY_PLAN_HOST,       TALLY_KEEPS_ORDER, 256,  1,    512,  512,  0, \
      "Hwu", "the same, and the host adds up what blocks leave")                                            \
    X(5,  one_block,                   TALLY_PLAN_ONE,        TALLY_COMMUTES,    1024, 1,    1024, 1024, 0, \
      "SO", "each thread folds every 1024th value, then a tree of halves")                                  \
    X(6,  one_block_ordered,           TALLY_PLAN_ONE,        TALLY_KEEPS_ORDER, 512,  1,    512,  1024, 0, \
      "SO", "half of shared memory is filled, then neighbours are combined into the other half")            \
    X(7,  grid,                        TALLY_PLAN_TWICE,      TALLY_COMMUTES,    1024, 1,    1024, 1024, 0, \
      "SO", "a grid of such blocks, and a second launch")                                                   \
    X(8,  last_block,                  TALLY_PLAN_GUARD,      TALLY_COMMUTES,    1024, 1,    1024, 1025, 0, \
      "SO", "a grid of such blocks; the last to arrive finishes")                                           \
    X(9,  last_block_ordered,          TALLY_PLAN_GUARD,      TALLY_KEEPS_ORDER, 512,  1,    512,  1025, 0, \
      "SO", "each block has a section of its own; the last to arrive finishes")                             \
    X(10, warp_halves,                 TALLY_PLAN_PASSES,     TALLY_COMMUTES,    32,   32,   32,   32,   0, \
      "SO", "one warp, halves, with conditions")                                                            \
    X(11, warp_halves_padded,          TALLY_PLAN_PASSES,     TALLY_COMMUTES,    32,   32,   32,   48,   0, \
      "SO", "one warp, halves, without conditions")                                                         \
    X(12, warp_pairs,                  TALLY_PLAN_PASSES,     TALLY_KEEPS_ORDER, 32,   32,   32,   32,   0, \
      "SO", "one warp, neighbours, with conditions")                                                        \
    X(13, warp_pairs_padded,           TALLY_PLAN_PASSES,     TALLY_KEEPS_ORDER, 32,   32,   32,   48,   0, \
      "SO", "one warp, neighbours, without conditions")                                                     \
    X(14, warp_shuffles,               TALLY_PLAN_PASSES,     TALLY_KEEPS_ORDER, 32,   32,   32,   0,    0, \
      "SO", "one warp, neighbours, in registers only")                                                      \
    X(15, block_of_warps,              TALLY_PLAN_ONE,        TALLY_COMMUTES,    1024, 32,   1024, 1024, 0, \
      "SO", "one block; its warps reduce, then one warp what they leave")                                   \
    X(16, tb2,                         TALLY_PLAN_PASSES,     TALLY_KEEPS_ORDER, 256,  1,    512,  528,  0, \
      "Martin, 1", "TB2: tree without bank conflicts")                                                      \
    X(17, tb4_warp,                    TALLY_PLAN_PASSES,     TALLY_KEEPS_ORDER, 256,  256,  1024, 1056, 0, \
      "Martin, 2", "TB4-warp: four times 32 values a warp, then 32 results")                                \
    X(18, matrix,                      TALLY_PLAN_PASSES,     TALLY_KEEPS_ORDER, 256,  256,  1024, 1056, 0, \
      "Martin, 3", "Matrix: 32 threads fold a row of 32 each")                                              \
    X(19, persistent_matrix,           TALLY_PLAN_PERSISTENT, TALLY_KEEPS_ORDER, 256,  256,  1024, 1057, 0, \
      "Martin, B1", "Persistent Matrix: blocks stay and take many matrices")                                \
    X(20, diffwarps,                   TALLY_PLAN_PERSISTENT, TALLY_KEEPS_ORDER, 288,  288,  1024, 2113, 0, \
      "Martin, 4", "DiffWarps: 8 warps load a matrix while one folds another")                              \
    X(21, segmented_tb2,               TALLY_PLAN_PASSES,     TALLY_KEEPS_ORDER, 256,  1,    512,  528,  1, \
      "Martin, IV", "segmented TB2")                                                                        \
    X(22, segmented_tb4_warp,          TALLY_PLAN_PASSES,     TALLY_KEEPS_ORDER, 256,  256,  1024, 1056, 1, \
      "Martin, IV", "segmented TB4-warp")                                                                   \
    X(23, segmented_matrix,            TALLY_PLAN_PASSES,     TALLY_KEEPS_ORDER, 256,  256,  1024, 1056, 1, \
      "Martin, IV", "segmented Matrix")                                                                     \
    X(24, segmented_persistent_matrix, TALLY_PLAN_PERSISTENT, TALLY_KEEPS_ORDER, 256,  256,  1024, 1056, 1, \
      "Martin, IV", "segmented Persistent Matrix")                                                          \
    X(25, segmented_diffwarps,         TALLY_PLAN_PERSISTENT, TALLY_KEEPS_ORDER, 288,  288,  1024, 2112, 1, \
      "Martin, IV", "segmented DiffWarps")                                                                  \
    X(26, segmented_diffwarps16,       TALLY_PLAN_PERSISTENT, TALLY_KEEPS_ORDER, 288,  288,  512,  1088, 1, \
      "Martin, V", "segmented DiffWarps of matrices half as wide")                                          \
    X(27, merge_lists,                 TALLY_PLAN_MERGE,      TALLY_COMMUTES,    1024, 1,    1024, 0,    0, \
      "Cook", "sorted lists become one: their heads' minimum, again and again")                             \
    X(28, first_add,                   TALLY_PLAN_PASSES,     TALLY_COMMUTES,    256,  1,    512,  256,  0, \
      "Harris", "the first addition while loading")                                                         \
    X(29, loads_in_flight,             TALLY_PLAN_PASSES,     TALLY_COMMUTES,    256,  256,  2048, 256,  0, \
      "Volkov", "eight loads of a thread before the first addition")                                        \
    X(30, vector_loads,                TALLY_PLAN_PASSES,     TALLY_COMMUTES,    256,  256,  2048, 256,  0, \
      "NVIDIA", "loads of 16 bytes")                                                                        \
    X(31, unrolled,                    TALLY_PLAN_PASSES,     TALLY_COMMUTES,    256,  256,  2048, 256,  0, \
      "Harris", "the tree written out, its end by one warp")                                                \
    X(32, block_shuffles,              TALLY_PLAN_PASSES,     TALLY_COMMUTES,    256,  256,  2048, 32,   0, \
      "Luitjens", "warps reduce by shuffles, then one warp what they leave")                                \
    X(33, atomic_finish,               TALLY_PLAN_GUARD,      TALLY_COMMUTES,    1024, 1024, 1024, 32,   0, \
      "Luitjens", "each block combines its element into the result")                                        \
    X(34, tree_one_launch,             TALLY_PLAN_TREE,       TALLY_COMMUTES,    256,  256,  2048, 32,   0, \
      "Tally", "many small blocks, and a tree over them in one launch")                                     \
    X(35, warp_halves_once,            TALLY_PLAN_PASSES,     TALLY_COMMUTES,    32,   32,   32,   32,   0, \
      "SO", "one warp, halves, with one condition")
/* clang-format on */

/* Pictures are of warps of 4 lanes, and of blocks and matrices as much smaller: 4 rows of 4 where the text has 32 rows
 * of 32. What a size of the table becomes there. */
#define TALLY_SMALL(size) ((size) == 288 ? 12 : (size) == 32 ? 4 : (size) < 32 ? (size) : (size) <= 512 ? 8 : 16)
#ifdef TALLY_GALLERY_SMALL
#define TALLY_SIZE(size) TALLY_SMALL(size)
#define TALLY_WIDTH 4
#define TALLY_HEIGHT 4
#else
#define TALLY_SIZE(size) (size)
#endif

/* Elements of a thread, in kernels that take any number of them: those with eight in the table. */
#ifndef TALLY_PER_THREAD
#define TALLY_PER_THREAD (TALLY_SIZE(2048) / TALLY_SIZE(256))
#endif

/* Rows and columns of the matrices in kernels that take any (TALLY_FOLDS_MATRIX); rows as a multiple of a warp. */
#ifndef TALLY_WIDTH
#define TALLY_WIDTH 32
#endif
#ifndef TALLY_HEIGHT
#define TALLY_HEIGHT 32
#endif
#define TALLY_FOLDS_MATRIX(number) (((number) >= 18 && (number) <= 20) || ((number) >= 23 && (number) <= 25))

/* TALLY_THREADS_<name>, TALLY_EACH_<name>, TALLY_SHARED_<name> for the kernels' texts. */
enum {
#define TALLY_ROW(number, name, plan, needs, threads, least, each, shared, segment_ids, source, what) \
    TALLY_THREADS_##name = TALLY_SIZE(threads), TALLY_SHARED_##name = shared,                           \
    TALLY_EACH_##name = (each) == 8 * (threads) ? TALLY_PER_THREAD * TALLY_SIZE(threads) : TALLY_SIZE(each),
    TALLY_GALLERY(TALLY_ROW)
#undef TALLY_ROW
        TALLY_MATRIX = TALLY_HEIGHT * TALLY_WIDTH,        /* elements of a matrix */
    TALLY_MATRIX_ELEMENTS = TALLY_HEIGHT * (TALLY_WIDTH + 1), /* one unused behind each row */
    TALLY_VECTOR = TALLY_SIZE(32) / 2 > 2 ? 4 : 2,        /* values of a vector load; two of 8 bytes in pictures */
    TALLY_MOST_LISTS = 1024
};

/* What the inputs are. */
enum {
    TALLY_OF_VALUES,  /* x (and y) are values, */
    TALLY_OF_ELEMENTS /* or x is what an earlier launch left */
};
/* What these kernels are launched with. */
typedef struct tally_work {
    const char *x, *y; /* the input; y equals x where there is one */
    int64_t count, first; /* values, and the index of the first */
    int32_t inputs;       /* TALLY_OF_... */
    int32_t run;          /* lists (TALLY_PLAN_MERGE) */
    int64_t repeats;      /* a launch does its work so many times */
    char *nodes;          /* elements that this launch leaves, one for each block */
    uint32_t *arrivals;   /* a counter, 0 before and after each launch (TALLY_PLAN_GUARD) */
    /* With segments: the segment id of each input, and of each element left; an element for each segment. */
    const int32_t *segment_ids;
    int32_t *left_segment_ids;
    void *output;
} tally_work;

#endif
