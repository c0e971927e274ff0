/* What a kernel needs to know of a struct of the caller's own, in place of the rest of types/types.h:
 * TALLY_STRUCT_BYTES bytes, as words that any struct of that size may be copied from. */
#ifndef TALLY_STRUCTURE_H
#define TALLY_STRUCTURE_H

#include "device/dialect.h"

#ifndef TALLY_STRUCT_BYTES
#error "define TALLY_STRUCT_BYTES, the size of the struct"
#endif
#define TALLY_BYTES TALLY_STRUCT_BYTES
#if TALLY_BYTES % 8 == 0
#define TALLY_B uint64_t
#elif TALLY_BYTES % 4 == 0
#define TALLY_B uint32_t
#elif TALLY_BYTES % 2 == 0
#define TALLY_B uint16_t
#else
#define TALLY_B uint8_t
#endif
typedef struct bytes_t {
    TALLY_B words[TALLY_BYTES / sizeof(TALLY_B)];
} bytes_t;
#define TALLY_T bytes_t

typedef struct item_t {
    TALLY_T raw;
} item_t;
TALLY_FN item_t item_of(TALLY_T t) {
    item_t item;
    item.raw = t;
    return item;
}
TALLY_FN int is_present(TALLY_T t) { return (void)t, 1; }

#endif
