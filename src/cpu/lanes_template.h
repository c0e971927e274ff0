/* Records of one kind as lanes: an array for each field, because that is what vector units load. leaves_template.h
 * includes this for columns, and for operators of two passes also for seconds and aims. Takes and undefines:
 *
 *     TALLY_NAME(name), TALLY_TYPE_NAME(name)   the names of functions and types      TALLY_RECORD   the struct
 *     TALLY_FIELDS   its fields, an X-macro                 TALLY_COMBINE   what joins two, if anything does */
#if !defined(TALLY_NAME) || !defined(TALLY_TYPE_NAME) || !defined(TALLY_RECORD) || !defined(TALLY_FIELDS)
#error "define TALLY_NAME, TALLY_TYPE_NAME, TALLY_RECORD and TALLY_FIELDS"
#endif

/* Where the lanes are, and a place for those of one leaf. */
typedef struct TALLY_TYPE_NAME(lanes) {
    TALLY_FIELDS(TALLY_POINTER)
} TALLY_TYPE_NAME(lanes);
typedef struct TALLY_TYPE_NAME(arrays) {
    TALLY_FIELDS(TALLY_ARRAY)
} TALLY_TYPE_NAME(arrays);
TALLY_INLINE TALLY_TYPE_NAME(lanes) TALLY_NAME(lanes_of)(TALLY_TYPE_NAME(arrays) * arrays) {
    TALLY_TYPE_NAME(lanes) lanes;
    TALLY_FIELDS(TALLY_POINT)
    return lanes;
}
/* `count` lanes from scratch memory. */
TALLY_INLINE TALLY_TYPE_NAME(lanes) TALLY_NAME(carve)(char **scratch, int64_t count) {
    TALLY_TYPE_NAME(lanes) lanes;
    TALLY_FIELDS(TALLY_CARVE)
    return lanes;
}
TALLY_INLINE TALLY_TYPE_NAME(lanes) TALLY_NAME(shifted)(TALLY_TYPE_NAME(lanes) lanes, int64_t by) {
    TALLY_FIELDS(TALLY_SHIFT)
    return lanes;
}
TALLY_INLINE TALLY_RECORD TALLY_NAME(get)(TALLY_TYPE_NAME(lanes) lanes, int64_t j) {
    TALLY_RECORD a;
    TALLY_FIELDS(TALLY_GET)
    return a;
}
TALLY_INLINE void TALLY_NAME(put)(TALLY_TYPE_NAME(lanes) lanes, int64_t j, TALLY_RECORD a){TALLY_FIELDS(TALLY_PUT)}
#ifdef TALLY_COMBINE
TALLY_INLINE TALLY_RECORD TALLY_NAME(select)(int choose, TALLY_RECORD a, TALLY_RECORD b) {
    TALLY_FIELDS(TALLY_SELECT)
    return a;
}
/* Lane j takes lane j + apart behind it. */
TALLY_INLINE TALLY_TARGET void TALLY_NAME(fold)(TALLY_TYPE_NAME(lanes) lanes, int64_t count, int64_t apart) {
    TALLY_FREE_LANES
    for (int64_t j = 0; j < count; j++)
        TALLY_NAME(put)(lanes, j, TALLY_COMBINE(TALLY_NAME(get)(lanes, j), TALLY_NAME(get)(lanes, j + apart)));
}
/* The tree over `columns` lanes, all there: halves on halves. The widths are constants, so that each step is straight
 * code. */
TALLY_INLINE TALLY_TARGET TALLY_RECORD TALLY_NAME(halve)(TALLY_TYPE_NAME(lanes) lanes, const int columns) {
    if (columns >= 512) TALLY_NAME(fold)(lanes, 256, 256);
    if (columns >= 256) TALLY_NAME(fold)(lanes, 128, 128);
    if (columns >= 128) TALLY_NAME(fold)(lanes, 64, 64);
    if (columns >= 64) TALLY_NAME(fold)(lanes, 32, 32);
    if (columns >= 32) TALLY_NAME(fold)(lanes, 16, 16);
    if (columns >= 16) TALLY_NAME(fold)(lanes, 8, 8);
    if (columns >= 8) TALLY_NAME(fold)(lanes, 4, 4);
    if (columns >= 4) TALLY_NAME(fold)(lanes, 2, 2);
    if (columns >= 2) TALLY_NAME(fold)(lanes, 1, 1);
    return TALLY_NAME(get)(lanes, 0);
}
/* The same when only the first `present` of the columns exist, each `width` lanes wide. */
TALLY_INLINE TALLY_TARGET void TALLY_NAME(halve_present)(TALLY_TYPE_NAME(lanes) lanes, int64_t columns, int64_t present,
                                                         int64_t width) {
    for (int64_t half = columns / 2; half >= 1; half /= 2)
        if (present > half) {
            TALLY_NAME(fold)(lanes, (present - half) * width, half * width);
            present = half;
        }
}
#undef TALLY_COMBINE
#endif

#undef TALLY_NAME
#undef TALLY_TYPE_NAME
#undef TALLY_RECORD
#undef TALLY_FIELDS
