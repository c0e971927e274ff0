/* 029 loads_in_flight: several loads before the first addition.
 *
 * Idea. A load takes some hundred nanoseconds, and a thread may ask for many values before it needs the first. Let each
 *   thread load eight values and only then combine them: the loads overlap.
 * Source. Little's law; V. Volkov, "Better Performance at Lower Occupancy", 2010, for reads: instruction-level
 *   parallelism in place of threads.
 * Requires. An operator that commutes: a thread's values lie a block apart. Any length, launched until one is left.
 * Steps. Eight loads into registers; seven combinations; the tree of halves.
 * Work. n - 1 combinations, of which 255 for each 2048 in the tree; 9 barriers for 2048 values.
 * Predict. Four times the values for each barrier, and four times the bytes in flight. What is left between this and
 *   the plain read?
 * Answer. The tree: while a block is in it, it loads nothing. Other blocks on the multiprocessor do.
 * Why. Eight loads of a thread overlap, so that more bytes are on their way (Little's law): half the time of
 *   first_add.
 * In short. eight loads in flight
 * Next. Each load asks for 4 bytes of f32. vector_loads asks for 16. */
#include "gallery/kernels/028_first_add.h"

TALLY_KERNEL_OF(loads_in_flight) {
    TALLY_SHARED_ARRAY(TALLY_E, TALLY_SHARED_loads_in_flight, partial);
    enum { LOADS = TALLY_EACH_loads_in_flight / TALLY_THREADS_loads_in_flight };
    int64_t first = (int64_t)tally_block() * TALLY_EACH_loads_in_flight + tally_thread();
    TALLY_E value[LOADS];
    for (int32_t k = 0; k < LOADS; k++) value[k] = take(&work, first + k * TALLY_THREADS_loads_in_flight);
    /* by halves, as CUDA 13.0 compiles one after the other wrongly for var of i32 (with --ptxas-options=-O1 rightly) */
    for (int32_t half = LOADS / 2; half > 0; half /= 2)
        for (int32_t k = 0; k < half; k++) value[k] = TALLY_OP(value[k], value[k + half]);
    TALLY_E sum = reduce_halves(partial, value[0]);
    if (tally_thread() == 0) give(&work, tally_block(), sum);
}
