/* What the CPU needs of arrays that lie on a GPU, for states: the functions of tally__backend (../internal.h). */
#ifndef TALLY_CUDA_FAR_H
#define TALLY_CUDA_FAR_H

#include "internal.h"

tally_status tally__far_tree(const tally__spec *spec, const tally__input *in, int64_t begin, int64_t n, int64_t first,
                             tally__node *node);
tally_status tally__far_values(const tally__spec *spec, const tally__input *in, int64_t begin, int64_t n, void *x,
                               void *y);
tally_status tally__far_store(const tally__spec *spec, void *to, const void *bytes, size_t count);

#endif
