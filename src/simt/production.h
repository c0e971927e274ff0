/* Between the units that CMake writes of the production kernels and the simulator's platform. */
#ifndef TALLY_SIMT_PRODUCTION_H
#define TALLY_SIMT_PRODUCTION_H

#include "internal.h"
#include "simt/simt.h"

/* The kernels of one text, and one operator; NULL where it is not defined. */
typedef struct tally__simt_pair {
    tally__simt_entry *first, *second;
} tally__simt_pair;
typedef struct tally__simt_set {
    tally__simt_pair of[TALLY_TYPE_END][3];
} tally__simt_set;

/* The function of that name; NULL: there is none. */
tally__simt_entry *tally__simt_production(const char *entry);

/* Those that prepare a cut (cut.c). */
tally__simt_entry *tally__simt_cut(const char *entry);

#endif
