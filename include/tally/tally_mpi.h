/* Tally over MPI: arrays that are distributed over the ranks of a communicator, reduced to the bits that one process
 * would give that has all values.
 *
 *     double x[...], total;                                       each rank has its own part, of any length, also 0
 *     tally_mpi_allreduce(NULL, TALLY_SUM, tally_in(x, TALLY_F64, count), tally_out(&total, TALLY_F64, 1), comm);
 *
 * The values of rank 0 come first, then those of rank 1, and so on: that is the whole. The result is that of
 * tally_reduce over the whole, whatever the number of ranks and however values are divided among them. docs/ranks.md
 * says why, and what a call costs. Method: each rank reduces its own values. Where order does not show, nodes
 * (tally_nodes.h) are merged: by MPI_SUM on MPI_INT64_T where they add, else by a commutative operator made with
 * MPI_Op_create. Elsewhere (TALLY_FAST sums of floats, prod and logsumexp of floats, operators of the caller's own)
 * states travel up a binomial tree that keeps the order of ranks.
 *
 * Collective: all ranks of the communicator make the same call, with the same operator, type of values and options
 * accuracy, nan, ddof and overflow, the same number of results, the same out.type and the same root. Operators of the
 * caller's own have the same number on all ranks. What lies where, how many values a rank has, threads and backends are
 * a rank's own matter.
 *
 * Errors: before anything else is sent the ranks agree on whether all can go on. If a rank passes a bad argument, has
 * no memory, or the ranks differ in what must be the same, all get the status of the lowest such rank,
 * tally_mpi_message() quotes its sentence, and none waits for another. A communicator that is MPI_COMM_NULL or an
 * intercommunicator, and MPI that is not initialised, are refused where they are seen: other ranks cannot be told.
 * TALLY_DEVICE_FAILED: MPI failed, and the sentence quotes it; what ranks then do is MPI's matter. After a failure out
 * holds nothing of use.
 *
 * Communicators: the first call on one duplicates it (collective, cached with it and freed with it), so that messages
 * do not meet the caller's own, and errors of MPI return. Calls on one communicator follow one another in the same
 * order on all ranks. Threads: as the level that MPI was initialised with.
 *
 * Blocking: a call returns when this rank has its result. There are no non-blocking forms in this version.
 *
 * GPU memory:
 *  - Arrays may lie in GPU memory where tally_nodes.h says so, and are reduced there.
 *  - What MPI sends from there, if it says that it can (MPIX_Query_cuda_support, if the MPI that this library is built
 *    for has that; the environment variable TALLY_MPI_CUDA, 0 or 1, overrules it): nodes that add up, windows of them,
 *    and values of tally_mpi_allreduce_elements that lie side by side. All else passes through host memory: other
 *    nodes, and states.
 *  - out may lie in GPU memory for whole arrays and segments whose nodes travel, and for vectors if MPI reaches it
 *    (TALLY_UNSUPPORTED).
 *  - Ranks may differ in all of that. Tested on the simulator and on a GPU, with and without an MPI that reaches it.
 *
 * Needs C11 and an MPI of version 3. Link with -ltally-mpi -ltally and MPI; compile with the MPI that libtally-mpi was
 * built for. */
#ifndef TALLY_MPI_H
#define TALLY_MPI_H

#include <mpi.h>

#include "tally/tally.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- whole arrays ----------------------------------------------------------------------------------------------- */

/* Reduces the whole to out[0]: on every rank, or on rank `root` alone. On other ranks out is not looked at. Indices
 * (argmin, argmax) are those of the whole. TALLY_EMPTY, TALLY_OVERFLOW: as tally_reduce, on the ranks that have the
 * result. TALLY_NO_MEMORY: a node or a state, and a message of the same size. Others as tally_reduce. */
TALLY_CHECKED tally_status tally_mpi_allreduce(tally_context *context, tally_op op, tally_array in, tally_output out,
                                               MPI_Comm comm);
TALLY_CHECKED tally_status tally_mpi_reduce(tally_context *context, tally_op op, tally_array in, tally_output out,
                                            int root, MPI_Comm comm);

/* ---- segments that ranks share ---------------------------------------------------------------------------------- */

/* Reduces k segments. Every rank holds a part of each: out[s] is the result of rank 0's values of segment s, then rank
 * 1's, and so on. Several fields are k segments in one message. `segments` describes the rank's own array, in any kind
 * that tally_reduce_segments takes. An index in GPU memory is read there; for argmin, argmax and states it is copied to
 * the host, which is not possible for a plan for a GPU (TALLY_UNSUPPORTED). Parts may be empty. The ranks may
 * use different kinds, and must give the same number of results. Indices count from the start of the whole segment.
 * Memory: a node for each segment, or some 30 KB each where states travel. Errors: as tally_mpi_allreduce and
 * tally_reduce_segments. */
TALLY_CHECKED tally_status tally_mpi_allreduce_segments(tally_context *context, tally_op op, tally_array in,
                                                        tally_segments segments, tally_output out, MPI_Comm comm);
TALLY_CHECKED tally_status tally_mpi_reduce_segments(tally_context *context, tally_op op, tally_array in,
                                                     tally_segments segments, tally_output out, int root,
                                                     MPI_Comm comm);

/* ---- element by element ----------------------------------------------------------------------------------------- */

/* The reproducible MPI_Allreduce: each rank has a vector of the same length, and out[i] is the result of element i of
 * rank 0, of rank 1, and so on. Indices are ranks. Short vectors travel as nodes. Of others each rank gets a block of
 * elements from all ranks (MPI_Alltoallv), reduces it, and hands out the results (MPI_Allgatherv, MPI_Gatherv): as many
 * bytes as a plain all-reduce moves, 64 MiB at a time. Memory: twice that. Errors: as tally_mpi_allreduce. */
TALLY_CHECKED tally_status tally_mpi_allreduce_elements(tally_context *context, tally_op op, tally_array in,
                                                        tally_output out, MPI_Comm comm);
TALLY_CHECKED tally_status tally_mpi_reduce_elements(tally_context *context, tally_op op, tally_array in,
                                                     tally_output out, int root, MPI_Comm comm);

/* ---- operators of two inputs (dot) ------------------------------------------------------------------------------ */

TALLY_CHECKED tally_status tally_mpi_allreduce_pair(tally_context *context, tally_op op, tally_array left,
                                                    tally_array right, tally_output out, MPI_Comm comm);
TALLY_CHECKED tally_status tally_mpi_reduce_pair(tally_context *context, tally_op op, tally_array left,
                                                 tally_array right, tally_output out, int root, MPI_Comm comm);
TALLY_CHECKED tally_status tally_mpi_allreduce_segments_pair(tally_context *context, tally_op op, tally_array left,
                                                             tally_array right, tally_segments segments,
                                                             tally_output out, MPI_Comm comm);
TALLY_CHECKED tally_status tally_mpi_reduce_segments_pair(tally_context *context, tally_op op, tally_array left,
                                                          tally_array right, tally_segments segments, tally_output out,
                                                          int root, MPI_Comm comm);
TALLY_CHECKED tally_status tally_mpi_allreduce_elements_pair(tally_context *context, tally_op op, tally_array left,
                                                             tally_array right, tally_output out, MPI_Comm comm);
TALLY_CHECKED tally_status tally_mpi_reduce_elements_pair(tally_context *context, tally_op op, tally_array left,
                                                          tally_array right, tally_output out, int root,
                                                          MPI_Comm comm);

/* The sentence for the last status other than TALLY_OK that a function of this header gave this thread, with the rank
 * that it is of; "" before any. Valid until the thread's next such call that fails. */
TALLY_API const char *tally_mpi_message(void);

/* ---- for Fortran ------------------------------------------------------------------------------------------------ */

/* The same for a communicator as Fortran has it (MPI_Fint; of mpi_f08 comm%MPI_VAL); a root of -1 means every rank.
 * `right` and `segments` may be NULL. The module tally_mpi (src/fortran) calls these. */
TALLY_CHECKED tally_status tally_mpi_fortran_reduce(tally_context *context, tally_op op, const tally_array *left,
                                                    const tally_array *right, const tally_segments *segments,
                                                    const tally_output *out, int root, MPI_Fint comm);
TALLY_CHECKED tally_status tally_mpi_fortran_elements(tally_context *context, tally_op op, const tally_array *left,
                                                      const tally_array *right, const tally_output *out, int root,
                                                      MPI_Fint comm);

#ifdef __cplusplus
}
#endif

#endif
