/* Passes for the simulator's kernels of another version. */
#include "simt/module.h"

tally__simt_lookup *tally_simt_kernels(const char *edition, const tally__simt_words *words, size_t words_bytes) {
    (void)edition, (void)words, (void)words_bytes;
    return NULL;
}
