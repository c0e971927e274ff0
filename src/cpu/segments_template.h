/* Segments that follow one another, a batch at a time: reduce_segments. Once for each type, as leaves_template.h.
 *
 * Where lengths are mixed, a branch on a segment's length is mispredicted again and again, and costs more than a short
 * segment's arithmetic. So all of a batch are taken for short ones, and a vector lane reduces each
 * (transposed_template.h). Longer ones are listed without a branch, and their results replace what the lanes made of
 * them: one by one, in order, as hardware prefetchers do not follow accesses with gaps. */
#ifndef TALLY_CPU_SEGMENTS_TEMPLATE_H
#define TALLY_CPU_SEGMENTS_TEMPLATE_H

#include "accumulators/finalize.h"
#include "cpu/leaves_template.h"
#include "cpu/segment_kinds.h"
#include "cpu/masked_template.h"
#include "cpu/staged_template.h"
#include "cpu/transposed_template.h"

/* ---- a batch ---- */

/* The `count` segments of a batch that `list` names, which is used up, or the first ones; none is empty. */
TALLY_APART TALLY_TARGET int other_segments(const raw_t *x, const raw_t *y, int64_t limit, const int64_t *offsets,
                                            int32_t *list, int count, const tally_final *final, char *results) {
    int flags = 0;
#if TALLY_HAS_STAGED
    tally__list all;
    if (list == NULL)
        for (int s = 0; s < count; s++) (list = all)[s] = s;
    if (count >= TALLY_STAGED_LEAST) flags = staged_segments(x, limit, offsets, list, &count, final, results);
#endif
    for (int i = 0; i < count; i++) {
        const int s = list == NULL ? i : list[i];
        const int64_t begin = offsets[s], n = offsets[s + 1] - begin;
        node_t node;
        result_t result;
        if (n >= TALLY_LEAF)
            node = tree(x + begin, y + begin, n, limit - begin, 0);
        else if (__builtin_expect(n <= TALLY_SMALL_LEAF && begin <= limit - TALLY_SMALL_LEAF, 1))
            node = small_node(x + begin, y + begin, n, 0);
        else
            node = partial_leaf_node(x + begin, y + begin, n, limit - begin, 0);
        flags |= finalize(node, final, &result);
        write(results, s, result);
    }
    return flags;
}
/* Every result is that of nothing. */
TALLY_APART TALLY_TARGET int empty_segments(int count, const tally_final *final, char *results) {
    result_t empty;
    int flags = finalize(nothing(), final, &empty);
    for (int s = 0; s < count; s++) write(results, s, empty);
    return flags;
}
/* Whether a batch was reduced under masks. */
TALLY_INLINE TALLY_TARGET bool under_masks(const raw_t *x, const raw_t *y, int64_t limit, const int64_t *offsets,
                                           int count, tally__kinds *kinds, const tally_final *final, char *results,
                                           int *flags) {
#if TALLY_HAS_MASKED
    if (count == TALLY_LANES && offsets[count] <= limit - TALLY_MASKED_READ) {
        tally__list list;
        const int seen = masked_segments(x, y, offsets, kinds, final, results);
        if (seen < 0) return false;
        *flags |= seen;
        if (kinds->most == TALLY_LONG_SEGMENT)
            *flags |= other_segments(x, y, limit, offsets, list, tally__longer(kinds, count, TALLY_SMALL_LEAF, list),
                                     final, results);
        return true;
    }
#else
    (void)x, (void)y, (void)limit, (void)offsets, (void)count, (void)kinds, (void) final, (void)results, (void)flags;
#endif
    return false;
}
/* At most TALLY_SEGMENT_BATCH segments, some of them no longer than TALLY_TRANSPOSED_ROWS. */
static TALLY_TARGET int mixed_segments(const raw_t *x, const raw_t *y, int64_t limit, const int64_t *offsets, int count,
                                       tally__kinds *kinds, const tally_final *final, char *results) {
    tally__list list;
    int flags = 0, listed;
    int32_t most = tally__lane_length(kinds, TALLY_QUARTERS_FOR_ONE, TALLY_QUARTERS_FOR_LANES, TALLY_TRANSPOSED_ROWS);
    if (kinds->cost > TALLY_MASKED_COST && under_masks(x, y, limit, offsets, count, kinds, final, results, &flags))
        return flags;
    if (kinds->longest > 4) { /* others are read in order */
        tally__touch_lines(x + offsets[0], x + offsets[count]);
        if (TALLY_KERNEL_INPUTS == 2) tally__touch_lines(y + offsets[0], y + offsets[count]);
    }
    tally__ask_for_next(x + offsets[0], x + offsets[count]);
    if (TALLY_KERNEL_INPUTS == 2) tally__ask_for_next(y + offsets[0], y + offsets[count]);
    if (most > 0 && limit >= TALLY_SMALL_LEAF)
        flags = transposed_segments(x, y, limit, offsets, count, kinds, most, final, results);
    else {
        most = 0;
        if (kinds->shortest == 0) flags = empty_segments(count, final, results);
    }
    listed = kinds->most > most ? tally__longer(kinds, count, most, list) : 0;
    if (listed > 0) flags |= other_segments(x, y, limit, offsets, list, listed, final, results);
    return flags;
}

static TALLY_TARGET int reduce_segments(const tally__kernel *kernel, const void *vx, const void *vy, int64_t limit,
                                        const int64_t *offsets, int64_t count, const tally_final *final,
                                        void *results) {
    const raw_t *x = vx, *y = vy;
    int flags = 0;
    (void)kernel;
    for (int64_t at = 0; at < count; at += TALLY_SEGMENT_BATCH) {
        int batch = (int)(count - at < TALLY_SEGMENT_BATCH ? count - at : TALLY_SEGMENT_BATCH);
        const int64_t *from = offsets + at;
        char *to = (char *)results + at * (int64_t)sizeof(result_t);
        tally__kinds kinds;
        tally__kinds_of(&kinds, from, batch);
        if (kinds.shortest > TALLY_TRANSPOSED_ROWS) {
            if (!under_masks(x, y, limit, from, batch, &kinds, final, to, &flags))
                flags |= other_segments(x, y, limit, from, NULL, batch, final, to);
        } else
            flags |= mixed_segments(x, y, limit, from, batch, &kinds, final, to);
    }
    return flags;
}

#endif
