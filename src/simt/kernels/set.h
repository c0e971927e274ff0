/* Between the units that CMake writes of the production kernels and their list (entries.c). */
#ifndef TALLY_SIMT_SET_H
#define TALLY_SIMT_SET_H

#include "internal.h"
#include "simt/simt.h"

/* The kernels of one text, and one operator; NULL where there are not so many. */
typedef struct tally__simt_pair {
    tally__simt_entry *first, *second, *third;
} tally__simt_pair;
typedef struct tally__simt_set {
    tally__simt_pair of[TALLY_TYPE_END][3];
} tally__simt_set;

/* Those of no operator (cut.c). */
tally__simt_entry *tally__simt_cut(const char *entry);

#endif
