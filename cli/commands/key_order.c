#include "commands/key_order.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/complain.h"
#include "formats/numbers.h"

enum { BYTES_UP = 1, BYTES_DOWN = 2, NUMBERS_UP = 4, NUMBERS_DOWN = 8, ALL_ORDERS = 15 };

bool open_key_order(key_order *order, int key_count) {
    order->ruled_out = take_memory(NULL, key_count, 1);
    if (order->ruled_out != NULL) {
        memset(order->ruled_out, 0, (size_t)key_count);
    }
    return order->ruled_out != NULL;
}

void close_key_order(key_order *order) {
    free(order->ruled_out);
    order->ruled_out = NULL;
}

/* The sign of left - right; 0 also where either is no number. */
static int compare_numbers(const char *left, const char *right) {
    number a, b;
    double x, y;
    int64_t i, j;
    if (!scan_number(left, strlen(left), &a) || !scan_number(right, strlen(right), &b)) {
        return 0;
    }
    if (store_number(&a, TALLY_I64, &i) == NUMBER_FINE && store_number(&b, TALLY_I64, &j) == NUMBER_FINE) {
        return (i > j) - (i < j);
    }
    (void)store_number(&a, TALLY_F64, &x);
    (void)store_number(&b, TALLY_F64, &y);
    return (x > y) - (x < y);
}

bool follows(key_order *order, const char *before, const char *after) {
    int column = 0, bytes;
    for (; (bytes = strcmp(after, before)) == 0; column++) {
        before += strlen(before) + 1;
        after += strlen(after) + 1;
    }
    int numbers = compare_numbers(after, before);
    int kept = (bytes > 0 ? BYTES_UP : BYTES_DOWN) | (numbers > 0 ? NUMBERS_UP : numbers < 0 ? NUMBERS_DOWN : 0);
    order->ruled_out[column] = (unsigned char)(order->ruled_out[column] | (ALL_ORDERS & ~kept));
    return order->ruled_out[column] != ALL_ORDERS;
}
