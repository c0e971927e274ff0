/* A result in GPU memory from its natural type to the one asked for, by one thread behind the kernel that gave it: kernels need not know
 * every type, and a second launch is for those who ask. work.x is the result, work.result where it goes; work.user has the bits of
 * TALLY_CONVERT_... */
#define TALLY_BLOCK 32
#include "lib/device.h"
#include "lib/scalar.h"

/* src/cuda/cuda.c packs them. */
#define TALLY_CONVERT_FROM(user) ((user) & 255)
#define TALLY_CONVERT_TO(user) ((user) >> 8 & 255)
#define TALLY_CONVERT_COUNT(user) ((user) >> 16 & 255)

TALLY_FN int32_t tally_scalar_bytes(int32_t type) {
    return type == TALLY_NUMBER_boolean || type == TALLY_NUMBER_i8 || type == TALLY_NUMBER_u8 ? 1
           : type == TALLY_NUMBER_i16 || type == TALLY_NUMBER_u16 || type == TALLY_NUMBER_f16 || type == TALLY_NUMBER_bf16 ? 2
           : type == TALLY_NUMBER_i32 || type == TALLY_NUMBER_u32 || type == TALLY_NUMBER_f32 ? 4 : 8;
}

TALLY_ENTRY(tally_convert, 1) {
    const int32_t from = TALLY_CONVERT_FROM(work.user), to = TALLY_CONVERT_TO(work.user);
    if (tally_thread() != 0) return;
    for (int32_t c = 0; c < TALLY_CONVERT_COUNT(work.user); c++)
        tally_write_scalar(to, tally_read_scalar(from, work.x + c * tally_scalar_bytes(from)), (char *)work.result + c * tally_scalar_bytes(to));
}
