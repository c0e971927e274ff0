/* Between the units that CMake writes of the production kernels and their list (entries.c). */
#ifndef TALLY_SIMT_SET_H
#define TALLY_SIMT_SET_H

#include "form_numbers.h"
#include "internal.h"
#include "simt/simt.h"

/* The kernels of one unit of kernels/forms.h and one operator, in the table's order. */
typedef struct tally__simt_kernels {
    tally__simt_entry *entries[TALLY_MOST_ENTRIES];
} tally__simt_kernels;
typedef struct tally__simt_set {
    tally__simt_kernels of[TALLY_TYPE_END][3];
} tally__simt_set;

/* Kernels of no operator, by name, behind which a row of NULL ends the list. */
typedef struct tally__simt_named {
    const char *name;
    tally__simt_entry *entry;
} tally__simt_named;
extern const tally__simt_named tally__simt_general[]; /* of all types (general.c) */
extern const tally__simt_named tally__simt_merges[];  /* of a type each (merge.c) */

#endif
