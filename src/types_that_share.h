/* Of the operator TALLY_KERNEL, which types have the same kernels. foreach_type.h has them once: TALLY_SIGNLESS,
 * TALLY_TRUTHS and TALLY_PLACES, as it says. */
#ifndef TALLY_TYPES_THAT_SHARE_H
#define TALLY_TYPES_THAT_SHARE_H

#define TALLY_SIGNLESS_any 1
#define TALLY_SIGNLESS_all 1
#define TALLY_SIGNLESS_count 1
#define TALLY_SIGNLESS_and 1
#define TALLY_SIGNLESS_or 1
#define TALLY_SIGNLESS_xor 1
#define TALLY_TRUTHS_any 1
#define TALLY_TRUTHS_all 1
#define TALLY_TRUTHS_count 1
#define TALLY_PLACES_argmin 1
#define TALLY_PLACES_argmax 1

/* those that are not listed are 0 */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wundef"
#if TALLY_PASTE(TALLY_SIGNLESS_, TALLY_KERNEL)
#define TALLY_SIGNLESS
#endif
#if TALLY_PASTE(TALLY_TRUTHS_, TALLY_KERNEL)
#define TALLY_TRUTHS
#endif
#if TALLY_PASTE(TALLY_PLACES_, TALLY_KERNEL)
#define TALLY_PLACES
#endif
#pragma GCC diagnostic pop

#endif
