/* What a block does with the tile that it has read (production/segments.h): leaves of segments that run over its edges, and the segments that
 * are its own, up to 8 values by one thread, up to 64 by a thread that keeps their columns or by 8 lanes, more by a warp, and of few that are
 * long a leaf by each warp. No include guard; behind lib/shared_leaf.h and a tile. */

/* ---- leaf by leaf, by all warps ---- */

/* Leaves of one segment that lie in one tile, from value `at` of the tile on: leaf `first` and those behind it. */
typedef struct TALLY_N(part_run) {
    int64_t first;
    char *nodes; /* where they go */
    int32_t at, values, count;
} TALLY_N(part_run);

TALLY_FN TALLY_N(part_run) TALLY_N(run_of)(char *nodes, int64_t first, int32_t at, int32_t values) {
    TALLY_N(part_run) run = {first, nodes, at, values, (values + TALLY_DEVICE_LEAF - 1) / TALLY_DEVICE_LEAF};
    return run;
}
/* The same where the segment may have no place: it is of no cut, as some tile tells. */
TALLY_FN TALLY_N(part_run) TALLY_N(run_over)(const tally_work *work, int64_t place, int64_t first, int32_t at, int32_t values) {
    return TALLY_N(run_of)(work->nodes + (place + first) * (int64_t)sizeof(TALLY_N(node)), first, at, place < 0 ? 0 : values);
}

/* Leaves `k`, `k` + TALLY_WARPS, ... of the run; gives the first number behind it, of the next run's. */
TALLY_FN int32_t TALLY_N(put_run)(const TALLY_N(tile) *tile, const TALLY_N(part_run) *run, int32_t k) {
    for (; k < run->count; k += TALLY_WARPS) {
        int32_t skip = k * TALLY_DEVICE_LEAF, left = run->values - skip, at = run->at + skip;
        TALLY_N(node) node = TALLY_N(shared_leaf)(tile->x + at, tile->y + at, left < TALLY_DEVICE_LEAF ? left : TALLY_DEVICE_LEAF,
                                                  (run->first + k) * TALLY_DEVICE_LEAF);
        if (tally_lane() == 0) *TALLY_N(node_at)(run->nodes, k) = node;
    }
    return k - run->count;
}

/* The results of segments whose leaves lie side by side in shared memory, a warp for each. */
TALLY_FN void TALLY_N(close_long)(const tally_work *work, const TALLY_N(tile) *tile, TALLY_N(span) span, uint32_t some,
                                     const TALLY_N(shared) *shared) {
    for (int32_t k = 0, used = 0; some != 0; some &= some - 1, k++) {
        int32_t lane = __builtin_ffs((int32_t)some) - 1, n = (int32_t)tally_shuffle((uint32_t)span.n, lane);
        int32_t count = (n + TALLY_DEVICE_LEAF - 1) / TALLY_DEVICE_LEAF;
        if (k % TALLY_WARPS == tally_warp()) {
            TALLY_N(node) node = TALLY_N(nothing)();
            if (tally_lane() < count) node = shared->leaves[used + tally_lane()];
            node = TALLY_N(pair_lanes)(node, count);
            if (tally_lane() == 0) TALLY_N(tell_seldom)(work, TALLY_N(put_result)(work, tile->segment, lane, node));
        }
        used += count;
    }
}

/* The end of a segment that began before the tile, the beginning of one that ends behind it, which is no longer its own then, and where the tile
 * has few, segments of several leaves, which are closed at once. True: the latter are done. */
TALLY_FN int32_t TALLY_N(put_leaves)(const tally_work *work, TALLY_N(tile) *tile, TALLY_N(shared) *shared) {
    const uint32_t values = (uint32_t)tile->values, first = TALLY_N(end_of)(tile, 0), last = TALLY_N(end_of)(tile, tile->own);
    TALLY_N(part_run) head = TALLY_N(run_over)(work, shared->opening.from.place, shared->opening.from.leaf, 0, (int32_t)(first < values ? first : values));
    TALLY_N(part_run) tail = TALLY_N(run_of)(0, 0, 0, 0);
    TALLY_N(span) span = {0, 0, 0};
    uint32_t some = 0;
    int32_t is_bad = (int32_t)last < 0, k = tally_warp();
    if (tile->own > 0 && last > values) {
        uint32_t at = TALLY_N(end_of)(tile, --tile->own);
        if (at > values)
            is_bad = 1;
        else
            tail = TALLY_N(run_over)(work, shared->opening.to_place, 0, (int32_t)at, (int32_t)(values - at));
    }
    if (tile->own <= TALLY_WARP) {
        span = TALLY_N(span_of)(tile, tally_lane(), tally_lane() < tile->own);
        some = tally_ballot(span.n > TALLY_DEVICE_LEAF);
        if (tally_any(span.saw)) some = 0; /* segments of no cut may overlap, and have more leaves than there is room for */
    }
    if (is_bad) tally_or32(work->saw, TALLY_SAW_BAD_CUT);
    uint32_t left = some;
    char *nodes = (char *)shared->leaves;
    TALLY_ROLLED
    for (int32_t r = head.count + tail.count > 0 ? 0 : 2; r < 2 || left != 0; r++) {
        TALLY_N(part_run) run = r == 0 ? head : tail;
        if (r >= 2) {
            int32_t lane = __builtin_ffs((int32_t)left) - 1;
            run = TALLY_N(run_of)(nodes, 0, (int32_t)tally_shuffle((uint32_t)span.at, lane), (int32_t)tally_shuffle((uint32_t)span.n, lane));
            nodes += run.count * (int32_t)sizeof(TALLY_N(node));
            left &= left - 1;
        }
        k = TALLY_N(put_run)(tile, &run, k);
    }
    if (some != 0) { /* the same in all warps */
        tally_barrier();
        TALLY_N(close_long)(work, tile, span, some, shared);
    }
    return some != 0;
}

/* ---- up to 64 values ---- */

/* Whether a segment is one thread's, and how many segments it takes for that to pay. Measured: lanes are better for values of 8 bytes, of which a
 * thread has no room for all columns, and where a value costs much, which makes threads wait for the longest of their segments. */
#ifdef TALLY_USER_TEXT
#define TALLY_COLUMNS_FIT (!TALLY_USER_KEEPS_ORDER && sizeof(TALLY_N(column)) <= 4)
#elif TALLY_PASSES == 1 && TALLY_BYTES <= 4 && !defined(TALLY_HAS_INDEX)
#define TALLY_COLUMNS_FIT (TALLY_IS_FREE || sizeof(TALLY_N(column)) <= 8)
#else
#define TALLY_COLUMNS_FIT 0
#endif
#define TALLY_COLUMNS_PAY 5

/* The warp's `count` listed segments, of 9 to 64 values: by threads, or four at a time by 8 lanes each. */
TALLY_FN int32_t TALLY_N(take_listed)(const tally_work *work, const TALLY_N(tile) *tile, const uint16_t *listed, int32_t count) {
    const int32_t lane = tally_lane(), lanes = TALLY_DEVICE_SMALL_COLUMNS;
    int32_t saw = 0;
    if (TALLY_COLUMNS_FIT && count >= TALLY_COLUMNS_PAY) {
        int32_t segment = lane < count ? listed[lane] : 0;
        TALLY_N(span) span = TALLY_N(span_of)(tile, segment, lane < count);
        TALLY_N(node) node = TALLY_N(columns_node)(tile->x + span.at, tile->y + span.at, span.n, (int32_t)tally_warp_max((uint32_t)span.n));
        return lane < count ? TALLY_N(put_result)(work, tile->segment, segment, node) : 0;
    }
    for (int32_t k = 0; k < count; k += TALLY_WARP / lanes) {
        int32_t mine = k + lane / lanes, is_there = mine < count, segment = is_there ? listed[mine] : 0;
        TALLY_N(span) span = TALLY_N(span_of)(tile, segment, is_there);
        TALLY_N(node) node = TALLY_N(lanes_node)(tile->x + span.at, tile->y + span.at, span.n, 0);
        if (is_there && lane % lanes == 0) saw |= TALLY_N(put_result)(work, tile->segment, segment, node);
    }
    return saw;
}

/* ---- all of its own ---- */

/* Up to TALLY_WARP segments from `first` on, one for each lane, where all have at most 4 values and the cut is one there. False: nothing is done. */
TALLY_FN int32_t TALLY_N(take_few)(const tally_work *work, const TALLY_N(tile) *tile, int32_t first, int32_t count, int32_t *saw) {
    const int32_t lane = tally_lane(), i = first + (lane < count ? lane : count - 1);
    const uint32_t at = TALLY_N(end_of)(tile, i), end = TALLY_N(end_of)(tile, i + 1);
    const uint32_t n = end < at || end > (uint32_t)tile->values ? UINT32_MAX : end - at;
#ifdef TALLY_IS_NARROW_SUM
    if (TALLY_NAN == 0 && work->user && !tally_any(n > 2)) {
        if (lane < count) *saw |= TALLY_N(put_plain_sum)(work, tile->segment, i, tile->x + at, (int32_t)n);
        return 1;
    }
#endif
    if (tally_any(n > 4)) return 0;
    TALLY_N(node) node = TALLY_N(thread_node)(tile->x + at, tile->y + at, (int32_t)n, 4);
    if (lane < count) *saw |= TALLY_N(put_result)(work, tile->segment, i, node);
    return 1;
}

/* Whether nodes that a warp finds one after the other become results together, as far as registers allow. */
#if defined(TALLY_IS_NARROW_SUM) && (TALLY_BYTES == 2 || TALLY_NAN == 1)
#define TALLY_CONCLUDES_LATER 0
#else
#define TALLY_CONCLUDES_LATER (sizeof(TALLY_N(node)) <= 32)
#endif

/* The same whatever they are; those that wait are listed behind *listed_count others. */
TALLY_FN int32_t TALLY_N(take_segments)(const tally_work *work, const TALLY_N(tile) *tile, int32_t first, int32_t count, int32_t is_closed,
                                        uint16_t *listed, int32_t *listed_count) {
    const int32_t lane = tally_lane(), is_there = lane < count;
    TALLY_N(span) span = TALLY_N(span_of)(tile, first + lane, is_there);
    int32_t saw = span.saw;
    if (tally_any(is_there && span.n <= 8)) {
        TALLY_N(node) node = TALLY_N(thread_node)(tile->x + span.at, tile->y + span.at, span.n <= 8 ? span.n : 0, 8);
        if (is_there && span.n <= 8) saw |= TALLY_N(put_result)(work, tile->segment, first + lane, node);
    }
    uint32_t some = tally_ballot(span.n > 8 && span.n <= TALLY_DEVICE_SMALL);
    uint32_t many = tally_ballot(span.n > TALLY_DEVICE_SMALL && !(is_closed && span.n > TALLY_DEVICE_LEAF));
    if (some >> lane & 1) listed[*listed_count + __builtin_popcount(some & (((uint32_t)1 << lane) - 1))] = (uint16_t)(first + lane);
    *listed_count += __builtin_popcount(some);
    tally_warp_barrier();
    const int32_t keeps = TALLY_CONCLUDES_LATER && (many >> lane & 1);
    TALLY_N(node) mine = TALLY_N(nothing)();
    for (; many != 0; many &= many - 1) {
        int32_t from = __builtin_ffs((int32_t)many) - 1;
        int32_t begin = (int32_t)tally_shuffle((uint32_t)span.at, from), length = (int32_t)tally_shuffle((uint32_t)span.n, from);
        TALLY_N(node) node = TALLY_N(shared_run)(tile->x + begin, tile->y + begin, length);
        if (TALLY_CONCLUDES_LATER && lane == from) mine = node;
        if (!TALLY_CONCLUDES_LATER && lane == 0) saw |= TALLY_N(put_result)(work, tile->segment, first + from, node);
    }
#if !(TALLY_FLOAT && TALLY_NAN == 1)
    mine.n = span.n; /* which need not be kept in registers, then */
#endif
    if (keeps) saw |= TALLY_N(put_result)(work, tile->segment, first + lane, mine);
    return saw;
}

/* The tile's own segments, in equal shares of at most TALLY_WARP for each warp, in as few rounds as there can be. Gives what was seen. */
TALLY_FN int32_t TALLY_N(take_own)(const tally_work *work, const TALLY_N(tile) *tile, int32_t is_closed, TALLY_N(shared) *shared) {
    const int32_t own = tile->own, share = shared->opening.share;
    uint16_t *listed = shared->listed[tally_warp()];
    int32_t saw = 0, waiting = 0;
    for (int32_t first = tally_warp() * share; first < own || waiting > 0; first += TALLY_WARPS * share) {
        if (first < own) {
            int32_t count = own - first < share ? own - first : share;
            if (TALLY_N(take_few)(work, tile, first, count, &saw)) continue;
            saw |= TALLY_N(take_segments)(work, tile, first, count, is_closed, listed, &waiting);
            if (waiting < TALLY_WARP) continue;
        }
        int32_t taken = waiting < TALLY_WARP ? waiting : TALLY_WARP;
        waiting -= taken;
        saw |= TALLY_N(take_listed)(work, tile, listed + waiting, taken);
        tally_warp_barrier();
    }
    return saw;
}
#undef TALLY_COLUMNS_FIT
#undef TALLY_COLUMNS_PAY
#undef TALLY_CONCLUDES_LATER
