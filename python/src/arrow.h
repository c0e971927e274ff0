/* Arrow's C data interface: the structs that __arrow_c_array__ hands over (arrow.apache.org/docs/format, abi.h,
 * Apache-2.0). */
#ifndef TALLY_PYTHON_ARROW_H
#define TALLY_PYTHON_ARROW_H

#include <stdint.h>

typedef struct arrow_schema {
    const char *format, *name, *metadata;
    int64_t flags, children_count;
    struct arrow_schema **children;
    struct arrow_schema *dictionary;
    void (*release)(struct arrow_schema *self); /* NULL: it has been moved away */
    void *private_data;
} arrow_schema;

typedef struct arrow_array {
    int64_t length;
    int64_t nulls;  /* -1: not known */
    int64_t offset; /* of the first value, in values */
    int64_t buffers_count, children_count;
    const void **buffers; /* the first has a bit for each value that is no null; NULL: there is no null */
    struct arrow_array **children;
    struct arrow_array *dictionary;
    void (*release)(struct arrow_array *self);
    void *private_data;
} arrow_array;

#endif
