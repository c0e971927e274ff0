/* One leaf of an operator of the caller's own (docs/order.md), where kernels/lib/leaf_node.h has no registers for it: the operator keeps the
 * order, its values do not divide 16 bytes, or its accumulators are wide. A leaf is then copied to shared memory, 16 bytes at a time, and
 * read from there value by value. No include guard; gives TALLY_IN_REGISTERS, TALLY_STAGE, TALLY_N(slow_node)
 * and TALLY_N(staged_node). */

/* Whether whole leaves of packed values stay in registers; 256 bytes of columns are 64 registers. */
#define TALLY_IN_REGISTERS (!TALLY_USER_KEEPS_ORDER && TALLY_SLOT == TALLY_BYTES && TALLY_BYTES <= 16 && TALLY_PART * TALLY_USER_ACC <= 256)
#define TALLY_LEAF_QUADS (TALLY_DEVICE_LEAF * TALLY_BYTES / 16)
#define TALLY_STAGE TALLY_N(leaf_stage)
typedef struct TALLY_STAGE {
    tally_quad quads[TALLY_WARPS][TALLY_IN_REGISTERS ? 1 : TALLY_LEAF_QUADS] __attribute__((aligned(16)));
} TALLY_STAGE;

TALLY_FN TALLY_N(column) TALLY_N(lift_at)(const tally_source *from, int64_t i) {
    TALLY_N(item) item = TALLY_N(item_of)(TALLY_N(read_one)(from, i));
    return TALLY_N(lift)(item, item);
}

#if TALLY_USER_KEEPS_ORDER
enum { TALLY_N(group) = 7 };

/* The adjacent-pair tree over one accumulator in each of lanes 0 ... count - 1; the same in every lane. */
TALLY_FN TALLY_N(column) TALLY_N(pairs)(TALLY_N(column) mine, int32_t count) {
    TALLY_UNROLL
    for (int32_t apart = 1; apart < TALLY_WARP; apart *= 2) {
        TALLY_N(column) theirs = TALLY_N(other)(mine, apart), both = TALLY_N(meet)(mine, theirs, tally_lane() & apart);
        int32_t first = tally_lane() & -apart, first_of_theirs = first ^ apart;
        if (first_of_theirs < count) mine = first < count ? both : theirs;
    }
    return mine;
}

/* Lane l folds group l of 32 groups of seven, and keeps what becomes of the l-th 32. */
TALLY_FN TALLY_N(column) TALLY_N(fold_values)(const tally_source *from, int32_t n) {
    TALLY_N(column) kept = TALLY_N(identity)();
    int32_t groups = (n + TALLY_N(group) - 1) / TALLY_N(group), round = 0;
    TALLY_ROLL
    for (int32_t done = 0; done < groups; done += TALLY_WARP, round++) {
        int32_t first = (done + tally_lane()) * TALLY_N(group);
        TALLY_N(column) fold = TALLY_N(identity)();
        TALLY_UNROLL
        for (int32_t k = 0; k < TALLY_N(group); k++) {
            if (first + k >= n) continue;
            TALLY_N(column) lifted = TALLY_N(lift_at)(from, first + k);
            fold = k == 0 ? lifted : TALLY_N(combine)(fold, lifted);
        }
        fold = TALLY_N(pairs)(fold, groups - done);
        if (tally_lane() == round) kept = fold;
    }
    return TALLY_N(pairs)(kept, round);
}
#else
/* Lane l has the columns l, l + 32, ..., of fewer than 32 columns column l modulo their number. */
TALLY_FN TALLY_N(column) TALLY_N(fold_values)(const tally_source *from, int32_t n) {
    TALLY_N(column) held[TALLY_PART];
    int32_t columns = n <= TALLY_DEVICE_SMALL ? 8 : TALLY_DEVICE_COLUMNS, own = (columns + TALLY_WARP - 1) / TALLY_WARP;
    TALLY_ROLL
    for (int32_t v = 0; v < own; v++) {
        int32_t c = v * TALLY_WARP + tally_lane() % columns;
        held[v] = TALLY_N(identity)();
        for (int32_t i = c; i < n; i += columns) {
            TALLY_N(column) lifted = TALLY_N(lift_at)(from, i);
            held[v] = i == c ? lifted : TALLY_N(combine)(held[v], lifted);
        }
    }
    for (int32_t half = own / 2; half > 0; half /= 2)
        for (int32_t v = 0; v < half; v++) held[v] = TALLY_N(combine)(held[v], held[v + half]);
    for (int32_t mask = columns < TALLY_WARP ? columns / 2 : TALLY_WARP / 2; mask > 0; mask /= 2)
        held[0] = TALLY_N(meet)(held[0], TALLY_N(other)(held[0], mask), tally_lane() & mask);
    return held[0];
}
#endif

/* The leaf that begins at value `at`, value by value where they lie: short, or apart or misaligned; the same node in every lane. */
TALLY_RARE TALLY_N(node) TALLY_N(slow_node)(tally_source x, tally_source y, int64_t at, int64_t left, int64_t first, TALLY_STAGE *stage) {
    int32_t n = (int32_t)(left < TALLY_DEVICE_LEAF ? left : TALLY_DEVICE_LEAF);
    tally_source from = tally_source_of(x.values + at * x.stride, x.stride, TALLY_BYTES);
    (void)y, (void)first, (void)stage;
    return TALLY_N(seal)(TALLY_N(fold_values)(&from, n), n);
}

#if !TALLY_IN_REGISTERS
/* A whole leaf of packed values: by way of shared memory, all loads on their way at once. */
TALLY_FN TALLY_N(node) TALLY_N(staged_node)(const char *values, int64_t at, TALLY_STAGE *stage) {
    const char *begin = values + at * TALLY_BYTES + 16 * tally_lane();
    tally_quad quads[TALLY_DEVICE_STRIPES], *mine = stage->quads[tally_warp()];
    tally_source from = tally_source_of((const char *)mine, TALLY_BYTES, TALLY_BYTES);
    from.is_aligned = 1;
    TALLY_UNROLL
    for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++)
        if (s * TALLY_WARP + tally_lane() < TALLY_LEAF_QUADS) quads[s] = tally_load16(begin + s * TALLY_STRIPE_BYTES);
    tally_warp_barrier();
    TALLY_UNROLL
    for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++)
        if (s * TALLY_WARP + tally_lane() < TALLY_LEAF_QUADS) mine[s * TALLY_WARP + tally_lane()] = quads[s];
    tally_warp_barrier();
    return TALLY_N(seal)(TALLY_N(fold_values)(&from, TALLY_DEVICE_LEAF), TALLY_DEVICE_LEAF);
}
#endif
