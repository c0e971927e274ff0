/* The second pass of var and stats, on the structs of accumulators/records.h. */
#ifndef TALLY_MOMENTS_SECOND_H
#define TALLY_MOMENTS_SECOND_H

#include "accumulators/moments.h"

#ifndef TALLY_RECORDS_H
#error "include accumulators/records.h before"
#endif

TALLY_FN aim_t take_aim(column_t column, int64_t n) {
    aim_t aim;
    aim.pivot = TALLY_MOMENT_PIVOT(column.sum, n);
    return aim;
}
TALLY_FN second_t lift2(item_t x, int32_t i, aim_t aim) {
    second_t a;
    TALLY_R rest = (TALLY_R)x.value - aim.pivot;
    (void)i;
    rest = is_present(x.raw) ? rest : 0;
    a.rest = rest;
    a.squares = rest * rest;
    return a;
}

#endif
