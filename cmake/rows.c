/* The rows of the operators for CMakeLists.txt, which has the C preprocessor list them: however a row is written, it comes out
 * as one group of fields, each in quotes as it stands in include/tally/tables.h. */
#include "tally/tables.h"

#define TALLY_ROW(id, name, kernel, inputs, on, gives, order, empty, nans, what) operator #id #name #kernel #inputs #on #order #nans.
TALLY_OPERATORS(TALLY_ROW)
#undef TALLY_ROW

#define TALLY_ROW(id, kernel) exact #id #kernel.
TALLY_EXACT_SUMS(TALLY_ROW)
