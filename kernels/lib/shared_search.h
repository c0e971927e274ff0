/* argmin and argmax of values that lie in shared memory: each lane looks for the best of its own once, in order, and keeps its place. No include guard; a
 * part of lib/shared_leaf.h, in place of its columns, which look twice. */
typedef struct TALLY_N(found) {
    TALLY_K key;
    int32_t at, present; /* INT32_MAX: no value counts; values that do */
} TALLY_N(found);

TALLY_FN TALLY_N(found) TALLY_N(better_found)(TALLY_N(found) a, TALLY_N(found) b) {
    const int32_t takes = TALLY_N(is_better)(b.key, a.key) || (b.key == a.key && b.at < a.at);
    a.present += b.present;
    a.key = takes ? b.key : a.key;
    a.at = takes ? b.at : a.at;
    return a;
}
/* No number has the key of a NaN that is skipped, so that this is never taken; other values, the first of which may have the worst key, are
 * all present. */
TALLY_FN TALLY_N(found) TALLY_N(nothing_found)(int32_t first, int32_t n) {
    TALLY_N(found) a;
    a.key = TALLY_N(identity)().key;
    a.at = TALLY_MAY_SKIP || first >= n ? INT32_MAX : first;
    a.present = 0;
    return a;
}
TALLY_FN void TALLY_N(look_at)(TALLY_N(found) *a, const TALLY_T *x, int32_t i) {
    const TALLY_N(item) item = TALLY_N(item_of)(x[i]);
    const TALLY_K key = TALLY_N(lift)(item, item).key;
    const int32_t takes = TALLY_N(is_better)(key, a->key);
    a->key = takes ? key : a->key;
    a->at = takes ? i : a->at;
    a->present += TALLY_N(present)(item.raw);
}
/* Places first, first + step, ... below n. */
TALLY_FN TALLY_N(found) TALLY_N(search)(const TALLY_T *x, int32_t n, int32_t first, int32_t step) {
    TALLY_N(found) a = TALLY_N(nothing_found)(first, n);
    TALLY_UNROLL_SOME
    for (int32_t i = first; i < n; i += step) TALLY_N(look_at)(&a, x, i);
    return a;
}
TALLY_FN TALLY_N(node) TALLY_N(node_found)(TALLY_N(found) found, int32_t n, int64_t first) {
    TALLY_N(node) a;
    a.n = TALLY_MAY_SKIP ? found.present : n;
    a.key = found.key;
    a.at = found.at == INT32_MAX ? INT64_MAX : first + found.at;
    return a;
}
/* What `lanes` lanes side by side, a power of two, have found; the same in each. */
TALLY_FN TALLY_N(found) TALLY_N(search_by)(const TALLY_T *x, int32_t n, const int32_t lanes) {
    TALLY_N(found) a = TALLY_N(search)(x, n, tally_lane() & (lanes - 1), lanes);
    TALLY_UNROLL
    for (int32_t mask = lanes / 2; mask > 0; mask /= 2) {
        TALLY_N(found) b;
        b.key = (TALLY_K)(sizeof a.key == 8 ? tally_shuffle64((int64_t)a.key, mask) : (int64_t)(int32_t)tally_shuffle_xor((uint32_t)a.key, mask));
        b.at = (int32_t)tally_shuffle_xor((uint32_t)a.at, mask);
        b.present = TALLY_MAY_SKIP ? (int32_t)tally_shuffle_xor((uint32_t)a.present, mask) : 0;
        a = TALLY_N(better_found)(a, b);
    }
    return a;
}

TALLY_FN TALLY_N(node) TALLY_N(thread_node)(const TALLY_T *x, const TALLY_T *y, int32_t n, const int32_t most) {
    TALLY_N(found) a = TALLY_N(nothing_found)(0, n);
    (void)y;
    TALLY_UNROLL
    for (int32_t k = 0; k < most; k++)
        if (k < n) TALLY_N(look_at)(&a, x, k);
    return TALLY_N(node_found)(a, n, 0);
}
TALLY_FN TALLY_N(node) TALLY_N(columns_node)(const TALLY_T *x, const TALLY_T *y, int32_t n) {
    (void)y;
    return TALLY_N(node_found)(TALLY_N(search)(x, n, 0, 1), n, 0);
}
TALLY_FN TALLY_N(node) TALLY_N(lanes_node)(const TALLY_T *x, const TALLY_T *y, int32_t n, int64_t first) {
    (void)y;
    return TALLY_N(node_found)(TALLY_N(search_by)(x, n, TALLY_DEVICE_SMALL_COLUMNS), n, first);
}
TALLY_FN TALLY_N(node) TALLY_N(wide_leaf)(const TALLY_T *x, const TALLY_T *y, int32_t n, int64_t first) {
    (void)y;
    return TALLY_N(node_found)(TALLY_N(search_by)(x, n, TALLY_WARP), n, first);
}
