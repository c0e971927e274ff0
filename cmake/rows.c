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

#define TALLY_ROW(id, kernel) exact #id #kernel.
TALLY_EXACT_SUMS(TALLY_ROW)
#undef TALLY_ROW

#define TALLY_ROW(id, name, second, third, text, defines) ordered_form #name #second #third text #defines.
TALLY_ORDERED_FORMS(TALLY_ROW)
#undef TALLY_ROW

#define TALLY_ROW(id, name, second, third, text, defines) exact_form #name #second #third text #defines.
TALLY_EXACT_FORMS(TALLY_ROW)
