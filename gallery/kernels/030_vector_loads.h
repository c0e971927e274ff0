/* 030 vector_loads: 16 bytes at a time.
 *
 * Idea. A thread can load 16 bytes by one instruction: four neighbouring f32. A warp's request is then 512 bytes, four
 *   full transactions, and there are a quarter of the instructions.
 * Source. NVIDIA, "CUDA Pro Tip: Increase Performance with Vectorized Memory Access", 2013.
 * Requires. An operator that commutes: blocks end with the tree of halves. Any length; what is left at the end, and
 *   types of less than 4 bytes, are loaded one by one.
 * Steps. Two loads of four values each, a block apart; seven combinations; the tree of halves.
 * Work. As loads_in_flight, with a quarter of the load instructions.
 * Predict. As many bytes as loads_in_flight, in two loads in place of eight. Are there fewer transactions? Is it
 *   faster?
 * Answer. No: both are coalesced, and each byte comes once. There are fewer requests, and fewer instructions, and
 *   neither shows in the time: a percent for min, nothing for sum.
 * Why. As many bytes in flight, which is what counts here, by fewer instructions, which a multiprocessor executes while
 *   it waits for memory.
 * In short. 16 bytes a load
 * Next. The loop of the tree costs instructions too: unrolled does without. */
#include "gallery/kernels/028_first_add.h"

#ifndef TALLY_GALLERY_VECTOR_LOADS
#define TALLY_GALLERY_VECTOR_LOADS
/* What the thread folds of the block's piece: vectors of neighbours, a block of vectors apart. */
TALLY_FN TALLY_E fold_vectors(const tally_work *work) {
    enum { VECTORS = TALLY_EACH_vector_loads / TALLY_THREADS_vector_loads / TALLY_VECTOR };
    int64_t first = (int64_t)tally_block() * TALLY_EACH_vector_loads + tally_thread() * TALLY_VECTOR;
    TALLY_E sum = take_vector(work, first, TALLY_VECTOR);
    for (int32_t k = 1; k < VECTORS; k++)
        sum = TALLY_OP(sum, take_vector(work, first + k * TALLY_THREADS_vector_loads * TALLY_VECTOR, TALLY_VECTOR));
    return sum;
}

TALLY_KERNEL_OF(vector_loads) {
    TALLY_SHARED_ARRAY(TALLY_E, TALLY_SHARED_vector_loads, partial);
    TALLY_E sum = reduce_halves(partial, fold_vectors(&work));
    if (tally_thread() == 0) give(&work, tally_block(), sum);
}
#endif
