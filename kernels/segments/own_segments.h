/* What a block does with the tile that it has read (production/segments.h): leaves of segments that run over its
 * edges, and the segments that are its own: a few values by one thread, others once as many as a warp has lanes wait
 * in its list, or sorted by length for the whole block where a value costs much; longer ones by a warp, or several at
 * once. */
#ifndef TALLY_OWN_SEGMENTS_H
#define TALLY_OWN_SEGMENTS_H

#include "order/nodes.h"
#include "segments/shared_leaf.h"

/* The sum of what this lane and those before it hold. */
TALLY_FN int32_t sum_until(int32_t mine) {
    const int32_t lane = tally_lane();
    TALLY_UNROLL
    for (int32_t apart = 1; apart < TALLY_WARP; apart *= 2) {
        const int32_t before = (int32_t)tally_shuffle((uint32_t)mine, (lane - apart) & (TALLY_WARP - 1));
        if (lane >= apart) mine += before;
    }
    return mine;
}

/* A warp's first segment of each turn is TALLY_CONSUMERS behind that of the turn before, and its lanes' are `apart`:
 * where there are few, warps take them one by one. */
#define TALLY_FEW_OWN (TALLY_CONSUMERS / 2)
typedef struct turns_t {
    int32_t first, apart;
} turns_t;
TALLY_FN turns_t turns_of(int32_t own) {
    const turns_t few = {tally_warp(), TALLY_CONSUMER_WARPS}, many = {tally_warp() * TALLY_WARP, 1};
    return own <= TALLY_FEW_OWN ? few : many;
}

/* Puts the lanes' i, if they are wanted, behind the `count` that the warp has in its list. */
TALLY_FN void put_in_list(uint16_t *list, int32_t *count, int32_t is_wanted, int32_t i, int32_t lane) {
    const uint32_t wanted = tally_ballot(is_wanted);
    if (is_wanted) list[*count + __builtin_popcount(wanted & (((uint32_t)1 << lane) - 1))] = (uint16_t)i;
    *count += __builtin_popcount(wanted);
}

/* ---- leaf by leaf, by all warps ---- */

/* Runs of leaves, each a lane's: those of lanes 0 and 1 run over the tile's edges; those of further lanes are segments
 * of several leaves. */
typedef struct runs_t {
    int32_t at, n, until; /* the first value, values; leaves of this lane and the ones before it */
} runs_t;
TALLY_FN int32_t leaves_in(int32_t n) { return (n + TALLY_DEVICE_LEAF - 1) / TALLY_DEVICE_LEAF; }

#include "segments/strips.h"

/* The leaves of all runs in turn: those of edges go to memory, the others stay in the block. Where values are sums of
 * strips already, these do. */
TALLY_FN void put_runs(const tally_segments_work *work, const tile_t *tile, runs_t mine, node_t *leaves,
                       const strips_t *strips) {
    const int32_t all = (int32_t)tally_shuffle((uint32_t)mine.until, TALLY_WARP - 1),
                  of_edges = (int32_t)tally_shuffle((uint32_t)mine.until, edge_runs - 1);
    TALLY_ROLLED
    for (int32_t k = TALLY_CONSUMER_WARPS - 1 - tally_warp(); k < all;
         k += TALLY_CONSUMER_WARPS) { /* the last warps have least of what follows */
        const int32_t run = __builtin_popcount(tally_ballot(mine.until <= k)),
                      n = (int32_t)tally_shuffle((uint32_t)mine.n, run);
        const int32_t leaf = k - (int32_t)tally_shuffle((uint32_t)mine.until, run) + leaves_in(n),
                      skip = leaf * TALLY_DEVICE_LEAF;
        const int32_t at = (int32_t)tally_shuffle((uint32_t)mine.at, run) + skip,
                      left = n - skip < TALLY_DEVICE_LEAF ? n - skip : TALLY_DEVICE_LEAF;
        const opening_t *const o = tile->opening; /* read where it is wanted, or registers would keep what it says */
        const int64_t first = run == 0 ? o->from.leaf + leaf : leaf;
        node_t node;
#ifdef TALLY_IN_STRIPS
        if (strips != 0) {
            node = nothing();
            node.n = left;
            node.sum = sum_by_lanes(work, o, strips, at, left, TALLY_WARP);
        } else
#else
        (void)strips;
#endif
            node = shared_leaf(tile->x + at, tile->y + at, left, first * TALLY_DEVICE_LEAF);
        if (tally_lane() != 0) continue;
        if (k < of_edges)
            *node_at(work->nodes, (run == 0 ? o->from.place + o->from.leaf : o->to_place) + leaf) = node;
        else
            leaves[k - of_edges] = node;
    }
}
/* The results of those that stay, a warp for each. */
TALLY_FN void close_runs(const tally_segments_work *work, const tile_t *tile, runs_t mine, uint32_t some,
                         const node_t *leaves) {
    const int32_t of_edges = (int32_t)tally_shuffle((uint32_t)mine.until, edge_runs - 1);
    for (int32_t k = 0; some != 0; some &= some - 1, k++) {
        const int32_t run = __builtin_ffs((int32_t)some) - 1,
                      count = leaves_in((int32_t)tally_shuffle((uint32_t)mine.n, run));
        const int32_t begin = (int32_t)tally_shuffle((uint32_t)mine.until, run) - count - of_edges;
        if (k % TALLY_CONSUMER_WARPS != tally_warp()) continue; /* the same in all lanes */
        node_t node =
            leaves[begin + (tally_lane() < count ? tally_lane()
                                                 : 0)]; /* copied by words: under a condition it would be by bytes */
        if (tally_lane() >= count) node = nothing();
        node = pair_lanes(node, count);
        if (tally_lane() == 0) tell(work, put_result(work, tile->opening, run - edge_runs, node));
    }
}

TALLY_FN runs_t runs_of_edges(const opening_t *o) {
    const int32_t lane = tally_lane();
    runs_t mine = {0, 0, 0};
    if (lane < edge_runs) mine.at = o->run_at[lane], mine.n = o->run_n[lane];
    return mine;
}
/* Whether the tile has so few segments that those of several leaves go leaf by leaf, too. */
TALLY_FN int32_t are_few(const tile_t *tile) { return tile->own <= TALLY_WARP - edge_runs; }
/* Leaves of runs over edges, and of these, which are closed at once: other warps need not wait for those that close
 * them. True: nothing else is left. */
TALLY_FN int32_t put_leaves(const tally_segments_work *work, const tile_t *tile, node_t *leaves) {
    const int32_t own = tally_lane() - edge_runs;
    runs_t mine = runs_of_edges(tile->opening);
    if (are_few(tile)) {
        const span_t span = span_of(tile, own, own >= 0 && own < tile->own);
        if (!tally_any(span.saw) && span.n > TALLY_DEVICE_LEAF)
            mine.at = span.at, mine.n = span.n; /* segments of no cut may overlap: there is no room for their leaves */
    }
    if (!tally_any(mine.n > 0)) return tile->own == 0;
    const uint32_t some = tally_ballot(own >= 0 && mine.n > 0);
    mine.until = sum_until(leaves_in(mine.n));
    put_runs(work, tile, mine, leaves, 0);
    if (some == 0) return tile->own == 0; /* the same in all warps */
    tally_consumer_barrier(TALLY_CONSUMERS);
    close_runs(work, tile, mine, some, leaves);
    return __builtin_popcount(some) == tile->own;
}

/* ---- segments of few values, each by a thread ---- */

/* Up to TALLY_WARP segments from `first` on, one for each lane, where all have at most 4 values and the cut is one
 * there. False: nothing is done. */
TALLY_FN int32_t take_few(const tally_segments_work *work, const tile_t *tile, int32_t first, int32_t count,
                          int32_t *saw) {
    const int32_t lane = tally_lane(), i = first + (lane < count ? lane : count - 1);
    const uint32_t at = end_of(tile, i), end = end_of(tile, i + 1);
    const uint32_t n = end < at || end > (uint32_t)tile->values ? UINT32_MAX : end - at;
#ifdef TALLY_PLAIN
    if (TALLY_NAN == 0 && is_plain(work->digits) && !tally_any(n > 2)) {
        if (lane < count)
            *saw |= put_plain_sum(place_of(tile->opening->results, i, (int32_t)sizeof(TALLY_PLAIN)), tile->x + at,
                                  (int32_t)n);
        return 1;
    }
#endif
    if (tally_any(n > 4)) return 0;
    node_t node = thread_node(tile->x + at, tile->y + at, (int32_t)n, 4);
    if (lane < count) *saw |= put_result(work, tile->opening, i, node);
    return 1;
}

/* A segment of so many values at most is a thread's own, one value after the other. */
#ifdef TALLY_IS_SORTED
enum { alone_most = 8 };
#else
enum { alone_most = 4 };
#endif
TALLY_FN int32_t take_alone(const tally_segments_work *work, const tile_t *tile, int32_t i, span_t span) {
    node_t node = nothing();
    if (span.n > 0) node = thread_node(tile->x + span.at, tile->y + span.at, span.n, alone_most);
    return put_result(work, tile->opening, i, node);
}

#ifndef TALLY_IS_SORTED
#if defined(TALLY_BY_LANES) && (defined(TALLY_PLAIN) || defined(TALLY_HAS_INDEX))
#define TALLY_NEEDS_LEAVES 0 /* columns hold what a tile has */
#else
#define TALLY_NEEDS_LEAVES 1
#endif
#ifdef TALLY_BY_LANES
/* Shares a warp out to segments of `some` lanes, to each 1 << *log_lanes of its own lanes: so many that all work, and
 * that none has much more than 16 parts of the longest; the lane's has n values. Whose segment this lane's is, or -1;
 * those that are shared out are no longer in *some. */
TALLY_FN int32_t share_lanes(uint32_t *some, int32_t n, int32_t *log_lanes) {
    enum { MOST = TALLY_PART <= 4 ? 4 : 16, EACH = 16 * TALLY_PART };
    const int32_t count = __builtin_popcount(*some), spare = count == 1 ? 5 : __builtin_clz((uint32_t)count - 1) - 27;
    int32_t least = 3;
    if (MOST > 4) {
        const int32_t longest = (int32_t)tally_warp_max(*some >> tally_lane() & 1 ? (uint32_t)n : EACH);
        least = 32 - __builtin_clz((uint32_t)(longest - 1) / EACH | 1);
    }
    const int32_t log = spare > least ? spare : least < 5 ? least : 5, group = tally_lane() >> log;
    uint32_t mine = *some;
    TALLY_UNROLL
    for (int32_t k = 0; k < MOST - 1; k++) mine = k < group ? mine & (mine - 1) : mine;
    const uint32_t behind = mine & (mine - 1);
    *some = tally_shuffle(behind, TALLY_WARP - 1);
    *log_lanes = log;
    return __builtin_ffs((int32_t)mine) - 1;
}
/* Segments of more than 64 values, those of `many` lanes, some at once. */
TALLY_FN int32_t take_several(const tally_segments_work *work, const tile_t *tile, int32_t i, span_t span,
                              uint32_t many) {
    int32_t saw = 0;
    while (many != 0) {
        int32_t log_lanes;
        const int32_t found = share_lanes(&many, span.n, &log_lanes), from = found < 0 ? 0 : found,
                      lanes = 1 << log_lanes;
        const int32_t at = (int32_t)tally_shuffle((uint32_t)span.at, from),
                      n = (int32_t)tally_shuffle((uint32_t)span.n, from);
        const node_t node = parts_node(tile->x, at, found < 0 ? 0 : n, lanes, 0);
        const int32_t whose = (int32_t)tally_shuffle((uint32_t)i, from);
        if (found >= 0 && (tally_lane() & (lanes - 1)) == 0) saw |= put_result(work, tile->opening, whose, node);
    }
    return saw;
}
#endif
/* The same by the warp, one after the other; their nodes become results together, as far as registers allow. */
#if TALLY_NEEDS_LEAVES
TALLY_FN int32_t take_each(const tally_segments_work *work, const tile_t *tile, int32_t i, span_t span, uint32_t many) {
    const int32_t later = sizeof(node_t) <= 24, is_mine = many >> tally_lane() & 1;
    node_t mine = nothing();
    int32_t saw = 0;
    for (; many != 0; many &= many - 1) {
        const int32_t from = __builtin_ffs((int32_t)many) - 1;
        const int32_t at = (int32_t)tally_shuffle((uint32_t)span.at, from),
                      n = (int32_t)tally_shuffle((uint32_t)span.n, from);
        const node_t node = shared_run(tile->x + at, tile->y + at, n);
        if (tally_lane() == from) mine = node;
        if (!later && tally_lane() == from) saw |= put_result(work, tile->opening, i, mine);
    }
    return later && is_mine ? saw | put_result(work, tile->opening, i, mine) : saw;
}
#endif
#ifndef TALLY_BY_QUARTERS
TALLY_FN int32_t take_long(const tally_segments_work *work, const tile_t *tile, int32_t i, span_t span, uint32_t many) {
#if !TALLY_NEEDS_LEAVES
    return take_several(work, tile, i, span, many);
#elif defined(TALLY_BY_LANES)
    const uint32_t single = many & tally_ballot(span.n <= TALLY_DEVICE_LEAF);
    const int32_t saw = take_several(work, tile, i, span, single);
    return many == single ? saw : saw | take_each(work, tile, i, span, many & ~single);
#else
    return take_each(work, tile, i, span, many);
#endif
}
#endif
#undef TALLY_NEEDS_LEAVES
#endif

/* ---- segments that have waited ---- */

#ifdef TALLY_BY_LANES
/* Up to TALLY_WARP listed segments, by as many lanes each as there are for it: one, where they are more than 16. Or i
 * of each of TALLY_WARP lanes, where no list is. */
TALLY_FN int32_t take_listed(const tally_segments_work *work, const tile_t *tile, const uint16_t *listed, int32_t count,
                             int32_t i) {
    const int32_t log_lanes = count == 1 ? 5 : __builtin_clz((uint32_t)count - 1) - 27, lanes = 1 << log_lanes;
    const int32_t lane = tally_lane(), mine = lane >> log_lanes, is_there = mine < count;
    if (listed != 0) i = is_there ? listed[mine] : 0;
    const span_t span = span_of(tile, i, is_there);
    const node_t node = parts_node(tile->x, span.at, span.n, lanes, 0);
    return is_there && (lane & (lanes - 1)) == 0 ? put_result(work, tile->opening, i, node) : 0;
}
#else
/* Segments that it takes for a thread for each to pay. */
#define TALLY_COLUMNS_PAY 8

/* Up to TALLY_WARP listed segments of up to 64 values: by threads, or four at a time by 8 lanes each. Or i of each of
 * TALLY_WARP lanes, where no list is. */
TALLY_FN int32_t take_listed(const tally_segments_work *work, const tile_t *tile, const uint16_t *listed, int32_t count,
                             int32_t i) {
    const int32_t lane = tally_lane(), lanes = TALLY_DEVICE_SMALL_COLUMNS;
    int32_t saw = 0;
    (void)i;
#ifdef TALLY_COLUMN_MOST
    if (sizeof(column_t) <= TALLY_COLUMN_MOST && count > TALLY_COLUMNS_PAY) {
        const int32_t is_there = lane < count;
        if (listed != 0) i = is_there ? listed[lane] : 0;
        span_t span = span_of(tile, i, is_there);
        node_t node = columns_node(tile->x + span.at, tile->y + span.at, span.n);
        return is_there ? put_result(work, tile->opening, i, node) : 0;
    }
#endif
    TALLY_ROLLED
    for (int32_t k = 0; k < count; k += TALLY_WARP / lanes) {
        int32_t mine = k + lane / lanes, is_there = mine < count, segment = is_there ? listed[mine] : 0;
        span_t span = span_of(tile, segment, is_there);
        node_t node = lanes_node(tile->x + span.at, tile->y + span.at, span.n, 0);
        if (is_there && lane % lanes == 0) saw |= put_result(work, tile->opening, segment, node);
    }
    return saw;
}
#undef TALLY_COLUMNS_PAY
#endif
/* Whether a lane of each may take the lanes' own. */
#if defined(TALLY_BY_LANES)
#define TALLY_LIST_IS_SPARED 1
#elif defined(TALLY_COLUMN_MOST)
#define TALLY_LIST_IS_SPARED (sizeof(column_t) <= TALLY_COLUMN_MOST)
#else
#define TALLY_LIST_IS_SPARED 0
#endif

#ifdef TALLY_BY_QUARTERS
/* As many of the listed segments of more than 64 values as a warp has quarters, each by one, if all are of one leaf;
 * else, or one, by the warp. */
TALLY_FN int32_t take_quarters(const tally_segments_work *work, const tile_t *tile, const uint16_t *listed,
                               int32_t count) {
    const int32_t mine = tally_lane() / quarter, is_there = mine < count, is_first = tally_lane() % quarter == 0,
                  i = is_there ? listed[mine] : 0;
    const span_t span = span_of(tile, i, is_there);
    if (count == 1 || tally_any(span.n > TALLY_DEVICE_LEAF))
        return take_each(work, tile, i, span, tally_ballot(is_there && is_first));
    const node_t node = quarter_node(tile->x + span.at, span.n);
    return is_there && is_first ? put_result(work, tile->opening, i, node) : 0;
}
#endif

/* ---- sorted by length ---- */

#ifdef TALLY_IS_SORTED
/* Whether the lane's segment waits: all of more values than a thread takes one by one, and all that are not empty where
 * few of the warp's are as short. How many can wait follows from it (production/segments.h). */
TALLY_FN int32_t segment_waits(const tile_t *tile, span_t span) {
    const int32_t few =
        tally_any(span.n > 4) && __builtin_popcount(tally_ballot(span.n >= 1 && span.n <= alone_most)) < 5;
    return span.n > (few ? 0 : alone_most) && !(span.n > TALLY_DEVICE_LEAF && are_few(tile));
}

/* A number that grows with the length, below TALLY_WARP; from long_length on it is that of more than TALLY_DEVICE_SMALL
 * values. */
enum { long_length = 16 };
TALLY_FN int32_t length_of(int32_t n) {
    const int32_t some = (n - 1) / 4, many = 15 + (n - 1) / 64;
    return n <= TALLY_DEVICE_SMALL ? some : many < TALLY_WARP ? many : TALLY_WARP - 1;
}

/* What each warp has of so many. */
TALLY_FN int32_t share_of(int32_t count) { return (count + TALLY_CONSUMER_WARPS - 1) / TALLY_CONSUMER_WARPS; }

/* The `count` listed segments, of which the first `longs` have more than 64 values, those of this warp: few long ones
 * at once. */
TALLY_FN int32_t take_all_listed(const tally_segments_work *work, const tile_t *tile, const uint16_t *listed,
                                 int32_t longs, int32_t count) {
    const int32_t share = share_of(longs), each = share < 4 ? share : 4, other = share_of(count - longs);
    const int32_t many = other < TALLY_WARP ? other : TALLY_WARP;
    int32_t k = tally_warp() * each, saw = 0;
    if (k >= longs) k = longs + tally_warp() * many;
    while (k < count) {
        const int32_t are_long = k < longs, end = are_long ? longs : count, most = are_long ? each : many;
        saw |= take_listed(work, tile, listed + k, end - k < most ? end - k : most, 0);
        k += TALLY_CONSUMER_WARPS * most;
        if (are_long && k >= longs) k = longs + tally_warp() * many;
    }
    return saw;
}
TALLY_FN void clear_waiting(waiting_t *waiting) { waiting->counted[tally_lane()] = waiting->listed[tally_lane()] = 0; }

/* Lists the tile's waiting segments, the longest first, and shares them out to warps. */
TALLY_FN int32_t take_waiting(const tally_segments_work *work, const tile_t *tile, waiting_t *waiting, uint16_t *list) {
    const int32_t own = tile->own, last = TALLY_WARP - 1, lane = tally_lane();
    const int32_t mine = (int32_t)waiting->counted[last - lane], until = sum_until(mine);
    const int32_t found = (int32_t)tally_shuffle((uint32_t)until, last), room = most_waiting,
                  count = found < room ? found : room;
    const int32_t longest = (int32_t)tally_shuffle((uint32_t)until, last - long_length),
                  longs = longest < room ? longest : room;
    if (count == 0) return 0;
    const turns_t turns = turns_of(own);
    for (int32_t first = turns.first; first < own; first += TALLY_CONSUMERS) {
        const int32_t i = first + lane * turns.apart;
        const span_t span = span_of(tile, i, i < own);
        const int32_t length = length_of(span.n > 0 ? span.n : 1), waits = segment_waits(tile, span);
        uint32_t at = tally_shuffle((uint32_t)(until - mine), last - length);
        if (waits) at += tally_arrive(&waiting->listed[length], UINT32_MAX);
        if (waits && at < (uint32_t)room) list[at] = (uint16_t)i;
    }
    if (found > room && lane == 0) tally_or32(work->out.saw, TALLY_SAW_BAD_SEGMENTS); /* they overlap */
    tally_consumer_barrier(TALLY_CONSUMERS);
    if (tally_warp() == TALLY_CONSUMER_WARPS - 1) clear_waiting(waiting); /* for the next tile */
    return take_all_listed(work, tile, list, longs, count);
}
#endif

/* ---- all of its own ---- */

#ifdef TALLY_IS_SORTED
/* In turns of TALLY_WARP for each warp; then those that wait. Gives what was seen. */
TALLY_FN int32_t take_own(const tally_segments_work *work, const tile_t *tile, waiting_t *waiting, uint16_t *list) {
    const int32_t own = tile->own;
    int32_t saw = 0, may_be_few = tile->values <= 4 * own && own > TALLY_CONSUMERS;
    if (own == 0) return 0; /* the same in all threads */
    const turns_t turns = turns_of(own);
    for (int32_t first = turns.first; first < own; first += TALLY_CONSUMERS) {
        const int32_t count = own - first < TALLY_WARP ? own - first : TALLY_WARP;
        may_be_few = may_be_few && take_few(work, tile, first, count, &saw);
        if (may_be_few) continue;
        const int32_t i = first + tally_lane() * turns.apart;
        const span_t span = span_of(tile, i, i < own);
        saw |= span.saw;
        if (segment_waits(tile, span))
            tally_arrive(&waiting->counted[length_of(span.n)], UINT32_MAX);
        else if (i < own && span.n <= alone_most)
            saw |= take_alone(work, tile, i, span);
    }
    tally_consumer_barrier(TALLY_CONSUMERS);
    return saw | take_waiting(work, tile, waiting, list);
}
#else
/* What a warp has listed: segments of up to 64 values, and of more. */
typedef struct lists_t {
    uint16_t *list, *longs;
    int32_t listed, many; /* of each */
} lists_t;

/* The lanes' segments i, whatever they are, but for those that wait. True: all of them do, and nothing else is listed,
 * so that the list is spared. */
TALLY_FN int32_t take_turn(const tally_segments_work *work, const tile_t *tile, int32_t i, int32_t lane, lists_t *lists,
                           int32_t *saw) {
    const int32_t is_there = i < tile->own;
    const span_t span = span_of(tile, i, is_there);
    *saw |= span.saw;
    if (is_there && span.n <= alone_most) *saw |= take_alone(work, tile, i, span);
    if (!tally_any(span.n > alone_most)) return 0;
    const int32_t waits = span.n > alone_most && span.n <= TALLY_DEVICE_SMALL;
    const int32_t is_long = span.n > TALLY_DEVICE_SMALL && !(span.n > TALLY_DEVICE_LEAF && are_few(tile));
    if (TALLY_LIST_IS_SPARED && lists->listed == 0 && tile->own > TALLY_FEW_OWN && !tally_any(!waits)) return 1;
    put_in_list(lists->list, &lists->listed, waits, i, lane);
    const uint32_t many = tally_ballot(is_long);
    if (many == 0) return 0;
#ifdef TALLY_BY_QUARTERS
    put_in_list(lists->longs, &lists->many, is_long && lists->many + TALLY_WARP <= most_longs, i, lane);
    if (lists->many + TALLY_WARP > most_longs) *saw |= TALLY_SAW_BAD_SEGMENTS;
#else
    *saw |= take_long(work, tile, i, span, many);
#endif
    return 0;
}
/* In turns of TALLY_WARP for each warp. Those that wait are taken as soon as they are as many, or the last: no warp
 * waits for another. */
TALLY_FN int32_t take_own(const tally_segments_work *work, const tile_t *tile, uint16_t *list) {
    const int32_t own = tile->own, lane = tally_lane();
    const turns_t turns = turns_of(own);
    lists_t lists = {list, list + most_waiting, 0, 0};
    int32_t saw = 0, may_be_few = tile->values <= 4 * own && own > TALLY_CONSUMERS;
    for (int32_t first = turns.first; first < own; first += TALLY_CONSUMERS) {
        const int32_t i = first + lane * turns.apart, least = own - first > TALLY_CONSUMERS ? TALLY_WARP : 1;
        may_be_few =
            may_be_few && take_few(work, tile, first, own - first < TALLY_WARP ? own - first : TALLY_WARP, &saw);
        if (may_be_few) continue; /* and nothing is listed */
        int32_t is_spared = take_turn(work, tile, i, lane, &lists, &saw);
        while (is_spared || lists.listed >= least) {
            const int32_t count = is_spared || lists.listed > TALLY_WARP ? TALLY_WARP : lists.listed;
            if (!is_spared) lists.listed -= count;
            tally_warp_barrier();
            saw |= take_listed(work, tile, is_spared ? 0 : list + lists.listed, count, i);
            tally_warp_barrier();
            is_spared = 0;
        }
    }
#ifdef TALLY_BY_QUARTERS
    tally_warp_barrier();
    for (int32_t k = 0; k < lists.many; k += TALLY_WARP / quarter)
        saw |= take_quarters(work, tile, lists.longs + k, lists.many - k);
    tally_warp_barrier();
#endif
    return saw;
}
#endif

#ifdef TALLY_IN_STRIPS
/* All that the tile has, by strips: what was seen in *saw; false, if its values are too far apart: it has lost them. */
TALLY_FN int32_t take_strips(const tally_segments_work *work, const tile_t *tile, all_shared_t *all, int32_t *saw) {
    const int32_t warp = tally_warp(), lane = tally_lane(), before = (int32_t)((uint64_t)tile->x % 16 / TALLY_BYTES);
    const int32_t count = (before + tile->values + strip_values - 1) / strip_values;
    in_strips_t *const in = &all->in_strips;
    uint16_t *const list = all->list + warp * most_listed;
    strips_t strips;
    range_t range = no_range();
    int32_t is_none = 0, listed = 0;
    strips.values = (char *)(uint64_t)(tile->x - before);
    strips.borders = in->borders[TALLY_BORDERS_BESIDE ? in->turn : 0];
    strips.others = in->borders[TALLY_BORDERS_BESIDE && strips.borders == in->borders[0]];
    strips.before = before;
    if (warp == TALLY_CONSUMER_WARPS - 1) mark_leaves(strips.borders, before, tile->opening);
    if (warp == TALLY_CONSUMER_WARPS - 2) clear_around(&strips, tile->values, count);
    *saw |= mark_own(work, tile, strips.borders, before, list, &listed, &is_none);
    tally_consumer_barrier(TALLY_CONSUMERS);
#ifdef TALLY_IS_ANCHORED
    strips.last = last_bit(in->high, log_in_tile(tile->values));
#endif
    if (TALLY_BORDERS_BESIDE && tally_thread() == 0) in->turn = strips.borders == in->borders[0];
    add_strips(&strips, count, in->count, &range);
    range.most = tally_warp_max(is_none ? UINT32_MAX : range.most);
    range.least = tally_warp_min(range.least);
    if (lane == 0) in->most[warp] = range.most, in->least[warp] = range.least;
    tally_consumer_barrier(TALLY_CONSUMERS);
    if (TALLY_BORDERS_BESIDE && tally_thread() == 0) in->count = count;
    strips.range.most = tally_warp_max(lane < TALLY_CONSUMER_WARPS ? in->most[lane] : 0);
    strips.range.least = tally_warp_min(lane < TALLY_CONSUMER_WARPS ? in->least[lane] : UINT32_MAX);
    if (!meet_exactly(&strips, log_in_tile(tile->values))) { /* the same in all threads */
#ifdef TALLY_IS_ANCHORED
        const int32_t high = high_of(strips.range) + guess_above;
        if (tally_thread() == 0 && is_finite(strips.range))
            in->high = high < most_guessed ? high : most_guessed; /* for the next tile */
#endif
        return 0;
    }
    runs_t edges = runs_of_edges(tile->opening);
    edges.until = leaves_in(tile->opening->run_n[0]) + (lane == 0 ? 0 : leaves_in(tile->opening->run_n[1]));
    put_runs(work, tile, edges, 0, &strips);
    *saw |= close_own(work, tile, list, listed, &strips);
    return 1;
}
#endif

#endif
