/* The threads of a warp; the warps and the threads of a block, but of segments, production/segments/flat.h and merges.
 * Host and kernels share them. */
#ifndef TALLY_BLOCK_H
#define TALLY_BLOCK_H

enum { TALLY_WARP = 32, TALLY_WARPS = 8 };
#define TALLY_THREADS (TALLY_WARPS * TALLY_WARP)

#endif
