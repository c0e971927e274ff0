/* Kernels that make windows of nodes (sums/windows.h), for any exact operator. production/segments/partition.h makes
 * the offsets of windows from their lengths. If an extent is bad, it sets TALLY_FLAG_BAD_SEGMENTS, and nothing is
 * written. */
#include "device/grid.h"
#include "sums/windows.h"

TALLY_FN int32_t tally_limbs_of(const tally_windows_work *work, int32_t number) { return work->limbs[number]; }
TALLY_FN int64_t *tally_node_at(const tally_windows_work *work, int64_t i) { return work->nodes + i * work->words; }
TALLY_FN int16_t *tally_extents_of(const tally_windows_work *work, int64_t i) {
    return work->extents + i * work->numbers * TALLY_EXTENT_ENTRIES;
}
TALLY_FN int64_t *tally_window_at(const tally_windows_work *work, int64_t i) {
    return work->windows + work->offsets[i];
}
TALLY_FN int32_t tally_extents_are_bad(const tally_windows_work *work) {
    return (tally_look32(work->flags) & TALLY_FLAG_BAD_SEGMENTS) != 0;
}

/* Spreads the signs of nodes and finds their extents. A thread has a node. */
TALLY_ENTRY(tally_window_extents, tally_windows_work, 2) {
    for (int64_t i = tally_thread_of_all(); i < work.count; i += tally_threads_of_all()) {
        int64_t *number = tally_node_at(&work, i) + 1;
        int16_t *extent = tally_extents_of(&work, i);
        for (int32_t k = 0; k < work.numbers; k++, extent += TALLY_EXTENT_ENTRIES) {
            const int32_t limbs = tally_limbs_of(&work, k);
            tally_spread_sign(number, limbs);
            tally_find_extent(number, limbs, extent);
            number += TALLY_EVIDENCE + limbs;
        }
    }
}

/* The number of words of each window; -1: the extent is bad. */
TALLY_ENTRY(tally_window_lengths, tally_windows_work, 4) {
    for (int64_t i = tally_thread_of_all(); i < work.count; i += tally_threads_of_all()) {
        const int16_t *extent = tally_extents_of(&work, i);
        int64_t length = 1;
        for (int32_t k = 0; k < work.numbers; k++, extent += TALLY_EXTENT_ENTRIES)
            length = length < 0 || !tally_is_extent(extent, tally_limbs_of(&work, k))
                         ? -1
                         : length + tally_extent_width(extent);
        work.lengths[i] = length;
    }
}

/* Makes windows of nodes. A warp has a node. */
TALLY_ENTRY(tally_window_shrink, tally_windows_work, 4) {
    if (tally_extents_are_bad(&work)) return;
    for (int64_t i = tally_thread_of_all() / TALLY_WARP; i < work.count; i += tally_threads_of_all() / TALLY_WARP) {
        const int64_t *from = tally_node_at(&work, i);
        const int16_t *extent = tally_extents_of(&work, i);
        int64_t *to = tally_window_at(&work, i);
        if (tally_lane() == 0) *to = *from;
        to++, from++;
        for (int32_t k = 0; k < work.numbers; k++, extent += TALLY_EXTENT_ENTRIES) {
            const int32_t width = tally_extent_width(extent);
            for (int32_t j = tally_lane(); j < width; j += TALLY_WARP) to[j] = from[TALLY_EVIDENCE - extent[1] + j];
            to += width;
            from += TALLY_EVIDENCE + tally_limbs_of(&work, k);
        }
    }
}

/* Makes nodes of windows that were added. */
TALLY_ENTRY(tally_window_restore, tally_windows_work, 4) {
    if (tally_extents_are_bad(&work)) return;
    for (int64_t i = tally_thread_of_all() / TALLY_WARP; i < work.count; i += tally_threads_of_all() / TALLY_WARP) {
        const int64_t *from = tally_window_at(&work, i);
        const int16_t *extent = tally_extents_of(&work, i);
        int64_t *to = tally_node_at(&work, i);
        if (tally_lane() == 0) *to = *from;
        to++, from++;
        for (int32_t k = 0; k < work.numbers; k++, extent += TALLY_EXTENT_ENTRIES) {
            const int32_t width = tally_extent_width(extent), limbs = tally_limbs_of(&work, k);
            if (tally_lane() < TALLY_EVIDENCE) to[tally_lane()] = extent[2 + tally_lane()] != 0;
            for (int32_t j = tally_lane(); j < limbs; j += TALLY_WARP) {
                const int32_t at = width > 0 ? j + extent[1] : -1;
                to[TALLY_EVIDENCE + j] = at >= 0 && at < width ? from[at] : 0;
            }
            from += width;
            to += TALLY_EVIDENCE + limbs;
        }
    }
}

/* Copies all windows to the place of the nodes, or back. */
TALLY_ENTRY(tally_window_move, tally_windows_work, 4) {
    const int64_t words = work.offsets[work.count];
    if (tally_extents_are_bad(&work)) return;
    for (int64_t j = tally_thread_of_all(); j < words; j += tally_threads_of_all()) {
        if (work.to_nodes)
            work.nodes[j] = work.windows[j];
        else
            work.windows[j] = work.nodes[j];
    }
}
