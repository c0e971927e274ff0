/* Translation units: the forms of kernels that there are for a spec, and the unit of each. */
#ifndef TALLY_CUDA_UNITS_H
#define TALLY_CUDA_UNITS_H

#include "cuda/platform.h"

/* The NaN policy of a spec's kernel: integers have no NaN, and every policy is the same kernel. */
tally_nan tally__nan_of(const tally__spec *spec);
/* Whether there is a kernel of that form for a spec. */
bool tally__has_form(const tally__spec *spec, tally__form form);
/* Whether the kernels of that form are of no operator, and their spec is NULL. */
bool tally__is_general(tally__form form);
/* Makes the translation unit of that form for a spec; of a general form spec may be NULL. For MERGE_TWO and its like
 * only type and options of the spec count. Operators of the caller's own have WHOLE and SEGMENTS, which take rows too.
 * TALLY_UNSUPPORTED: such an operator has no text. */
tally_status tally__unit_of(const tally__spec *spec, tally__form form, tally__unit *unit);
/* The name of a kernel of that unit. */
void tally__name_entry(const tally__unit *unit, tally__entry entry, char name[TALLY_MOST_ENTRY]);
/* The size of the struct that a kernel is launched with. */
size_t tally__work_bytes(tally__entry entry);

/* How merges of values of so many bytes are cut: `each` values are merged by a thread, a pass makes one run of up to
 * `fan`, and a multiprocessor has `blocks` blocks. The variable TALLY_MERGE_SHAPE, "each,fan,blocks", overrules that,
 * for measurements and test_gpu_merge; 0 leaves a number as it is. */
typedef struct tally__merge_shape {
    int each, fan, blocks;
} tally__merge_shape;
tally__merge_shape tally__merge_shape_of(int64_t bytes);

/* The bytes of a tile's buffer in kernels of segments. A block has gpu->tile_buffers of them. */
size_t tally__segments_buffer(const tally__spec *spec);
/* Whether an exact operator adds up values and nothing else. Then sums in a few doubles are tried first. */
bool tally__is_sum_alone(const tally__spec *spec);
/* The bytes of a tile's buffer of production/prefix.h. */
size_t tally__prefix_buffer(const tally__spec *spec, bool is_wide);

#endif
