/* What one block adds up exactly, for an operator of kernels/exact (docs/exact.md has the method and its proof).
 *
 * A warp reads a leaf into registers and measures it: the largest and the smallest magnitude that is not 0. As long as
 * leaves stay within what the warp's levels hold, each value is cut into multiples of the levels' units by additions
 * that are exact (3 for each level but the last), and each lane counts units in 64-bit integers. A leaf beyond them
 * chooses new levels; one that no levels hold is *scattered*: each value is added to 16-bit digits in shared memory,
 * of which every lane has a column of its own, by 32-bit atomics, whatever its exponent. Both end in the block's
 * limbs. */
#ifndef TALLY_EXACT_BLOCK_H
#define TALLY_EXACT_BLOCK_H

#include "device/arrival.h"
#include "order/leaf.h"
#include "sums/levels.h"

/* Whether the next leaf is read ahead, into registers: where there are enough of them. */
#define TALLY_AHEAD \
    (!TALLY_HAS_KEYS && TALLY_KERNEL_INPUTS == 1 && TALLY_BYTES >= (TALLY_HAS_SPREAD ? 8 : 4) && TALLY_NAN == 0)

/* Blocks that a multiprocessor holds: two, or one where two would have registers spill on every architecture. */
#define TALLY_RESIDENT (TALLY_BYTES == 2 || (TALLY_BYTES == 8 && (TALLY_HAS_KEYS || TALLY_KERNEL_INPUTS == 2)) ? 1 : 2)

#include "exact_sums/digit_counts.h"
#include "exact_sums/extent.h"
#include "exact_sums/terms.h"
#include "exact_sums/ruler.h"
#include "exact_sums/specials.h"

enum { clears_nans = TALLY_AHEAD && !TALLY_HAS_PRODUCTS }; /* in registers, of which there are enough */

/* ---- what the block shares ---- */

#define TALLY_SUM_COLUMNS 32
#define TALLY_PRODUCT_COLUMNS (TALLY_IS_F64 ? 16 : 32)

typedef struct shared_t {
    tally_stage stage;
    accumulator_t node;                                        /* n: values left out; evidence as bits of `seen` */
    int32_t seen_sum, seen_products, seen, scattered, is_last; /* seen: infinities and NaNs, TALLY_SEEN_... */
    TALLY_IF_KEYS(int64_t low[TALLY_WARPS], high[TALLY_WARPS];)
    TALLY_IF_SUM(int32_t of_sum[sum_digits * TALLY_SUM_COLUMNS];)
    TALLY_IF_PRODUCTS(int32_t of_products[product_digits * TALLY_PRODUCT_COLUMNS];)
} shared_t;

/* Whether the block is the last of `members` to arrive, and so sees what the others wrote. */
TALLY_FN int32_t is_last_block(uint32_t *arrivals, int32_t members, shared_t *shared) {
    tally_fence();
    tally_barrier();
    if (tally_warp() == 0) {
        const int32_t is_last = tally_is_last(arrivals, members);
        if (tally_lane() == 0) shared->is_last = is_last;
    }
    tally_barrier();
    return shared->is_last;
}

/* What a warp keeps in registers. */
typedef struct state_t {
    ruler_t ruler;
    int32_t leaves;   /* since the last flush */
    int32_t scatters; /* since the last drain */
    int32_t is_other; /* the warp has seen a term that is not 0, and need not look for signs of zeros */
    notes_t notes;
} state_t;

TALLY_FN void flush(state_t *state, shared_t *shared) {
    TALLY_IF_SUM(tally_flush_levels(&state->ruler.sum, shared->node.sum + TALLY_EVIDENCE, TALLY_ORIGIN);)
    TALLY_IF_PRODUCTS(
        tally_flush_levels(&state->ruler.products, shared->node.products + TALLY_EVIDENCE, 2 * TALLY_ORIGIN);)
    state->leaves = 0;
}

/* ---- terms by levels ---- */

TALLY_FN void add_values(tally_levels *levels, const share_t *x, const int32_t count) {
    double at[TALLY_DEVICE_LEVELS];
    tally_begin_levels(levels, at, count);
    TALLY_UNROLL
    for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++) {
        TALLY_UNROLL
        for (int32_t v = 0; v < TALLY_PART; v++) tally_put_term(at, term_in_double(x->part[s].v[v]), 0, count);
    }
    tally_end_levels(levels, at, count);
}
TALLY_FN void add_products(tally_levels *levels, const share_t *x, const share_t *y, const int32_t count) {
    double at[TALLY_DEVICE_LEVELS];
    tally_begin_levels(levels, at, count);
    TALLY_UNROLL
    for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++) {
        TALLY_UNROLL
        for (int32_t v = 0; v < TALLY_PART; v++) {
            double a = (double)value_of(x->part[s].v[v]), b = (double)value_of(y->part[s].v[v]);
            double product = a * b;
            tally_put_term(at, product, 0, count);
            if (TALLY_IS_F64) tally_put_term(at, __builtin_fma(a, b, -product), 1, count);
        }
    }
    tally_end_levels(levels, at, count);
}

/* Adds a leaf that the levels hold; their number is known to the compiler in each branch. */
TALLY_FN void add_leaf(state_t *state, const share_t *x, const share_t *y) {
    (void)y;
#if TALLY_HAS_SUM
    if (state->ruler.sum.count == 1)
        add_values(&state->ruler.sum, x, 1);
    else if (TALLY_MOST_LEVELS_OF_VALUES > 1 && state->ruler.sum.count == 2)
        add_values(&state->ruler.sum, x, 2);
    else if (TALLY_MOST_LEVELS_OF_VALUES > 1)
        add_values(&state->ruler.sum, x, 3);
#endif
#if TALLY_HAS_PRODUCTS
    if (!TALLY_IS_F64 && state->ruler.products.count == 1)
        add_products(&state->ruler.products, x, y, 1);
    else if (!TALLY_IS_F64 && state->ruler.products.count == 2)
        add_products(&state->ruler.products, x, y, 2);
    else if (state->ruler.products.count <= 3)
        add_products(&state->ruler.products, x, y, 3);
    else if (TALLY_IS_F64)
        add_products(&state->ruler.products, x, y, 4);
#endif
    state->leaves++;
}

/* ---- terms one by one ---- */

/* Values' own keys are narrower. */
TALLY_FN void widen_by_leaf(notes_t *notes, const share_t *x, int64_t n) {
#if TALLY_HAS_KEYS
    TALLY_K low = TALLY_K_HIGH, high = TALLY_K_LOW;
    TALLY_UNROLL
    for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++) {
        TALLY_UNROLL
        for (int32_t v = 0; v < TALLY_PART; v++) {
            TALLY_K key = order_key(x->part[s].v[v]);
            if (n < TALLY_DEVICE_LEAF && place_in_leaf(s, v) >= n) continue;
            if (term_is_absent(x->part[s].v[v], x->part[s].v[v])) continue;
            low = key < low ? key : low;
            high = key > high ? key : high;
        }
    }
    if (low <= high) widen_range(notes, low, high); /* something is there */
#else
    (void)notes, (void)x, (void)n;
#endif
}

/* Into digits. */
#define TALLY_PUT_NAME scatter_one
#define TALLY_PUT_TYPE shared_t
#define TALLY_PUT_SUM_DIGITS to->of_sum + tally_lane() % TALLY_SUM_COLUMNS
#define TALLY_PUT_PRODUCT_DIGITS to->of_products + tally_lane() % TALLY_PRODUCT_COLUMNS
#define TALLY_PUT_SUM_COLUMNS TALLY_SUM_COLUMNS
#define TALLY_PUT_PRODUCT_COLUMNS TALLY_PRODUCT_COLUMNS
#include "exact_sums/pair_to_digits.h"

TALLY_LONG void drain(shared_t *shared) {
    TALLY_IF_SUM(tally_drain(shared->of_sum, sum_digits, TALLY_SUM_COLUMNS, shared->node.sum + TALLY_EVIDENCE);)
    TALLY_IF_PRODUCTS(tally_drain(shared->of_products, product_digits, TALLY_PRODUCT_COLUMNS,
                                  shared->node.products + TALLY_EVIDENCE);)
}
/* After this many scattered leaves a warp drains: before any digit can overflow, since 8 warps add less than 2^16 for
 * each term (two parts of 64-bit products; two lanes in each of 16 columns). */
#define TALLY_SCATTERS (TALLY_BYTES == 8 ? 32 : TALLY_BYTES == 4 ? 64 : 32)

TALLY_FN void scatter_finite(notes_t *notes, shared_t *shared, TALLY_T x, TALLY_T y) {
    if (!term_is_special(x, y)) scatter_one(notes, shared, x, y);
}
/* The finite values of a leaf, or of what there is of one, one by one. Their keys and what is left out are in `notes`
 * already. */
TALLY_RARE notes_t scatter_leaf(tally_source from_x, tally_source from_y, int64_t at, int64_t n, notes_t notes,
                                shared_t *shared) {
    notes_t own = no_notes();
    if (from_x.is_packed && from_y.is_packed && n == TALLY_DEVICE_LEAF) {
        const int64_t begin = at * TALLY_BYTES + 16 * tally_lane();
        for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s += 2) { /* two stripes on their way at once */
            tally_quad qx[2], qy[2];
            part_t x[2], y[2];
            TALLY_UNROLL
            for (int32_t k = 0; k < 2; k++) {
                qx[k] = qy[k] = tally_load16(from_x.values + begin + (s + k) * TALLY_STRIPE_BYTES);
                if (TALLY_KERNEL_INPUTS == 2)
                    qy[k] = tally_load16(from_y.values + begin + (s + k) * TALLY_STRIPE_BYTES);
            }
            __builtin_memcpy(x, qx, sizeof x);
            __builtin_memcpy(y, qy, sizeof y);
            TALLY_UNROLL
            for (int32_t v = 0; v < 2 * TALLY_PART; v++)
                scatter_finite(&own, shared, x[v / TALLY_PART].v[v % TALLY_PART], y[v / TALLY_PART].v[v % TALLY_PART]);
        }
    } else
        for (int32_t i = tally_lane(); i < n; i += TALLY_WARP)
            scatter_finite(&own, shared, read_one(&from_x, at + i), read_one(&from_y, at + i));
    notes.seen_sum |= own.seen_sum;
    notes.seen_products |= own.seen_products;
    if (tally_lane() == 0) tally_or32(&shared->scattered, 1);
    return notes;
}
TALLY_FN void scatter(const tally_source *from_x, const tally_source *from_y, int64_t at, int64_t n, state_t *state,
                      shared_t *shared) {
    state->notes = scatter_leaf(*from_x, *from_y, at, n, state->notes, shared);
    if (++state->scatters == TALLY_SCATTERS) {
        drain(shared);
        state->scatters = 0;
    }
}

/* ---- leaves ---- */

TALLY_FN share_t read_any_leaf(const tally_source *from, int64_t at, int64_t n, tally_stage *stage) {
    share_t share;
    if (from->is_packed && n >= TALLY_DEVICE_LEAF) return read_leaf(from->values, at);
    TALLY_UNROLL
    for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++) {
        int64_t row = s * TALLY_DEVICE_COLUMNS;
        if (row < n)
            share.part[s] = read_stripe(from, at + row, n - row, stage);
        else
            __builtin_memset(&share.part[s], 0, sizeof share.part[s]);
    }
    return share;
}

/* Whether a term of the lane is not 0. */
TALLY_FN int32_t has_other(const share_t *x, const share_t *y, extent_t of_x) {
    int32_t is_other = of_x.most != 0;
    if (TALLY_KERNEL_INPUTS == 2) {
        is_other = 0;
        TALLY_UNROLL
        for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++) {
            TALLY_UNROLL
            for (int32_t v = 0; v < TALLY_PART; v++)
                is_other |= size_bits(x->part[s].v[v]) != 0 && size_bits(y->part[s].v[v]) != 0;
        }
    }
    return is_other;
}

/* Which zeros a leaf has that is made of zeros, infinities and NaNs: the latter are noted elsewhere. */
TALLY_RARE notes_t note_zeros(tally_source from_x, tally_source from_y, int64_t at, int64_t n, notes_t notes) {
    for (int32_t i = tally_lane(); i < n; i += TALLY_WARP) {
        const TALLY_T x = read_one(&from_x, at + i), y = TALLY_KERNEL_INPUTS == 2 ? read_one(&from_y, at + i) : x;
        if (term_is_special(x, y)) continue;
        notes.seen_sum |= tally_finite_evidence(1, tally_bits_f64(term_in_double(x)) < 0);
        notes.seen_products |= tally_finite_evidence(1, (value_bits(x) < 0) != (value_bits(y) < 0));
    }
    return notes;
}
/* Looks for a term that is not -0, which then is evidence enough. */
TALLY_FN void find_other(const tally_source *from_x, const tally_source *from_y, const share_t *x, const share_t *y,
                         extent_t of_x, int64_t at, int64_t n, state_t *state) {
    state->is_other = tally_any(has_other(x, y, of_x));
    if (state->is_other) {
        state->notes.seen_sum |= 1 << TALLY_OTHER;
        state->notes.seen_products |= 1 << TALLY_OTHER;
        return;
    }
    state->notes = note_zeros(*from_x, *from_y, at, n, state->notes);
    state->is_other =
        tally_any((TALLY_HAS_SUM ? state->notes.seen_sum : state->notes.seen_products) >> TALLY_OTHER & 1);
}
/* Notes the infinities and NaNs of a lane's share and replaces them by zeros. Gives how many values are left out. */
TALLY_RARE int32_t clear_share(share_t *x, share_t *y, shared_t *shared) {
    int32_t absent = 0;
    TALLY_ROLLED
    for (uint32_t left = special_parts(x, y); left != 0; left &= left - 1) {
        const int32_t s = __builtin_ffs((int32_t)left) - 1;
        absent += clear_part(&x->part[s], &y->part[s], &shared->seen);
    }
    return absent;
}
/* The same in registers. The function is out of line and is given copies in memory: a share that it changed would take
 * too many registers. Data that has NaNs, but no infinities, does not need it. */
TALLY_FN void clear_specials(share_t *x, share_t *y, extent_t of_x, state_t *state, shared_t *shared) {
    if (clears_nans && note_nans(of_x, &shared->seen)) {
        zero_specials(x);
        *y = *x;
        return;
    }
    share_t its_x = *x, its_y = *y;
    state->notes.absent += clear_share(&its_x, TALLY_KERNEL_INPUTS == 2 ? &its_y : &its_x, shared);
    *x = its_x, *y = TALLY_KERNEL_INPUTS == 2 ? its_y : its_x;
}
/* Chooses levels for a leaf of these extents. False: no levels hold it. */
TALLY_FN int32_t renew_levels(state_t *state, extent_t of_x, extent_t of_y, shared_t *shared) {
    const extent_t x = measure_warp(of_x), y = measure_warp(of_y);
    if (x.most == 0 || y.most == 0) return 1; /* any levels hold zeros */
    flush(state, shared);
    forget_levels(&state->ruler);
    if (choose_ruler(&state->ruler, x, y, TALLY_LANE_ADDITIONS)) return 1;
    forget_levels(&state->ruler);
    return 0;
}
TALLY_FN void take_leaf(const tally_source *from_x, const tally_source *from_y, share_t x, share_t y, int64_t at,
                        int64_t n, state_t *state, shared_t *shared) {
    extent_t of_x = measure(&x), of_y = TALLY_KERNEL_INPUTS == 2 ? measure(&y) : of_x;
    widen_by_leaf(&state->notes, &x, n);
    if (are_beyond(&state->ruler, of_x, of_y)) {
        if (are_special(of_x, of_y)) {
            clear_specials(&x, &y, of_x, state, shared);
            of_x = measure(&x), of_y = TALLY_KERNEL_INPUTS == 2 ? measure(&y) : of_x;
        }
        if (are_beyond(&state->ruler, of_x, of_y) && !renew_levels(state, of_x, of_y, shared)) {
            scatter(from_x, from_y, at, n, state, shared);
            return;
        }
    }
    if (!state->is_other) find_other(from_x, from_y, &x, &y, of_x, at, n, state);
    if (state->ruler.most_x == 0) return; /* zeros so far */
    add_leaf(state, &x, &y);
    if (state->leaves == TALLY_FLUSH_LEAVES) flush(state, shared);
}

/* Leaves that begin at value `at`, at + step, ... of `count` are a warp's own. Of one input the next leaf is on its way
 * while one is added. */
TALLY_FN void take_leaves(tally_source x, tally_source y, int64_t at, int64_t step, int64_t count, state_t *state,
                          shared_t *shared) {
    share_t next;
    __builtin_memset(&next, 0, sizeof next);
    if (TALLY_AHEAD && at < count) next = read_any_leaf(&x, at, count - at, &shared->stage);
    for (; at < count; at += step) {
        int64_t left = count - at;
        share_t of_x, of_y;
        if (TALLY_AHEAD)
            of_x = next;
        else
            of_x = read_any_leaf(&x, at, left, &shared->stage);
        of_y = of_x;
        if (TALLY_AHEAD && left > step) next = read_any_leaf(&x, at + step, left - step, &shared->stage);
        if (TALLY_KERNEL_INPUTS == 2) of_y = read_any_leaf(&y, at, left, &shared->stage);
        take_leaf(&x, &y, of_x, of_y, at, left < TALLY_DEVICE_LEAF ? left : TALLY_DEVICE_LEAF, state, shared);
    }
}

/* ---- a block ---- */

TALLY_FN state_t begin_state(void) {
    state_t state;
    __builtin_memset(&state, 0, sizeof state);
    forget_levels(&state.ruler);
    state.notes = no_notes();
    return state;
}

enum { node_words = sizeof(accumulator_t) / 8 };

TALLY_FN void clear_shared(shared_t *shared) {
    int64_t *words = (int64_t *)(void *)&shared->node;
    for (int32_t i = tally_thread(); i < node_words; i += tally_threads()) words[i] = 0;
    TALLY_IF_SUM(for (int32_t i = tally_thread(); i < sum_digits * TALLY_SUM_COLUMNS; i += tally_threads())
                     shared->of_sum[i] = 0;)
    TALLY_IF_PRODUCTS(for (int32_t i = tally_thread(); i < product_digits * TALLY_PRODUCT_COLUMNS; i += tally_threads())
                          shared->of_products[i] = 0;)
    if (tally_thread() == 0) shared->seen_sum = shared->seen_products = shared->seen = shared->scattered = 0;
    tally_barrier();
}

#if TALLY_HAS_KEYS
/* The range of all threads, in thread 0's shared words. */
TALLY_FN void share_range(shared_t *shared, int64_t low, int64_t high) {
    for (int32_t mask = TALLY_WARP / 2; mask > 0; mask /= 2) {
        int64_t other_low = tally_shuffle64(low, mask), other_high = tally_shuffle64(high, mask);
        low = other_low < low ? other_low : low;
        high = other_high > high ? other_high : high;
    }
    if (tally_lane() == 0) shared->low[tally_warp()] = low, shared->high[tally_warp()] = high;
    tally_barrier();
    if (tally_thread() == 0)
        for (int32_t w = 1; w < TALLY_WARPS; w++) {
            shared->low[0] = shared->low[w] < shared->low[0] ? shared->low[w] : shared->low[0];
            shared->high[0] = shared->high[w] > shared->high[0] ? shared->high[w] : shared->high[0];
        }
    tally_barrier();
}
#endif

/* What infinities and NaNs are evidence of in a number. Squares of either infinity are +inf. */
TALLY_FN int32_t evidence_of_seen(int32_t seen, const int32_t are_squares) {
    const int32_t plus = (seen & (TALLY_SEEN_PLUS | (are_squares ? TALLY_SEEN_MINUS : 0))) != 0,
                  minus = (seen & (are_squares ? TALLY_SEEN_NAN : TALLY_SEEN_MINUS)) != 0;
    return (seen != 0) << TALLY_OTHER | plus << TALLY_PLUS_INFINITY | minus << TALLY_MINUS_INFINITY;
}
/* All warps' registers to the block's words. */
TALLY_FN void gather_warps(state_t *state, shared_t *shared) {
    flush(state, shared);
    if (state->notes.seen_sum != 0) tally_or32(&shared->seen_sum, state->notes.seen_sum);
    if (state->notes.seen_products != 0) tally_or32(&shared->seen_products, state->notes.seen_products);
    if (state->notes.absent != 0) tally_add64(&shared->node.n, -state->notes.absent);
    tally_barrier();
    if (shared->scattered && tally_warp() == 0) drain(shared);
    TALLY_IF_KEYS(share_range(shared, state->notes.low, state->notes.high);)
    if (tally_thread() < TALLY_EVIDENCE) {
        TALLY_IF_SUM(shared->node.sum[tally_thread()] =
                         (shared->seen_sum | evidence_of_seen(shared->seen, 0)) >> tally_thread() & 1;)
        TALLY_IF_PRODUCTS(
            shared->node.products[tally_thread()] =
                (shared->seen_products | evidence_of_seen(shared->seen, TALLY_HAS_SPREAD)) >> tally_thread() & 1;)
    }
    tally_barrier();
}

#endif
