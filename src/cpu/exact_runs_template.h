/* Runs of values, exactly: tiles to numbers, numbers to results. The vector work is in tiles_template.h, so that this
 * is compiled once. Once for each type: instance.h forgets the include guard.
 *
 * Needs of the unit (exact_instances.h) TALLY_KERNEL_FILE and TALLY_KERNEL_INPUTS, of instance.h TALLY_TYPE. It serves
 * both NaN policies: tally__kernel says which (skips_nans). Gives base_t, f32 or f64, in which values are added up,
 * read_tile, reduce_leaves, reduce_run and finalize_batch, which makes results of the parts of sums. */
#ifndef TALLY_CPU_EXACT_RUNS_TEMPLATE_H
#define TALLY_CPU_EXACT_RUNS_TEMPLATE_H

#include "cpu/exact.h"
#include "types/types.h"

#include TALLY_KERNEL_FILE
#ifndef TALLY_EXACT_H
#error "a file of kernels/exact includes exact_sums/exact.h"
#endif

typedef TALLY_T input_t;
typedef TALLY_T raw_t __attribute__((aligned(1), may_alias));
#if TALLY_IS_F64
typedef double base_t;
#else
typedef float base_t;
#endif
typedef base_t base_raw_t __attribute__((aligned(1), may_alias));
_Static_assert(sizeof(accumulator_t) <= TALLY_NODE_BYTES, "TALLY_NODE_BYTES is too small");

enum {
    tile_values = TALLY_IS_F64 ? TALLY_TILE / 2 : TALLY_TILE,
    /* Bits that a value has fewer than f32: tiles are measured as if it had them all. */
    spared = TALLY_BYTES != 2                   ? 0
             : TALLY_NUMBER == TALLY_NUMBER_f16 ? 13
                                                : 16,
    plain_from = TALLY_IS_F64                       ? TALLY_FROM_F64
                 : TALLY_BYTES == 4                 ? TALLY_FROM_F32
                 : TALLY_NUMBER == TALLY_NUMBER_f16 ? TALLY_FROM_F16
                                                    : TALLY_FROM_BF16
};

/* What a tile is read through when it cannot be used where it lies. */
typedef struct buffers_t {
    _Alignas(64) base_t x[tile_values], y[tile_values];
} buffers_t;

#if TALLY_BYTES == 2
static void widen(base_t *to, const raw_t *x, int64_t n) {
#if TALLY_NUMBER == TALLY_NUMBER_f16
    tally__cpu_tiles()->widen_f16(x, n, to);
#else
    tally__cpu_tiles()->widen_bf16(x, n, to);
#endif
}
#endif

/* The n values at x and y (at most a tile of them) as a measured tile. */
static void read_tile(const tally__kernel *kernel, tally__tile *tile, buffers_t *buffers, const raw_t *x,
                      const raw_t *y, int64_t n) {
    tile->n = n;
    tile->is_f64 = TALLY_IS_F64;
    tile->x = x;
    tile->y = TALLY_KERNEL_INPUTS == 2 ? y : x;
#if TALLY_BYTES == 2
    widen(buffers->x, x, n);
    tile->x = tile->y = buffers->x;
    if (TALLY_KERNEL_INPUTS == 2) {
        widen(buffers->y, y, n);
        tile->y = buffers->y;
    }
#endif
    tally__measure_tile(tile);
    tally__take_out_specials(tile, kernel->skips_nans, TALLY_KERNEL_INPUTS == 2 ? buffers->x : buffers->y, buffers->y);
}

/* ---- runs ---- */

#if TALLY_HAS_SUM
#define TALLY_FIRST_TERM TALLY_SUM_TERM
#define TALLY_SUM_OR_NONE(words) (words)
#else
#define TALLY_FIRST_TERM TALLY_TERM_PRODUCT /* there is no first number */
#define TALLY_SUM_OR_NONE(words) 0
#endif
#if TALLY_HAS_PRODUCTS
#define TALLY_PRODUCTS_OR_NONE(words) (words)
#else
#define TALLY_PRODUCTS_OR_NONE(words) 0
#endif

enum {
    parts_of_sum = TALLY_PLAIN_PARTS(TALLY_IS_F64, TALLY_TERM_VALUE),
    parts_of_product = TALLY_PLAIN_PARTS(TALLY_IS_F64, TALLY_TERM_PRODUCT),
    parts_together =
        TALLY_IS_F64 && TALLY_HAS_PRODUCTS ? TALLY_PLAIN_TERMS / 2 : TALLY_PLAIN_TERMS /* of a run, or one segment */
};

/* Whether it is worth to try plain sums, and how: of f16 and bf16 it nearly always is, and of few f32 it costs little,
 * so that these are looked at only of columns. */
static bool plan_plain(tally__plain *plain, const raw_t *x, const raw_t *y, int64_t n, bool of_columns) {
    const void *a = x, *b = TALLY_KERNEL_INPUTS == 2 ? y : x;
#if TALLY_BYTES == 2
    float few[2][TALLY_PLAIN_FEW];
    const int64_t read = n < TALLY_PLAIN_FEW ? n : TALLY_PLAIN_FEW;
    widen(few[0], x, read);
    if (TALLY_KERNEL_INPUTS == 2) widen(few[1], y, read);
    a = few[0], b = few[TALLY_KERNEL_INPUTS - 1];
#endif
    *plain = (tally__plain){.is_f64 = TALLY_IS_F64,
                            .has_sums = TALLY_HAS_SUM,
                            .has_products = TALLY_HAS_PRODUCTS,
                            .is_narrow = TALLY_BYTES == 2 && TALLY_HAS_PRODUCTS && TALLY_KERNEL_INPUTS == 1,
                            .fewer = spared,
                            .term = TALLY_FIRST_TERM};
    if (n == 0 || (!of_columns && !plain->has_products && (TALLY_BYTES == 2 || (TALLY_BYTES == 4 && n <= TALLY_TILE))))
        return n > 0;
    const int64_t most = TALLY_IS_F64 ? TALLY_PLAIN_TERMS / 2 : TALLY_PLAIN_TERMS;
    return tally__plan_plain(plain, a, b, n, of_columns || n < most ? n : most);
}
/* Notes the signs of n terms that add up to 0, `stride` values apart: whether there is any, and any other than -0. */
TALLY_ONCE void witness(const tally__kernel *kernel, int64_t *words, int term, const raw_t *x, const raw_t *y,
                        int64_t n, int64_t stride) {
    for (int64_t i = 0; i < n * stride && !words[TALLY_OTHER]; i += stride) {
        const double a = (double)value_of(x[i]);
        const double second = TALLY_KERNEL_INPUTS == 2 ? (double)value_of(y[i]) : a;
        const double b = term == TALLY_TERM_PRODUCT ? second : 1;
        const bool negative = (tally_bits_f64(a) ^ tally_bits_f64(b)) < 0;
        const bool plus = term == TALLY_TERM_MAGNITUDE || (a != 0 && b != 0) || !negative;
        if (kernel->skips_nans && (a != a || b != b)) continue;
        words[plus ? TALLY_OTHER : TALLY_MINUS_ZERO] = 1;
    }
}
/* Of f16 and bf16 only sums that need no wide copy. */
#define TALLY_RUNS_PLAINLY (TALLY_BYTES >= 4 || (TALLY_HAS_SUM && !(TALLY_HAS_PRODUCTS)))
#if TALLY_RUNS_PLAINLY
/* Adds a sum that its parts are, of n terms, to a number. */
static void add_plainly(const tally__kernel *kernel, int64_t *words, int32_t origin, int term, tally__plain_sums sums,
                        int parts, const raw_t *x, const raw_t *y, int64_t n) {
    if (tally__plain_total(sums, parts, 0) == 0)
        witness(kernel, words, term, x, y, n, 1);
    else
        for (int k = 0; k < parts; k++) tally_add_value(words, origin, sums[k][0]);
}
/* Notes a sum that is infinite or NaN, whatever else was added up. False: it is not known. Of f64 only a NaN is: upper
 * halves of NaNs may be infinite, and products overflow unseen. */
static bool note_special_sum(const tally__kernel *kernel, const tally__plain_made *made, accumulator_t *node) {
    const double special = TALLY_HAS_SUM ? made->sums[0][0] : made->products[0][0];
    if (TALLY_HAS_KEYS || kernel->skips_nans) return false;
    if (TALLY_IS_F64 && (special == special || TALLY_KERNEL_INPUTS == 2)) return false;
#if TALLY_HAS_SUM
    tally_witness(node->sum, special);
#endif
#if TALLY_HAS_PRODUCTS
    tally_witness(node->products, made->products[0][0]);
#endif
    return true;
}
/* Adds values to a node by plain sums of many: how many of n; not all where a sum is not exact. */
static int64_t run_plainly(const tally__kernel *kernel, tally__plain *plain, const raw_t *x, const raw_t *y, int64_t n,
                           accumulator_t *node) {
    int64_t at = 0;
    tally__plain_made made;
    while (at < n) {
        const int64_t offsets[2] = {0, n - at < parts_together ? n - at : parts_together};
        const tally__plain_outcome outcome = TALLY_BYTES == 2
                                                 ? tally__sum_halves(plain, plain_from, x + at, offsets, 1, &made)
                                                 : tally__sum_plainly(plain, x + at, y + at, offsets, 1, &made);
        if (outcome == TALLY_PLAIN_EXACT_APART && note_special_sum(kernel, &made, node)) {
            at += offsets[1];
            continue;
        }
        if (outcome != TALLY_PLAIN_EXACT) break;
#if TALLY_HAS_SUM
        add_plainly(kernel, node->sum, TALLY_ORIGIN, TALLY_SUM_TERM, made.sums, parts_of_sum, x + at, y + at,
                    offsets[1]);
#endif
#if TALLY_HAS_PRODUCTS
        add_plainly(kernel, node->products, 2 * TALLY_ORIGIN, TALLY_TERM_PRODUCT, made.products, parts_of_product,
                    x + at, y + at, offsets[1]);
#endif
#if TALLY_HAS_KEYS
        int64_t least, greatest;
        tally__cpu_tiles()->range[TALLY_IS_F64](x + at, offsets[1], &least, &greatest);
        node->low = least < node->low ? least : node->low;
        node->high = greatest > node->high ? greatest : node->high;
#endif
        at += offsets[1];
    }
    node->n += at;
    return at;
}
#endif
static void reduce_leaves(const tally__kernel *kernel, const void *vx, const void *vy, int64_t n, int64_t first,
                          tally__node *out) {
    const int64_t settle_every = (int64_t)1 << 10; /* tiles: 2^6 times bins, which change a limb by less than 2^56 */
    accumulator_t *node = (void *)out;
    const raw_t *x = vx, *y = TALLY_KERNEL_INPUTS == 2 ? vy : vx;
    buffers_t buffers;
    tally__tile tile;
    tally__sums sums;
    (void)first;
    clear_accumulator(node);
    tally__begin_sums(&sums, TALLY_SUM_OR_NONE(node->sum), TALLY_PRODUCTS_OR_NONE(node->products), TALLY_ORIGIN,
                      TALLY_FIRST_TERM);
#if TALLY_RUNS_PLAINLY
    /* Plainly only what caches hold: to ask whether an operation was rounded waits for all of them, and memory is not
     * read meanwhile. */
    const int64_t cached = (1 << 20) / TALLY_BYTES / TALLY_KERNEL_INPUTS;
    int64_t again = 0;
    int refusals = 0; /* one after the other */
    tally__plain plain;
    bool plainly = (n <= cached || TALLY_BYTES == 2) && plan_plain(&plain, x, y, n, false) && plain.power == 0;
#endif
    for (int64_t at = 0, tiles = 1; at < n; at += tile_values, tiles++) {
#if TALLY_RUNS_PLAINLY
        if (plainly && at >= again) {
            const int64_t done = run_plainly(kernel, &plain, x + at, y + at, n - at, node);
            at += done;
            if (at == n) break;
            refusals = done > 0 ? 1 : refusals + 1;
            plainly = TALLY_BYTES == 2 || refusals < 2; /* sums of two bytes know when to try again */
            again = at + parts_together;
        }
#endif
        read_tile(kernel, &tile, &buffers, x + at, y + at, n - at < tile_values ? n - at : tile_values);
        node->n += tile.present;
#if TALLY_HAS_KEYS
        tally__widen_range(&node->low, &node->high, &tile);
#endif
        tally__add_tile(&sums, &tile);
        if (tiles % settle_every == 0) settle_accumulator(node);
    }
    tally__flush_sums(&sums);
    settle_accumulator(node);
}

/* ---- segments ---- */

/* Whether results have a format that is made from parts. */
TALLY_FN bool is_of_parts(const tally_final *final) {
#if TALLY_HAS_KEYS
    (void) final;
    return true;
#else
    return final->format.digits == 53 || final->format.digits == 24;
#endif
}

/* Whether results are f32: of sums that are, parts need not be complete. */
TALLY_FN bool is_rounded_to_f32(const tally_final *final) { return !TALLY_HAS_KEYS && final->format.digits == 24; }
/* Such parts left a spread open: the batch is added up all over, and fully. */
TALLY_FN bool needs_all_parts(const tally__batch *batch) {
    return TALLY_HAS_SPREAD && batch->is_rough && batch->unsure > 0;
}

/* Sums that their parts do not tell are not sure. */
static void note_lost(tally__batch *batch) {
    for (int s = 0; s < batch->count && batch->lost; s++)
        if (batch->sums[0][s] != batch->sums[0][s] ||
            (batch->product_parts > 0 && batch->products[0][s] != batch->products[0][s])) {
            batch->unsure += batch->sure[s] != 0;
            batch->sure[s] = 0;
        }
}
/* The results of a batch whose parts are there, with the keys of its least and greatest values; those that are not sure
 * are left for another way. */
static void finalize_batch(tally__batch *batch, const int64_t *lows, const int64_t *highs, const tally_final *final,
                           char *results) {
    const tally__tiles *tiles = tally__cpu_tiles();
#if TALLY_HAS_KEYS
    const tally_format natural = TALLY_NATURAL_FORMAT;
    double floats[3][TALLY_BATCH_MOST];
    int32_t sure[TALLY_BATCH_MOST];
    (void) final;
    for (int s = 0; s < batch->count; s++) sure[s] = 1;
    for (int what = 0; what < 3; what++) {
        static const int whats[] = {TALLY_RESULT_SUM, TALLY_RESULT_MEAN, TALLY_RESULT_SPREAD};
        batch->is_f64 = what > 0 || natural.digits == 53;
        tiles->results(batch, whats[what]);
        for (int s = 0; s < batch->count && batch->unsure > 0; s++) sure[s] &= batch->sure[s];
        for (int s = 0; s < batch->count; s++)
            floats[what][s] = batch->is_f64 ? batch->values[s] : (double)batch->narrow[s];
    }
    batch->unsure = 0;
    for (int s = 0; s < batch->count; s++) batch->unsure += !(batch->sure[s] = sure[s]);
    tiles->put_stats[TALLY_IS_F64](batch, floats, lows, highs, results);
#else
#if TALLY_HAS_SPREAD
    int what = final->root ? TALLY_RESULT_SPREAD_ROOT : TALLY_RESULT_SPREAD;
#else
    int what = final->root ? TALLY_RESULT_ROOT : final->mean ? TALLY_RESULT_MEAN : TALLY_RESULT_SUM;
#endif
    size_t count = (size_t)batch->count;
    (void)lows, (void)highs;
    batch->is_f64 = final->format.digits == 53;
    tiles->results(batch, what);
    if (batch->is_f64)
        __builtin_memcpy(results, batch->values, count * sizeof(double));
    else
        __builtin_memcpy(results, batch->narrow, count * sizeof(float));
#endif
    note_lost(batch);
}

static bool finalize_sums(const tally__sums *sums, const total_t *total, const tally_final *final, void *result) {
    tally__batch one;
    if (!is_of_parts(final) || !tally__parts_of_sums(sums, &one)) return false;
    one.lengths[0] = (int32_t)total->n;
    one.ddof = final->ddof;
    finalize_batch(&one, &total->low, &total->high, final, result);
    return one.unsure == 0;
}

/* At most TALLY_FEW_TILES: numbers no longer than the values need. Those of f64 are measured all before any is added,
 * to know how long that is; otherwise numbers are short anyway, and memory is read while values are added. False: they
 * need long ones. */
static bool reduce_few(const tally__kernel *kernel, const raw_t *x, const raw_t *y, int64_t n, const tally_final *final,
                       void *result, bool *empty) {
    enum { FEW = 14, TILES = TALLY_IS_F64 ? TALLY_FEW_TILES : 1 };
    buffers_t buffers[TILES];
    tally__sums sums;
    tally__tile tiles[TILES];
    tally__fit fit = {TALLY_ORIGIN, TALLY_LIMBS, TALLY_PRODUCT_LIMBS};
    total_t total = {0, INT64_MAX, INT64_MIN, {0, 0, 0}, {0, 0, 0}};
    int64_t sum[TALLY_EVIDENCE + FEW], products[TALLY_EVIDENCE + 2 * FEW];
#define TALLY_READ_TILE(k)                                                        \
    read_tile(kernel, &tiles[(k) % TILES], &buffers[(k) % TILES], x + at, y + at, \
              n - at < tile_values ? n - at : tile_values)
    if (TALLY_IS_F64) {
        int count = 0;
        for (int64_t at = 0; at < n; at += tile_values, count++) TALLY_READ_TILE(count);
        fit = tally__fit_tiles(tiles, count);
    }
    if (fit.limbs > FEW || fit.product_limbs > 2 * FEW) return false;
    __builtin_memset(sum, 0, (size_t)(TALLY_EVIDENCE + fit.limbs) * sizeof *sum);
    __builtin_memset(products, 0, (size_t)(TALLY_EVIDENCE + fit.product_limbs) * sizeof *products);
    tally__begin_sums(&sums, TALLY_SUM_OR_NONE(sum), TALLY_PRODUCTS_OR_NONE(products), fit.origin, TALLY_FIRST_TERM);
    for (int64_t at = 0, k = 0; at < n; at += tile_values, k++) {
        const tally__tile *tile = &tiles[k % TILES];
        if (!TALLY_IS_F64) TALLY_READ_TILE(k);
        total.n += tile->present;
#if TALLY_HAS_KEYS
        tally__widen_range(&total.low, &total.high, tile);
#endif
        tally__add_tile(&sums, tile);
    }
#undef TALLY_READ_TILE
    if (finalize_sums(&sums, &total, final, result)) return true;
    tally__flush_sums(&sums);
    tally_carry(sum + TALLY_EVIDENCE, fit.limbs);
    tally_carry(products + TALLY_EVIDENCE, fit.product_limbs);
    total.sum = (tally_number){sum, fit.limbs, fit.origin};
    total.products = (tally_number){products, fit.product_limbs, 2 * fit.origin};
    round_total(&total, final, result);
    *empty |= total.n == 0;
    return true;
}

/* The standard deviation of two f64 that is half of what they differ by: many a tie, which parts do not decide. False:
 * it is another, or overflows; differences of subnormals are exact. */
TALLY_FN bool reduce_two(const raw_t *x, int64_t n, const tally_final *final, void *result) {
#if TALLY_IS_F64 && TALLY_HAS_SPREAD && !TALLY_HAS_KEYS
    if (n != 2 || !final->root || final->ddof != 0 || final->format.digits != 53) return false;
    const double half = (x[0] < x[1] ? x[1] - x[0] : x[0] - x[1]) / 2;
    if (!(half < tally_infinity_f64())) return false;
    tally_put(result, half, final->format);
    return true;
#else
    (void)x, (void)n, (void) final, (void)result;
    return false;
#endif
}
static bool reduce_run(const tally__kernel *kernel, const raw_t *x, const raw_t *y, int64_t n, const tally_final *final,
                       void *result) {
    union {
        accumulator_t node;
        tally__node head;
    } run;
    total_t total;
    bool empty = false;
    if (reduce_two(x, n, final, result)) return false;
    if (n > 0 && n <= TALLY_FEW_TILES * tile_values && reduce_few(kernel, x, y, n, final, result, &empty)) return empty;
    reduce_leaves(kernel, x, y, n, 0, &run.head);
    total = total_of(&run.node);
    round_total(&total, final, result);
    return total.n == 0;
}

#endif
