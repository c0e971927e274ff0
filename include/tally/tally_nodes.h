/* Nodes: partial results that travel.
 *
 * A node is the reduction of some values in a form of fixed size per operator and type: plain bytes without pointers,
 * the same on every machine (docs/states.md, "Nodes"). Processes reduce their own values to nodes, send these by any
 * means, merge them in any order, and finish the last one: the result has the bits of tally_reduce over all values.
 * tally_mpi.h does so over MPI. docs/ranks.md says why the split cannot show.
 *
 *     size_t bytes;
 *     tally_node_bytes(NULL, TALLY_SUM, TALLY_F64, &bytes);
 *     tally_reduce_node(NULL, TALLY_SUM, tally_in(x, TALLY_F64, count), mine, bytes);
 *     ... receive `theirs` ...
 *     tally_merge_nodes(NULL, TALLY_SUM, TALLY_F64, 1, mine, theirs);
 *     tally_finish_nodes(NULL, TALLY_SUM, TALLY_F64, 1, mine, tally_out(&total, TALLY_F64, 1));
 *
 * There are nodes only where order does not show (docs/order.md): for integers, exact sums of floats and what is made
 * of them, min, max, bits and the like. Elsewhere (prod, logsumexp and TALLY_FAST sums of floats, operators of the
 * caller's own) functions of nodes give TALLY_UNSUPPORTED: send states (tally_state_save), merged in order.
 *
 * All nodes of one computation are of one operator, type and set of the options accuracy and nan; ddof and overflow
 * count where they are finished. Nodes lie side by side, at any address. Functions return when the work is done, but
 * for nodes in GPU memory. Threads: as tally.h.
 *
 * Nodes in GPU memory:
 *  - All functions take them. What these read and write must be in reach of that GPU (TALLY_BAD_ARGUMENT), but for
 *    results of tally_finish_nodes. Nodes of exact sums begin at a multiple of 8 (TALLY_BAD_ARGUMENT). Extents lie in
 *    memory of that GPU, too.
 *  - The work is put on options.stream, and the call returns. It waits if results go to host memory, if nodes are
 *    shrunk (for the number of bytes), and with options.checked. Only if it waits it reports what kernels alone see:
 *    TALLY_BAD_SEGMENTS of an index in GPU memory or of unsorted ids, TALLY_BAD_STATE, TALLY_EMPTY, TALLY_OVERFLOW.
 *    Damaged nodes count as nodes of no values, and wrong segments give nodes of nothing.
 *  - The stream may be capturing if the kernels are ready; the first such call makes them ready. An index in host
 *    memory is read before the call returns. While the stream captures, each segment by such an index takes a launch,
 *    and unsorted ids must lie in GPU memory (TALLY_BAD_ARGUMENT).
 *  - Method: a thread merges or finishes a node. A warp, or for exact sums a block, reduces a segment. A segment of
 *    1 MiB or more that the host knows takes a launch of its own. Few segments whose index the GPU alone reads are cut
 *    into up to 64 pieces each.
 *  - Scratch memory: some 2 KiB and 16 bytes for each segment. Nodes of exact sums take up to 57 MB to merge or to
 *    finish; windows take as much as the nodes.
 *
 * Errors of all functions: TALLY_UNSUPPORTED (above), TALLY_BAD_TYPE, and TALLY_BAD_ARGUMENT for NULL, a negative count
 * or an unknown operator. Those of one function stand there. After a failure the output holds nothing of use. */
#ifndef TALLY_NODES_H
#define TALLY_NODES_H

#include "tally/tally.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The bytes of one node: 9 for min of i8, 128 for the exact sum of f32, 584 for that of f64, at most 1728. */
TALLY_CHECKED tally_status tally_node_bytes(const tally_context *context, tally_op op, tally_type type, size_t *bytes);

/* *adds: whether nodes are 64-bit integers that merge by addition, word by word (MPI_SUM on MPI_INT64_T, ncclSum on
 * ncclInt64): exact sums of floats, but for stats, and count. 2^30 nodes may be added before they are finished or
 * merged otherwise. 0: they merge by tally_merge_nodes alone. */
TALLY_CHECKED tally_status tally_node_adds(const tally_context *context, tally_op op, tally_type type, int *adds);

/* Reduces an array to one node at `node`, which has room for `space` bytes. Indices (argmin, argmax) count from the
 * array's start: see tally_shift_nodes. GPU: an array in GPU memory is reduced by its GPU, on options.stream; for a
 * node in host memory the call waits. TALLY_NO_SPACE: too little space. Others as tally_reduce. An array without values
 * gives the node that changes nothing. */
TALLY_CHECKED tally_status tally_reduce_node(tally_context *context, tally_op op, tally_array in, void *node,
                                             size_t space);
TALLY_CHECKED tally_status tally_reduce_node_pair(tally_context *context, tally_op op, tally_array left,
                                                  tally_array right, void *node, size_t space);

/* Reduces each segment to a node: as many nodes as tally_reduce_segments gives results, in the same order. Each value
 * of an array is a node by tally_rows(count, 1, 1). GPU: segments of an array in GPU memory are reduced at once; the
 * index lies there or in host memory, or is a plan's. Values by unsorted ids are copied there first, segment by
 * segment. For nodes in host memory the call waits, and takes GPU memory for them. TALLY_NO_SPACE: `space` is too
 * little. TALLY_UNSUPPORTED also: a plan for a GPU, and an array in host memory. TALLY_BAD_ARGUMENT also: a plan of
 * unsorted ids for the host, and an array in GPU memory. Others as tally_reduce_segments. */
TALLY_CHECKED tally_status tally_reduce_segments_nodes(tally_context *context, tally_op op, tally_array in,
                                                       tally_segments segments, void *nodes, size_t space);
TALLY_CHECKED tally_status tally_reduce_segments_nodes_pair(tally_context *context, tally_op op, tally_array left,
                                                            tally_array right, tally_segments segments, void *nodes,
                                                            size_t space);

/* into[i] becomes the node of the values of both into[i] and from[i], i = 0 .. count-1. into and from do not overlap.
 * TALLY_BAD_STATE: a node says that it has a negative or impossible number of values. Other damage cannot be told, and
 * gives some result. */
TALLY_CHECKED tally_status tally_merge_nodes(const tally_context *context, tally_op op, tally_type type, int64_t count,
                                             void *into, const void *from);

/* Moves the index in node i (argmin, argmax) by by[i], the number of values that lie before its own; of other operators
 * nothing changes. TALLY_BAD_STATE as tally_merge_nodes. */
TALLY_CHECKED tally_status tally_shift_nodes(const tally_context *context, tally_op op, tally_type type, int64_t count,
                                             void *nodes, const int64_t *by);

/* out[i] = the result of node i. out may be GPU memory; if the nodes lie in host memory then, the results must lie side
 * by side, and the call waits. TALLY_EMPTY, TALLY_OVERFLOW: as tally_reduce, for at least one node; all results are
 * written. TALLY_BAD_STATE as tally_merge_nodes. TALLY_BAD_TYPE, TALLY_NO_MEMORY as tally_reduce. */
TALLY_CHECKED tally_status tally_finish_nodes(const tally_context *context, tally_op op, tally_type type, int64_t count,
                                              const void *nodes, tally_output out);

/* Windows: most limbs of an exact sum are zero. Ranks that add many nodes agree on the limbs that are in use in each,
 * and send those alone: 3 to 6 words in place of 16 (f32) or 73 (f64) for values of a few magnitudes. Four steps:
 *  1. every rank calls tally_find_extents;
 *  2. the ranks take the maximum of their extents, entry by entry (MPI_MAX on MPI_INT16_T);
 *  3. tally_shrink_nodes leaves 64-bit integers, the same number on every rank, and the ranks add these (at most 2^30
 *     ranks);
 *  4. tally_restore_nodes makes nodes of the sums.
 * Nothing is lost, whatever the values are.
 *
 * *numbers: how many numbers of limbs a node has: 0, 1 or 2. With 0 it has no windows, and the functions below give
 * TALLY_UNSUPPORTED. */
TALLY_CHECKED tally_status tally_node_numbers(const tally_context *context, tally_op op, tally_type type,
                                              int *numbers);
/* Writes the extents of `count` nodes, TALLY_EXTENT entries for each number. The nodes change to another form of
 * themselves. */
#define TALLY_EXTENT 6
TALLY_CHECKED tally_status tally_find_extents(const tally_context *context, tally_op op, tally_type type, int64_t count,
                                              void *nodes, int16_t *extents);
/* Replaces nodes that tally_find_extents has prepared by *bytes bytes at the same address. The extents are the maximum
 * of all ranks'. TALLY_BAD_STATE: extents that are impossible. */
TALLY_CHECKED tally_status tally_shrink_nodes(const tally_context *context, tally_op op, tally_type type, int64_t count,
                                              void *nodes, const int16_t *extents, size_t *bytes);
/* Replaces the sums at `nodes`, which has room for `count` nodes, by nodes. TALLY_BAD_STATE as before. */
TALLY_CHECKED tally_status tally_restore_nodes(const tally_context *context, tally_op op, tally_type type,
                                               int64_t count, void *nodes, const int16_t *extents);

/* Memory for nodes on a GPU, for callers that do not use CUDA themselves. *memory = `bytes` bytes, at a multiple of
 * 256, of the GPU that the memory at `beside` belongs to; NULL if that is the host's. tally_close_node_memory gives it
 * back: with the same context, when what still uses it is done. NULL is fine there. tally_await_nodes waits for what
 * was put on options.stream of the GPU that these nodes lie on; for nodes in host memory it does nothing.
 * TALLY_NO_MEMORY, TALLY_DEVICE_FAILED. */
TALLY_CHECKED tally_status tally_open_node_memory(const tally_context *context, const void *beside, size_t bytes,
                                                  void **memory);
TALLY_CHECKED tally_status tally_await_nodes(const tally_context *context, const void *nodes);
TALLY_CHECKED tally_status tally_close_node_memory(const tally_context *context, void *memory);

/* *results = how many results tally_reduce_segments would give for an array of `values` values, and counts[r] = the
 * number of values of result r. There is room for `space` counts. If counts is NULL, the index is not read. An
 * index in GPU memory is copied to the host. TALLY_NO_SPACE: more results than space. TALLY_UNSUPPORTED: a plan for a
 * GPU. TALLY_BAD_SEGMENTS, TALLY_NO_MEMORY as tally_reduce_segments. */
TALLY_CHECKED tally_status tally_segment_counts(const tally_context *context, int64_t values, tally_segments segments,
                                                int64_t *counts, int64_t space, int64_t *results);

/* The bytes of one value that op takes: the type's, or of TALLY_STRUCT those of the caller's operator. */
TALLY_CHECKED tally_status tally_value_bytes(const tally_context *context, tally_op op, tally_type type,
                                             size_t *bytes);

/* Where order shows: pushes the values of result r to states[r], `count` of them, one for each result. The caller opens
 * them for op and in.type, each where its segment's part begins. TALLY_BAD_ARGUMENT: another number of states, a state
 * that is NULL or of another operator. Others as tally_state_push and tally_reduce_segments_nodes; some states may have
 * their values then. */
TALLY_CHECKED tally_status tally_push_segments(tally_context *context, tally_op op, tally_array in,
                                               tally_segments segments, tally_state *const *states, int64_t count);
TALLY_CHECKED tally_status tally_push_segments_pair(tally_context *context, tally_op op, tally_array left,
                                                    tally_array right, tally_segments segments,
                                                    tally_state *const *states, int64_t count);

/* Copies the values of an array that op takes, side by side, to host memory with room for `space` bytes. The array may
 * have a stride, and may lie in GPU memory, from where values with a stride are copied one by one; the call waits.
 * TALLY_NO_SPACE: too little space. Others as tally_reduce. */
TALLY_CHECKED tally_status tally_copy_values(const tally_context *context, tally_op op, tally_array in, void *values,
                                             size_t space);

#ifdef __cplusplus
}
#endif

#endif
