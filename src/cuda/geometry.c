/* The geometry of each operator, by what a spec says. */
#include "cuda/geometry.h"

#include "kernel_list.h"

#define TALLY_ROW(kernel) extern const tally__geometry_set tally__geometry_##kernel;
TALLY_KERNELS(TALLY_ROW)
#undef TALLY_ROW
#define TALLY_ROW(kernel) extern const tally__geometry_set tally__geometry_exact_##kernel;
TALLY_EXACT_KERNELS(TALLY_ROW)
#undef TALLY_ROW

static const tally__geometry_set *const sets[] = {
#define TALLY_ROW(kernel) &tally__geometry_##kernel,
    TALLY_KERNELS(TALLY_ROW)
#undef TALLY_ROW
};
static const tally__geometry_set *const exact_sets[] = {
#define TALLY_ROW(kernel) &tally__geometry_exact_##kernel,
    TALLY_EXACT_KERNELS(TALLY_ROW)
#undef TALLY_ROW
};

/* A text's accumulator is as large as its definition says, and so is a node of it (user/operator.h). */
static tally__geometry geometry_of_user(const tally__user_operator *user) {
    return (tally__geometry){.value_bytes = user->kernel.value_bytes,
                             .leaf = user->kernel.leaf,
                             .node_size = user->kernel.node_size,
                             .node_bytes = user->kernel.node_bytes};
}

tally__geometry tally__geometry_of(const tally__spec *spec) {
    if (spec->user != NULL) return geometry_of_user(spec->user);
    return (spec->exact ? exact_sets : sets)[spec->kernel_number]->of[spec->type][spec->options.nan];
}
