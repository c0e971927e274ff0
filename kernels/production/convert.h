/* Results in GPU memory from their natural type to the one asked for, behind the kernel that gave them: kernels need
 * not know every type, and a second launch is for those who ask. `count` results of work.x go to work.result; work.user
 * has the bits of TALLY_CONVERT_... */
#define TALLY_BLOCK 256
#include "device/idle.h"
#include "types/scalar.h"

/* src/cuda/call.c packs them. */
#define TALLY_CONVERT_FROM(user) ((user)&255)
#define TALLY_CONVERT_TO(user) ((user) >> 8 & 255)
#define TALLY_CONVERT_COMPONENTS(user) ((user) >> 16 & 255)

TALLY_FN int32_t tally_scalar_bytes(int32_t type) {
    return type == TALLY_NUMBER_boolean || type == TALLY_NUMBER_i8 || type == TALLY_NUMBER_u8 ? 1
           : type == TALLY_NUMBER_i16 || type == TALLY_NUMBER_u16 || type == TALLY_NUMBER_f16 ||
                   type == TALLY_NUMBER_bf16
               ? 2
           : type == TALLY_NUMBER_i32 || type == TALLY_NUMBER_u32 || type == TALLY_NUMBER_f32 ? 4
                                                                                              : 8;
}

/* A result may lie at any address, which a compiler may take for an aligned one of its type. */
TALLY_FN int32_t tally_put_scalar(int32_t type, tally_scalar number, char *to) {
    union {
        uint64_t word;
        char bytes[8];
    } value;
    int32_t is_unfit = tally_write_scalar(type, number, value.bytes);
    for (int32_t b = 0; b < tally_scalar_bytes(type); b++) ((volatile char *)to)[b] = value.bytes[b];
    return is_unfit;
}

TALLY_ENTRY(tally_convert, 1) {
    if (tally_is_idle(&work)) return;
    const int32_t from = TALLY_CONVERT_FROM(work.user), to = TALLY_CONVERT_TO(work.user),
                  components = TALLY_CONVERT_COMPONENTS(work.user);
    int64_t step = (int64_t)tally_blocks() * TALLY_BLOCK;
    int32_t is_unfit = 0;
    for (int64_t i = (int64_t)tally_block() * TALLY_BLOCK + tally_thread(); i < work.count; i += step)
        for (int32_t c = 0; c < components; c++)
            is_unfit |=
                tally_put_scalar(to, tally_read_scalar(from, work.x + i * work.x_stride + c * tally_scalar_bytes(from)),
                                 (char *)work.result + i * work.result_stride + c * tally_scalar_bytes(to));
    if (is_unfit && work.saw != 0) tally_or32(work.saw, TALLY_SAW_UNFIT);
}
