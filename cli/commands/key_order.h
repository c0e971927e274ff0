/* Whether keys follow one another in some order, so that none comes back: found out with no more in memory than the
 * last key. Each key column may go up or down, as bytes (as `LC_ALL=C sort` has them) or as numbers; which it is shows
 * in the keys themselves. */
#ifndef KEY_ORDER_H
#define KEY_ORDER_H

#include <stdbool.h>

typedef struct key_order {
    unsigned char *ruled_out; /* for each key column, the orders that its keys do not have */
} key_order;

/* Complains where memory lacks. */
bool open_key_order(key_order *order, int key_count);
void close_key_order(key_order *order);

/* Whether key `after` can follow the different key `before` (runs of fields, as input/keys.h has them). */
bool follows(key_order *order, const char *before, const char *after);

#endif
