/* Moving values: strided input side by side, natural results to the type and place the caller asked for. */
#include <string.h>

#include "internal.h"
#include "types/scalar.h"

static void gather_one(const char *from, int64_t stride, size_t bytes, int64_t n, char *to) {
#define TALLY_GATHER(size)                                                                \
    case size:                                                                            \
        for (int64_t i = 0; i < n; i++) memcpy(to + i * (size), from + i * stride, size); \
        return;
    switch (bytes) {
        TALLY_GATHER(1)
        TALLY_GATHER(2) TALLY_GATHER(4) TALLY_GATHER(8) default
            : for (int64_t i = 0; i < n; i++) memcpy(to + (size_t)i * bytes, from + i * stride, bytes);
    }
#undef TALLY_GATHER
}

void tally__gather(const tally__spec *spec, const tally__input *in, int64_t begin, int64_t n, void *x, void *y) {
    size_t bytes = spec->kernel->value_bytes;
    if (n == 0) return;
    gather_one(in->x + begin * in->x_stride, in->x_stride, bytes, n, x);
    if (spec->inputs == 2) gather_one(in->y + begin * in->y_stride, in->y_stride, bytes, n, y);
}

/* The numbers that kernels know types by are those of the enumeration. */
#define TALLY_ROW(id, name, numpy, bytes, class) \
    _Static_assert((int)TALLY_##id == TALLY_NUMBER_##name, "types/types.h numbers types otherwise");
#define TALLY_NUMBER_bool TALLY_NUMBER_boolean
TALLY_TYPES(TALLY_ROW)
#undef TALLY_NUMBER_bool
#undef TALLY_ROW

int tally__store(const tally__spec *spec, const tally__sink *sink, int64_t first, int64_t count, const void *results) {
    const char *from = results;
    size_t bytes = spec->result_bytes;
    bool changed = false;
    for (int64_t s = 0; s < count; s++) {
        char *to = sink->data + (first + s) * sink->stride;
        if (sink->type == spec->result_type) {
            memcpy(to, from + (size_t)s * bytes, bytes);
            continue;
        }
        for (int c = 0; c < spec->components; c++)
            changed |= tally_write_scalar(
                           (int32_t)sink->type,
                           tally_read_scalar((int32_t)spec->result_type,
                                             from + (size_t)s * bytes + (size_t)c * tally_type_size(spec->result_type)),
                           to + (size_t)c * tally_type_size(sink->type)) != 0;
    }
    return changed ? TALLY_FLAG_UNFIT : 0;
}
