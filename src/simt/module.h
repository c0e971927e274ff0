/* Between the simulator and its production kernels, libtally-simt.so: a library that is opened when the first of them
 * is needed, since it is larger than all the rest. It stands alone but for the machine's words, which it is given. */
#ifndef TALLY_SIMT_MODULE_H
#define TALLY_SIMT_MODULE_H

#include "simt/simt.h"
#include "simt/words.h"

/* The version, and a hash of the texts in kernels/: generated/edition.c, which both have. */
extern const char tally__edition[];

/* The function of that name; NULL: there is none. */
typedef tally__simt_entry *tally__simt_lookup(const char *entry);

/* All that the library exports (kernels/entries.c). NULL: it is of another edition, or has the words of another
 * machine. */
typedef tally__simt_lookup *tally__simt_opening(const char *edition, const tally__simt_words *words,
                                                size_t words_bytes);
tally__simt_opening tally_simt_kernels;

/* The function of that name in the library, opened by the first call; NULL: there is none, or no library. Callers take
 * turns. (module.c) */
tally__simt_entry *tally__simt_production(const char *entry);
/* A sentence, once a call has found that there is no library; until then "". */
const char *tally__simt_missing(void);

#endif
