/* The rows of the operators and of the production kernels for CMakeLists.txt, which has the C preprocessor list them:
 * however a row is written, it comes out as one group of fields, each in quotes as it stands in include/tally/tables.h
 * and kernels/forms.h. */
#include "forms.h"
#include "tally/tables.h"

/* clang-format off */
#define TALLY_ROW(id, name, kernel, inputs, on, gives, order, empty, nans, what) \
    operator #id #name #kernel #inputs #on #order #nans.
TALLY_OPERATORS(TALLY_ROW)
#undef TALLY_ROW

#define TALLY_ROW(id, kernel, last) exact #id #kernel #last.
TALLY_EXACT_SUMS(TALLY_ROW)
#undef TALLY_ROW

#define TALLY_ROW(id, of) form #id #of.
TALLY_FORM_IDS(TALLY_ROW)
#undef TALLY_ROW

#define TALLY_UNIT(kind, id, text, defines) unit #kind #id text #defines.
#define TALLY_ROW(kind, id, name, threads, work) entry #kind #id #name.
TALLY_FORM_UNITS(TALLY_UNIT, TALLY_ROW)
