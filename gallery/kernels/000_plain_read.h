/* 000 plain_read: no reduction at all.
 *
 * Idea. Every value is read once, 16 bytes at a time, and nothing comes of it. A reduction has to read the same bytes,
 *   so no reduction of values from memory is faster than this: it is what the others are measured against.
 * Source. Tally; bench/gpu/plain_read.cuh is the same in CUDA C++.
 * Requires. Nothing of the operator, which it does not use. Its result is that of no values.
 * Steps. Each thread of a block reads 8 times 16 bytes, a block apart. Bits that no data has by accident would be
 *   written, so that the compiler does not leave the reads out.
 * Work. n values read, n * size bytes; nothing written.
 * Predict. How long do 2^28 bytes take at 3.35 TB/s, the data sheet of an H100?
 * Answer. 80 microseconds. The measured read stays within a tenth of that: memory is never quite free.
 * Why. Enough reads are on their way at any time to cover the latency of memory (Little's law): bandwidth is the bound.
 * In short. bound by memory bandwidth
 * Next. interleaved reduces. */
#include "gallery/kernels/contract.h"

TALLY_KERNEL_OF(plain_read) {
    int64_t each = TALLY_INPUTS(&work) == TALLY_OF_ELEMENTS ? (int64_t)sizeof(TALLY_E) : TALLY_BYTES;
    int64_t bytes = work.count * each / 16 * 16;
    uint32_t seen = 0;
    for (int32_t k = 0; k < 8; k++) {
        int64_t at = 16 * (((int64_t)tally_block() * 8 + k) * tally_threads() + tally_thread());
        if (at < bytes) {
            tally_quad quad = tally_load16(work.x + at);
            seen ^= quad.w[0] ^ quad.w[1] ^ quad.w[2] ^ quad.w[3];
        }
    }
    if (seen == 0x7a11fade && work.count < 0) give(&work, 0, TALLY_NONE);
    if (tally_thread() == 0 && tally_block() == 0) give(&work, 0, TALLY_NONE);
}
