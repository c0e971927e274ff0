/* Which backend runs a call: by the options, and by where the data lies. */
#include "internal.h"

const tally__backend *tally__host_backend_of(const tally_options *options) {
    return options->backend == TALLY_BACKEND_REFERENCE ? &tally__reference_backend : &tally__cpu_backend;
}
const tally__backend *tally__backend_of(const tally_options *options) {
    if (options->backend == TALLY_BACKEND_CUDA) return &tally__cuda_backend;
    if (options->backend == TALLY_BACKEND_SIMT) return &tally__simt_backend;
    return tally__host_backend_of(options);
}

bool tally__lies_on_gpu(const void *address) { return tally__cuda_backend.holds(address); }

const tally__backend *tally__far_backend_of(const tally_options *options, const void *address) {
    const tally__backend *backend =
        options->backend == TALLY_BACKEND_AUTO ? &tally__cuda_backend : tally__backend_of(options);
    return backend->holds != NULL && backend->holds(address) ? backend : NULL;
}

void tally__forget(const tally_context *context, bool only_given) {
    static const tally__backend *const all[] = {&tally__cpu_backend, &tally__reference_backend, &tally__cuda_backend,
                                                &tally__simt_backend};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i]->forget != NULL) all[i]->forget(context, only_given);
}
