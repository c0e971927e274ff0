/* The kernels of all operators and types, compiled for the simulator. */
#include <string.h>

#include "simt/kernels/set.h"

#include "production/convert.h"
#include "production/cut.h"
#include "production/groups.h"
#include "production/windows.h"

tally__simt_entry *tally__simt_general(const char *entry) {
    static const struct {
        const char *name;
        tally__simt_entry *entry;
    } all[] = {
#define TALLY_UNIT(kind, ID, text, defines)
#define TALLY_ROW_ORDERED(name)
#define TALLY_ROW_EXACT(name)
#define TALLY_ROW_TYPED(name)
#define TALLY_ROW_GENERAL(name) {"tally_" #name, tally_##name},
#define TALLY_ROW(kind, ID, name, threads, work) TALLY_ROW_##kind(name)
        TALLY_FORM_UNITS(TALLY_UNIT, TALLY_ROW)};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (strcmp(entry, all[k].name) == 0) return all[k].entry;
    return NULL;
}
