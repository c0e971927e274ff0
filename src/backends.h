/* Which backend runs a call, by where its data lies. */
#ifndef TALLY_BACKENDS_H
#define TALLY_BACKENDS_H

#include "internal.h"

/* Whether an array or the output is in the memory of a real GPU. */
bool tally__is_far(const tally__input *in, const tally__sink *sink);
/* Compute goes to the data: sets the spec's backend where an array, index or output is on a GPU. segments: NULL for a
 * whole array. TALLY_BAD_ARGUMENT: the options ask for another. */
tally_status tally__choose_backend(tally__spec *spec, const tally__input *in, const tally_segments *segments,
                                   const tally__sink *sink);
/* TALLY_BAD_ARGUMENT: the plan was made ready for another backend. */
tally_status tally__check_plan(const tally_plan *plan, const tally__backend *backend);

#endif
