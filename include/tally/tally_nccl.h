/* Tally over NCCL: arrays that are distributed over GPUs, reduced to the bits that one GPU would give that has it all.
 *
 *     tally_options options = TALLY_OPTIONS_INIT;
 *     options.stream = stream;                                   the stream that the ranks' work goes to
 *     tally_nccl_allreduce(context, TALLY_SUM, tally_in(x, TALLY_F32, n), tally_out(sum, TALLY_F32, 1), comm);
 *
 * The values of rank 0 of the communicator come first, then those of rank 1, and so on, as in tally_mpi.h; the three
 * forms are those there. `comm` is an ncclComm_t of the caller's. libnccl.so.2 is opened when a call first needs it, or
 * the file that the environment variable TALLY_NCCL names; no header of NCCL is needed.
 *
 * Asynchronous: all arrays and out lie in memory of the communicator's GPU. A call puts its kernels and NCCL's work on
 * options.stream and returns; nothing waits for the host. The stream may be capturing if the kernels are ready:
 * tally_warm makes that of the reduction ready, and the first call that of nodes. TALLY_EMPTY and TALLY_OVERFLOW are
 * not reported; fillers and nearest values are written.
 *
 * Collective: all ranks make the same call, with the same operator, types and options, and the same number of results
 * or elements. That is not checked: if ranks differ, or one is refused, the others wait as long as NCCL lets them.
 *
 * Method: each GPU reduces its own values to nodes (tally_nodes.h). Those that add up are added by ncclAllReduce as
 * ncclInt64; others are gathered by ncclAllGather, and every GPU merges them in rank order.
 *
 * Errors: TALLY_NO_DEVICE: there is no libnccl, and the sentence says why. TALLY_DEVICE_FAILED: NCCL or the driver
 * failed; the sentence quotes it. TALLY_BAD_ARGUMENT: NULL comm, an array or out elsewhere than on the communicator's
 * GPU, a backend without a GPU. Others as tally_reduce. Tested on two GPUs, and on the
 * simulator with a stand-in for NCCL. */
#ifndef TALLY_NCCL_H
#define TALLY_NCCL_H

#include "tally/tally.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reduces the whole to out[0] on every rank. TALLY_UNSUPPORTED: order shows (TALLY_FAST sums, prod and logsumexp of
 * floats, operators of the caller's own): states travel by tally_mpi.h. */
TALLY_CHECKED tally_status tally_nccl_allreduce(tally_context *context, tally_op op, tally_array in, tally_output out,
                                                void *comm);
TALLY_CHECKED tally_status tally_nccl_allreduce_pair(tally_context *context, tally_op op, tally_array left,
                                                     tally_array right, tally_output out, void *comm);

/* Reduces segments. Every rank holds a part of each. The index lies in GPU memory, where wrong segments give parts of
 * nothing, or is that of a plan for the GPU. Unless ids are unsorted (TALLY_UNSUPPORTED), it may also lie in host
 * memory, and is read before the call returns; while the stream captures, each segment then takes a launch. */
TALLY_CHECKED tally_status tally_nccl_allreduce_segments(tally_context *context, tally_op op, tally_array in,
                                                         tally_segments segments, tally_output out, void *comm);
TALLY_CHECKED tally_status tally_nccl_allreduce_segments_pair(tally_context *context, tally_op op, tally_array left,
                                                              tally_array right, tally_segments segments,
                                                              tally_output out, void *comm);

/* Element by element: every rank has a vector of the same length. Any operator. Each GPU gets a block of elements from
 * all (ncclSend, ncclRecv), reduces it, and sends the results to all. Vectors and results lie side by side
 * (TALLY_UNSUPPORTED). Scratch memory: as much as a vector. */
TALLY_CHECKED tally_status tally_nccl_allreduce_elements(tally_context *context, tally_op op, tally_array in,
                                                         tally_output out, void *comm);
TALLY_CHECKED tally_status tally_nccl_allreduce_elements_pair(tally_context *context, tally_op op, tally_array left,
                                                              tally_array right, tally_output out, void *comm);

#ifdef __cplusplus
}
#endif

#endif
