/* Which backend runs a call: by the options, and by where the data lies. */
#include "backends.h"
#include "plan.h"

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

bool tally__is_far(const tally__input *in, const tally__sink *sink) {
    const bool are_two = in->y != in->x;
    return tally__lies_on_gpu(in->x) || (are_two && tally__lies_on_gpu(in->y)) || tally__lies_on_gpu(sink->data);
}

tally_status tally__check_plan(const tally_plan *plan, const tally__backend *backend) {
    const tally_options made_for = {.backend = plan->backend};
    TALLY_CHECK(tally__backend_of(&made_for) == backend, BAD_ARGUMENT, "the plan was made ready for another backend");
    return TALLY_OK;
}

tally_status tally__choose_backend(tally__spec *spec, const tally__input *in, const tally_segments *segments,
                                   const tally__sink *sink) {
    const tally_plan *plan = segments != NULL && segments->kind == TALLY_PLANNED ? segments->plan : NULL;
    const bool may_be = tally__cuda_backend.may_hold();
    bool on_gpu = may_be && tally__is_far(in, sink);
    if (plan != NULL) on_gpu |= plan->backend == TALLY_BACKEND_CUDA;
    if (plan == NULL && segments != NULL && may_be)
        on_gpu |= tally__lies_on_gpu(segments->index) || tally__lies_on_gpu(segments->ends);
    if (on_gpu && spec->options.backend == TALLY_BACKEND_AUTO) spec->options.backend = TALLY_BACKEND_CUDA;
    TALLY_CHECK(!on_gpu || spec->options.backend == TALLY_BACKEND_CUDA, BAD_ARGUMENT,
                "an array in GPU memory is reduced by TALLY_BACKEND_AUTO or TALLY_BACKEND_CUDA only");
    return plan != NULL ? tally__check_plan(plan, tally__backend_of(&spec->options)) : TALLY_OK;
}

void tally__forget(const tally_context *context, bool only_given) {
    static const tally__backend *const all[] = {&tally__cpu_backend, &tally__reference_backend, &tally__cuda_backend,
                                                &tally__simt_backend};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i]->forget != NULL) all[i]->forget(context, only_given);
}
