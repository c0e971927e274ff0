/* What segments/strips.h keeps of a tile in shared memory, in the place of its values and beside them. */
#ifndef TALLY_STRIP_SUMS_H
#define TALLY_STRIP_SUMS_H

#include "accumulators/operator.h"

/* Of some of a strip's values: in one f64, or, of f64, in two, by an anchor that serves the whole tile. */
#if TALLY_IS_ANCHORED
typedef two_t strip_sum_t;
TALLY_FN strip_sum_t no_strip_sum(void) {
    const strip_sum_t none = {-0.0, -0.0};
    return none;
}
TALLY_FN void add_sum(strip_sum_t *a, strip_sum_t b, const int32_t sign) {
    a->above += sign * b.above;
    a->below += sign * b.below;
}
TALLY_FN void add_term(strip_sum_t *a, double term, int32_t last) { put_in_two(a, term, tally_anchor(last)); }
TALLY_FN TALLY_EXPAND parts_of(strip_sum_t a) {
    TALLY_EXPAND parts = TALLY_OF(a.above);
    parts.p[1] = a.below;
    return parts;
}
#define TALLY_SUM_BYTES 16
#else
typedef double strip_sum_t;
TALLY_FN strip_sum_t no_strip_sum(void) { return -0.0; }
TALLY_FN void add_sum(strip_sum_t *a, strip_sum_t b, const int32_t sign) { *a += sign * b; }
TALLY_FN void add_term(strip_sum_t *a, double term, int32_t last) { (void)last, *a += term; }
TALLY_FN TALLY_EXPAND parts_of(strip_sum_t a) { return TALLY_OF(a); }
#define TALLY_SUM_BYTES 8
#endif

/* Of f64 there is no room for their heads among the sums: they stay where they were marked until the next tile in
 * strips is added up, which marks others. */
#define TALLY_HEADS_BESIDE TALLY_IS_F64
enum {
    most_strips = (values_capacity + 16 - 1) / TALLY_STRIP_BYTES + 1,
    strip_quads = TALLY_STRIP_BYTES / 16,
    strip_values = TALLY_STRIP_BYTES /
                   TALLY_BYTES, /* values; an odd number of quads, so that lanes that read theirs ask for all banks */
    sums_capacity = (TALLY_STRIP_BYTES - (TALLY_HEADS_BESIDE ? 0 : 4)) / TALLY_SUM_BYTES - 1,
    log_meet = 8,     /* of the values that meet in one f64: 9 strips */
    few_strips = 255, /* of which lanes of a warp have 8 each; where a tile may have more, twice as many values meet */
    most_alone = 7 * strip_values - 1, /* values of a segment that one thread adds up, at most */
    log_many = 10,                     /* the same, where as many meet exactly */
    many_alone = 34 * strip_values - 1,
    first_guess = 4, /* of `high` */
    guess_above = 2, /* what was found */
    most_guessed = 960
};
typedef char heads_are_bits[strip_values <= 32 ? 1 : -1];
/* What takes the place of a strip's values: sums of those left of each head, in turn, and of all. Segments of two
 * values and fewer have no heads of their own, so that two may be 1 apart, and the next is then 3: 14 of f32 would be
 * the most, 7 of f64, and there is room for 12, and 6, which are hardly ever exceeded. */
typedef struct strip_sums_t {
    strip_sum_t left[sums_capacity + 1];
#if !TALLY_HEADS_BESIDE
    uint32_t heads; /* head flags: a bit for each place but the first */
#endif
} strip_sums_t;
typedef char sums_fit[sizeof(strip_sums_t) <= TALLY_STRIP_BYTES ? 1 : -1];

/* Beside them. */
typedef struct in_strips_t {
    uint32_t heads[1 + TALLY_HEADS_BESIDE][most_strips]; /* in each strip, a bit for each place; 0 before */
    int32_t current, count;                              /* whose these are; strips of the tile that had the others */
    uint32_t most[TALLY_CONSUMER_WARPS], least[TALLY_CONSUMER_WARPS]; /* the range that each warp has found */
    int32_t high; /* values are guessed to be below this power of two */
} in_strips_t;

#endif
