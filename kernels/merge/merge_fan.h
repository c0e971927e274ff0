/* A pass for the values of merge_values.h: it merges TALLY_MERGE_FAN runs, 2, 4 or 8, into one. One kernel finds where
 * tiles begin in the runs, others merge the tiles. A multiprocessor holds TALLY_MERGE_BLOCKS blocks of the latter. */
#if !defined(TALLY_MERGE_FAN) || !defined(TALLY_MERGE_BLOCKS)
#error "define what the first comment lists"
#endif

#define TALLY_F(name) TALLY_M(TALLY_PASTE(name, TALLY_PASTE(_, TALLY_MERGE_FAN)))
enum {
    TALLY_F(LEVELS) = TALLY_MERGE_FAN == 8   ? 3
                      : TALLY_MERGE_FAN == 4 ? 2
                                             : 1,
    TALLY_F(TILE) = TALLY_MERGE_TILE_OF(TALLY_M(EACH), TALLY_MERGE_FAN),
    /* A piece begins at a multiple of 16 bytes, or as far behind one as in memory. Threads look past its end. */
    TALLY_F(CAPACITY) = TALLY_F(TILE) + TALLY_MERGE_FAN * 32 / (TALLY_MERGE_BITS / 8) + TALLY_M(EACH) + 1
};

/* ---- boundaries ---- */

/* low[i]: how many of the first `rank` values of all runs are from run i. For two runs, merge path finds it. For more,
 * each step halves the values in question of one run: if those still wanted must include the first half of the run
 * whose middle value comes first, they take it; if not, the run whose middle value comes last loses its second half.
 * If runs are not sorted, low has any numbers that add up to `rank`. */
#if TALLY_MERGE_FAN == 2
TALLY_FN void TALLY_F(split)(const tally_run *runs, int64_t rank, uint64_t infinity, int64_t *low) {
    const int64_t others = runs[1].count, all = runs[0].count;
    int64_t begin = rank > others ? rank - others : 0, end = rank < all ? rank : all;
    while (begin < end) {
        const int64_t middle = begin + (end - begin) / 2;
        if (TALLY_M(may_precede)(TALLY_M(value)(&runs[0], middle), TALLY_M(value)(&runs[1], rank - 1 - middle),
                                 infinity))
            begin = middle + 1;
        else
            end = middle;
    }
    low[0] = begin;
    low[1] = rank - begin;
}
#else
TALLY_FN void TALLY_F(split)(const tally_run *runs, int64_t rank, uint64_t infinity, int64_t *low) {
    int64_t high[TALLY_MERGE_FAN], left = rank;
    TALLY_M(bits) middles[TALLY_MERGE_FAN];
    TALLY_UNROLL
    for (int32_t i = 0; i < TALLY_MERGE_FAN; i++) {
        low[i] = 0, high[i] = runs[i].count;
        middles[i] = high[i] > 0 ? TALLY_M(value)(&runs[i], high[i] / 2) : 0;
    }
    for (;;) {
        int32_t first = -1, last = -1;
        int64_t below = 0; /* values in front of all middles */
        TALLY_M(bits) first_value = 0, last_value = 0;
        TALLY_UNROLL
        for (int32_t i = 0; i < TALLY_MERGE_FAN; i++) {
            const int32_t is_in = low[i] < high[i];
            const int32_t is_first = is_in & ((first < 0) | !TALLY_M(may_precede)(first_value, middles[i], infinity));
            const int32_t is_last = is_in & ((last < 0) | TALLY_M(may_precede)(last_value, middles[i], infinity));
            below += (high[i] - low[i]) / 2;
            first = is_first ? i : first;
            first_value = is_first ? middles[i] : first_value;
            last = is_last ? i : last;
            last_value = is_last ? middles[i] : last_value;
        }
        const int32_t is_alone = first == last, takes = is_alone || left > below, chosen = takes ? first : last;
        tally_run run = {0, 0, 0, 0}; /* the chosen run: its values in question, and the number of the first of these */
        int64_t taken = 0;
        TALLY_UNROLL
        for (int32_t i = 0; i < TALLY_MERGE_FAN; i++) { /* no branches: the arrays stay in registers */
            const int32_t is_chosen = i == chosen;
            const int64_t half = (high[i] - low[i]) / 2, step = is_alone ? left : half + 1;
            taken = is_chosen ? step : taken;
            high[i] = is_chosen && !takes ? low[i] + half : high[i];
            low[i] += is_chosen && takes ? step : 0;
            run.data = is_chosen ? runs[i].data : run.data;
            run.stride = is_chosen ? runs[i].stride : run.stride;
            run.count = is_chosen ? high[i] - low[i] : run.count;
            run.place = is_chosen ? low[i] : run.place;
        }
        if (is_alone) return;
        left -= takes ? taken : 0;
        if (run.count > 0) {
            const TALLY_M(bits) value = TALLY_M(value)(&run, run.place + run.count / 2);
            TALLY_UNROLL
            for (int32_t i = 0; i < TALLY_MERGE_FAN; i++) middles[i] = i == chosen ? value : middles[i];
        }
    }
}
#endif

TALLY_ENTRY_OF(TALLY_MERGE_BOUNDARIES_BLOCK, TALLY_F(boundaries), tally_merge_pass, TALLY_MERGE_FAN == 8 ? 3 : 6) {
    const tally_merge_work *merge = work.pass;
    const int64_t tile = (int64_t)tally_block() * TALLY_MERGE_BOUNDARIES_BLOCK + tally_thread(),
                  place = tile * TALLY_F(TILE);
    int64_t taken[TALLY_MERGE_FAN];
    tally_run runs[TALLY_MERGE_FAN];
    tally_let_next_start();
    tally_await_before();
    if (tile > merge->tiles) return;
    tally_merge_boundary *boundary = merge->boundaries + tile;
    const int32_t is_end = tile == merge->tiles;
    const int64_t first = is_end ? -1 : tally_merge_first_at(merge, place, TALLY_F(LEVELS));
    boundary->first = first;
    if (!is_end) {
        TALLY_UNROLL
        for (int32_t i = 0; i < TALLY_MERGE_FAN; i++) runs[i] = tally_run_of(merge, first, i);
        TALLY_F(split)(runs, place - runs[0].place, merge->infinity, taken);
    }
    TALLY_UNROLL
    for (int32_t i = 0; i < TALLY_MERGE_FAN; i++) { /* behind the last tile, too: tiles read this before they know */
        boundary->places[i] = is_end ? merge->total : runs[i].place + taken[i];
        boundary->at[i] = !is_end && runs[i].count > 0 ? runs[i].data + taken[i] * runs[i].stride : 0;
    }
}

/* ---- tiles ---- */

/* The part of a run that is in a tile. */
typedef struct TALLY_F(piece) {
    const char *data;
    int64_t stride, place; /* place: that of its first value */
    int32_t count;         /* -1: the runs were not sorted */
    int32_t at;            /* where it lies in shared->values */
} TALLY_F(piece);

typedef struct TALLY_F(shared) {
    TALLY_M(bits) values[TALLY_F(CAPACITY)];
    TALLY_F(piece) pieces[TALLY_MERGE_FAN];
    uint16_t joins[TALLY_MERGE_BLOCK]; /* where each thread begins in its first piece, in the first pass */
} TALLY_F(shared);

/* Where the pieces of a level lie in shared->values. */
typedef struct TALLY_F(layout) {
    int32_t at[TALLY_MERGE_FAN], counts[TALLY_MERGE_FAN];
} TALLY_F(layout);

/* Two pieces in shared->values that neighbouring threads merge, and this thread's part of the result. */
typedef struct TALLY_F(pair) {
    int32_t a, a_count, b, b_count;
    int32_t number; /* this thread's, from 0 for the first that merges these pieces */
    int32_t to;     /* where the merged pieces go in shared->values, and in `order` */
} TALLY_F(pair);

/* Thread i finds piece i of a tile, whose values go to places `begin` to `until` - 1; `first`: the first array of its
 * runs. In the first pass it compares the piece's first value with the one in front of it. */
TALLY_FN void TALLY_F(find_piece)(const tally_merge_work *merge, TALLY_F(shared) * shared, int64_t first, int64_t begin,
                                  int64_t until, int32_t i) {
    const tally_merge_boundary *here = merge->boundaries + tally_block(), *next = here + 1;
    const int32_t is_first = begin == (int64_t)tally_block() * TALLY_F(TILE);
    TALLY_F(piece) piece = {here->at[i], merge->from_stride, here->places[i], 0, 0};
    int64_t end = next->places[i], run_begin = -1;
    if (merge->from == 0 || !is_first || next->first != first) {
        const tally_run run = tally_run_of(merge, first, i);
        run_begin = run.place;
        piece.stride = run.stride;
        if (!is_first) piece.place = run.place, piece.data = run.data;
        if (next->first != first) end = run.place + run.count;
    }
    const int64_t count = end - piece.place;
    piece.count = count < 0 || count > until - begin ? -1 : (int32_t)count;
    shared->pieces[i] = piece;
    if (merge->from == 0 && piece.count > 0 && piece.place > run_begin &&
        !TALLY_M(may_precede)(TALLY_M(load)(piece.data - piece.stride), TALLY_M(load)(piece.data), merge->infinity))
        tally_or32(&merge->report->unsorted, 1);
}

/* Begins to copy a piece to shared memory, by 16 bytes where all of these belong to the piece. */
TALLY_FN void TALLY_F(bring)(const tally_merge_work *merge, TALLY_M(bits) * to, const TALLY_F(piece) * piece) {
    enum { QUAD = 16 / (TALLY_MERGE_BITS / 8) };
    const int32_t count = piece->count, thread = tally_thread();
    const char *const data = piece->data;
    if ((merge->packed & TALLY_MERGE_FROM_PACKED) == 0) {
        const int64_t stride = piece->stride;
        for (int32_t q = thread; q < count; q += TALLY_MERGE_BLOCK) to[q] = TALLY_M(load)(data + q * stride);
        return;
    }
    const int32_t ahead = (int32_t)(-(uint64_t)data % 16) / (TALLY_MERGE_BITS / 8),
                  head = ahead < count ? ahead : count, quads = (count - head) / QUAD, tail = head + quads * QUAD;
    for (int32_t q = thread; q < quads; q += TALLY_MERGE_BLOCK)
        tally_copy16(to + head + q * QUAD, data + (int64_t)(head + q * QUAD) * (TALLY_MERGE_BITS / 8));
    if (thread < head) to[thread] = ((const TALLY_M(bits) *)(const void *)data)[thread];
    if (tail + thread < count) to[tail + thread] = ((const TALLY_M(bits) *)(const void *)data)[tail + thread];
}

/* Each thread merges its part of a pair of pieces, from shared->values to shared->values. `order` gets the positions
 * that values had in the pieces; at later levels, those that it had for them before. looks: values are compared with
 * those in front of them. */
TALLY_FN void TALLY_F(level)(const tally_merge_work *merge, TALLY_F(shared) * shared, const TALLY_F(pair) * pair,
                             int32_t looks, int32_t is_first, uint16_t *order, int32_t has_origins) {
    const int32_t rank = pair->number * TALLY_M(EACH), all = pair->a_count + pair->b_count;
    const uint64_t infinity = merge->infinity;
    TALLY_M(bits) out[TALLY_M(EACH)];
    int32_t from[TALLY_M(EACH)], is_bad = 0, a = 0, b = 0, count = all - rank;
    const int32_t a_end = pair->a + pair->a_count, b_end = pair->b + pair->b_count;
    if (count > TALLY_M(EACH)) count = TALLY_M(EACH);
    if (count > 0) {
        TALLY_M(bits) *const values = shared->values;
        const int32_t of_a =
            TALLY_M(path)(values + pair->a, pair->a_count, values + pair->b, pair->b_count, rank, infinity);
        a = pair->a + of_a;
        b = pair->b + rank - of_a;
        if (looks) shared->joins[tally_thread()] = (uint16_t)a;
        TALLY_M(bits) of[2] = {values[a], values[b]};
        TALLY_UNROLL
        for (int32_t e = 0; e < TALLY_M(EACH); e++) {
            const int32_t is_a = (b >= b_end) | ((a < a_end) & TALLY_M(may_precede)(of[0], of[1], infinity));
            out[e] = is_a ? of[0] : of[1];
            from[e] = is_a ? a : b;
            const int32_t next = from[e] + 1;
            const TALLY_M(bits) value = values[next];
            if (looks) is_bad |= (next < (is_a ? a_end : b_end)) & !TALLY_M(may_precede)(out[e], value, infinity);
            a = is_a ? next : a;
            b = is_a ? b : next;
            of[0] = is_a ? value : of[0];
            of[1] = is_a ? of[1] : value;
        }
        if (has_origins && !is_first) {
            TALLY_UNROLL
            for (int32_t e = 0; e < TALLY_M(EACH); e++)
                if (e < count) from[e] = order[from[e]];
        }
    }
    tally_barrier();
    if (count <= 0) return;
    /* If each thread goes on where the one before it ended, every value has been compared. */
    if (looks && (is_bad || (rank + count < all && shared->joins[tally_thread() + 1] != a)))
        tally_or32(&merge->report->unsorted, 1);
    TALLY_UNROLL
    for (int32_t e = 0; e < TALLY_M(EACH); e++)
        if (e < count) {
            shared->values[pair->to + rank + e] = out[e];
            if (has_origins) order[pair->to + rank + e] = (uint16_t)from[e];
        }
}

/* Which pair this thread merges at a level (each pair has threads of its own), and the next level's layout. */
TALLY_FN TALLY_F(pair) TALLY_F(find_pair)(TALLY_F(layout) * layout, int32_t pairs, int32_t to) {
    int32_t *const at = layout->at, *const counts = layout->counts;
    const int32_t thread = tally_thread();
    int32_t threads = 0;
    TALLY_F(pair) found = {0, 0, 0, 0, 0, 0};
    TALLY_UNROLL
    for (int32_t p = 0; p < pairs; p++) {
        const TALLY_F(pair) pair = {at[2 * p], counts[2 * p], at[2 * p + 1], counts[2 * p + 1], thread - threads, to};
        const int32_t both = pair.a_count + pair.b_count;
        if (thread >= threads) found = pair;
        threads += (both + TALLY_M(EACH) - 1) / TALLY_M(EACH);
        at[p] = to;
        counts[p] = both;
        to += both;
    }
    return found;
}

/* Merges all levels of a tile. The result begins `shift` values behind the beginning of shared->values. */
TALLY_FN void TALLY_F(merge)(const tally_merge_work *merge, TALLY_F(shared) * shared, TALLY_F(layout) * layout,
                             int32_t shift, uint16_t *order, int32_t has_origins) {
    TALLY_UNROLL
    for (int32_t level = 0; level < TALLY_F(LEVELS); level++) {
        const TALLY_F(pair) pair =
            TALLY_F(find_pair)(layout, TALLY_MERGE_FAN >> (level + 1), level == TALLY_F(LEVELS) - 1 ? shift : 0);
        if (level == 0 && merge->from == 0)
            TALLY_F(level)(merge, shared, &pair, 1, 1, order, has_origins);
        else
            TALLY_F(level)(merge, shared, &pair, 0, level == 0, order, has_origins);
        tally_barrier();
    }
}

/* Writes merged values from shared memory to their places. */
TALLY_FN void TALLY_F(put_values)(const tally_merge_work *merge, const TALLY_M(bits) * values, int64_t begin,
                                  int32_t n) {
    enum { QUAD = 16 / (TALLY_MERGE_BITS / 8) };
    const int32_t thread = tally_thread();
    char *const to = merge->to + begin * merge->to_stride;
    if ((merge->packed & TALLY_MERGE_TO_PACKED) == 0) {
        const int64_t stride = merge->to_stride;
        for (int32_t q = thread; q < n; q += TALLY_MERGE_BLOCK) TALLY_M(put)(to + q * stride, values[q]);
        return;
    }
    const int32_t ahead = (int32_t)(-(uint64_t)to % 16) / (TALLY_MERGE_BITS / 8), head = ahead < n ? ahead : n,
                  quads = (n - head) / QUAD, tail = head + quads * QUAD;
    for (int32_t q = thread; q < quads; q += TALLY_MERGE_BLOCK) {
        const tally_quad quad = tally_take16((const char *)(const void *)(values + head + q * QUAD));
        tally_put16(to + (int64_t)(head + q * QUAD) * (TALLY_MERGE_BITS / 8), &quad);
    }
    if (thread < head) ((TALLY_M(bits) *)(void *)to)[thread] = values[thread];
    if (tail + thread < n) ((TALLY_M(bits) *)(void *)to)[tail + thread] = values[tail + thread];
}

TALLY_FN void TALLY_F(put_origins)(const tally_merge_work *merge, const TALLY_F(shared) * shared, const uint16_t *order,
                                   int64_t begin, int32_t n) {
    for (int32_t q = tally_thread(); q < n; q += TALLY_MERGE_BLOCK) {
        const int32_t at = order[q];
        int64_t place = shared->pieces[0].place + at - shared->pieces[0].at;
        TALLY_UNROLL
        for (int32_t i = 1; i < TALLY_MERGE_FAN; i++)
            if (at >= shared->pieces[i].at) place = shared->pieces[i].place + at - shared->pieces[i].at;
        tally_put_origin(merge, begin + q, tally_origin_of(merge, place));
    }
}

/* Merges the values that go to places `begin` to `until` - 1; `first`: the first array of their runs. */
TALLY_FN void TALLY_F(part)(const tally_merge_work *merge, TALLY_F(shared) * shared, int64_t first, int64_t begin,
                            int64_t until, uint16_t *order, int32_t has_origins) {
    const int32_t packed = merge->packed, n = (int32_t)(until - begin);
    int32_t end = 0, is_bad = 0;
    TALLY_F(layout) layout;
    if (tally_thread() < TALLY_MERGE_FAN) TALLY_F(find_piece)(merge, shared, first, begin, until, tally_thread());
    tally_barrier();
    TALLY_UNROLL
    for (int32_t i = 0; i < TALLY_MERGE_FAN; i++) is_bad |= shared->pieces[i].count < 0;
    if (is_bad) { /* the runs were not sorted */
        if (tally_thread() == 0) tally_or32(&merge->report->unsorted, 1);
        return;
    }
    TALLY_UNROLL
    for (int32_t i = 0; i < TALLY_MERGE_FAN; i++) {
        const int32_t bytes = TALLY_MERGE_BITS / 8, behind = (int32_t)((uint64_t)shared->pieces[i].data % 16) / bytes;
        layout.at[i] = end + ((packed & TALLY_MERGE_FROM_PACKED) != 0 ? behind : 0);
        layout.counts[i] = shared->pieces[i].count;
        if (has_origins && tally_thread() == 0) shared->pieces[i].at = layout.at[i];
        end = (layout.at[i] + layout.counts[i] + 16 / bytes - 1) & -(16 / bytes);
        TALLY_F(bring)(merge, shared->values + layout.at[i], &shared->pieces[i]);
    }
    tally_copied();
    tally_barrier();
    const int32_t behind = (int32_t)((uint64_t)(merge->to + begin * merge->to_stride) % 16) / (TALLY_MERGE_BITS / 8),
                  shift = (packed & TALLY_MERGE_TO_PACKED) != 0 ? behind : 0;
    TALLY_F(merge)(merge, shared, &layout, shift, order, has_origins);
    TALLY_F(put_values)(merge, shared->values + shift, begin, n);
    if (has_origins) TALLY_F(put_origins)(merge, shared, order + shift, begin, n);
}

/* A block makes a tile of the output, which may have values of several groups of runs. */
TALLY_FN void TALLY_F(tile)(const tally_merge_work *merge, TALLY_F(shared) * shared, uint16_t *order,
                            int32_t has_origins) {
    const int64_t begin = (int64_t)tally_block() * TALLY_F(TILE),
                  end = begin + TALLY_F(TILE) < merge->total ? begin + TALLY_F(TILE) : merge->total;
    const tally_merge_boundary *boundary = merge->boundaries + tally_block();
    int64_t first = boundary->first;
    for (int64_t place = begin; place < end;) {
        int64_t until = end;
        if (boundary[1].first != first) {
            const int64_t arrays = first + ((int64_t)1 << (merge->log_run + TALLY_F(LEVELS))),
                          behind = merge->before[arrays < merge->count ? arrays : merge->count];
            if (behind < end) until = behind;
        }
        TALLY_F(part)(merge, shared, first, place, until, order, has_origins);
        place = until;
        if (place >= end) return;
        tally_barrier();
        first = tally_merge_first_at(merge, place, TALLY_F(LEVELS));
    }
}

TALLY_ENTRY_OF(TALLY_MERGE_BLOCK, TALLY_F(values), tally_merge_pass, TALLY_MERGE_BLOCKS) {
    TALLY_SHARED(TALLY_F(shared), shared);
    tally_let_next_start();
    tally_await_before();
    TALLY_F(tile)(work.pass, shared, 0, 0);
}

typedef struct TALLY_F(order) {
    uint16_t of[TALLY_F(CAPACITY)];
} TALLY_F(order);
TALLY_ENTRY_OF(TALLY_MERGE_BLOCK, TALLY_F(origins), tally_merge_pass,
               TALLY_MERGE_BITS == 64 && TALLY_MERGE_FAN < 8 ? 4 : 3) {
    TALLY_SHARED(TALLY_F(shared), shared);
    TALLY_SHARED(TALLY_F(order), order);
    tally_let_next_start();
    tally_await_before();
    TALLY_F(tile)(work.pass, shared, order->of, 1);
}

/* Finds the first value that belongs before the one in front of it, for a message: report->misplaced is its place. */
TALLY_ENTRY_OF(TALLY_MERGE_BLOCK, TALLY_F(check), tally_merge_pass, 4) {
    const tally_merge_work *merge = work.pass;
    for (int64_t place = (int64_t)tally_block() * TALLY_MERGE_BLOCK + tally_thread(); place < merge->total;
         place += (int64_t)tally_blocks() * TALLY_MERGE_BLOCK) {
        const int64_t number = tally_merge_array_at(merge, place), i = place - merge->before[number];
        const tally_run array = tally_run_of(merge, number, 0);
        if (i > 0 && !TALLY_M(may_precede)(TALLY_M(value)(&array, i - 1), TALLY_M(value)(&array, i), merge->infinity))
            tally_min64(&merge->report->misplaced, place);
    }
}

#undef TALLY_F
