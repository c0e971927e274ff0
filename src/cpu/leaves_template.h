/* Leaves and runs of leaves in the canonical order (docs/order.md), written over columns side by side so that the
 * compiler makes vector code of them. Once for each type: instance.h forgets the include guard.
 *
 * Needs of the unit (instances.h) TALLY_KERNEL_FILE, TALLY_KERNEL_INPUTS, TALLY_IS_FREE and TALLY_TARGET, of instance.h
 * TALLY_TYPE and TALLY_NAN. Gives lanes_t with its functions (lanes_template.h), stack and extend, which fill lanes,
 * small_node, partial_leaf_node and tree, which reduce runs of values, and write. */
#ifndef TALLY_CPU_LEAVES_TEMPLATE_H
#define TALLY_CPU_LEAVES_TEMPLATE_H

#include "cpu/target.h"
#include "internal.h"
#include "types/types.h"

#include TALLY_KERNEL_FILE
#ifndef TALLY_RECORDS_H
#error "an operator's file includes accumulators/plain.h or records.h, as kernels/operators/README.md says"
#endif

typedef TALLY_T input_t;
/* Input lies at any address, and may be declared as any type by the caller. */
typedef TALLY_T raw_t __attribute__((aligned(1), may_alias));

#define TALLY_LEAF (TALLY_LEAF_BYTES / TALLY_BYTES)
#define TALLY_COLUMNS (TALLY_LEAF / TALLY_STRIPES)
#define TALLY_COLUMNS_OF(n) ((n) <= TALLY_SMALL_LEAF ? TALLY_SMALL_COLUMNS : TALLY_COLUMNS)

_Static_assert(sizeof(node_t) <= TALLY_ORDERED_NODE_BYTES, "TALLY_ORDERED_NODE_BYTES is too small");
_Static_assert(sizeof(result_t) <= TALLY_RESULT_BYTES, "TALLY_RESULT_BYTES is too small");

/* ---- lanes ---- */

#define TALLY_POINTER(type, name) type *name;
#define TALLY_ARRAY(type, name) _Alignas(64) type name[TALLY_COLUMNS];
#define TALLY_GET(type, name) a.name = lanes.name[j];
#define TALLY_PUT(type, name) lanes.name[j] = a.name;
#define TALLY_POINT(type, name) lanes.name = arrays->name;
#define TALLY_SELECT(type, name) a.name = choose ? a.name : b.name;
#define TALLY_CARVE(type, name) \
    lanes.name = (type *)(*scratch), *scratch += (sizeof(type) * (size_t)count + 63) & ~(size_t)63;
#define TALLY_SHIFT(type, name) lanes.name += by;
#define TALLY_SIZE(type, name) +sizeof(type)

#define TALLY_NAME(name) name
#define TALLY_TYPE_NAME(name) name##_t
#define TALLY_RECORD column_t
#define TALLY_FIELDS TALLY_COLUMN
#define TALLY_COMBINE combine
#include "cpu/lanes_template.h"
enum { kernel_rows_of_few = TALLY_PASSES == 1 };
#if TALLY_PASSES == 2
#define TALLY_NAME(name) name##2
#define TALLY_TYPE_NAME(name) name##2_t
#define TALLY_RECORD second_t
#define TALLY_FIELDS TALLY_SECOND
#define TALLY_COMBINE combine2
#include "cpu/lanes_template.h"
#define TALLY_NAME(name) name##_aim
#define TALLY_TYPE_NAME(name) name##_aim_t
#define TALLY_RECORD aim_t
#define TALLY_FIELDS TALLY_AIM
#include "cpu/lanes_template.h"
enum {
    kernel_row_bytes = (TALLY_COLUMN(TALLY_SIZE) TALLY_SECOND(TALLY_SIZE) TALLY_AIM(TALLY_SIZE)) +
                       (1 + TALLY_IS_FREE) * sizeof(int32_t),
    kernel_copies_rows = !TALLY_IS_FREE
};
#else
enum { kernel_row_bytes = (TALLY_COLUMN(TALLY_SIZE)) + sizeof(int32_t), kernel_copies_rows = 0 };
#endif

/* Lanes of a result where results lie side by side: as many as a tree over its columns needs at a time. And the least
 * that there must be for all results: columns of few. */
enum {
    kernel_lanes = TALLY_IS_FREE ? 1 : 10,
    kernel_least_lanes = TALLY_IS_FREE       ? TALLY_FREE_ROW_BYTES / TALLY_BYTES
                         : TALLY_PASSES == 2 ? 64 * TALLY_COLUMNS
                                             : 16384
};
_Static_assert(TALLY_COLUMNS <= 1 << 9, "a tree over more columns needs more lanes");

/* Many results at once are finished in vector lanes, the few that need care one by one
 * (kernels/accumulators/integers.h). */
#if TALLY_HAS_WIDE
#define TALLY_NEEDS_WIDE(node, final) needs_wide(node, final)
#define TALLY_NARROW (TALLY_BYTES >= 4 ? 4 : 2) /* columns of this many times a value's bytes are read row by row */
#else
#define TALLY_NARROW 2
#define TALLY_NEEDS_WIDE(node, final) ((void)(node), 0)
#endif

/* Results go to any address. */
TALLY_INLINE void write(void *results, int64_t s, result_t result) {
    __builtin_memcpy((char *)results + s * (int64_t)sizeof result, &result, sizeof result);
}

/* ---- loops over lanes ---- */

/* Item k of an input; `wide`, where a leaf was converted as a whole, has its value. */
TALLY_INLINE item_t item_at(const raw_t *x, const TALLY_V *wide, int64_t k) {
    item_t item = item_of(x[k]);
    if (wide != NULL) item.value = wide[k];
    return item;
}
/* Lane j = the values j, j + step, ... of `rows` rows, top to bottom; rows is a constant. */
TALLY_INLINE TALLY_TARGET void stack(lanes_t lanes, const raw_t *x, const raw_t *y, const TALLY_V *wide_x,
                                     const TALLY_V *wide_y, int64_t count, int64_t step, const int rows) {
    TALLY_FREE_LANES
    for (int64_t j = 0; j < count; j++) {
        column_t a = lift(item_at(x, wide_x, j), item_at(y, wide_y, j));
#pragma GCC unroll 8
        for (int k = 1; k < rows; k++)
            a = combine(a, lift(item_at(x, wide_x, k * step + j), item_at(y, wide_y, k * step + j)));
        put(lanes, j, a);
    }
}
/* One more row below the lanes. */
TALLY_INLINE TALLY_TARGET void extend(lanes_t lanes, const raw_t *x, const raw_t *y, const TALLY_V *wide_x,
                                      const TALLY_V *wide_y, int64_t count) {
    TALLY_FREE_LANES
    for (int64_t j = 0; j < count; j++)
        put(lanes, j, combine(get(lanes, j), lift(item_at(x, wide_x, j), item_at(y, wide_y, j))));
}
#if TALLY_PASSES == 2
TALLY_INLINE TALLY_TARGET void stack2(lanes2_t lanes, const raw_t *x, const TALLY_V *wide, int64_t count, int64_t step,
                                      const int rows, aim_t aim) {
    TALLY_FREE_LANES
    for (int64_t j = 0; j < count; j++) {
        second_t a = lift2(item_at(x, wide, j), (int32_t)j, aim);
#pragma GCC unroll 8
        for (int k = 1; k < rows; k++)
            a = combine2(a, lift2(item_at(x, wide, k * step + j), (int32_t)(k * step + j), aim));
        put2(lanes, j, a);
    }
}
TALLY_INLINE TALLY_TARGET void extend2(lanes2_t lanes, const raw_t *x, const TALLY_V *wide, int64_t count,
                                       int32_t place, aim_t aim) {
    TALLY_FREE_LANES
    for (int64_t j = 0; j < count; j++)
        put2(lanes, j, combine2(get2(lanes, j), lift2(item_at(x, wide, j), place + (int32_t)j, aim)));
}
#endif

/* ---- one leaf ---- */

/* f16 is converted by the instruction for it, many at a time; a compiler does not find it in the text of types/half.h,
 * and of subnormals that takes 15 times as long. An operator that never looks at the value drops the conversion again.
 */
#if TALLY_NUMBER == TALLY_NUMBER_f16 && TALLY_HAS_F16C
TALLY_INLINE TALLY_TARGET void widen_some(TALLY_V *wide, const raw_t *x, int64_t n) {
    const int count = (int)n, whole = count & ~7;
    for (int k = 0; k < whole; k += 8)
        *(tally__eight_f32 *)(wide + k) = __builtin_ia32_vcvtph2ps256(*(const tally__eight_f16 *)(x + k));
    if (whole == count) return;
    TALLY_T rest[8] = {0};
    for (int k = whole; k < count; k++) rest[k - whole] = x[k];
    *(tally__eight_f32 *)(wide + whole) = __builtin_ia32_vcvtph2ps256(*(const tally__eight_f16 *)rest);
}
/* The same of any number below a leaf, read back at once in whole vectors: a load of what two stores wrote waits for
 * both, and so does one of values copied one by one. */
TALLY_INLINE TALLY_TARGET void widen_part(TALLY_V *wide, const raw_t *x, int64_t n) {
#if defined(TALLY_ISA_AVX512)
    const tally__sixteen_f16 none = {0};
    const tally__sixteen_f32 nothing = {0};
    const int count = (int)n, whole = count & ~15;
    for (int k = 0; k < whole; k += 16)
        *(tally__sixteen_f32 *)(wide + k) =
            __builtin_ia32_vcvtph2ps512_mask(*(const tally__sixteen_f16 *)(x + k), nothing, TALLY_ALL_SIXTEEN, 4);
    if (whole == count) return;
    const tally__sixteen_f16 rest = (tally__sixteen_f16)__builtin_ia32_loaddquhi256_mask(
        (const void *)(x + whole), none, (uint16_t)((1 << (count - whole)) - 1));
    *(tally__sixteen_f32 *)(wide + whole) = __builtin_ia32_vcvtph2ps512_mask(rest, nothing, TALLY_ALL_SIXTEEN, 4);
#else
    widen_some(wide, x, n);
#endif
}
#define TALLY_WIDENS 1 /* byte of favour for walking columns, which takes fewer conversions */
#define TALLY_WIDE(name, x, most, count)   \
    _Alignas(64) TALLY_V name[(most) + 8]; \
    widen_some(name, x, count);
#define TALLY_WIDE_PART(name, x, most, count) \
    _Alignas(64) TALLY_V name[(most) + 16];   \
    widen_part(name, x, count);
#define TALLY_FURTHER(wide, by) ((wide) + (by))
#else
#define TALLY_WIDENS 0
#define TALLY_WIDE(name, x, most, count) const TALLY_V *const name = NULL;
#define TALLY_WIDE_PART TALLY_WIDE
#define TALLY_FURTHER(wide, by) (wide)
#endif
#if TALLY_KERNEL_INPUTS == 2
#define TALLY_WIDE_TWO(most, count) TALLY_WIDE(wide_x, x, most, count) TALLY_WIDE(wide_y, y, most, count)
#define TALLY_WIDE_PARTS(most, count) TALLY_WIDE_PART(wide_x, x, most, count) TALLY_WIDE_PART(wide_y, y, most, count)
#else
#define TALLY_WIDE_TWO(most, count)    \
    TALLY_WIDE(wide_x, x, most, count) \
    const TALLY_V *const wide_y = wide_x;
#define TALLY_WIDE_PARTS(most, count)       \
    TALLY_WIDE_PART(wide_x, x, most, count) \
    const TALLY_V *const wide_y = wide_x;
#endif

/* How many of n values the NaN policy counts. */
TALLY_INLINE TALLY_TARGET int64_t count_present(const raw_t *x, const raw_t *y, int64_t n) {
#if TALLY_FLOAT && TALLY_NAN == 1
    int32_t present = 0;
    for (int64_t j = 0; j < n; j++) present += is_present(x[j]) & is_present(y[j]);
    return present;
#else
    (void)x, (void)y;
    return n;
#endif
}

/* Brings a leaf into the first cache by reading one byte of each line, in order. */
TALLY_INLINE void touch(const raw_t *x) {
    const volatile char *bytes = (const volatile char *)x;
    for (int line = 0; line < TALLY_LEAF_BYTES; line += 64) (void)bytes[line];
}
#if defined(TALLY_ISA_AVX512) && TALLY_BYTES > 1 && TALLY_PASSES == 1
/* Row by row, a line of 64 bytes at a time. The eight lines of a row are one stretch of code. Lanes of the values' own
 * width stay in registers from the second row on; others, and those of the first row, go by the first cache. Compilers
 * change the order of loads, unless something stands between these: as eight streams memory is read at half the speed.
 * (A leaf that is read twice is fetched by the second pass over the one before: then this is a tenth slower.) */
TALLY_INLINE TALLY_TARGET void stack_rows(lanes_t lanes, const raw_t *x, const raw_t *y) {
    enum { LINE = 64 / TALLY_BYTES, IN_REGISTERS = sizeof(column_t) == TALLY_BYTES };
#pragma GCC unroll(IN_REGISTERS ? TALLY_STRIPES : 1)
    for (int row = 0; row < TALLY_STRIPES; row++) {
#pragma GCC unroll 8
        for (int at = 0; at < TALLY_COLUMNS; at += LINE) {
            const int from = row * TALLY_COLUMNS + at;
            if (row == 0)
                stack(shifted(lanes, at), x + from, y + from, NULL, NULL, LINE, 0, 1);
            else
                extend(shifted(lanes, at), x + from, y + from, NULL, NULL, LINE);
            if (IN_REGISTERS && row > 0) __asm__ volatile("" : "+r"(x));
        }
        if (!IN_REGISTERS || row == 0) __asm__ volatile("" : : : "memory");
    }
}
#else
TALLY_INLINE TALLY_TARGET void stack_rows(lanes_t lanes, const raw_t *x, const raw_t *y) {
    stack(lanes, x, y, NULL, NULL, TALLY_COLUMNS, 0, 1);
    for (int row = TALLY_COLUMNS; row < TALLY_LEAF; row += TALLY_COLUMNS)
        extend(lanes, x + row, y + row, NULL, NULL, TALLY_COLUMNS);
}
#endif
/* Two ways, chosen by what was measured (docs/measurements). Row by row reads memory in order, and keeps lanes in the
 * first cache: right for lanes of the values' own width. Walking down the columns keeps wide accumulators in registers,
 * but as eight streams that hardware prefetchers do not follow: so the leaf is touched in order first. */
TALLY_INLINE TALLY_TARGET column_t full_leaf(const raw_t *x, const raw_t *y) {
    arrays_t arrays;
    lanes_t lanes = lanes_of(&arrays);
    if (sizeof(column_t) + TALLY_WIDENS <= TALLY_NARROW * TALLY_BYTES)
        stack_rows(lanes, x, y);
    else {
        TALLY_WIDE_TWO(TALLY_LEAF, TALLY_LEAF)
        touch(x);
        if (TALLY_KERNEL_INPUTS == 2) touch(y);
        stack(lanes, x, y, wide_x, wide_y, TALLY_COLUMNS, TALLY_COLUMNS, TALLY_STRIPES);
    }
    return halve(lanes, TALLY_COLUMNS);
}
/* A row of which the first `count` of `width` values are there, as the first or one more; all can be read, and what is
 * not there is replaced by the identity. */
TALLY_INLINE TALLY_TARGET void mask_row(lanes_t lanes, const raw_t *x, const raw_t *y, const TALLY_V *wide_x,
                                        const TALLY_V *wide_y, int count, int width, const bool is_first) {
    TALLY_FREE_LANES
    for (int j = 0; j < width; j++) {
        column_t lifted = lift(item_at(x, wide_x, j), item_at(y, wide_y, j));
        lifted = select(j < count, lifted, identity());
        put(lanes, j, is_first ? lifted : combine(get(lanes, j), lifted));
    }
}
/* Columns that a leaf of n > TALLY_SMALL_LEAF values needs: those it has, or fewer when even the first row is not full.
 */
TALLY_INLINE int part_width(int64_t n) {
    int width = TALLY_COLUMNS;
    while (width / 2 >= n) width /= 2;
    return width;
}
/* More than TALLY_SMALL_LEAF values, fewer than a leaf, and `readable` that can be read: at least a row. */
static TALLY_TARGET column_t part_leaf(const raw_t *x, const raw_t *y, int64_t n, int64_t readable) {
    arrays_t arrays;
    lanes_t lanes = lanes_of(&arrays);
    int64_t row = TALLY_COLUMNS;
    TALLY_WIDE_PARTS(TALLY_LEAF, n)
    if (n < TALLY_COLUMNS)
        mask_row(lanes, x, y, wide_x, wide_y, (int)n, part_width(n), true);
    else
        stack(lanes, x, y, wide_x, wide_y, TALLY_COLUMNS, 0, 1);
#define TALLY_ROW x + row, y + row, TALLY_FURTHER(wide_x, row), TALLY_FURTHER(wide_y, row)
    for (; row + TALLY_COLUMNS <= n; row += TALLY_COLUMNS) extend(lanes, TALLY_ROW, TALLY_COLUMNS);
    if (row < n && row + TALLY_COLUMNS <= readable)
        mask_row(lanes, TALLY_ROW, (int)(n - row), TALLY_COLUMNS, false);
    else if (row < n)
        extend(lanes, TALLY_ROW, n - row);
#undef TALLY_ROW
    return halve(lanes, part_width(n));
}
/* Rows from ... to of a small leaf below the lanes; what lies beyond n is read, and replaced by the identity. */
TALLY_INLINE TALLY_TARGET void small_rows(lanes_t lanes, const raw_t *x, const raw_t *y, const TALLY_V *wide_x,
                                          const TALLY_V *wide_y, int n, const int from, const int to) {
#pragma GCC unroll 8
    for (int row = from * TALLY_SMALL_COLUMNS; row < to * TALLY_SMALL_COLUMNS; row += TALLY_SMALL_COLUMNS) {
        TALLY_FREE_LANES
        for (int j = 0; j < TALLY_SMALL_COLUMNS; j++) {
            column_t lifted = lift(item_at(x, wide_x, row + j), item_at(y, wide_y, row + j));
            lifted = select(row + j < n, lifted, identity());
            put(lanes, j, row == 0 ? lifted : combine(get(lanes, j), lifted));
        }
    }
}
/* At most TALLY_SMALL_LEAF values, though as many can be read. All eight rows where they are cheap, as a branch on the
 * length is mispredicted for many segments of random length (10 to 50 values from memory, f32: 8.1 -> 5.6 ns a
 * segment); else four or eight. */
#define TALLY_CHEAP_ROWS (TALLY_PASSES == 1 && sizeof(column_t) <= 2 * TALLY_BYTES)
TALLY_INLINE TALLY_TARGET column_t small_leaf(const raw_t *x, const raw_t *y, int64_t n) {
    arrays_t arrays;
    lanes_t lanes = lanes_of(&arrays);
    TALLY_WIDE_TWO(TALLY_SMALL_LEAF, TALLY_SMALL_LEAF)
    small_rows(lanes, x, y, wide_x, wide_y, (int)n, 0, 4);
    if (TALLY_CHEAP_ROWS || n > 4 * TALLY_SMALL_COLUMNS) small_rows(lanes, x, y, wide_x, wide_y, (int)n, 4, 8);
    return halve(lanes, TALLY_SMALL_COLUMNS);
}

#if TALLY_PASSES == 2
#define TALLY_LINE_VALUES (64 / TALLY_BYTES)
/* Lines of the next leaf are asked for between those of this one: otherwise nothing is read from memory during a second
 * pass. */
TALLY_INLINE TALLY_TARGET void stack_and_ask(lanes2_t lanes, const raw_t *x, const TALLY_V *wide, aim_t aim) {
    for (int c = 0; c < TALLY_COLUMNS; c += TALLY_LINE_VALUES) {
#pragma GCC unroll 8
        for (int k = 0; k < TALLY_STRIPES; k++) __builtin_prefetch(x + TALLY_LEAF + k * TALLY_COLUMNS + c);
        stack2(shifted2(lanes, c), x + c, TALLY_FURTHER(wide, c), TALLY_LINE_VALUES, TALLY_COLUMNS, TALLY_STRIPES, aim);
    }
}
TALLY_INLINE TALLY_TARGET second_t full_leaf2(const raw_t *x, aim_t aim) {
    arrays2_t arrays;
    lanes2_t lanes = lanes_of2(&arrays);
    TALLY_WIDE(wide, x, TALLY_LEAF, TALLY_LEAF)
    if (TALLY_HAS_INDEX || (TALLY_HAS_RANGE && TALLY_BYTES >= 4)) /* places; stats, where asking costs a tenth */
        stack2(lanes, x, wide, TALLY_COLUMNS, TALLY_COLUMNS, TALLY_STRIPES, aim);
    else
        stack_and_ask(lanes, x, wide, aim);
    return halve2(lanes, TALLY_COLUMNS);
}
TALLY_INLINE TALLY_TARGET void mask_row2(lanes2_t lanes, const raw_t *x, const TALLY_V *wide, int count, int width,
                                         int32_t place, const bool is_first, aim_t aim) {
    TALLY_FREE_LANES
    for (int j = 0; j < width; j++) {
        second_t lifted = lift2(item_at(x, wide, j), place + j, aim);
        lifted = select2(j < count, lifted, identity2());
        put2(lanes, j, is_first ? lifted : combine2(get2(lanes, j), lifted));
    }
}
static TALLY_TARGET second_t part_leaf2(const raw_t *x, int64_t n, int64_t readable, aim_t aim) {
    arrays2_t arrays;
    lanes2_t lanes = lanes_of2(&arrays);
    int64_t row = TALLY_COLUMNS;
    TALLY_WIDE_PART(wide, x, TALLY_LEAF, n)
    if (n < TALLY_COLUMNS)
        mask_row2(lanes, x, wide, (int)n, part_width(n), 0, true, aim);
    else
        stack2(lanes, x, wide, TALLY_COLUMNS, 0, 1, aim);
#define TALLY_ROW x + row, TALLY_FURTHER(wide, row)
    for (; row + TALLY_COLUMNS <= n; row += TALLY_COLUMNS) extend2(lanes, TALLY_ROW, TALLY_COLUMNS, (int32_t)row, aim);
    if (row < n && row + TALLY_COLUMNS <= readable)
        mask_row2(lanes, TALLY_ROW, (int)(n - row), TALLY_COLUMNS, (int32_t)row, false, aim);
    else if (row < n)
        extend2(lanes, TALLY_ROW, n - row, (int32_t)row, aim);
#undef TALLY_ROW
    return halve2(lanes, part_width(n));
}
TALLY_INLINE TALLY_TARGET void small_rows2(lanes2_t lanes, const raw_t *x, const TALLY_V *wide, int n, const int from,
                                           const int to, aim_t aim) {
#pragma GCC unroll 8
    for (int row = from * TALLY_SMALL_COLUMNS; row < to * TALLY_SMALL_COLUMNS; row += TALLY_SMALL_COLUMNS) {
        TALLY_FREE_LANES
        for (int j = 0; j < TALLY_SMALL_COLUMNS; j++) {
            second_t lifted = lift2(item_at(x, wide, row + j), row + j, aim);
            lifted = select2(row + j < n, lifted, identity2());
            put2(lanes, j, row == 0 ? lifted : combine2(get2(lanes, j), lifted));
        }
    }
}
TALLY_INLINE TALLY_TARGET second_t small_leaf2(const raw_t *x, int64_t n, aim_t aim) {
    arrays2_t arrays;
    lanes2_t lanes = lanes_of2(&arrays);
    TALLY_WIDE(wide, x, TALLY_SMALL_LEAF, TALLY_SMALL_LEAF)
    small_rows2(lanes, x, wide, (int)n, 0, 4, aim);
    if (n > 4 * TALLY_SMALL_COLUMNS) small_rows2(lanes, x, wide, (int)n, 4, 8, aim);
    return halve2(lanes, TALLY_SMALL_COLUMNS);
}
#define TALLY_TO_NODE(size, column, x, y, n, first)                                     \
    do {                                                                                \
        int64_t there = count_present(x, y, n);                                         \
        aim_t aim = take_aim(column, there);                                            \
        return to_node(column, aim, size(x TALLY_LENGTH_##size(n), aim), there, first); \
    } while (0)
#define TALLY_LENGTH_full_leaf2(n)
#define TALLY_LENGTH_part_leaf2(n) , n, readable
#define TALLY_LENGTH_small_leaf2(n) , n
#else
#define TALLY_TO_NODE(size, column, x, y, n, first) return to_node(column, count_present(x, y, n))
#endif

TALLY_INLINE TALLY_TARGET node_t full_leaf_node(column_t column, const raw_t *x, const raw_t *y, int64_t first) {
    (void)first;
    TALLY_TO_NODE(full_leaf2, column, x, y, TALLY_LEAF, first);
}
/* Asks for as many values as are read here, some KB behind them: where segments follow each other, they are read next.
 * Reading under masks, processors may not foresee that. */
TALLY_INLINE void ask_behind(const raw_t *x, const raw_t *y, int64_t n) {
    enum { AHEAD = 4096 };
    tally__ask_for((const char *)x + AHEAD, (int)n * TALLY_BYTES);
    if (TALLY_KERNEL_INPUTS == 2) tally__ask_for((const char *)y + AHEAD, (int)n * TALLY_BYTES);
}
TALLY_INLINE TALLY_TARGET node_t small_node(const raw_t *x, const raw_t *y, int64_t n, int64_t first) {
    ask_behind(x, y, n);
    column_t column = small_leaf(x, y, n);
    (void)first;
    TALLY_TO_NODE(small_leaf2, column, x, y, n, first);
}
static TALLY_TARGET node_t part_node(const raw_t *x, const raw_t *y, int64_t n, int64_t readable, int64_t first) {
    ask_behind(x, y, n);
    column_t column = part_leaf(x, y, n, readable);
    (void)first;
    TALLY_TO_NODE(part_leaf2, column, x, y, n, first);
}
/* What is not a whole leaf: 1 to TALLY_LEAF - 1 values, where `readable` values can be read. A small leaf and a row are
 * read whole, so that what is too close to the end is copied first. */
static TALLY_TARGET node_t partial_leaf_node(const raw_t *x, const raw_t *y, int64_t n, int64_t readable,
                                             int64_t first) {
    enum { ROW = TALLY_COLUMNS > TALLY_SMALL_LEAF ? TALLY_COLUMNS : TALLY_SMALL_LEAF };
    TALLY_T padded[TALLY_KERNEL_INPUTS][ROW];
    if (n < ROW && readable < ROW) {
        __builtin_memset(padded, 0, sizeof padded);
        __builtin_memcpy(padded[0], x, (size_t)n * TALLY_BYTES);
        if (TALLY_KERNEL_INPUTS == 2) __builtin_memcpy(padded[TALLY_KERNEL_INPUTS - 1], y, (size_t)n * TALLY_BYTES);
        x = padded[0];
        y = padded[TALLY_KERNEL_INPUTS - 1];
        readable = ROW;
    }
    return n <= TALLY_SMALL_LEAF ? small_node(x, y, n, first) : part_node(x, y, n, readable, first);
}

/* ---- runs of leaves ---- */

#if TALLY_IS_FREE
/* n values, and readable >= n that can be read. Any order will do: leaves join one node as they come. */
static TALLY_TARGET node_t tree(const raw_t *x, const raw_t *y, int64_t n, int64_t readable, int64_t first) {
    node_t node = nothing();
    int64_t at = 0;
    for (; at + TALLY_LEAF <= n; at += TALLY_LEAF) {
        column_t column = full_leaf(x + at, y + at);
#if TALLY_CAN_SPARE
        if (spare(node, column)) {
            node.n += count_present(x + at, y + at, TALLY_LEAF);
            continue;
        }
#endif
        node = merge(node, full_leaf_node(column, x + at, y + at, first + at));
    }
    if (at < n) node = merge(node, partial_leaf_node(x + at, y + at, n - at, readable - at, first + at));
    return node;
}
#else
/* The adjacent-pair tree over leaves, as a binary counter: level k holds a finished run of 2^k leaves or nothing. */
static TALLY_TARGET node_t tree(const raw_t *x, const raw_t *y, int64_t n, int64_t readable, int64_t first) {
    node_t level[64];
    int64_t leaves = 0, at = 0;
    node_t node;
    for (; at + TALLY_LEAF <= n; at += TALLY_LEAF) {
        int k = 0;
        node = full_leaf_node(full_leaf(x + at, y + at), x + at, y + at, first + at);
        for (; leaves >> k & 1; k++) node = merge(level[k], node);
        level[k] = node;
        leaves++;
    }
    if (at < n)
        node = partial_leaf_node(x + at, y + at, n - at, readable - at, first + at);
    else if (leaves == 0)
        return nothing();
    else {
        int lowest = __builtin_ctzll((unsigned long long)leaves);
        node = level[lowest];
        leaves &= leaves - 1;
    }
    for (int k = 0; leaves >> k; k++)
        if (leaves >> k & 1) node = merge(level[k], node);
    return node;
}
#endif

#endif
