/* Short segments in vector lanes, a lane for each of a batch: transposed_segments. Once for each type, as
 * leaves_template.h; needs TALLY_ROOTED of the unit too (instances.h).
 *
 * Values are transposed: row k has value k of every segment, side by side, 16 bytes of each at a time by the usual
 * network of interleaved halves. So whatever an operator does to a value is one loop over lanes. What a segment has not
 * is replaced by the identity. */
#ifndef TALLY_CPU_TRANSPOSED_TEMPLATE_H
#define TALLY_CPU_TRANSPOSED_TEMPLATE_H

#include "cpu/leaves_template.h"
#include "cpu/segment_kinds.h"

/* Results go to any address. */
typedef struct __attribute__((packed, may_alias)) result_anywhere_t {
    result_t value;
} result_anywhere_t;

#ifndef TALLY_TRANSPOSE
#define TALLY_TRANSPOSE
enum { TALLY_PIECE_BYTES = 16 };
#if defined(TALLY_ISA_AVX512)
#define TALLY_TRANSPOSE_BYTES 64
#define TALLY_QUARTERS(run, first, n) run(first), run(first + 2 * n), run(first + 4 * n), run(first + 6 * n)
#elif defined(TALLY_ISA_AVX2)
#define TALLY_TRANSPOSE_BYTES 32
#define TALLY_QUARTERS(run, first, n) run(first), run(first + 2 * n)
#else
#define TALLY_TRANSPOSE_BYTES 16
#define TALLY_QUARTERS(run, first, n) run(first)
#endif
typedef int64_t tally__piece __attribute__((vector_size(16), aligned(1), may_alias));
typedef int64_t tally__two_pieces __attribute__((vector_size(32)));
typedef int64_t tally__pieces __attribute__((vector_size(TALLY_TRANSPOSE_BYTES), may_alias));

/* A piece of each of the segments that a register has room for, `apart` segments from one to the next. */
TALLY_INLINE TALLY_TARGET tally__pieces tally__load_pieces(const char *x, const int64_t *places, const int size,
                                                           const int apart) {
#define TALLY_PIECE(k) (*(const tally__piece *)(const void *)(x + places[(k)*apart] * size))
#if TALLY_TRANSPOSE_BYTES == 64
    const tally__two_pieces low = __builtin_shufflevector(TALLY_PIECE(0), TALLY_PIECE(1), 0, 1, 2, 3),
                            high = __builtin_shufflevector(TALLY_PIECE(2), TALLY_PIECE(3), 0, 1, 2, 3);
    return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
#elif TALLY_TRANSPOSE_BYTES == 32
    return __builtin_shufflevector(TALLY_PIECE(0), TALLY_PIECE(1), 0, 1, 2, 3);
#else
    (void)apart;
    return TALLY_PIECE(0);
#endif
#undef TALLY_PIECE
}
/* Rows of the values x[places[s]], x[places[s] + 1], ... of TALLY_SEGMENT_BATCH segments, 16 bytes of each; where no
 * more than four rows are wanted, most of the network is not there. `run` lists n = 8 / size elements and, between
 * them, those of a second register. */
#define TALLY_BOTH(size, i) (i), TALLY_TRANSPOSE_BYTES / size + (i)
#define TALLY_RUN_1(i) TALLY_RUN_OF_4(1, i), TALLY_RUN_OF_4(1, i + 4)
#define TALLY_RUN_2(i) TALLY_RUN_OF_4(2, i)
#define TALLY_RUN_4(i) TALLY_BOTH(4, i), TALLY_BOTH(4, i + 1)
#define TALLY_RUN_8(i) TALLY_BOTH(8, i)
#define TALLY_RUN_OF_4(size, i) \
    TALLY_BOTH(size, i), TALLY_BOTH(size, i + 1), TALLY_BOTH(size, i + 2), TALLY_BOTH(size, i + 3)
#define TALLY_TRANSPOSE_OF(size, word)                                                                              \
    typedef word tally__words_##size __attribute__((vector_size(TALLY_TRANSPOSE_BYTES), may_alias));                \
    TALLY_INLINE TALLY_TARGET void tally__transpose_some_##size(char *rows, const char *x, const int64_t *places,   \
                                                                const int kept) {                                   \
        enum { N = 8 / size, EACH = 2 * N, TOGETHER = TALLY_TRANSPOSE_BYTES / size };                               \
        for (int s = 0; s < TALLY_SEGMENT_BATCH; s += TOGETHER) {                                                   \
            tally__words_##size a[EACH], b[EACH];                                                                   \
            _Pragma("GCC unroll 16") for (int k = 0; k < EACH; k++) a[k] =                                          \
                (tally__words_##size)tally__load_pieces(x, places + s + k, size, EACH);                             \
            _Pragma("GCC unroll 4") for (int stage = 1; stage < EACH; stage *= 2) {                                 \
                _Pragma("GCC unroll 8") for (int k = 0; k < N; k++) {                                               \
                    b[2 * k] = __builtin_shufflevector(a[k], a[k + N], TALLY_QUARTERS(TALLY_RUN_##size, 0, N));     \
                    b[2 * k + 1] = __builtin_shufflevector(a[k], a[k + N], TALLY_QUARTERS(TALLY_RUN_##size, N, N)); \
                }                                                                                                   \
                _Pragma("GCC unroll 16") for (int k = 0; k < EACH; k++) a[k] = b[k];                                \
            }                                                                                                       \
            _Pragma("GCC unroll 16") for (int k = 0; k < kept && k < EACH; k++) *                                   \
                (tally__words_##size *)(void *)(rows + (k * TALLY_SEGMENT_BATCH + s) * size) = a[k];                \
        }                                                                                                           \
    }                                                                                                               \
    TALLY_APART __attribute__((unused))                                                                             \
    TALLY_TARGET void tally__transpose_##size(char *rows, const char *x, const int64_t *places, int32_t wanted) {   \
        if (wanted <= 4)                                                                                            \
            tally__transpose_some_##size(rows, x, places, 4);                                                       \
        else                                                                                                        \
            tally__transpose_some_##size(rows, x, places, 16);                                                      \
    }
TALLY_TRANSPOSE_OF(1, uint8_t)
TALLY_TRANSPOSE_OF(2, uint16_t)
TALLY_TRANSPOSE_OF(4, uint32_t)
TALLY_TRANSPOSE_OF(8, uint64_t)
#endif

#if TALLY_BYTES == 1
typedef int8_t length_t;
#define TALLY_TRANSPOSE_PIECES tally__transpose_1
#elif TALLY_BYTES == 2
typedef int16_t length_t;
#define TALLY_TRANSPOSE_PIECES tally__transpose_2
#elif TALLY_BYTES == 4
typedef int32_t length_t;
#define TALLY_TRANSPOSE_PIECES tally__transpose_4
#else
typedef int64_t length_t;
#define TALLY_TRANSPOSE_PIECES tally__transpose_8
#endif
/* Segments of any lengths under masks (masked_template.h). Of places of f64 gcc makes no vectors. */
#if defined(TALLY_ISA_AVX512)
#define TALLY_HAS_STAGED (TALLY_PASSES == 2 && TALLY_IS_DEAR) /* staged_template.h */
#define TALLY_HAS_MASKED \
    (TALLY_IS_FREE && (TALLY_PASSES == 1 || (TALLY_HAS_INDEX && !TALLY_IS_F64)) && !(TALLY_FLOAT && TALLY_NAN == 1))
#else
#define TALLY_HAS_STAGED 0
#define TALLY_HAS_MASKED 0
#endif
/* Rows are few where values are wide, unless lanes are cheaper by far. One segment by itself takes about as long as
 * TALLY_QUARTERS_FOR_ONE quarters of a row. */
#define TALLY_DEAR_ALONE (TALLY_IS_FREE && sizeof(column_t) >= 4 * TALLY_BYTES)
#define TALLY_TRANSPOSED_ROWS \
    (TALLY_BYTES <= 2 ? 64 : TALLY_BYTES == 4 ? (TALLY_CHEAP_ROWS ? 32 : 64) : TALLY_DEAR_ALONE ? 32 : 16)
#if TALLY_HAS_STAGED
#define TALLY_QUARTERS_FOR_ONE (TALLY_BYTES == 8 ? 2 : 3)
#elif TALLY_BYTES <= 2 && TALLY_IS_FREE
#define TALLY_QUARTERS_FOR_ONE (TALLY_BYTES == 1 ? 28 : 10)
#elif TALLY_BYTES == 8
#define TALLY_QUARTERS_FOR_ONE (TALLY_DEAR_ALONE ? 6 : TALLY_CHEAP_ROWS && !TALLY_HAS_MASKED ? 1 : 2)
#else
#define TALLY_QUARTERS_FOR_ONE ((TALLY_BYTES == 2 || TALLY_HAS_MASKED ? 3 : 2) << !TALLY_CHEAP_ROWS)
#endif
#define TALLY_QUARTERS_FOR_LANES (TALLY_HAS_STAGED ? 64 : 0) /* and lanes, besides their rows */
/* What lanes may cost at most where masks serve, too, in quarters of a row. */
#define TALLY_MASKED_COST \
    (TALLY_HAS_SQUARES ? TALLY_BYTES == 1 ? 320 : 140 : TALLY_BYTES == 1 ? 128 : TALLY_BYTES == 8 ? 56 : 104)
#define TALLY_PIECE_VALUES (TALLY_PIECE_BYTES / TALLY_BYTES)
/* The columns of a small leaf, or one where the order cannot show. */
#define TALLY_TRANSPOSED_COLUMNS (TALLY_IS_FREE ? 1 : TALLY_SMALL_COLUMNS)
#define TALLY_LANES TALLY_SEGMENT_BATCH
/* Lengths are needed where all are as long, too (see TALLY_TRANSPOSED_SELECT). */
#define TALLY_MASKS_ALWAYS (TALLY_FLOAT && (TALLY_BYTES == 2 || TALLY_NAN == 1))

typedef struct transposed_t {
    _Alignas(64) TALLY_T x[TALLY_TRANSPOSED_ROWS * TALLY_LANES];
    _Alignas(64) TALLY_T y[TALLY_KERNEL_INPUTS == 2 ? TALLY_TRANSPOSED_ROWS * TALLY_LANES : 1];
    _Alignas(64) length_t lengths[TALLY_LANES];
    int32_t shortest, rows;
} transposed_t;
#define TALLY_TRANSPOSED_X(k, i) t->x[(k)*TALLY_LANES + (i)]
#define TALLY_TRANSPOSED_Y(k, i) (TALLY_KERNEL_INPUTS == 2 ? t->y[(k)*TALLY_LANES + (i)] : TALLY_TRANSPOSED_X(k, i))

/* b, or a where `left` < 0. Values' own fields of 8 and 16 bits are selected by arithmetic, and keys of f16 and bf16
 * always: of a selected maximum of what lies in memory gcc 12 makes an instruction that it then does not know. */
#define TALLY_TRANSPOSED_SELECT(type, name)                                                                       \
    if (sizeof(type) == sizeof(length_t) && sizeof(type) <= 2)                                                    \
        a.name = (type)((int)b.name ^ (((int)a.name ^ (int)b.name) & (length_t)(left >> (8 * TALLY_BYTES - 1)))); \
    else                                                                                                          \
        a.name = left < 0 ? a.name : b.name;
TALLY_INLINE TALLY_TARGET column_t transposed_select(length_t left, column_t a, column_t b) {
    TALLY_COLUMN(TALLY_TRANSPOSED_SELECT)
    return a;
}
#if TALLY_PASSES == 2
TALLY_INLINE TALLY_TARGET second_t transposed_select2(length_t left, second_t a, second_t b) {
    TALLY_SECOND(TALLY_TRANSPOSED_SELECT)
    return a;
}
#endif

/* Sums of integers of 8 and 16 bits are those of zeros where nothing is: as narrow as values are, a mask costs less.
 * (Products of 64 bits have halves that count from elsewhere.) */
#define TALLY_ZEROS_ADD_NOTHING \
    (!TALLY_FLOAT && TALLY_BYTES <= 2 && (TALLY_HAS_SUM || TALLY_HAS_SQUARES) && !TALLY_HAS_RANGE)
#if TALLY_ZEROS_ADD_NOTHING
#define TALLY_TRANSPOSED_LEFT(x, left) (TALLY_T)((x) & (TALLY_T)((left) >> (8 * TALLY_BYTES - 1)))
#else
#define TALLY_TRANSPOSED_LEFT(x, left) (x)
#endif

/* f16 is converted by the instruction for it (see widen_some). */
typedef struct wide_rows_t {
    _Alignas(64) TALLY_V x[TALLY_WIDENS ? TALLY_TRANSPOSED_ROWS * TALLY_LANES : 1];
    _Alignas(64) TALLY_V y[TALLY_WIDENS && TALLY_KERNEL_INPUTS == 2 ? TALLY_TRANSPOSED_ROWS * TALLY_LANES : 1];
} wide_rows_t;
TALLY_INLINE TALLY_TARGET void widen_rows(wide_rows_t *wide, const transposed_t *t) {
#if TALLY_WIDENS
    widen_some(wide->x, t->x, t->rows * TALLY_LANES);
    if (TALLY_KERNEL_INPUTS == 2) widen_some(wide->y, t->y, t->rows * TALLY_LANES);
#else
    (void)wide, (void)t;
#endif
}
/* Value k of segment i; 0 where left >= 0, if zeros add nothing. */
TALLY_INLINE TALLY_TARGET item_t transposed_x(const transposed_t *t, const wide_rows_t *wide, int32_t k, int i,
                                              length_t left) {
    (void)wide, (void)left;
    item_t item = item_of(TALLY_TRANSPOSED_LEFT(TALLY_TRANSPOSED_X(k, i), left));
    if (TALLY_WIDENS) item.value = wide->x[k * TALLY_LANES + i];
    return item;
}
TALLY_INLINE TALLY_TARGET item_t transposed_y(const transposed_t *t, const wide_rows_t *wide, int32_t k, int i,
                                              length_t left) {
    (void)wide, (void)left;
    item_t item = item_of(TALLY_TRANSPOSED_LEFT(TALLY_TRANSPOSED_Y(k, i), left));
    if (TALLY_WIDENS) item.value = (TALLY_KERNEL_INPUTS == 2 ? wide->y : wide->x)[k * TALLY_LANES + i];
    return item;
}

/* `rows` rows from `from` on below the lanes, or as the first ones; all: no segment ends there. Four in a
 * tree: so gcc adds up values of 8 bits in 16. */
TALLY_INLINE TALLY_TARGET void transposed_rows(lanes_t lanes, const transposed_t *t, const wide_rows_t *wide,
                                               const int32_t from, const int rows, const bool is_first,
                                               const bool all) {
    TALLY_FREE_LANES
    for (int i = 0; i < TALLY_LANES; i++) {
        column_t row[4];
#pragma GCC unroll 4
        for (int k = 0; k < rows; k++) {
            const length_t left = all ? -1 : (length_t)(from + k - t->lengths[i]);
            row[k] = lift(transposed_x(t, wide, from + k, i, left), transposed_y(t, wide, from + k, i, left));
            if (!all && !TALLY_ZEROS_ADD_NOTHING) row[k] = transposed_select(left, row[k], identity());
        }
        if (rows > 2) row[0] = combine(row[0], row[2]);
        if (rows > 3) row[1] = combine(row[1], row[3]);
        if (rows > 1) row[0] = combine(row[0], row[1]);
        put(lanes, i, is_first ? row[0] : combine(get(lanes, i), row[0]));
    }
}
#if TALLY_PASSES == 2
TALLY_INLINE TALLY_TARGET void transposed_rows2(lanes2_t lanes, lanes_aim_t aims, const transposed_t *t,
                                                const wide_rows_t *wide, const int32_t from, const int rows,
                                                const bool is_first, const bool all) {
    TALLY_FREE_LANES
    for (int i = 0; i < TALLY_LANES; i++) {
        const aim_t aim = get_aim(aims, i);
        second_t row[4];
#pragma GCC unroll 4
        for (int k = 0; k < rows; k++) {
            const length_t left = all ? -1 : (length_t)(from + k - t->lengths[i]);
            row[k] = lift2(transposed_x(t, wide, from + k, i, -1), from + k, aim);
            if (!all) row[k] = transposed_select2(left, row[k], identity2());
        }
        if (rows > 2) row[0] = combine2(row[0], row[2]);
        if (rows > 3) row[1] = combine2(row[1], row[3]);
        if (rows > 1) row[0] = combine2(row[0], row[1]);
        put2(lanes, i, is_first ? row[0] : combine2(get2(lanes, i), row[0]));
    }
}
#endif
/* How a step is compiled: by constants, so that each is a loop of its own. */
#define TALLY_TRANSPOSED_KIND(rows, is_first, all) (4 * (rows) + 2 * (is_first) + (all))
/* All rows. Up to four go together where the order cannot show, or where there are no more: then each is a column, and
 * this is their tree. Where all segments are as long, the last ones need no mask. */
#define TALLY_TRANSPOSED(name, lanes, shifted, ...)                                                                    \
    {                                                                                                                  \
        int32_t k = 0;                                                                                                 \
        do { /* there is a row */                                                                                      \
            const bool joined = TALLY_IS_FREE || t->rows <= 4;                                                         \
            const bool is_first = k < (joined ? 1 : TALLY_SMALL_COLUMNS);                                              \
            const bool can = is_first || !(TALLY_FLOAT && TALLY_BYTES == 2); /* see TALLY_TRANSPOSED_SELECT */         \
            const bool all = can && k + (joined ? 4 : 1) <= t->shortest;                                               \
            const bool few = can && joined && !all && t->shortest == t->rows;                                          \
            const int32_t rows = few ? (is_first ? t->rows : 1) : joined ? 4 : 1;                                      \
            const int kind = TALLY_TRANSPOSED_KIND(rows, is_first, all || few);                                        \
            if (kind == TALLY_TRANSPOSED_KIND(4, 0, 0) && TALLY_IS_FREE)                                               \
                name(lanes, __VA_ARGS__ t, &wide, k, 4, false, false);                                                 \
            if (kind == TALLY_TRANSPOSED_KIND(4, 0, 1) && TALLY_IS_FREE)                                               \
                name(lanes, __VA_ARGS__ t, &wide, k, 4, false, true);                                                  \
            if (kind == TALLY_TRANSPOSED_KIND(4, 1, 0)) name(lanes, __VA_ARGS__ t, &wide, k, 4, true, false);          \
            if (kind == TALLY_TRANSPOSED_KIND(4, 1, 1)) name(lanes, __VA_ARGS__ t, &wide, k, 4, true, true);           \
            if (kind == TALLY_TRANSPOSED_KIND(3, 1, 1)) name(lanes, __VA_ARGS__ t, &wide, k, 3, true, true);           \
            if (kind == TALLY_TRANSPOSED_KIND(2, 1, 1)) name(lanes, __VA_ARGS__ t, &wide, k, 2, true, true);           \
            if (kind == TALLY_TRANSPOSED_KIND(1, 0, 0) && !TALLY_IS_FREE)                                              \
                name(shifted(lanes, k % TALLY_SMALL_COLUMNS * TALLY_LANES), __VA_ARGS__ t, &wide, k, 1, false, false); \
            if (kind == TALLY_TRANSPOSED_KIND(1, 0, 1))                                                                \
                name(shifted(lanes, joined ? 0 : k % TALLY_SMALL_COLUMNS * TALLY_LANES), __VA_ARGS__ t, &wide, k, 1,   \
                     false, true);                                                                                     \
            if (kind == TALLY_TRANSPOSED_KIND(1, 1, 0) && !TALLY_IS_FREE)                                              \
                name(shifted(lanes, k *TALLY_LANES), __VA_ARGS__ t, &wide, k, 1, true, false);                         \
            if (kind == TALLY_TRANSPOSED_KIND(1, 1, 1))                                                                \
                name(shifted(lanes, k *TALLY_LANES), __VA_ARGS__ t, &wide, k, 1, true, true);                          \
            k += rows;                                                                                                 \
        } while (k < t->rows);                                                                                         \
    }
#define TALLY_PRESENT (t->rows < TALLY_SMALL_COLUMNS ? t->rows : TALLY_SMALL_COLUMNS)

#if TALLY_FLOAT && TALLY_NAN == 1
/* How many values of each segment there are that are not skipped. */
TALLY_INLINE TALLY_TARGET void transposed_counts(int32_t *counts, const transposed_t *t) {
    for (int i = 0; i < TALLY_LANES; i++) counts[i] = 0;
    for (int32_t k = 0; k < t->rows; k++)
        for (int i = 0; i < TALLY_LANES; i++)
            counts[i] += ((length_t)k < t->lengths[i]) & is_present(TALLY_TRANSPOSED_X(k, i)) &
                         is_present(TALLY_TRANSPOSED_Y(k, i));
}
#endif

/* A result of each lane; whether some take more care than lanes can. */
#if TALLY_PASSES == 2
#define TALLY_TRANSPOSED_NODE to_node(get(lanes, i), get_aim(aims, i), get2(lanes2, i), counts[i], 0)
TALLY_INLINE TALLY_TARGET int finish_transposed(lanes_t lanes, lanes_aim_t aims, lanes2_t lanes2, const int32_t *counts,
                                                const tally_final *final, result_anywhere_t *results)
#else
#define TALLY_TRANSPOSED_NODE to_node(get(lanes, i), counts[i])
TALLY_INLINE TALLY_TARGET int finish_transposed(lanes_t lanes, const int32_t *counts, const tally_final *final,
                                                result_anywhere_t *results)
#endif
{
    int care = 0;
    TALLY_FREE_LANES
    for (int i = 0; i < TALLY_LANES; i++) {
        const node_t node = TALLY_TRANSPOSED_NODE;
        results[i].value = finish(node, final);
        care |= TALLY_NEEDS_WIDE(node, final);
    }
    return care;
}

/* The same, and segments whose results take more care become long ones. Once in the code, but of stats, where a call
 * takes a tenth of the time of short segments. */
#if TALLY_HAS_MASKED && !TALLY_HAS_RANGE
#define TALLY_FINISH_LANES TALLY_APART
#else
#define TALLY_FINISH_LANES TALLY_INLINE
#endif
#if TALLY_PASSES == 2
#define TALLY_TRANSPOSED_LANES lanes, aims, lanes2
TALLY_FINISH_LANES TALLY_TARGET void finish_lanes(lanes_t lanes, lanes_aim_t aims, lanes2_t lanes2,
                                                  const int32_t *counts, tally__kinds *kinds, const tally_final *final,
                                                  result_anywhere_t *results)
#else
#define TALLY_TRANSPOSED_LANES lanes
TALLY_FINISH_LANES TALLY_TARGET void finish_lanes(lanes_t lanes, const int32_t *counts, tally__kinds *kinds,
                                                  const tally_final *final, result_anywhere_t *results)
#endif
{
    tally_final local = *final;
    int care;
    if (TALLY_ROOTED && local.root) /* a loop without the branch for each */
        care = finish_transposed(TALLY_TRANSPOSED_LANES, counts, &local, results);
    else {
        local.root = 0;
        care = finish_transposed(TALLY_TRANSPOSED_LANES, counts, &local, results);
    }
    for (int i = 0; i < TALLY_LANES && care; i++) {
        const node_t node = TALLY_TRANSPOSED_NODE;
        if (TALLY_NEEDS_WIDE(node, &local) && kinds->lengths[i] > 0)
            kinds->lengths[i] = kinds->most = TALLY_LONG_SEGMENT;
    }
}

/* Results of a batch, side by side. Returns what was seen (TALLY_FLAG_...) of segments that are no longer than rows
 * are many; those that take more care than lanes can become long ones. */
TALLY_INLINE TALLY_TARGET int reduce_transposed(const transposed_t *t, tally__kinds *kinds, const tally_final *final,
                                                result_anywhere_t *results) {
    _Alignas(64) char space[TALLY_TRANSPOSED_COLUMNS * TALLY_LANES * sizeof(column_t) + 64 * 16];
    char *scratch = space;
    lanes_t lanes = carve(&scratch, TALLY_TRANSPOSED_COLUMNS * TALLY_LANES);
    wide_rows_t wide;
    int empty;
    widen_rows(&wide, t);
#if TALLY_FLOAT && TALLY_NAN == 1
    int32_t counts[TALLY_LANES];
    transposed_counts(counts, t);
    empty = 0;
    for (int i = 0; i < TALLY_LANES; i++) empty |= (counts[i] == 0) & (kinds->lengths[i] <= t->rows);
#else
    const int32_t *const counts = kinds->lengths;
    empty = kinds->shortest == 0;
#endif
    TALLY_TRANSPOSED(transposed_rows, lanes, shifted, )
    if (!TALLY_IS_FREE && t->rows > 4) halve_present(lanes, TALLY_SMALL_COLUMNS, TALLY_PRESENT, TALLY_LANES);
#if TALLY_PASSES == 2
    _Alignas(64) char space2[TALLY_TRANSPOSED_COLUMNS * TALLY_LANES * sizeof(second_t) + 64 * 16];
    _Alignas(64) char space_aim[TALLY_LANES * sizeof(aim_t) + 64 * 16];
    char *scratch2 = space2, *scratch_aim = space_aim;
    lanes2_t lanes2 = carve2(&scratch2, TALLY_TRANSPOSED_COLUMNS * TALLY_LANES);
    lanes_aim_t aims = carve_aim(&scratch_aim, TALLY_LANES);
    TALLY_FREE_LANES
    for (int i = 0; i < TALLY_LANES; i++) put_aim(aims, i, take_aim(get(lanes, i), counts[i]));
    TALLY_TRANSPOSED(transposed_rows2, lanes2, shifted2, aims, )
    if (!TALLY_IS_FREE && t->rows > 4) halve_present2(lanes2, TALLY_SMALL_COLUMNS, TALLY_PRESENT, TALLY_LANES);
#endif
    finish_lanes(TALLY_TRANSPOSED_LANES, counts, kinds, final, results);
    return empty ? TALLY_FLAG_EMPTY : 0;
}
#undef TALLY_TRANSPOSED_NODE
#undef TALLY_TRANSPOSED_LANES

/* Results of the segments of up to `most` values. Where not all can be read that lanes read, segments become long
 * ones. */
static TALLY_TARGET int transposed_segments(const raw_t *x, const raw_t *y, int64_t limit, const int64_t *offsets,
                                            int count, tally__kinds *kinds, int32_t most, const tally_final *final,
                                            char *results) {
    transposed_t transposed;
    int64_t within[TALLY_LANES];
    const int64_t *places = offsets,
                  last = limit - (most + TALLY_PIECE_VALUES - 1) / TALLY_PIECE_VALUES * TALLY_PIECE_VALUES;
    result_anywhere_t made[TALLY_LANES];
    int flags;
    if (count < TALLY_LANES || offsets[count - 1] > last) {
        for (int s = 0; s < TALLY_LANES; s++) {
            const int64_t place = offsets[s < count ? s : 0];
            within[s] = place < last ? place : last;
            kinds->lengths[s] = place <= last || kinds->lengths[s] == 0 ? kinds->lengths[s] : TALLY_LONG_SEGMENT;
        }
        kinds->most = TALLY_LONG_SEGMENT;
        places = within;
    }
    for (int s = 0; s < TALLY_LANES && (kinds->shortest < most || TALLY_MASKS_ALWAYS); s++)
        transposed.lengths[s] = (length_t)(kinds->lengths[s] <= most ? kinds->lengths[s] : 0);
    transposed.shortest = kinds->shortest;
    transposed.rows = most;
    for (int32_t k = 0; k < most; k += TALLY_PIECE_VALUES) {
        TALLY_TRANSPOSE_PIECES((char *)(transposed.x + k * TALLY_LANES), (const char *)(x + k), places, most - k);
        if (TALLY_KERNEL_INPUTS == 2)
            TALLY_TRANSPOSE_PIECES((char *)(transposed.y + k * TALLY_LANES), (const char *)(y + k), places, most - k);
    }
    /* Once in the code, which halves it; of f16 twice, as segments of 1 to 3 take 3 to 8% longer otherwise. */
    if (TALLY_WIDENS && count == TALLY_LANES) return reduce_transposed(&transposed, kinds, final, (void *)results);
    flags = reduce_transposed(&transposed, kinds, final,
                              TALLY_WIDENS || count < TALLY_LANES ? made : (result_anywhere_t *)(void *)results);
    if (count < TALLY_LANES) __builtin_memcpy(results, made, (size_t)count * sizeof *made);
    return flags;
}

#endif
