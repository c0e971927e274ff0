/* The kernel of production/merge.h for values of TALLY_MERGE_BITS bits; included once for each width. Values keep the
 * bits that they have: what is compared are keys, made of them where two are compared. */
#include "merge/merge_runs.h"

#define TALLY_MERGE_BITS_TYPE TALLY_PASTE(uint, TALLY_PASTE(TALLY_MERGE_BITS, _t))
#define TALLY_M(name) TALLY_PASTE(tally_merge_, TALLY_PASTE(name, TALLY_MERGE_BITS))

typedef TALLY_MERGE_BITS_TYPE TALLY_M(bits_);

/* An unsigned integer that ascends as the values do. */
TALLY_FN TALLY_M(bits_) TALLY_M(key_)(const tally_merge_work *merge, TALLY_M(bits_) bits) {
    const TALLY_M(bits_) sign = (TALLY_M(bits_))((TALLY_M(bits_))1 << (TALLY_MERGE_BITS - 1));
    const TALLY_M(bits_) magnitude = (TALLY_M(bits_))(bits & (TALLY_M(bits_)) ~sign);
    if (merge->reading == TALLY_MERGE_UNSIGNED) return bits;
    if (merge->reading == TALLY_MERGE_SIGNED) return (TALLY_M(bits_))(bits ^ sign);
    if (merge->reading == TALLY_MERGE_BOOL) return bits != 0;
    if (merge->reading == TALLY_MERGE_FLOAT) {
        if (magnitude == 0) return sign;
        if (magnitude > (TALLY_M(bits_))merge->infinity) return (TALLY_M(bits_)) ~(TALLY_M(bits_))0;
    }
    return (TALLY_M(bits_))((bits & sign) != 0 ? ~bits : bits | sign);
}

/* A value at any address. */
TALLY_FN TALLY_M(bits_) TALLY_M(load_)(const char *p) {
    uint64_t bits = 0;
    if ((uint64_t)p % sizeof(TALLY_M(bits_)) == 0) return *(const TALLY_M(bits_) *)(const void *)p;
    TALLY_ROLLED
    for (int32_t b = TALLY_MERGE_BITS / 8 - 1; b >= 0; b--) bits = bits << 8 | *(const volatile uint8_t *)(p + b);
    return (TALLY_M(bits_))bits;
}
TALLY_FN void TALLY_M(put_)(char *p, TALLY_M(bits_) bits) {
    if ((uint64_t)p % sizeof(TALLY_M(bits_)) == 0) {
        *(TALLY_M(bits_) *)(void *)p = bits;
        return;
    }
    TALLY_ROLLED
    for (int32_t b = 0; b < TALLY_MERGE_BITS / 8; b++)
        *(volatile uint8_t *)(p + b) = (uint8_t)((uint64_t)bits >> 8 * b);
}
TALLY_FN TALLY_M(bits_) TALLY_M(key_at_)(const tally_merge_work *merge, const tally_run *run, int64_t i) {
    return TALLY_M(key_)(merge, TALLY_M(load_)(run->data + i * run->stride));
}

/* How many of the first `rank` values of both runs are of `a`: merge path. The lanes of a warp look at 32 places at
 * once. Of runs that are not sorted it is any number from 0 to a->count, always the same. */
TALLY_FN int64_t TALLY_M(path_)(const tally_merge_work *merge, const tally_run *a, const tally_run *b, int64_t rank) {
    int64_t low = rank > b->count ? rank - b->count : 0, high = rank < a->count ? rank : a->count;
    while (low < high) {
        const int64_t step = (high - low + TALLY_WARP - 1) / TALLY_WARP, i = low + (tally_lane() + 1) * step - 1;
        int32_t is_among = 0;
        if (i < high) is_among = TALLY_M(key_at_)(merge, a, i) <= TALLY_M(key_at_)(merge, b, rank - 1 - i);
        low += __builtin_popcount(tally_ballot(is_among)) * step;
        if (low + step - 1 < high) high = low + step - 1;
    }
    return low;
}

/* A tile's values, those of `a` first, and which of them comes when. */
typedef struct TALLY_M(shared_) {
    TALLY_M(bits_) values[TALLY_MERGE_TILE];
    uint16_t order[TALLY_MERGE_TILE];
    int64_t from_a[2]; /* values of `a` before the tile, and before its end */
} TALLY_M(shared_);

/* The same in the tile. */
TALLY_FN int32_t TALLY_M(path_in_tile_)(const tally_merge_work *merge, const TALLY_M(shared_) * shared, int32_t na,
                                        int32_t nb, int32_t rank) {
    int32_t low = rank > nb ? rank - nb : 0, high = rank < na ? rank : na;
    while (low < high) {
        const int32_t middle = (low + high) / 2;
        if (TALLY_M(key_)(merge, shared->values[middle]) <=
            TALLY_M(key_)(merge, shared->values[na + rank - 1 - middle]))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Each thread merges the values of its own ranks. */
TALLY_FN void TALLY_M(order_)(const tally_merge_work *merge, TALLY_M(shared_) * shared, int32_t na, int32_t n) {
    const int32_t first = tally_thread() * TALLY_MERGE_EACH;
    if (first >= n) return;
    int32_t a = TALLY_M(path_in_tile_)(merge, shared, na, n - na, first), b = na + first - a;
    TALLY_M(bits_)
    key_a = a < na ? TALLY_M(key_)(merge, shared->values[a]) : 0,
    key_b = b < n ? TALLY_M(key_)(merge, shared->values[b]) : 0;
    for (int32_t rank = first; rank < first + TALLY_MERGE_EACH && rank < n; rank++) {
        if (b >= n || (a < na && key_a <= key_b)) {
            shared->order[rank] = (uint16_t)a++;
            if (a < na) key_a = TALLY_M(key_)(merge, shared->values[a]);
        } else {
            shared->order[rank] = (uint16_t)b++;
            if (b < n) key_b = TALLY_M(key_)(merge, shared->values[b]);
        }
    }
}

/* Whether each of the tile's values may follow the one in front of it in its array. */
TALLY_FN void TALLY_M(look_)(const tally_merge_work *merge, const TALLY_M(shared_) * shared, const tally_run *a,
                             const tally_run *b, int64_t a_begin, int64_t b_begin, int32_t na, int32_t n) {
    int32_t is_bad = 0;
    for (int32_t q = tally_thread(); q < n; q += TALLY_MERGE_BLOCK) {
        const TALLY_M(bits_) key = TALLY_M(key_)(merge, shared->values[q]);
        if (q == na)
            is_bad |= b_begin > 0 && TALLY_M(key_at_)(merge, b, b_begin - 1) > key;
        else if (q == 0)
            is_bad |= a_begin > 0 && TALLY_M(key_at_)(merge, a, a_begin - 1) > key;
        else
            is_bad |= TALLY_M(key_)(merge, shared->values[q - 1]) > key;
    }
    if (is_bad) tally_or32(&merge->told->unsorted, 1);
}

/* Ranks begin to begin + n - 1 of what two runs are together. */
TALLY_FN void TALLY_M(tile_)(const tally_merge_work *merge, TALLY_M(shared_) * shared, const tally_run *a,
                             const tally_run *b, int64_t begin, int32_t n) {
    if (tally_warp() < 2) {
        const int64_t from_a = TALLY_M(path_)(merge, a, b, tally_warp() == 0 ? begin : begin + n);
        if (tally_lane() == 0) shared->from_a[tally_warp()] = from_a;
    }
    tally_barrier();
    const int64_t a_begin = shared->from_a[0], b_begin = begin - a_begin, apart = shared->from_a[1] - a_begin;
    if (apart < 0 || apart > n) { /* not of runs that are sorted */
        if (tally_thread() == 0) tally_or32(&merge->told->unsorted, 1);
        return;
    }
    const int32_t na = (int32_t)apart;
    for (int32_t q = tally_thread(); q < n; q += TALLY_MERGE_BLOCK)
        shared->values[q] =
            TALLY_M(load_)(q < na ? a->data + (a_begin + q) * a->stride : b->data + (b_begin + (q - na)) * b->stride);
    tally_barrier();
    if (merge->from == 0) TALLY_M(look_)(merge, shared, a, b, a_begin, b_begin, na, n);
    TALLY_M(order_)(merge, shared, na, n);
    tally_barrier();
    for (int32_t q = tally_thread(); q < n; q += TALLY_MERGE_BLOCK) {
        const int32_t at = shared->order[q];
        const int64_t place = a->place + begin + q;
        TALLY_M(put_)(merge->to + place * merge->to_stride, shared->values[at]);
        if (merge->origins_to == 0) continue;
        tally_put_origin(merge, place,
                         tally_origin_of(merge, at < na ? a->place + a_begin + at : b->place + b_begin + (at - na)));
    }
}

/* A block has a tile of the output, which may be of several pairs of runs. */
TALLY_ENTRY(TALLY_M(), 4) {
    TALLY_SHARED(TALLY_M(shared_), shared);
    const tally_merge_work *merge = (const tally_merge_work *)(const void *)work.x;
    const int64_t first = (int64_t)tally_block() * TALLY_MERGE_TILE,
                  end = first + TALLY_MERGE_TILE < merge->total ? first + TALLY_MERGE_TILE : merge->total;
    for (int64_t place = first; place < end;) {
        tally_run a, b;
        tally_runs_at(merge, place, &a, &b);
        const int64_t behind = a.place + a.count + b.count, until = behind < end ? behind : end;
        TALLY_M(tile_)(merge, shared, &a, &b, place - a.place, (int32_t)(until - place));
        tally_barrier();
        place = until;
    }
}

#undef TALLY_M
#undef TALLY_MERGE_BITS_TYPE
