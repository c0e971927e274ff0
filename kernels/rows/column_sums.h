/* The numbers of a block of production/exact_columns.h: in shared memory, each row's in 16-bit digits, and what becomes
 * of them: results, or numbers of limbs in memory. */
#ifndef TALLY_COLUMN_SUMS_H
#define TALLY_COLUMN_SUMS_H

#include "rows/columns_task.h"
#include "exact_sums/digit_counts.h"
#include "exact_segments/flat_nodes.h"

enum {
    lanes_across = TALLY_EXACT_COLUMNS_ACROSS_OF(TALLY_BYTES, TALLY_HAS_SUM, TALLY_HAS_PRODUCTS),
    slots = lanes_across * TALLY_PART /* of a block: value v of lane l has number v * lanes_across + l % lanes_across */
};

/* In `seen`, beside evidence (exact_sums/pair_results.h): some value is there. */
enum { is_there = 1 << 16 };
/* Digit d of a slot is digits[d * slots + slot], limb i digits 2 i and 2 i + 1. Those of products are behind those of
 * the sum. */
typedef struct shared_t {
    int32_t digits[all_digits * slots];
    int32_t seen[slots], absent[slots];
    int32_t first[2][slots], last[2][slots]; /* limbs of the sum, and of that of products, that are not 0: minus the
                                                first */
    TALLY_IF_KEYS(int64_t low[slots], high[slots];)
} shared_t;
TALLY_FN int32_t slot_of(int32_t v) { return v * lanes_across + tally_lane() % lanes_across; }
TALLY_FN void clear_block(shared_t *shared) {
    for (int32_t i = tally_thread(); i < all_digits * slots; i += TALLY_BLOCK) shared->digits[i] = 0;
    for (int32_t i = tally_thread(); i < slots; i += TALLY_BLOCK) {
        shared->seen[i] = shared->absent[i] = 0;
        shared->first[0][i] = shared->first[1][i] = -(1 << 16); /* minus the first */
        shared->last[0][i] = shared->last[1][i] = -1;
        TALLY_IF_KEYS(shared->low[i] = INT64_MAX; shared->high[i] = INT64_MIN;)
    }
}

/* ---- values to digits ---- */

typedef struct slot_t {
    int32_t *sum, *products; /* digits */
} slot_t;
#define TALLY_PUT_NAME scatter_pair
#define TALLY_PUT_TYPE slot_t
#define TALLY_PUT_SUM_DIGITS to->sum
#define TALLY_PUT_PRODUCT_DIGITS to->products
#define TALLY_PUT_SUM_COLUMNS slots
#define TALLY_PUT_PRODUCT_COLUMNS slots
#include "exact_sums/pair_to_digits.h"

/* Of the lane's values, a bit for each: whether something is there; and whether something is not -0. */
typedef struct found_t {
    int32_t there, others;
} found_t;

/* The lane's values of 8 rows, which no levels hold, to its digits. */
TALLY_RARE found_t scatter_share(const tally_columns_work *work, const task_t *task, int64_t k, const share_t *x,
                                 const share_t *y, shared_t *shared, found_t found) {
    notes_t notes = no_notes();
    TALLY_ROLLED
    for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++) {
        const int32_t high = high_of_row(work, task, k + task->sub + s * task->subs);
        TALLY_ROLLED
        for (int32_t v = 0; v < high; v++) {
            const TALLY_T its_x = x->part[s].v[v], its_y = TALLY_KERNEL_INPUTS == 1 ? its_x : y->part[s].v[v];
            const int32_t at = slot_of(v), is_absent = term_is_absent(its_x, its_y);
            slot_t slot = {shared->digits + at, shared->digits + sum_digits * slots + at};
            if (is_absent)
                tally_add32(&shared->absent[at], 1);
            else if (term_is_special(its_x, its_y))
                tally_or32(&shared->seen[at], evidence_of(its_x, its_y));
            else
                scatter_pair(&notes, &slot, its_x, its_y);
            found.there |= !is_absent << v;
            found.others |= (!is_absent && value_is_other(its_x, its_y)) << v;
        }
    }
    return found;
}
/* Adds d * 2^offset, in units of the origin; what stands below these is 0. */
TALLY_FN void scatter_count(int32_t *digits, int64_t d, int32_t offset) {
    if (d == 0) return;
    d = tally_from_origin(d, &offset);
    tally_scatter(digits, slots, (uint64_t)(d < 0 ? -d : d), d < 0, offset, 5);
}
/* ---- what becomes of a slot's digits ---- */

TALLY_FN int64_t limb_of(const int32_t *digits, int32_t i) {
    return digits[2 * i * slots] + (int64_t)digits[(2 * i + 1) * slots] * 65536;
}
/* Finds which limbs of a number in all slots are not 0, by all threads. */
TALLY_FN void find_limbs(const int32_t *digits, int32_t limbs, int32_t *first, int32_t *last) {
    for (int32_t k = tally_thread(); k < limbs * slots; k += TALLY_BLOCK) {
        const int32_t i = k / slots, slot = k % slots;
        if ((digits[2 * i * slots + slot] | digits[(2 * i + 1) * slots + slot]) == 0) continue;
        tally_max32(&first[slot], -i);
        tally_max32(&last[slot], i);
    }
}
/* Adds them to limbs in memory. */
TALLY_FN void drain_number(const int32_t *digits, int32_t first, int32_t last, int64_t *limbs) {
    int64_t carry = 0; /* so that a limb may take 2^30 numbers */
    TALLY_ROLLED
    for (int32_t i = first; i <= last; i++) {
        const int64_t all = limb_of(digits, i) + carry, is_large = (all + ((int64_t)1 << 32)) >> 33 != 0,
                      own = is_large ? all & 0xffffffff : all;
        carry = is_large ? all >> 32 : 0;
        if (own != 0) tally_add64(limbs + i, own);
    }
    if (carry != 0) tally_add64(limbs + last + 1, carry);
}
/* Their sum as a pair of doubles, in units of 2^(32 * *unit): digits of 32 bits in [-2^31, 2^31), of which the first
 * that is not 0 leads. It and three more are doubles, and a quarter of a unit stands for what is left. */
TALLY_FN tally_pair pair_of_limbs(const int32_t *digits, int32_t first, int32_t last, int32_t *unit) {
    enum { MOST = 5, CARRIES = 2 };
    double a = 0, b = 0, c = 0, d = 0, left = 0;
    int64_t carry = 0;
    int32_t zeros = 0;
    *unit = 0;
    TALLY_ROLLED
    for (int32_t i = first; i <= last + CARRIES; i++, zeros++) {
        const int64_t all = carry + (i <= last ? limb_of(digits, i) : 0);
        carry = (all + ((int64_t)1 << 31)) >> 32;
        const double digit = (double)tally_apart(all, (int64_t)((uint64_t)carry << 32));
        if (digit == 0) continue;
        TALLY_ROLLED
        for (int32_t k = zeros < MOST ? zeros : MOST; k >= 0; k--) {
            left = d != 0 ? d : left;
            d = c, c = b, b = a, a = 0;
        }
        a = digit;
        zeros = -1;
        *unit = i - 3;
    }
    d += left > 0 ? 0.25 : left < 0 ? -0.25 : 0;
    return tally_four_sum(a * 0x1p96, b * 0x1p64, c * 0x1p32, d);
}
/* A pair in units of 2^unit, in those of 2^power. False: it may be out of a double's range. */
TALLY_FN int32_t scale_pair(tally_pair *p, int32_t unit, int32_t power) {
    enum { REACH = 700 };
    const int32_t by = unit - power, is_in_reach = by > -REACH && by < REACH;
    const double factor = tally_from_bits_f64((int64_t)((is_in_reach ? by : 0) + 1023) << 52);
    p->high *= factor;
    p->low *= factor;
    return is_in_reach || p->high == 0;
}
TALLY_FN noted_t noted_in_slot(const shared_t *shared, int32_t slot) {
    noted_t noted = nothing_noted();
    noted.seen = shared->seen[slot] & ~is_there;
    noted.absent = shared->absent[slot];
    TALLY_IF_KEYS(noted.low = shared->low[slot]; noted.high = shared->high[slot];)
    return noted;
}
/* The result of a slot by pairs of doubles. False: they are not certain. */
TALLY_FN int32_t put_pairs(const tally_columns_work *work, const shared_t *shared, int32_t slot, const noted_t *noted,
                           int64_t present, int64_t row) {
    uint64_t result[6] = {0, 0, 0, 0, 0, 0};
    int32_t unit = 0, products_unit = 0, is_in_reach = 1;
    in_pairs_t a;
    __builtin_memset(&a, 0, sizeof a);
    a.present = present;
    a.seen = noted->seen;
    TALLY_IF_KEYS(a.low = (TALLY_K)noted->low; a.high = (TALLY_K)noted->high;)
    TALLY_IF_SUM(a.sum = pair_of_limbs(shared->digits + slot, -shared->first[0][slot], shared->last[0][slot], &unit);
                 unit = 32 * unit + TALLY_ORIGIN;)
    TALLY_IF_PRODUCTS(a.products = pair_of_limbs(shared->digits + sum_digits * slots + slot, -shared->first[1][slot],
                                                 shared->last[1][slot], &products_unit);
                      products_unit = 32 * products_unit + 2 * TALLY_ORIGIN;)
    if (TALLY_IS_F64) { /* near 1, where squares neither overflow nor become subnormal */
        a.products_power = TALLY_HAS_PRODUCTS ? (products_unit + 96) & ~1 : 0;
        a.power = TALLY_HAS_PRODUCTS ? a.products_power >> 1 : unit + 96;
    }
    TALLY_IF_SUM(is_in_reach &= scale_pair(&a.sum, unit, a.power);)
    TALLY_IF_PRODUCTS(is_in_reach &= scale_pair(&a.products, products_unit, a.products_power);)
    if (!is_in_reach || !finalize_pairs(&a, &work->out.final, result)) return 0;
    put_bytes(&work->out, row, result, present);
    return 1;
}
/* The number of a row that pairs do not decide, for production/flat.h: all of its limbs. */
TALLY_RARE void leave_slot(const tally_columns_work *work, const shared_t *shared, int32_t slot, int64_t row) {
    accumulator_t *const node = (accumulator_t *)(void *)work->nodes + row;
    const noted_t noted = noted_in_slot(shared, slot);
    clear_accumulator(node);
    TALLY_IF_SUM(for (int32_t i = -shared->first[0][slot]; i <= shared->last[0][slot]; i++)
                     node->sum[TALLY_EVIDENCE + i] = limb_of(shared->digits + slot, i);)
    TALLY_IF_PRODUCTS(for (int32_t i = -shared->first[1][slot]; i <= shared->last[1][slot]; i++)
                          node->products[TALLY_EVIDENCE + i] = limb_of(shared->digits + sum_digits * slots + slot, i);)
    deposit_noted(&noted, 1, node);
    tally_mark(work->unsure, row);
    tally_raise_flags(work->out.flags, TALLY_FLAG_UNSURE);
}
/* The block has all values of its rows: a thread makes a result of a slot. */
TALLY_FN void put_slot(const tally_columns_work *work, const shared_t *shared, int32_t slot, int64_t row) {
    const noted_t noted = noted_in_slot(shared, slot);
    const int64_t present = work->length - noted.absent;
    if (present == 0)
        put_nothing(&work->out, row);
    else if (!put_pairs(work, shared, slot, &noted, present, row))
        leave_slot(work, shared, slot, row);
}
/* The block has some of them. */
TALLY_FN void drain_slot(const tally_columns_work *work, const task_t *task, const shared_t *shared, int32_t slot,
                         int64_t row) {
    accumulator_t *const node =
        (accumulator_t *)(void *)work->nodes + (row * work->groups + task->chunk % work->groups);
    const noted_t noted = noted_in_slot(shared, slot);
    TALLY_IF_SUM(drain_number(shared->digits + slot, -shared->first[0][slot], shared->last[0][slot],
                              node->sum + TALLY_EVIDENCE);)
    TALLY_IF_PRODUCTS(drain_number(shared->digits + sum_digits * slots + slot, -shared->first[1][slot],
                                   shared->last[1][slot], node->products + TALLY_EVIDENCE);)
    deposit_noted(&noted, (shared->seen[slot] & is_there) != 0, node);
}
TALLY_FN void put_block(const tally_columns_work *work, const task_t *task, shared_t *shared) {
    TALLY_IF_SUM(find_limbs(shared->digits, TALLY_LIMBS, shared->first[0], shared->last[0]);)
    TALLY_IF_PRODUCTS(
        find_limbs(shared->digits + sum_digits * slots, TALLY_PRODUCT_LIMBS, shared->first[1], shared->last[1]);)
    tally_barrier();
    const int32_t slot = tally_thread(), column = column_of(work, task, slot % lanes_across, slot / lanes_across);
    if (slot >= slots || column >= task->until) return;
    const int64_t row =
        task->outer * work->inner + (work->width == work->inner ? column : column % (int32_t)work->inner);
    if (work->unsure != 0)
        put_slot(work, shared, slot, row);
    else
        drain_slot(work, task, shared, slot, row);
}

#endif
