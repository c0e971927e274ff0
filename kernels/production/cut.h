/* Kernels that prepare a cut for production/segments.h, whatever is reduced: the edges of tiles, and offsets from lengths, rows and owners. They
 * trust nothing that the index says: a cut that does not fit leaves TALLY_SAW_BAD_CUT in *saw, here or when tiles read it. */
#define TALLY_BLOCK 256
#include "lib/cut.h"
#ifdef __CUDACC_RTC__
#define TALLY_UNROLL_CUT _Pragma("unroll")
#else
#define TALLY_UNROLL_CUT
#endif

/* ---- offsets from lengths: sums of blocks, sums before them, and those before each length ---- */

enum { TALLY_CUT_WARPS = TALLY_BLOCK / TALLY_WARP, TALLY_CUT_EACH = TALLY_LENGTHS_BLOCK / TALLY_BLOCK };

typedef struct tally_scan_shared {
    int64_t sums[TALLY_CUT_WARPS];
    int64_t total;
} tally_scan_shared;

/* The sum of what the threads before this one hold, and of all. */
TALLY_FN int64_t tally_sum_before(int64_t mine, tally_scan_shared *shared, int64_t *total) {
    int64_t sum = mine, before = 0;
    for (int32_t apart = 1; apart < TALLY_WARP; apart *= 2) {
        int64_t earlier = tally_shuffle_wide(sum, tally_lane() >= apart ? tally_lane() - apart : tally_lane());
        if (tally_lane() >= apart) sum += earlier;
    }
    tally_barrier();
    if (tally_lane() == TALLY_WARP - 1) shared->sums[tally_warp()] = sum;
    tally_barrier();
    *total = 0;
    for (int32_t w = 0; w < TALLY_CUT_WARPS; w++) {
        if (w == tally_warp()) before = *total;
        *total += shared->sums[w];
    }
    return before + sum - mine;
}

/* Length i, 0 for one beyond the end; what no array has is -1. */
TALLY_FN int64_t tally_length(const tally_cut_work *cut, int64_t i) {
    int64_t length = i < cut->count ? tally_entry(cut->index, cut->index_bytes, i) : 0;
    return length < 0 || length >> 48 != 0 ? -1 : length;
}

/* A block's sum; -1: a length is none. */
TALLY_ENTRY(tally_cut_sums, 4) {
    TALLY_SHARED(tally_scan_shared, shared);
    const tally_cut_work *cut = &work.cut;
    int64_t first = (int64_t)tally_block() * TALLY_LENGTHS_BLOCK + tally_thread(), sum = 0, total, bad;
    int32_t is_bad = 0;
    for (int32_t k = 0; k < TALLY_CUT_EACH; k++) {
        int64_t length = tally_length(cut, first + k * TALLY_BLOCK);
        is_bad |= length < 0;
        sum += length;
    }
    if (first == 0) *work.saw = 0;
    (void)tally_sum_before(is_bad, shared, &bad);
    (void)tally_sum_before(sum, shared, &total);
    if (tally_thread() == 0) cut->sums[tally_block()] = bad != 0 ? -1 : total;
}

/* One block: each sum becomes that of all before it, the one behind the last that of all. */
TALLY_ENTRY(tally_cut_scan, 1) {
    TALLY_SHARED(tally_scan_shared, shared);
    const tally_cut_work *cut = &work.cut;
    int64_t blocks = (cut->count + TALLY_LENGTHS_BLOCK - 1) / TALLY_LENGTHS_BLOCK, before = 0, total;
    int32_t is_bad = 0;
    for (int64_t first = 0; first <= blocks; first += TALLY_BLOCK) {
        int64_t i = first + tally_thread(), sum = i < blocks ? cut->sums[i] : 0;
        is_bad |= sum < 0;
        sum = tally_sum_before(sum < 0 ? 0 : sum, shared, &total);
        if (i <= blocks) cut->sums[i] = before + sum;
        before += total;
        if (before > work.count) is_bad = 1, before = work.count;
    }
    if (is_bad) tally_or32(work.saw, TALLY_SAW_BAD_CUT);
}

TALLY_FN void tally_put_offset(const tally_cut_work *cut, int64_t s, int64_t offset) {
    if (cut->offset_bytes == 4)
        ((int32_t *)(void *)cut->offsets)[s] = (int32_t)offset;
    else
        ((int64_t *)(void *)cut->offsets)[s] = offset;
}

TALLY_ENTRY(tally_cut_lengths, 4) {
    TALLY_SHARED(tally_scan_shared, shared);
    const tally_cut_work *cut = &work.cut;
    int64_t block = (int64_t)tally_block() * TALLY_LENGTHS_BLOCK, before = cut->sums[tally_block()], total;
    for (int32_t k = 0; k < TALLY_CUT_EACH; k++) {
        int64_t i = block + k * TALLY_BLOCK + tally_thread(), length = tally_length(cut, i);
        int64_t at = before + tally_sum_before(length < 0 ? 0 : length, shared, &total);
        if (i < cut->count) tally_put_offset(cut, i, at);
        if (i == cut->count - 1) tally_put_offset(cut, i + 1, at + length);
        before += total;
    }
}

/* ---- offsets of rows, which have one length ---- */

TALLY_ENTRY(tally_cut_rows, 4) {
    int64_t step = (int64_t)tally_blocks() * TALLY_BLOCK;
    if (tally_block() == 0 && tally_thread() == 0) *work.saw = 0;
    for (int64_t s = (int64_t)tally_block() * TALLY_BLOCK + tally_thread(); s <= work.cut.count; s += step)
        tally_put_offset(&work.cut, s, s * work.length);
}

/* ---- offsets from owners ---- */

/* The merge of owners with the offsets that they stand for: offset s comes before the values of segment s, so that value i stands at
 * i + owner(i) + 1. This is the first value that stands at `position` or behind; a warp, which asks 32 at once. */
TALLY_FN int64_t tally_owner_search(const tally_cut_work *cut, int64_t values, int64_t position) {
    int64_t low = 0, high = values;
    while (low < high) {
        int64_t step = (high - low + TALLY_WARP - 1) / TALLY_WARP, at = low + (tally_lane() + 1) * step - 1, end;
        int32_t is_behind = at >= high || tally_further(tally_entry(cut->index, cut->index_bytes, at), at + 1) >= position;
        uint32_t behind = tally_ballot(is_behind);
        int32_t first = behind == 0 ? TALLY_WARP : __builtin_ffs((int32_t)behind) - 1;
        end = low + (first + 1) * step - 1;
        low += first * step;
        high = end < high ? end : high;
        if (low > high) low = high;
    }
    return low;
}

typedef struct tally_owners_shared {
    int64_t first[2];
} tally_owners_shared;

/* Offsets before + 1 ... owner are `value`, those of them that are the block's, first ... last - 1; the whole warp fills wide gaps. */
TALLY_FN void tally_fill_offsets(const tally_cut_work *cut, int64_t before, int64_t owner, int64_t value, int64_t first, int64_t last) {
    int64_t low = before < first ? first : tally_further(before, 1), high = owner >= last ? last - 1 : owner;
    uint32_t wide = tally_ballot(before < last && high - low >= 8);
    if (before < last && high - low < 8)
        for (int64_t s = low; s <= high; s++) tally_put_offset(cut, s, value);
    for (; wide != 0; wide &= wide - 1) {
        int32_t lane = __builtin_ffs((int32_t)wide) - 1, from = (int32_t)tally_shuffle((uint32_t)(low - first), lane);
        int32_t to = (int32_t)tally_shuffle((uint32_t)(high - first), lane);
        int64_t there = tally_shuffle_wide(value, lane);
        for (int32_t s = from + tally_lane(); s <= to; s += TALLY_WARP) tally_put_offset(cut, first + s, there);
    }
}

/* A block takes TALLY_OWNERS_BLOCK owners and offsets together, so that gaps are shared like values. */
TALLY_ENTRY(tally_cut_owners, 4) {
    enum { TOGETHER = 8 };
    TALLY_SHARED(tally_owners_shared, shared);
    const tally_cut_work *cut = &work.cut;
    int64_t all = work.count + cut->count + 1, begin = (int64_t)tally_block() * TALLY_OWNERS_BLOCK;
    int64_t end = begin + TALLY_OWNERS_BLOCK < all ? begin + TALLY_OWNERS_BLOCK : all, from, to, first, last;
    int32_t is_bad = 0;
    if (tally_warp() < 2) {
        int64_t found = tally_owner_search(cut, work.count, tally_warp() == 0 ? begin : end);
        if (tally_warp() == 1 && end == all) found = work.count;
        if (tally_lane() == 0) shared->first[tally_warp()] = found;
    }
    tally_barrier();
    from = shared->first[0];
    to = shared->first[1];
    first = begin - from; /* offsets first ... last - 1 */
    last = end - to;
    if (from > to || first > last || first < 0 || last > cut->count + 1) { /* the same in all threads */
        if (tally_thread() == 0) tally_or32(work.saw, TALLY_SAW_BAD_CUT);
        return;
    }
    for (int64_t base = from + tally_warp() * (TALLY_WARP * TOGETHER); base <= to; base += TALLY_BLOCK * TOGETHER) {
        int64_t owners[TOGETHER], before = base > 0 && base - 1 < to ? tally_entry(cut->index, cut->index_bytes, base - 1) : -1;
        TALLY_UNROLL_CUT
        for (int32_t k = 0; k < TOGETHER; k++) {
            int64_t i = base + k * TALLY_WARP + tally_lane();
            owners[k] = i < to ? tally_entry(cut->index, cut->index_bytes, i) : INT64_MAX;
        }
        TALLY_UNROLL_CUT
        for (int32_t k = 0; k < TOGETHER; k++) {
            int64_t i = base + k * TALLY_WARP + tally_lane();
            int64_t left = tally_shuffle_wide(owners[k], (tally_lane() + TALLY_WARP - 1) % TALLY_WARP), mine = tally_lane() == 0 ? before : left;
            before = left; /* of lane 0: the last owner of these */
            is_bad |= i < to && (owners[k] < 0 || owners[k] >= cut->count || owners[k] < mine);
            /* Behind the last owner of the block come the offsets that are left; what stands at `to` is the next block's to check. */
            if (tally_any(i <= to && owners[k] != mine))
                tally_fill_offsets(cut, i <= to ? mine : last, i < to ? owners[k] : last - 1, i, first, last);
        }
    }
    if (is_bad) tally_or32(work.saw, TALLY_SAW_BAD_CUT);
}

/* ---- whether offsets are a cut: for plans, before anything uses them ---- */

TALLY_ENTRY(tally_cut_check, 4) {
    const tally_cut_work *cut = &work.cut;
    int64_t step = (int64_t)tally_blocks() * TALLY_BLOCK;
    int32_t is_bad = 0;
    for (int64_t s = (int64_t)tally_block() * TALLY_BLOCK + tally_thread(); s <= cut->count; s += step) {
        int64_t offset = tally_offset(cut, s);
        is_bad |= offset < 0 || offset > work.count || (s > 0 && offset < tally_offset(cut, s - 1));
    }
    if (is_bad) tally_or32(work.saw, TALLY_SAW_BAD_CUT);
}

/* ---- edges ---- */

/* The first segment from `low` on, `high` if there is none, that lies at `position` or behind; a warp, which asks 32 at once. */
TALLY_FN int64_t tally_search_warp(const tally_cut_work *cut, int64_t origin, int64_t low, int64_t high, int64_t position) {
    while (low < high) {
        int64_t step = (high - low + TALLY_WARP - 1) / TALLY_WARP, at = low + (tally_lane() + 1) * step - 1;
        int32_t is_behind = at >= high || tally_position(cut, origin, at, tally_offset(cut, at)) >= position;
        uint32_t behind = tally_ballot(is_behind);
        int32_t first = behind == 0 ? TALLY_WARP : __builtin_ffs((int32_t)behind) - 1;
        int64_t end = low + (first + 1) * step - 1;
        low += first * step;
        high = end < high ? end : high;
        if (low > high) low = high;
    }
    return low;
}

/* The same for one thread, by interpolation: `wanted` is where the segment would be if all had one length, `slope` segments for each byte.
 * Every other step bisects, so that no cut takes long. */
TALLY_FN int64_t tally_search_near(const tally_cut_work *cut, int64_t origin, int64_t low, int64_t high, int64_t position, int64_t wanted,
                                   float slope) {
    for (int32_t step = 0; low < high; step++) {
        int64_t apart, at = wanted < low ? low : wanted >= high ? high - 1 : wanted;
        apart = tally_apart(position, tally_position(cut, origin, at, tally_offset(cut, at)));
        if (apart <= 0)
            high = at;
        else
            low = at + 1;
        float by = (float)apart * slope;
        wanted = at + (by > 1e15f || by < -1e15f ? 0 : (int64_t)by);
        if (wanted == at) wanted = apart <= 0 ? at - 1 : at + 1;
        if (step > 2 && step % 2 != 0) wanted = low + (high - low) / 2;
    }
    return low;
}

TALLY_FN tally_edge tally_edge_at(const tally_work *work, int64_t origin, int64_t segment, int64_t position) {
    const tally_cut_work *cut = &work->cut;
    const int32_t shift = tally_leaf_shift(cut);
    tally_edge edge = {segment, origin, 0, -1};
    if (segment > 0) {
        int64_t begin = tally_offset(cut, segment - 1), length = tally_apart(tally_offset(cut, segment), begin);
        int64_t at = tally_position(cut, origin, segment - 1, begin);
        uint64_t into = (uint64_t)tally_apart(position, at), leaves = (into + ((uint64_t)1 << shift) - 1) >> shift;
        int64_t whole = (int64_t)(leaves * (uint64_t)cut->leaf);
        edge.leaf = (int64_t)leaves;
        edge.value = tally_further(begin, whole < length ? whole : length);
        if (origin >= 0 && begin >= origin && begin <= work->count && edge.value >= begin && edge.value <= work->count)
            edge.place = 2 * (at >> shift);
    }
    return edge;
}

typedef struct tally_edges_shared {
    int64_t first[2]; /* segments at the first edge of the block and behind its last */
} tally_edges_shared;

/* A thread for each edge: those of a block lie between two that warps have searched. Clears what tiles count on. */
TALLY_ENTRY(tally_cut_edges, 4) {
    TALLY_SHARED(tally_edges_shared, shared);
    const tally_cut_work *cut = &work.cut;
    int64_t origin = tally_offset(cut, 0), block = (int64_t)tally_block() * TALLY_EDGES_BLOCK, i = block + tally_thread();
    int64_t counters = tally_all_pitches(cut->cells / TALLY_FAN + 1);
    int64_t low, high, segment;
    if (i == 0 && cut->index == cut->offsets) *work.saw = 0;
    for (int64_t k = i; k < counters; k += (int64_t)tally_blocks() * TALLY_EDGES_BLOCK) work.arrivals[k] = 0;
    if (tally_warp() < 2) {
        int64_t at = block + tally_warp() * TALLY_EDGES_BLOCK;
        int64_t found = tally_search_warp(cut, origin, 0, cut->count, at * TALLY_TILE_BYTES);
        if (tally_lane() == 0) shared->first[tally_warp()] = found;
    }
    tally_barrier();
    low = shared->first[0];
    high = shared->first[1];
    if (i > cut->tiles) return;
    if (i == 0 || i == cut->tiles) /* whatever the index says, every segment is some tile's */
        segment = i == 0 ? 0 : cut->count;
    else if (tally_thread() == 0)
        segment = low;
    else
        segment = tally_search_near(cut, origin, low, high, i * TALLY_TILE_BYTES,
                                    low + (high - low) * tally_thread() / TALLY_EDGES_BLOCK,
                                    (float)(high - low) / ((float)TALLY_EDGES_BLOCK * (float)TALLY_TILE_BYTES));
    cut->edges[i] = tally_edge_at(&work, origin, segment, i * TALLY_TILE_BYTES);
    if (i == cut->tiles) cut->edges[i].value = tally_offset(cut, segment);
}
