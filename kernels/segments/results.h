/* How the result of a segment's node is written. One that is not certain is marked for production/segments/flat.h. */
#ifndef TALLY_RESULTS_OF_SEGMENTS_H
#define TALLY_RESULTS_OF_SEGMENTS_H

#include "accumulators/operator.h"
#include "device/device.h"
#include "device/work.h"
#include "partition/partition.h"

#if !TALLY_EXPANSIONS
#define TALLY_RESULT_SIZE(final) ((int32_t)sizeof(result_t))
#endif

/* Where results from segment s on lie. */
TALLY_FN char *results_from(const tally_results *out, int64_t s) {
    return (char *)out->result + s * out->result_stride;
}
/* The place of one of `size` bytes, i behind those, where results lie side by side. */
TALLY_FN void *place_of(char *results, int32_t i, const int32_t size) {
    return results + (uint64_t)(uint32_t)i * (uint32_t)size;
}
/* Writes the result of segment i; those from 0 on lie at `results`. */
TALLY_FN void store_result(const tally_results *out, char *results, int32_t i, const result_t *result) {
    const int32_t size = TALLY_RESULT_SIZE(&out->final);
    if (out->are_packed && TALLY_EXPANSIONS && size == 4)
        __builtin_memcpy(place_of(results, i, 4), result, 4);
    else if (out->are_packed)
        *(result_t *)place_of(results, i, (int32_t)sizeof *result) = *result;
    else {
        volatile uint8_t *to = (volatile uint8_t *)results + i * out->result_stride;
        uint8_t bytes[sizeof *result];
        __builtin_memcpy(bytes, result, sizeof bytes);
        TALLY_UNROLL
        for (int32_t b = 0; b < (int32_t)sizeof bytes; b++)
            if (b < size) to[b] = bytes[b];
    }
}
/* Makes it of a node; gives its status flags. */
TALLY_FN int32_t put_unmarked(const tally_results *out, char *results, int32_t i, node_t node) {
#if TALLY_IS_PLAIN
    if (is_put_plainly(out->digits, place_of(results, i, (int32_t)sizeof(TALLY_PLAIN)), &node, out->final.mean))
        return 0; /* which it mostly is */
#endif
    result_t result;
    const int32_t flags = finalize(node, &out->final, &result);
    store_result(out, results, i, &result);
    return flags;
}
/* The same of segment s + i, where those from s on lie at `results`. Marks it, if it is left to another kernel. */
TALLY_FN int32_t put_at(const tally_segments_work *work, char *results, int64_t s, int32_t i, node_t node) {
    const int32_t flags = put_unmarked(&work->out, results, i, node);
    if ((flags & TALLY_FLAG_UNSURE) != 0) tally_mark(work->partition.unsure, s + i);
    return flags;
}

#endif
