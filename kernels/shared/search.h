/* argmin and argmax of values that lie in shared memory. A lane reads its parts of 16 bytes once, in order, and keeps
 * the best value and the part that it was in; the place in the part is looked up at the end. A part of
 * shared/leaves.h, in place of its columns, which read twice. */
#ifndef TALLY_SHARED_SEARCH_H
#define TALLY_SHARED_SEARCH_H

#include "shared/values.h"

#if TALLY_HAS_INDEX
#include "types/extremes.h"

typedef struct found_t {
    TALLY_K key;
    int32_t at, present; /* at: a place, or a part; INT32_MAX: no value counts. present: how many values count */
} found_t;

/* If all values of a lane are NaN and skipped, its best key is one that no number has. Without such values all are
 * present, and the first may have the worst key. */
TALLY_FN found_t nothing_found(int32_t first) {
    found_t a;
    a.key = identity().key;
    a.at = first;
    a.present = 0;
    return a;
}
TALLY_FN TALLY_K key_of(TALLY_T x) {
    const item_t item = item_of(x);
    return lift(item, item).key;
}
TALLY_FN void take_better(found_t *a, TALLY_K key, int32_t at) {
    const int32_t takes = is_better(key, a->key);
    a->key = takes ? key : a->key;
    a->at = takes ? at : a->at;
}
/* What is compared within a part, and the better of two. */
TALLY_FN TALLY_COMPARED compared_of(TALLY_T x) { return is_better(0, 1) ? low_compared(x) : high_compared(x); }
TALLY_FN TALLY_COMPARED better_of(TALLY_COMPARED a, TALLY_COMPARED b) {
    return is_better(0, 1) ? lesser(a, b) : greater(a, b);
}
TALLY_FN TALLY_K key_of_compared(TALLY_COMPARED a) { return is_better(0, 1) ? low_key_of(a) : high_key_of(a); }

/* n > 0 values, whose parts begin at `begin`. The first one is value `before` of these parts. */
typedef struct row_of_parts_t {
    const char *begin;
    int32_t before, until;
} row_of_parts_t;

/* Looks at part i. is_end, a constant: it may also hold values of others. These are replaced by the first value, which
 * comes before them and so changes nothing. */
TALLY_FN void look_at_part(found_t *a, const row_of_parts_t *parts, int32_t i, const int32_t is_end) {
    const tally_quad quad = tally_take16(parts->begin + 16 * i);
    const TALLY_T first = ((const TALLY_T *)(const void *)parts->begin)[parts->before];
    TALLY_COMPARED best = compared_of(first);
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_PART; v++) {
        const int32_t at = i * TALLY_PART + v, is_there = !is_end || (at >= parts->before && at < parts->until);
        const TALLY_T x = is_there ? value_of_part(&quad, v) : first;
        best = v == 0 ? compared_of(x) : better_of(best, compared_of(x));
        if (TALLY_MAY_SKIP) a->present += is_there && is_present(x);
    }
    take_better(a, key_of_compared(best), i);
}
/* What lane `sub` of the segment's lanes finds: the best value, and in a.at its part. */
TALLY_FN found_t search(const row_of_parts_t *parts, int32_t sub, int32_t lanes) {
    const int32_t first = parts->before != 0,
                  last = parts->until / TALLY_PART; /* of the parts that hold no values of others */
    found_t a = nothing_found(sub);
    if (sub == 0 && first) look_at_part(&a, parts, 0, 1);
    TALLY_UNROLL_PARTS
    for (int32_t i = first + sub; i < last; i += lanes) look_at_part(&a, parts, i, 0);
    if (sub == lanes - 1 && parts->until % TALLY_PART != 0 && last >= first) look_at_part(&a, parts, last, 1);
    return a;
}
/* The first place in part a.at that has the key. */
TALLY_FN int32_t place_found(const row_of_parts_t *parts, found_t a) {
    const tally_quad quad = tally_take16(parts->begin + 16 * a.at);
    int32_t place = INT32_MAX;
    TALLY_UNROLL
    for (int32_t v = TALLY_PART - 1; v >= 0; v--) {
        const int32_t at = a.at * TALLY_PART + v;
        const TALLY_T x = value_of_part(&quad, v);
        if (at >= parts->before && at < parts->until && key_of(x) == a.key && is_present(x)) place = at - parts->before;
    }
    return place;
}
/* The best of what `lanes` lanes side by side have found, a power of two. Each of them gets it. */
TALLY_FN found_t best_of_lanes(found_t a, int32_t lanes) {
    TALLY_ROLLED
    for (int32_t mask = lanes / 2; mask > 0; mask /= 2) {
        const TALLY_K key = (TALLY_K)(sizeof a.key == 8 ? tally_shuffle64((int64_t)a.key, mask)
                                                        : (int64_t)(int32_t)tally_shuffle_xor((uint32_t)a.key, mask));
        const int32_t at = (int32_t)tally_shuffle_xor((uint32_t)a.at, mask);
        if (TALLY_MAY_SKIP) a.present += (int32_t)tally_shuffle_xor((uint32_t)a.present, mask);
        if (key == a.key) a.at = at < a.at ? at : a.at;
        take_better(&a, key, at);
    }
    return a;
}
TALLY_FN node_t node_found(found_t found, int32_t n, int64_t first) {
    node_t a;
    a.n = TALLY_MAY_SKIP ? found.present : n;
    a.key = found.key;
    a.at = found.at == INT32_MAX ? INT64_MAX : first + found.at;
    return a;
}
/* The node of n values from place `at` of x on, by `lanes` lanes. Each of them gets it. All lanes of the warp call
 * this. before: how many values of the segment precede them. */
TALLY_FN node_t parts_node(const TALLY_T *x, const TALLY_T *y, int32_t at, int32_t n, int32_t lanes, int64_t before) {
    (void)y;
    const int32_t skew = (int32_t)((uint64_t)(x + at) % 16 / TALLY_BYTES);
    const row_of_parts_t parts = {(const char *)(x + at - skew), skew, skew + n};
    found_t found = nothing_found(0);
    if (n > 0) found = search(&parts, tally_lane() & (lanes - 1), lanes);
    found = best_of_lanes(found, lanes);
    found.at = n > 0 ? place_found(&parts, found) : INT32_MAX;
    return node_found(found, n, before);
}

/* The node of up to 8 values, by one thread, one by one. */
TALLY_FN node_t thread_node(const TALLY_T *x, const TALLY_T *y, int32_t n, const int32_t most) {
    found_t a = nothing_found(TALLY_MAY_SKIP || n == 0 ? INT32_MAX : 0);
    (void)y;
    TALLY_UNROLL
    for (int32_t k = 0; k < most; k++) {
        if (k >= n) continue;
        take_better(&a, key_of(x[k]), k);
        a.present += is_present(x[k]);
    }
    return node_found(a, n, 0);
}
#endif

#endif
