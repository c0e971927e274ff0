/* Writes the result of a node to any address. Returns 0 and writes nothing if an exact result is not certain. */
#ifndef TALLY_PUT_RESULT_H
#define TALLY_PUT_RESULT_H

#include "accumulators/operator.h"
#include "device/device.h"
#include "device/work.h"

TALLY_FN int32_t put_result(const tally_results *out, int64_t i, node_t node) {
    char *to = (char *)out->result + i * out->result_stride;
    result_t result;
    int32_t flags = finalize(node, &out->final, &result);
    const int32_t is_aligned = ((uint64_t)out->result | (uint64_t)out->result_stride) % __alignof__(result_t) == 0;
#if TALLY_EXPANSIONS && !TALLY_IS_COMPENSATED && !TALLY_HAS_KEYS /* f64, or f32 */
    const float narrow = (float)result;
    const int32_t size = TALLY_RESULT_SIZE(&out->final);
    const char *from = size == 4 ? (const char *)&narrow : (const char *)&result;
#elif TALLY_IS_COMPENSATED
    const int32_t size = TALLY_RESULT_SIZE(&out->final);
    const char *from = (const char *)&result;
#else
    const int32_t size = (int32_t)sizeof result;
    const char *from = (const char *)&result;
#endif
#if TALLY_EXPANSIONS
    if ((flags & TALLY_FLAG_UNSURE) != 0) return 0;
#endif
    if (is_aligned && size == (int32_t)sizeof result)
        *(result_t *)(void *)to = result;
    else
        for (int32_t k = 0; k < size; k++) to[k] = from[k];
    if (out->flags != 0 && flags != 0) tally_or32(out->flags, flags);
    return 1;
}

#endif
