/* 004 host_finish: the host adds up what blocks leave.
 *
 * Idea. After one launch of two_loads there is one element for each 512 values. If they are few, the host copies them
 *   and combines them itself: one launch, one copy, no second kernel.
 * Source. Hwu, "Back to the Global Picture": the second way to finish.
 * Requires. As two_loads; the host needs the operator too. Here it has it, out of the same text.
 * Steps. Those of two_loads; then the host folds the elements from left to right.
 * Work. As two_loads, but for the n/512 elements that cross the bus and are folded by one thread. The host waits for
 *   the GPU, so nothing can be enqueued behind the result.
 * Predict. The same kernel, but the host finishes. Faster or slower than the two further launches?
 * Answer. Slower by far at this length: n/512 elements cross the bus, and one host thread folds them. Launches are
 *   cheap beside that.
 * Why. The bus and one host thread are the bound, not the GPU.
 * In short. waits for the host
 * Next. Most threads of such a block are idle most of the time. one_block has every thread fold many values before the
 *   tree begins. */
#include "gallery/kernels/003_two_loads.h"

TALLY_KERNEL_OF(host_finish) { reduce_two_loads(&work); }
