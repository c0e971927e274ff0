/* The forms and kernels of kernels/forms.h as numbers. */
#ifndef TALLY_FORM_NUMBERS_H
#define TALLY_FORM_NUMBERS_H

#include "forms.h"

/* What the kernels of a unit reduce. */
typedef enum tally__form {
#define TALLY_ROW(ID, of) TALLY_FORM_##ID,
    TALLY_FORM_IDS(TALLY_ROW)
#undef TALLY_ROW
        TALLY_FORMS
} tally__form;

/* What forms are for: the calls whose kernels tally_warm and tally_warm_segments make ready with them. */
typedef enum tally__purpose {
    TALLY_OF_ARRAYS = 1,
    TALLY_OF_SEGMENTS = 2,
    TALLY_OF_ROWS = 4,
    TALLY_OF_RANKS = 8,
    TALLY_OF_MERGES = 16,
    TALLY_OF_RESULTS = 32
} tally__purpose;

/* The kernels of all units, those of a unit one behind the other. */
typedef enum tally__entry {
#define TALLY_UNIT(kind, ID, text, defines) \
    TALLY_FIRST_##kind##_##ID, TALLY_BEFORE_##kind##_##ID = TALLY_FIRST_##kind##_##ID - 1,
#define TALLY_ROW(kind, ID, name, threads, work) TALLY_ENTRY_##name,
    TALLY_FORM_UNITS(TALLY_UNIT, TALLY_ROW)
#undef TALLY_UNIT
#undef TALLY_ROW
        TALLY_ENTRIES
} tally__entry;
enum { TALLY_MOST_ENTRIES = 8 }; /* kernels of a unit */

#endif
