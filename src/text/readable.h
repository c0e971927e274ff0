/* Makes a kernel's text one that people read: what its conditions leave out is gone, macros that make names are
 * replaced by the names, and nothing stands there that the entry does not use. Comments stay. The result compiles to
 * the same code. */
#ifndef TALLY_TEXT_READABLE_H
#define TALLY_TEXT_READABLE_H

#include "text/tokens.h"

/* Resolves conditions and names: `text`, whose includes are expanded, to `out`, which the caller frees. What the
 * compiler defines (words that begin with __) is unknown, and conditions on it stay. False: no memory. (conditions.c)
 */
bool tally__resolve_conditions(const char *text, size_t size, text_buffer *out);

/* Leaves out declarations and macros that nothing uses which declares an entry: what names TALLY_KERNEL_ENTRY,
 * TALLY_ENTRY or __global__. False: no memory. (unused.c) */
bool tally__leave_out_unused(const char *text, size_t size, text_buffer *out);

#endif
