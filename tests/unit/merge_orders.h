/* The types and orders that merges are tested for, one after the other. */
#ifndef TALLY_TESTS_MERGE_ORDERS_H
#define TALLY_TESTS_MERGE_ORDERS_H

#include "support.h"

static tally_type type_now;
static bool is_total;

/* The next of them: for (begin_orders(); next_order();). */
static bool next_order(void) {
    if (is_float(type_now) && !is_total) return is_total = true;
    is_total = false;
    type_now = (tally_type)((int)type_now + 1);
    return type_now < TALLY_STRUCT;
}
static void begin_orders(void) {
    type_now = TALLY_NATURAL;
    is_total = false;
}

#endif
