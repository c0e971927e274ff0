/* What the files of libtally-mpi share. It is built on the public interface alone. */
#ifndef TALLY_MPI_RANKS_H
#define TALLY_MPI_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tally/tally_mpi.h"
#include "tally/tally_nodes.h"

enum {
    EVERY_RANK = -1, /* in place of a root */
    SENTENCE_BYTES = 512,
    MESSAGE_BYTES = 1 << 30 /* more are sent in several messages: counts of MPI are ints */
};

/* One call, as the caller made it. */
typedef struct request {
    tally_context *context;
    tally_op op;
    const tally_array *x, *y;       /* y: NULL, or the second input */
    const tally_segments *segments; /* NULL: one whole array, or elements */
    bool elements;
    tally_output out;
    int root;
    /* known by and by: */
    MPI_Comm comm; /* the duplicate */
    int rank, ranks;
    int64_t results;
    size_t value_bytes, result_bytes; /* of one, in out.type */
    size_t node_bytes;                /* 0: order shows, and states travel */
    int adds;                         /* nodes are summed as integers, */
    int windows;                      /* how many numbers of each are sent; 0: all */
} request;

/* ---- failing (failing.c) ---- */

/* Keeps a sentence for tally_mpi_message and returns the status. */
tally_status tally__mpi_fail(tally_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same with the library's own sentence. */
tally_status tally__mpi_quote(tally_status status);
tally_status tally__mpi_check(int code, const char *what);

#define TRY(call)                          \
    do {                                   \
        tally_status try_ = (call);        \
        if (try_ != TALLY_OK) return try_; \
    } while (0)
#define TRY_TALLY(call) TRY(tally__mpi_quote(call))
#define TRY_MPI(call) TRY(tally__mpi_check(call, #call))

/* ---- ranks (ranks.c) ---- */

/* Finds this library's duplicate of the caller's communicator, which has to be a usable one. */
tally_status tally__mpi_enter(request *r, MPI_Comm comm);
/* Whether this rank gets results. */
static inline bool tally__mpi_has_result(const request *r) { return r->root == EVERY_RANK || r->root == r->rank; }
/* All ranks learn whether one of them has another status than TALLY_OK, and its sentence; all get the same status. */
tally_status tally__mpi_agree(const request *r, tally_status mine);
/* The same, and that what must be the same on all ranks is. Sets out.type on ranks that have no result. */
tally_status tally__mpi_agree_on_request(request *r, tally_status mine);
/* before[s] = the sum of counts[s] over lower ranks, `count` of them. */
tally_status tally__mpi_count_before(const request *r, const int64_t *counts, int64_t *before, int64_t count);

/* ---- ways: what a rank does alone and may fail at; then, when all ranks agreed, what it does with others ---- */

/* What is kept in between. */
typedef struct travel {
    int64_t *counts, *before; /* where a rank's values begin in each segment's whole; NULL: it does not matter */
    unsigned char *nodes;
    bool on_gpu;      /* they lie there */
    int16_t *extents; /* of nodes that travel as windows */
    struct blocks *blocks;
} travel;

/* Nodes of whole arrays, segments or elements (nodes.c). */
tally_status tally__mpi_make_nodes(const request *r, travel *t);
tally_status tally__mpi_merge_nodes(const request *r, travel *t);
tally_status tally__mpi_release_nodes(const request *r, travel *t);
/* Whether MPI says that it sends what lies in GPU memory; TALLY_MPI_CUDA, 0 or 1, says otherwise. (gpu.c) */
bool tally__mpi_reaches_gpus(void);

/* States of whole arrays or segments, in the order of ranks (states.c). */
tally_status tally__mpi_merge_states(const request *r, travel *t);

/* Blocks of elements (elements.c). */
tally_status tally__mpi_make_blocks(const request *r, travel *t);
tally_status tally__mpi_exchange_blocks(const request *r, travel *t);
tally_status tally__mpi_release_blocks(const request *r, struct blocks *blocks);

#endif
