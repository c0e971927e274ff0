/* Two sorted runs into one, for one key type and direction. Takes, and undefines at its end:
 *
 *     TALLY_BITS   16, 32 or 64                TALLY_DOWN   1: the larger key comes first
 *
 * The two runs are cut by merge path (Odeh et al. 2012) into STREAMS pieces of equal output, which advance in turns:
 * one alone would wait for each of its steps. A step of `two` merges a vector of keys: the next one, of the run whose
 * first key comes earlier, with those carried on from the step before, by a bitonic network (Batcher 1968; Inoue et al.
 * 2007). Where there are no vectors to speak of, and for `two_with`, a step takes one key without a branch. */
#if !defined(TALLY_BITS) || !defined(TALLY_DOWN) || !defined(TALLY_MERGE_KERNELS)
#error "kernels_template.h includes this, and defines TALLY_BITS and TALLY_DOWN"
#endif
#define TALLY_KEY TALLY_PASTE3(int, TALLY_BITS, _t)
#define TALLY_M(name) TALLY_PASTE4(name, TALLY_BITS, _, TALLY_DOWN)
#if TALLY_DOWN
#define TALLY_BEFORE(x, y) ((x) > (y))
#define TALLY_LAST ((TALLY_KEY)(-TALLY_PASTE3(INT, TALLY_BITS, _MAX) - 1))
#else
#define TALLY_BEFORE(x, y) ((x) < (y))
#define TALLY_LAST ((TALLY_KEY)TALLY_PASTE3(INT, TALLY_BITS, _MAX))
#endif

typedef TALLY_KEY TALLY_M(key) __attribute__((aligned(1), may_alias));

TALLY_TARGET static bool TALLY_M(in_order)(const void *keys, int64_t n) {
    const TALLY_M(key) *const x = keys;
    TALLY_KEY bad = 0;
    for (int64_t i = 1; i < n; i++) bad |= TALLY_BEFORE(x[i], x[i - 1]) ? -1 : 0;
    return bad == 0;
}

/* Of the first `rank` keys of both, low .. high are of `a`: looks in the middle. Without a branch on the keys; where
 * low is high nothing changes. */
#define TALLY_NARROW(low, high, rank)                                                                 \
    do {                                                                                              \
        const int64_t middle_ = low + (high - low) / 2, of_b_ = (rank)-1 - middle_;                   \
        const int64_t is_beyond_ = TALLY_BEFORE(b[of_b_ < 0 ? 0 : of_b_], a[least(middle_, na - 1)]), \
                      is_within_ = (low < high) & !is_beyond_;                                        \
        high -= (high - middle_) & -is_beyond_;                                                       \
        low += (middle_ + 1 - low) & -is_within_;                                                     \
    } while (0)

/* Where pieces of `share` keys begin in `a`. The searches run side by side, as each waits for its own reads. */
TALLY_TARGET static void TALLY_M(paths)(const TALLY_M(key) * a, int64_t na, const TALLY_M(key) * b, int64_t nb,
                                        int64_t share, int64_t begins[STREAMS]) {
    int64_t low[STREAMS], high[STREAMS];
    for (int i = 0; i < STREAMS; i++) {
        low[i] = share * i > nb ? share * i - nb : 0;
        high[i] = least(share * i, na);
    }
    int64_t low1 = low[1], low2 = low[2], low3 = low[3], high1 = high[1], high2 = high[2], high3 = high[3];
    while ((low1 < high1) | (low2 < high2) | (low3 < high3)) {
        TALLY_NARROW(low1, high1, share);
        TALLY_NARROW(low2, high2, 2 * share);
        TALLY_NARROW(low3, high3, 3 * share);
    }
    begins[0] = 0;
    begins[1] = low1;
    begins[2] = low2;
    begins[3] = low3;
}
#undef TALLY_NARROW

/* ---- one key a step ---- */

/* The next key of the merged runs to out[place], where i keys of `a` and place - i of `b` stand before it. Chosen by
 * masks, as compilers make branches of a choice, which are foreseen half of the time. */
#define TALLY_TAKE(i, place)                                                            \
    do {                                                                                \
        const int64_t place_ = (place), j_ = place_ - i;                                \
        const TALLY_KEY of_a_ = a[i], of_b_ = b[j_];                                    \
        const int64_t from_b_ = TALLY_BEFORE(of_b_, of_a_);                             \
        out[place_] = (TALLY_KEY)(of_a_ ^ ((of_a_ ^ of_b_) & -from_b_));                \
        if (with) with_out[place_] = with_a[i] ^ ((with_a[i] ^ with_b[j_]) & -from_b_); \
        i += 1 - from_b_;                                                               \
    } while (0)

/* with: whether numbers stand beside keys. */
TALLY_INLINE TALLY_TARGET void TALLY_M(by_one)(const TALLY_M(key) * a, const int64_anywhere *with_a, int64_t na,
                                               const TALLY_M(key) * b, const int64_anywhere *with_b, int64_t nb,
                                               TALLY_M(key) * out, int64_anywhere *with_out, bool with) {
    const int64_t share = (na + nb) / STREAMS;
    int64_t begins[STREAMS], done = 0; /* of each piece */
    TALLY_M(paths)(a, na, b, nb, share, begins);
    int64_t i0 = 0, i1 = begins[1], i2 = begins[2], i3 = begins[3];
    for (;;) {
        int64_t steps = share - done;
        steps = least(steps, least(na - i0, nb - (done - i0)));
        steps = least(steps, least(na - i1, nb - (share + done - i1)));
        steps = least(steps, least(na - i2, nb - (2 * share + done - i2)));
        steps = least(steps, least(na - i3, nb - (3 * share + done - i3)));
        if (steps <= 0) break;
        for (; steps > 0; steps--, done++) {
            TALLY_TAKE(i0, done);
            TALLY_TAKE(i1, share + done);
            TALLY_TAKE(i2, 2 * share + done);
            TALLY_TAKE(i3, 3 * share + done);
        }
    }
    const int64_t at[STREAMS] = {i0, i1, i2, i3};
    for (int s = 0; s < STREAMS; s++) {
        const int64_t end = s + 1 < STREAMS ? share * (s + 1) : na + nb;
        int64_t i = at[s], place = share * s + done;
        for (;;) {
            int64_t steps = least(end - place, least(na - i, nb - (place - i)));
            if (steps <= 0) break;
            for (; steps > 0; steps--, place++) TALLY_TAKE(i, place);
        }
        const bool from_a = i < na; /* one run has come to its end, or the piece */
        memcpy((void *)(out + place), (const void *)(from_a ? a + i : b + (place - i)),
               (size_t)(end - place) * sizeof(TALLY_KEY));
        if (with)
            memcpy((void *)(with_out + place), (const void *)(from_a ? with_a + i : with_b + (place - i)),
                   (size_t)(end - place) * sizeof(int64_t));
    }
}
#undef TALLY_TAKE

TALLY_TARGET static void TALLY_M(two_with)(const void *a, const int64_t *with_a, int64_t na, const void *b,
                                           const int64_t *with_b, int64_t nb, void *out, int64_t *with_out) {
    TALLY_M(by_one)
    (a, (const int64_anywhere *)with_a, na, b, (const int64_anywhere *)with_b, nb, out, (int64_anywhere *)with_out,
     true);
}

/* ---- a vector of keys a step ---- */

#ifdef TALLY_VECTOR_BYTES
#define TALLY_LANES TALLY_PASTE(TALLY_LANES_OF_, TALLY_BITS)
#define TALLY_SWAPPED(x, by) __builtin_shufflevector(x, x, TALLY_PASTE(TALLY_XOR_, TALLY_LANES)(by))
typedef TALLY_KEY TALLY_M(vector) __attribute__((vector_size(TALLY_VECTOR_BYTES)));
typedef TALLY_M(vector) TALLY_M(vector_anywhere) __attribute__((aligned(1), may_alias));

#ifdef TALLY_ISA_AVX512 /* GCC makes no minimum of a comparison of vectors, which costs 60% more time */
#define TALLY_LEAST(x, y) ((TALLY_M(vector))TALLY_PASTE(_mm512_min_epi, TALLY_BITS)((__m512i)(x), (__m512i)(y)))
#define TALLY_MOST(x, y) ((TALLY_M(vector))TALLY_PASTE(_mm512_max_epi, TALLY_BITS)((__m512i)(x), (__m512i)(y)))
#if TALLY_DOWN
#define TALLY_EARLIER TALLY_MOST
#define TALLY_LATER TALLY_LEAST
#define TALLY_LATER_WHERE TALLY_PASTE(_mm512_mask_min_epi, TALLY_BITS)
#else
#define TALLY_EARLIER TALLY_LEAST
#define TALLY_LATER TALLY_MOST
#define TALLY_LATER_WHERE TALLY_PASTE(_mm512_mask_max_epi, TALLY_BITS)
#endif
/* Puts keys in lanes whose numbers differ in the bit `by` in order. */
#define TALLY_EXCHANGE(x, by)                                                                                \
    do {                                                                                                     \
        const TALLY_M(vector) other_ = TALLY_SWAPPED(x, by);                                                 \
        x = (TALLY_M(vector))TALLY_LATER_WHERE((__m512i)TALLY_EARLIER(x, other_), TALLY_LANES_WITH_BIT_##by, \
                                               (__m512i)(x), (__m512i)other_);                               \
    } while (0)
#else
#define TALLY_EARLIER(x, y) (((x)&TALLY_BEFORE(x, y)) | ((y) & ~TALLY_BEFORE(x, y)))
#define TALLY_LATER(x, y) (((y)&TALLY_BEFORE(x, y)) | ((x) & ~TALLY_BEFORE(x, y)))
#define TALLY_EXCHANGE(x, by)                                                                          \
    do {                                                                                               \
        const TALLY_M(vector) other_ = TALLY_SWAPPED(x, by);                                           \
        const TALLY_M(vector) mine_ =                                                                  \
            TALLY_BEFORE(x, other_) ^ ((TALLY_M(number_lanes)() & (TALLY_KEY)(by)) != (TALLY_KEY)(0)); \
        x = (x & mine_) | (other_ & ~mine_);                                                           \
    } while (0)
TALLY_INLINE TALLY_TARGET TALLY_M(vector) TALLY_M(number_lanes)(void) {
    TALLY_M(vector) numbers;
    for (int i = 0; i < TALLY_LANES; i++) numbers[i] = (TALLY_KEY)i;
    return numbers;
}
#endif

/* Both sorted: the earlier half of their keys in *x, the later one in *y. */
TALLY_INLINE TALLY_TARGET void TALLY_M(network)(TALLY_M(vector) * x, TALLY_M(vector) * y) {
    const TALLY_M(vector) reversed = TALLY_SWAPPED(*y, TALLY_LANES - 1);
    TALLY_M(vector) early = TALLY_EARLIER(*x, reversed), late = TALLY_LATER(*x, reversed);
#if TALLY_LANES >= 32
    TALLY_EXCHANGE(early, 16);
    TALLY_EXCHANGE(late, 16);
#endif
#if TALLY_LANES >= 16
    TALLY_EXCHANGE(early, 8);
    TALLY_EXCHANGE(late, 8);
#endif
#if TALLY_LANES >= 8
    TALLY_EXCHANGE(early, 4);
    TALLY_EXCHANGE(late, 4);
#endif
    TALLY_EXCHANGE(early, 2);
    TALLY_EXCHANGE(late, 2);
    TALLY_EXCHANGE(early, 1);
    TALLY_EXCHANGE(late, 1);
    *x = early;
    *y = late;
}

typedef struct TALLY_M(flow) {
    const TALLY_M(key) * a, *b;
    TALLY_M(key) * out, *end;
    TALLY_M(vector) carried;
} TALLY_M(flow);

/* The next vector, of whichever run comes earlier. */
TALLY_INLINE TALLY_TARGET TALLY_M(vector) TALLY_M(next)(TALLY_M(flow) * s, int64_t ahead) {
    const bool from_b = TALLY_BEFORE(*s->b, *s->a);
    const TALLY_M(key) *const from = from_b ? s->b : s->a;
    s->b += from_b ? TALLY_LANES : 0;
    s->a += from_b ? 0 : TALLY_LANES;
    __builtin_prefetch((const char *)from + ahead);
    return *(const TALLY_M(vector_anywhere) *)(const void *)from;
}

TALLY_INLINE TALLY_TARGET void TALLY_M(step)(TALLY_M(flow) * s, int64_t ahead) {
    TALLY_M(vector) next = TALLY_M(next)(s, ahead);
    TALLY_M(network)(&next, &s->carried);
    *(TALLY_M(vector_anywhere) *)(void *)s->out = next;
    s->out += TALLY_LANES;
}

/* All pieces in turns, as long as none comes to the end of a run. */
TALLY_INLINE TALLY_TARGET void TALLY_M(in_turns)(TALLY_M(flow) s[STREAMS], const TALLY_M(key) * a_end,
                                                 const TALLY_M(key) * b_end, int64_t share, int64_t ahead) {
    TALLY_M(flow) s0 = s[0], s1 = s[1], s2 = s[2], s3 = s[3]; /* in registers */
    for (int64_t done = 0;;) {
        int64_t steps = share - done;
        steps = least(steps, least(a_end - s0.a, b_end - s0.b));
        steps = least(steps, least(a_end - s1.a, b_end - s1.b));
        steps = least(steps, least(a_end - s2.a, b_end - s2.b));
        steps = least(steps, least(a_end - s3.a, b_end - s3.b));
        steps /= TALLY_LANES;
        if (steps <= 0) break;
        done += steps * TALLY_LANES;
        while (steps-- > 0) {
            TALLY_M(step)(&s0, ahead);
            TALLY_M(step)(&s1, ahead);
            TALLY_M(step)(&s2, ahead);
            TALLY_M(step)(&s3, ahead);
        }
    }
    s[0] = s0;
    s[1] = s1;
    s[2] = s2;
    s[3] = s3;
}

/* Steps that are safe, and wanted. */
TALLY_INLINE TALLY_TARGET int64_t TALLY_M(steps)(const TALLY_M(flow) * s, const TALLY_M(key) * a_end,
                                                 const TALLY_M(key) * b_end) {
    return least(least(a_end - s->a, b_end - s->b), s->end - s->out) / TALLY_LANES;
}

/* Puts few keys between many: a run of `many` at a time, found by doubling (Bentley and Yao 1976). */
TALLY_TARGET static void TALLY_M(insert)(const TALLY_M(key) * few, const TALLY_M(key) * few_end,
                                         const TALLY_M(key) * many, const TALLY_M(key) * many_end, TALLY_M(key) * out,
                                         const TALLY_M(key) * end) {
    while (few < few_end && many < many_end && out < end) {
        int64_t low = 0, reach = 1;
        const int64_t most = many_end - many;
        while (reach < most && TALLY_BEFORE(many[reach - 1], *few)) {
            low = reach;
            reach *= 2;
        }
        reach = least(reach, most);
        while (low < reach) {
            const int64_t middle = low + (reach - low) / 2;
            if (TALLY_BEFORE(many[middle], *few))
                low = middle + 1;
            else
                reach = middle;
        }
        low = least(low, end - out);
        memcpy((void *)out, (const void *)many, (size_t)low * sizeof(TALLY_KEY));
        out += low;
        many += low;
        if (out < end) *out++ = *few++;
    }
    const TALLY_M(key) *const rest = few < few_end ? few : many;
    if (out < end) memcpy((void *)out, (const void *)rest, (size_t)(end - out) * sizeof(TALLY_KEY));
}

/* The end of a flow: less than a vector of output, or of one run, is left. What is left of that run is filled up to a
 * vector with the last of all keys, which stay last. */
TALLY_TARGET static void TALLY_M(close)(const TALLY_M(flow) * s, const TALLY_M(key) * a_end,
                                        const TALLY_M(key) * b_end) {
    const bool few_of_a = a_end - s->a <= b_end - s->b;
    const TALLY_M(key) *const rest = few_of_a ? s->a : s->b, *const many = few_of_a ? s->b : s->a,
                              *const many_end = few_of_a ? b_end : a_end;
    /* no more than a vector is wanted where it is the output that ends */
    const int64_t n = least((few_of_a ? a_end : b_end) - rest, TALLY_LANES);
    TALLY_M(key) few[2 * TALLY_LANES];
    if (s->out == s->end) return;
    TALLY_M(vector) first = {0}, second = s->carried;
    first = first + TALLY_LAST;
    *(TALLY_M(vector_anywhere) *)(void *)few = first;
    memcpy((void *)few, (const void *)rest, (size_t)n * sizeof(TALLY_KEY));
    first = *(const TALLY_M(vector_anywhere) *)(const void *)few;
    TALLY_M(network)(&first, &second);
    *(TALLY_M(vector_anywhere) *)(void *)few = first;
    *(TALLY_M(vector_anywhere) *)(void *)(few + TALLY_LANES) = second;
    TALLY_M(insert)(few, few + n + TALLY_LANES, many, many_end, s->out, s->end);
}

TALLY_TARGET static void TALLY_M(two)(const void *a_keys, int64_t na, const void *b_keys, int64_t nb, void *out,
                                      int64_t ahead) {
    const TALLY_M(key) *const a = a_keys, *const b = b_keys, *const a_end = a + na, *const b_end = b + nb;
    const int64_t share = (na + nb) / STREAMS / TALLY_LANES * TALLY_LANES;
    TALLY_M(flow) s[STREAMS];
    if (na < TALLY_LANES || nb < TALLY_LANES) {
        const bool few_of_a = na < nb;
        TALLY_M(insert)
        (few_of_a ? a : b, few_of_a ? a_end : b_end, few_of_a ? b : a, few_of_a ? b_end : a_end, out,
         (TALLY_M(key) *)out + na + nb);
        return;
    }
    int64_t begins[STREAMS];
    TALLY_M(paths)(a, na, b, nb, share, begins);
    for (int i = 0; i < STREAMS; i++) {
        const int64_t rank = share * i, from_a = begins[i];
        s[i] = (TALLY_M(flow)){.a = a + from_a, .b = b + (rank - from_a), .out = (TALLY_M(key) *)out + rank};
        s[i].end = (TALLY_M(key) *)out + (i + 1 < STREAMS ? rank + share : na + nb);
    }
    int begun = 0; /* flows that a first vector could be read for */
    while (begun < STREAMS && a_end - s[begun].a >= TALLY_LANES && b_end - s[begun].b >= TALLY_LANES) {
        s[begun].carried = TALLY_M(next)(&s[begun], ahead);
        begun++;
    }
    if (begun == STREAMS) TALLY_M(in_turns)(s, a_end, b_end, share, ahead);
    for (int i = 0; i < begun; i++) {
        for (int64_t steps; (steps = TALLY_M(steps)(&s[i], a_end, b_end)) > 0;)
            while (steps-- > 0) TALLY_M(step)(&s[i], ahead);
        TALLY_M(close)(&s[i], a_end, b_end);
    }
    for (int i = begun; i < STREAMS; i++) {
        const bool few_of_a = a_end - s[i].a < b_end - s[i].b;
        TALLY_M(insert)
        (few_of_a ? s[i].a : s[i].b, few_of_a ? a_end : b_end, few_of_a ? s[i].b : s[i].a, few_of_a ? b_end : a_end,
         s[i].out, s[i].end);
    }
}
#undef TALLY_LANES
#undef TALLY_SWAPPED
#undef TALLY_LEAST
#undef TALLY_MOST
#undef TALLY_EARLIER
#undef TALLY_LATER
#undef TALLY_LATER_WHERE
#undef TALLY_EXCHANGE
#else
TALLY_TARGET static void TALLY_M(two)(const void *a, int64_t na, const void *b, int64_t nb, void *out, int64_t ahead) {
    (void)ahead; /* these loops wait for themselves more than for memory */
    TALLY_M(by_one)(a, NULL, na, b, NULL, nb, out, NULL, false);
}
#endif

#undef TALLY_KEY
#undef TALLY_M
#undef TALLY_BEFORE
#undef TALLY_LAST
#undef TALLY_DOWN
