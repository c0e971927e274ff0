/* The kernels of all operators and types, compiled for the simulator. */
#include "simt/kernels/set.h"

#include "production/convert.h"
#include "production/segments/partition.h"
#include "production/segments/groups.h"
#include "production/ranks/windows.h"

#define TALLY_UNIT(kind, ID, text, defines)
#define TALLY_ROW_ORDERED(name)
#define TALLY_ROW_EXACT(name)
#define TALLY_ROW_TYPED(name)
#define TALLY_ROW_GENERAL(name) {"tally_" #name, tally_##name},
#define TALLY_ROW(kind, ID, name, threads, work) TALLY_ROW_##kind(name)
const tally__simt_named tally__simt_general[] = {TALLY_FORM_UNITS(TALLY_UNIT, TALLY_ROW){NULL, NULL}};
