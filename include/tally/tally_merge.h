/* Tally: sorted arrays merged into one.
 *
 *     double all[300];
 *     tally_array lists[2] = {tally_in(a, TALLY_F64, 100), tally_in(b, TALLY_F64, 200)};
 *     tally_merge(NULL, lists, 2, tally_out(all, TALLY_F64, 300), (tally_output){0});
 *
 * What tally.h says of errors, memory, threads and contexts holds here, too.
 */
#ifndef TALLY_MERGE_H
#define TALLY_MERGE_H

#include "tally/tally.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Merges `count` arrays, each sorted, into one sorted array: out[0 .. n-1], n the sum of their counts. All have one
 * type, any but TALLY_STRUCT; any of them may be empty, and count may be 0. out.type is that type or TALLY_NATURAL.
 * Values arrive with the bits that they have.
 *
 * The order: numbers ascend; false comes before true. Of floats, -0 and +0 are equal and NaNs come last, all equal, as
 * numpy.sort and most others have it. With the option nan TALLY_NAN_TOTAL it is IEEE 754 totalOrder, as for min and
 * max: NaNs with a sign come first, -0 before +0, other NaNs last. Equal values stay in the order of the arrays, and in
 * each array as they lie (a stable merge).
 *
 * origin: where each value came from, if origin.data is not NULL: origin[i] is the place of out[i] in all arrays side
 * by side, the first array first. Room for n values of TALLY_I64 (or TALLY_NATURAL).
 *
 * Outputs may overlap neither an array nor one another. Scratch memory: some 2 MiB for each thread, or 64 values of
 * each array where that is more; and 100 bytes for each array, 2 KiB where a value is a byte.
 *
 * Everything lies in the host's memory, or in reach of one GPU (its own memory, pinned or managed memory), which then
 * merges, on the stream of the context's options; with managed memory alone that is the device of the options. There
 * scratch memory is some KiB, 24 bytes for each array, and for more than two arrays as much as the outputs;
 * options.scratch is not used.
 *
 * It is synchronous: on a GPU, too, the call waits for what the stream has to do before, and for the merge, and returns
 * its status. So a stream that is captured is refused (TALLY_BAD_ARGUMENT).
 *
 * Method: threads take equal shares of the output, which they find by a search for the value of that rank in all arrays
 * (Varman, Scheufler, Iyer and Ricard, "Merging multiple lists on hierarchical-memory multiprocessors", 1991). A share
 * is merged in blocks that fit the cache; in each block arrays are merged in pairs, then the pairs, and so on (Knuth
 * vol. 3, 5.4). Two are merged by a bitonic network in vector registers (Batcher 1968; Inoue, Moriyama, Komatsu and
 * Nakatani 2007), four pieces of them at a time, cut by merge path (Odeh, Green, Mwassi, Shmueli and Birk 2012). On a
 * GPU arrays are merged in pairs, then the pairs, and so on, one kernel for each level, whose blocks take equal shares
 * of the output by merge path (Green, McColl and Bader, "GPU merge path", 2012).
 *
 * TALLY_BAD_ORDER: an array is not sorted; the sentence says which and where. What the outputs hold then is not
 * defined. TALLY_BAD_TYPE: types differ, or one is none that can be merged. TALLY_BAD_ARGUMENT: NULL with a count, a
 * negative count, too little room, the option TALLY_NAN_SKIP; arrays on different GPUs, or on a GPU with the option
 * backend TALLY_BACKEND_CPU or TALLY_BACKEND_REFERENCE. TALLY_NO_MEMORY. TALLY_UNSUPPORTED: a GPU is to merge (the
 * option backend says so, or an array or output lies in its memory), and something lies in host memory that is not in
 * reach of it. TALLY_NO_DEVICE and TALLY_DEVICE_FAILED as for reductions. */
TALLY_CHECKED tally_status tally_merge(const tally_context *context, const tally_array *arrays, int64_t count,
                                       tally_output out, tally_output origin);

/* For arrays that are pieces of longer ones: how much of each can be merged now. more[i] is not 0 where values follow
 * behind array i that are not here yet. Writes taken[i]: so many of the first values of array i come before all that is
 * not here yet. A call of tally_merge of these goes on where the last one ended, as one merge of the whole would. Until
 * all arrays have come to their end, at least one with more to come is taken whole, and can be refilled; if one is
 * empty with more to come, nothing is taken.
 *
 * It takes time for each array and the logarithm of its length, and no memory. It does not look whether arrays are
 * sorted: tally_merge does, in what it is given; between two pieces the caller has to. Arrays lie in the host's memory;
 * on a GPU: TALLY_UNSUPPORTED. Other errors as tally_merge. */
TALLY_CHECKED tally_status tally_merge_ready(const tally_context *context, const tally_array *arrays,
                                             const unsigned char *more, int64_t count, int64_t *taken);

#ifdef __cplusplus
}
#endif

#endif
