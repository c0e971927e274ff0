/* Which platform runs a call. */
#include "cuda/platform.h"

const tally__platform *tally__platform_of(const tally_options *options) {
    return options->backend == TALLY_BACKEND_SIMT ? &tally__simt_platform : &tally__nvidia_platform;
}
