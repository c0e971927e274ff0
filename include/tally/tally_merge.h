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
 * GPU: a GPU merges, on options.stream, if an array or output lies in its memory or in managed memory, or if
 * options.backend names one. It must reach all arrays and outputs: its own, managed and pinned memory. If none of them
 * lies in a GPU's own memory, options.device merges. Scratch memory there: some KiB, 24 bytes for each array, up to
 * 3 % of the values' bytes, and for more than four arrays (eight of values of 8 bytes) as much as the outputs;
 * options.scratch is not used.
 *
 * Synchronous, also on a GPU: the call waits for earlier work of the stream and for the merge, and returns its status.
 * So a stream that is being captured is refused (TALLY_BAD_ARGUMENT).
 *
 * Method: threads take equal shares of the output, which they find by a search for the value of that rank in all arrays
 * (Varman, Scheufler, Iyer and Ricard, "Merging multiple lists on hierarchical-memory multiprocessors", 1991). A share
 * is merged in blocks that fit the cache; in each block arrays are merged in pairs, then the pairs, and so on (Knuth
 * vol. 3, 5.4). Two are merged by a bitonic network in vector registers (Batcher 1968; Inoue, Moriyama, Komatsu and
 * Nakatani 2007), four pieces at a time, which merge path finds (Odeh, Green, Mwassi, Shmueli and Birk 2012). On a
 * GPU a kernel makes one run of up to four or eight, whose blocks take equal shares of the output (of two runs by merge
 * path: Green, McColl and Bader, "GPU merge path", 2012), and others make one of these, and so on.
 *
 * TALLY_BAD_ORDER: an array is not sorted; the sentence says which and where. What the outputs hold then is not
 * defined. TALLY_BAD_TYPE: types differ, or one is none that can be merged. TALLY_BAD_ARGUMENT: NULL with a count, a
 * negative count, too little space, the option TALLY_NAN_SKIP; arrays on different GPUs, or on a GPU with the option
 * backend TALLY_BACKEND_CPU or TALLY_BACKEND_REFERENCE. TALLY_NO_MEMORY. TALLY_UNSUPPORTED: a GPU is to merge, and it
 * does not reach all arrays and outputs. TALLY_NO_DEVICE and TALLY_DEVICE_FAILED as for reductions. */
TALLY_CHECKED tally_status tally_merge(const tally_context *context, const tally_array *arrays, int64_t count,
                                       tally_output out, tally_output origin);

/* For sorted series that arrive in pieces: how much of each piece can be merged now. Array i is the current piece of
 * series i; more[i] is not 0 if further pieces follow. Writes taken[i]: how many of the first values of array i come
 * before every value that has not arrived. tally_merge of those values gives the next part of the whole merge. As long
 * as some more[i] is not 0, at least one such piece is taken whole, so that the caller can bring the next one; if such
 * a piece is empty, nothing is taken.
 *
 * Time: for each array the logarithm of its length. It needs no memory, and does not check that arrays are sorted:
 * tally_merge checks the values that it is given, and the caller checks the boundary between two pieces. Arrays lie in
 * host memory (TALLY_UNSUPPORTED: on a GPU). Other errors as tally_merge. */
TALLY_CHECKED tally_status tally_merge_ready(const tally_context *context, const tally_array *arrays,
                                             const unsigned char *more, int64_t count, int64_t *taken);

#ifdef __cplusplus
}
#endif

#endif
