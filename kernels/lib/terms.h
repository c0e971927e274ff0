/* Values one by one, for exact sums on a device: what a lane notes of them beside their sum, and what they are made of.
 * No include guard; behind lib/extent.h, undone with it by lib/terms_end.h. */
#ifdef TALLY_SUM_TERM
#define TALLY_IF_SUM(text) text
#else
#define TALLY_IF_SUM(text)
#endif
#ifdef TALLY_PRODUCTS
#define TALLY_IF_PRODUCTS(text) text
#else
#define TALLY_IF_PRODUCTS(text)
#endif

/* What a lane has seen. */
typedef struct TALLY_N(notes) {
    int32_t seen_sum, seen_products; /* evidence, a bit for each kind */
    int64_t absent;
#ifdef TALLY_KEYS
    int64_t low, high;
#endif
} TALLY_N(notes);

TALLY_FN TALLY_N(notes) TALLY_N(no_notes)(void) {
    TALLY_N(notes) notes;
    __builtin_memset(&notes, 0, sizeof notes);
#ifdef TALLY_KEYS
    notes.low = INT64_MAX;
    notes.high = INT64_MIN;
#endif
    return notes;
}

TALLY_FN double TALLY_N(term)(TALLY_T t) {
    double x = (double)TALLY_N(value)(t);
    TALLY_IF_SUM(if (TALLY_SUM_TERM == TALLY_TERM_MAGNITUDE) x = tally_from_bits_f64(tally_bits_f64(x) & INT64_MAX);)
    return x;
}

TALLY_FN void TALLY_N(widen_keys)(TALLY_N(notes) *notes, TALLY_T t) {
#ifdef TALLY_KEYS
    int64_t key = TALLY_IS_F64 ? tally_bits_f64((double)TALLY_N(value)(t)) : tally_bits_f32((float)TALLY_N(value)(t));
    int32_t is_nan = TALLY_N(is_nan)(t);
    key ^= key < 0 ? (TALLY_IS_F64 ? INT64_MAX : INT32_MAX) : 0;
    notes->low = is_nan ? INT64_MIN : key < notes->low ? key : notes->low;
    notes->high = is_nan ? INT64_MAX : key > notes->high ? key : notes->high;
#else
    (void)notes, (void)t;
#endif
}

#ifdef TALLY_KEYS
/* The same by all values between two, given by the keys of their own type. */
TALLY_FN void TALLY_N(widen_range)(TALLY_N(notes) *notes, TALLY_K low, TALLY_K high) {
    TALLY_N(widen_keys)(notes, TALLY_N(from_key)(low));
    TALLY_N(widen_keys)(notes, TALLY_N(from_key)(high));
}
#endif

/* A finite value is significand * 2^offset, in units of 2^TALLY_ORIGIN. */
typedef struct TALLY_N(taken) {
    uint64_t significand;
    int32_t offset, is_negative, is_special;
} TALLY_N(taken);
TALLY_FN TALLY_N(taken) TALLY_N(take)(TALLY_T t) {
    const int32_t fraction = TALLY_DIGITS_OF_TYPE - 1;
    TALLY_B bits = (TALLY_B)TALLY_N(bits)(t), rest = (TALLY_B)(bits & (((uint64_t)1 << fraction) - 1));
    int32_t e = (int32_t)((bits & (TALLY_B)TALLY_K_HIGH) >> fraction);
    TALLY_N(taken) a;
    a.significand = e != 0 ? rest | (uint64_t)1 << fraction : rest;
    a.offset = (e != 0 ? e : 1) + TALLY_SIZE_LEAST - 1 - TALLY_ORIGIN;
    a.is_negative = (int32_t)(bits >> (8 * TALLY_BYTES - 1));
    a.is_special = (bits & (TALLY_B)TALLY_K_HIGH) >= TALLY_INFINITY_BITS;
    return a;
}
