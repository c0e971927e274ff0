/* Converts results in GPU memory from their natural type to the type that the caller asked for. It is launched after
 * the kernel that made them, so that kernels need not know every type. */
#include "device/grid.h"
#include "device/idle.h"
#include "types/scalar.h"

TALLY_FN int32_t tally_scalar_bytes(int32_t type) {
    return type == TALLY_NUMBER_boolean || type == TALLY_NUMBER_i8 || type == TALLY_NUMBER_u8 ? 1
           : type == TALLY_NUMBER_i16 || type == TALLY_NUMBER_u16 || type == TALLY_NUMBER_f16 ||
                   type == TALLY_NUMBER_bf16
               ? 2
           : type == TALLY_NUMBER_i32 || type == TALLY_NUMBER_u32 || type == TALLY_NUMBER_f32 ? 4
                                                                                              : 8;
}

/* Stores byte by byte: a result may lie at any address, and a compiler may assume that a pointer is aligned. */
TALLY_FN int32_t tally_put_scalar(int32_t type, tally_scalar number, char *to) {
    union {
        uint64_t word;
        char bytes[8];
    } value;
    int32_t is_unfit = tally_write_scalar(type, number, value.bytes);
    for (int32_t b = 0; b < tally_scalar_bytes(type); b++) ((volatile char *)to)[b] = value.bytes[b];
    return is_unfit;
}

TALLY_ENTRY(tally_convert, tally_convert_work, 1) {
    if (tally_is_idle(work.wanted)) return;
    const int32_t from = work.from_type, to = work.to_type;
    int64_t step = tally_threads_of_all();
    int32_t is_unfit = 0;
    for (int64_t i = tally_thread_of_all(); i < work.count; i += step)
        for (int32_t c = 0; c < work.components; c++)
            is_unfit |= tally_put_scalar(
                to, tally_read_scalar(from, work.from + i * work.from_stride + c * tally_scalar_bytes(from)),
                (char *)work.to + i * work.to_stride + c * tally_scalar_bytes(to));
    if (is_unfit && work.flags != 0) tally_or32(work.flags, TALLY_FLAG_UNFIT);
}
