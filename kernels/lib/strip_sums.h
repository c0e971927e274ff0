/* What lib/strips.h keeps of a tile in shared memory, in the place of its values and beside them. No include guard; a
 * part of production/segments.h. */

/* Of some of a strip's values: in one f64, or, of f64, in two, by an anchor that serves the whole tile. */
#ifdef TALLY_IS_ANCHORED
typedef TALLY_N(two) TALLY_N(strip_sum);
TALLY_FN TALLY_N(strip_sum) TALLY_N(no_strip_sum)(void) {
    const TALLY_N(strip_sum) none = {-0.0, -0.0};
    return none;
}
TALLY_FN void TALLY_N(add_sum)(TALLY_N(strip_sum) *a, TALLY_N(strip_sum) b, const int32_t sign) {
    a->above += sign * b.above;
    a->below += sign * b.below;
}
TALLY_FN TALLY_EXPAND TALLY_N(parts_of)(TALLY_N(strip_sum) a) {
    TALLY_EXPAND parts = TALLY_OF(a.above);
    parts.p[1] = a.below;
    return parts;
}
#define TALLY_SUM_BYTES 16
#else
typedef double TALLY_N(strip_sum);
TALLY_FN TALLY_N(strip_sum) TALLY_N(no_strip_sum)(void) { return -0.0; }
TALLY_FN void TALLY_N(add_sum)(TALLY_N(strip_sum) *a, TALLY_N(strip_sum) b, const int32_t sign) { *a += sign * b; }
TALLY_FN TALLY_EXPAND TALLY_N(parts_of)(TALLY_N(strip_sum) a) { return TALLY_OF(a); }
#define TALLY_SUM_BYTES 8
#endif

/* Of f64 there is no room for their borders among the sums: they stay where they were marked until the next tile in
 * strips is added up, which marks others. */
#define TALLY_BORDERS_BESIDE TALLY_IS_F64
enum {
    TALLY_N(most_strips) = (TALLY_N(values_room) + 16 - 1) / TALLY_STRIP_BYTES + 1,
    TALLY_N(quads) = TALLY_STRIP_BYTES / 16,
    TALLY_N(strip) = TALLY_STRIP_BYTES /
                     TALLY_BYTES, /* values; an odd number of quads, so that lanes that read theirs ask for all banks */
    TALLY_N(sums_room) = (TALLY_STRIP_BYTES - (TALLY_BORDERS_BESIDE ? 0 : 4)) / TALLY_SUM_BYTES - 1,
    TALLY_N(log_meet) = 8, /* of the values that meet in one f64: 9 strips */
    TALLY_N(few_strips) =
        255, /* of which lanes of a warp have 8 each; where a tile may have more, twice as many values meet */
    TALLY_N(alone) = 7 * TALLY_N(strip) - 1, /* values of a segment that one thread adds up, at most */
    TALLY_N(log_many) = 10,                  /* the same, where as many meet exactly */
    TALLY_N(many_alone) = 34 * TALLY_N(strip) - 1,
    TALLY_N(first_guess) = 4, /* of `high` */
    TALLY_N(guess_above) = 2, /* what was found */
    TALLY_N(most_guessed) = 960
};
typedef char TALLY_N(borders_are_bits)[TALLY_N(strip) <= 32 ? 1 : -1];
/* What takes the place of a strip's values: sums of those left of each border, in turn, and of all. Segments of two
 * values and fewer have no borders of their own, so that two may be 1 apart, and the next is then 3: 14 of f32 would be
 * the most, 7 of f64, and there is room for 12, and 6, which are hardly ever exceeded. */
typedef struct TALLY_N(strip_sums) {
    TALLY_N(strip_sum) left[TALLY_N(sums_room) + 1];
#if !TALLY_BORDERS_BESIDE
    uint32_t borders; /* a bit for each place but the first */
#endif
} TALLY_N(strip_sums);
typedef char TALLY_N(sums_fit)[sizeof(TALLY_N(strip_sums)) <= TALLY_STRIP_BYTES ? 1 : -1];

/* Beside them. */
typedef struct TALLY_N(in_strips) {
    uint32_t borders[1 + TALLY_BORDERS_BESIDE]
                    [TALLY_N(most_strips)]; /* in each strip, a bit for each place; 0 before */
    int32_t turn, count;                    /* whose these are; strips of the tile that had the others */
    uint32_t most[TALLY_CONSUMER_WARPS], least[TALLY_CONSUMER_WARPS]; /* the range that each warp has found */
    int32_t high; /* values are guessed to be below this power of two */
} TALLY_N(in_strips);
#undef TALLY_SUM_BYTES
