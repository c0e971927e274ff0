/* Translation units: which forms of kernels a spec has, and the unit of each. */
#ifndef TALLY_CUDA_UNITS_H
#define TALLY_CUDA_UNITS_H

#include "cuda/platform.h"

/* The NaN policy of a spec's kernel: integers have no NaN, and every policy is the same kernel. */
tally_nan tally__nan_of(const tally__spec *spec);
/* Whether there is a kernel of that form for a spec. */
bool tally__has_form(const tally__spec *spec, tally__form form);
/* Whether a form is general: its kernels belong to no operator, and their spec is NULL. */
bool tally__is_general(tally__form form);
/* What a form is for, as kernels/forms.h says. */
tally__purpose tally__purpose_of(tally__form form);
/* Makes the translation unit of a form for a spec; for a general form spec may be NULL. For MERGE_TWO and other merges
 * only type and options of the spec count. User operators have the forms WHOLE, SEGMENTS and SPANS; the last two also
 * take rows. TALLY_UNSUPPORTED: the user operator has no text. */
tally_status tally__unit_of(const tally__spec *spec, tally__form form, tally__unit *unit);
/* The name of a kernel of that unit. */
void tally__name_entry(const tally__unit *unit, tally__entry entry, char name[TALLY_MOST_ENTRY]);
/* The size of a kernel's struct of parameters. */
size_t tally__work_bytes(tally__entry entry);

/* How a merge of values of `bytes` bytes is divided: a thread merges `each` values, a pass merges up to `fan` runs into
 * one, and a multiprocessor has `blocks` blocks. The environment variable TALLY_MERGE_SHAPE, "each,fan,blocks", changes
 * that, for measurements and test_gpu_merge; 0 leaves a number as it is. */
typedef struct tally__merge_shape {
    int each, fan, blocks;
} tally__merge_shape;
tally__merge_shape tally__merge_shape_of(int64_t bytes);

/* Whether an exact operator has one sum, of values or magnitudes, and nothing else. */
bool tally__is_sum_alone(const tally__spec *spec);

#endif
