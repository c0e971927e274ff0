/* Exact sums of the rows of a block, for production/rows/exact_columns.h. Each row has a slot in shared memory, with a
 * column of 16-bit digits. In the end a slot gives a result, or the block adds it to a number of limbs in memory. */
#ifndef TALLY_BLOCK_SUMS_H
#define TALLY_BLOCK_SUMS_H

#include "exact_rows/columns_task.h"
#include "exact_sums/digit_counts.h"
#include "exact_segments/flat_nodes.h"

/* A bit of `seen` beside the evidence of compensated/pair_results.h: the slot has a value. */
enum { is_there = 1 << 16 };
enum { slot_warps = TALLY_SLOT_WARPS(slots) }; /* the warps that have slots */
/* Digit d of a slot is digits[d * slots + slot]: neighbouring lanes have neighbouring slots, so that they meet in no
 * bank. */
typedef struct shared_t {
    int32_t digits[sum_digits * slots];
    int32_t seen[slots], absent[slots];
    int32_t first[slots], last[slots]; /* of the limbs that are not 0, the first, negated, and the last */
} shared_t;
TALLY_FN void clear_block(shared_t *shared) {
    for (int32_t i = tally_thread(); i < sum_digits * slots; i += TALLY_THREADS) shared->digits[i] = 0;
    for (int32_t i = tally_thread(); i < slots; i += TALLY_THREADS) {
        shared->seen[i] = shared->absent[i] = 0;
        shared->first[i] = -(1 << 16); /* negated */
        shared->last[i] = -1;
    }
}

/* ---- values to digits ---- */

typedef struct slot_t {
    int32_t *digits;
} slot_t;
#define TALLY_PUT_NAME scatter_pair
#define TALLY_PUT_TYPE slot_t
#define TALLY_PUT_SUM_DIGITS to->digits
#define TALLY_PUT_PRODUCT_DIGITS to->digits
#define TALLY_PUT_SUM_COLUMNS slots
#define TALLY_PUT_PRODUCT_COLUMNS slots
#include "exact_sums/pair_to_digits.h"

/* A bit for each of the lane's values v. there: the lane has read such a value; others: one that is not -0. */
typedef struct found_t {
    int32_t there, others;
} found_t;

/* Notes the infinities and NaNs of a share and replaces them by zeros. Gives a bit for each v of which the share has
 * values that count. */
TALLY_RARE int32_t clear_share(const work_t *work, const task_t *task, int64_t k, share_t *x, shared_t *shared) {
    const uint32_t special = special_parts(x, x), all_parts = (1 << TALLY_DEVICE_STRIPES) - 1;
    const int32_t slot = slot_of_value(0);
    int32_t all = TALLY_MAY_SKIP ? 0 : all_of(task);
    TALLY_ROLLED
    for (uint32_t left = TALLY_MAY_SKIP ? all_parts : special; left != 0; left &= left - 1) {
        const int32_t s = __builtin_ffs((int32_t)left) - 1;
        int32_t there = there_of(work, task, k, s);
        if (special >> s & 1)
            there =
                clear_part(&x->part[s], &x->part[s], there, &shared->seen[slot], &shared->absent[slot], between_slots);
        if (TALLY_MAY_SKIP) all |= there;
    }
    return all;
}
/* The same in registers. The function is out of line and is given copies in memory: a share that it changed would take
 * too many registers. Data that has NaNs, but no infinities, does not need it. */
TALLY_FN int32_t clear_specials(const work_t *work, const task_t *task, int64_t k, share_t *x, extent_t of_x,
                                shared_t *shared) {
    if (!TALLY_MAY_SKIP && note_nans(x, x, of_x, &shared->seen[slot_of_value(0)], between_slots)) {
        zero_specials(x, x);
        return all_of(task);
    }
    share_t its_x = *x;
    const task_t of_task = *task;
    const int32_t there = clear_share(work, &of_task, k, &its_x, shared);
    *x = its_x;
    return there;
}

/* Adds the lane's values of a share to its digits: levels cannot hold them. All are finite. Gives a bit for each v of
 * which some value is not -0. */
TALLY_RARE int32_t scatter_share(const work_t *work, const task_t *task, int64_t k, const share_t *x,
                                 shared_t *shared) {
    int32_t others = 0;
    notes_t notes = no_notes();
    TALLY_ROLLED
    for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++) {
        const int32_t there = there_of(work, task, k, s);
        TALLY_ROLLED
        for (int32_t v = 0; v < TALLY_PART; v++) {
            const TALLY_T value = x->part[s].v[v];
            slot_t slot = {shared->digits + slot_of_value(v)};
            if (!(there >> v & 1)) continue;
            scatter_pair(&notes, &slot, value, value);
            others |= value_is_other(value, value) << v;
        }
    }
    return others;
}
/* Adds d * 2^offset, in units of the origin: the bits of d below one unit are 0. */
TALLY_FN void scatter_count(int32_t *digits, int64_t d, int32_t offset) {
    if (d == 0) return;
    d = tally_from_origin(d, &offset);
    tally_scatter(digits, slots, (uint64_t)(d < 0 ? -d : d), d < 0, offset, 5);
}

/* ---- what becomes of a slot's digits ---- */

/* Turns the digits of all slots into limbs, by all threads, and notes which limbs are not 0. Limb i takes the place of
 * digits 2 i and 2 i + 1. */
TALLY_FN void make_limbs(shared_t *shared) {
    TALLY_ROLLED
    for (int32_t k = tally_thread(); k < TALLY_LIMBS * slots; k += TALLY_THREADS) {
        const int32_t i = k / slots, slot = k - i * slots;
        int32_t *const its = shared->digits + 2 * i * slots + slot;
        const int64_t limb = its[0] + (int64_t)its[slots] * 65536;
        its[0] = (int32_t)limb;
        its[slots] = (int32_t)(limb >> 32);
        if (limb == 0) continue;
        tally_max32(&shared->first[slot], -i);
        tally_max32(&shared->last[slot], i);
    }
}
TALLY_FN int64_t limb_of(const int32_t *digits, int32_t i) {
    return (int64_t)((uint64_t)(uint32_t)digits[(2 * i + 1) * slots] << 32 | (uint32_t)digits[2 * i * slots]);
}
/* Adds a slot's limbs to limbs in memory. */
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
/* The value of a slot's limbs as a pair of doubles, in units of 2^(32 * *unit), from digits in [-2^31, 2^31). */
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
    d += left > 0 ? 0.25 : left < 0 ? -0.25 : 0; /* the digits below d, as a quarter of a unit */
    return tally_four_sum(a * 0x1p96, b * 0x1p64, c * 0x1p32, d);
}
/* Converts a pair from units of 2^unit to units of 2^power. False: it may be out of a double's range. */
TALLY_FN int32_t scale_pair(tally_pair *p, int32_t unit, int32_t power) {
    enum { REACH = 700 };
    const int32_t by = unit - power, is_in_reach = by > -REACH && by < REACH;
    const double factor = tally_power_of_two(is_in_reach ? by : 0);
    p->high *= factor;
    p->low *= factor;
    return is_in_reach || p->high == 0;
}
TALLY_FN noted_t noted_in_slot(shared_t *shared, int32_t slot) {
    noted_t noted = nothing_noted();
    noted.seen = shared->seen[slot] & ~is_there;
    noted.absent = shared->absent[slot];
    return noted;
}
/* Writes the result of a slot, made of a pair of doubles. False: it does not decide it. */
TALLY_FN int32_t put_pairs(const work_t *work, shared_t *shared, int32_t slot, const noted_t *noted, int64_t present,
                           int64_t row) {
    uint64_t result[6] = {0, 0, 0, 0, 0, 0};
    int32_t unit = 0;
    in_pairs_t a;
    __builtin_memset(&a, 0, sizeof a);
    a.present = present;
    a.seen = noted->seen;
    a.sum = pair_of_limbs(shared->digits + slot, -shared->first[slot], shared->last[slot], &unit);
    unit = 32 * unit + TALLY_ORIGIN;
    if (TALLY_IS_F64) a.power = unit + 96; /* near 1 */
    if (!scale_pair(&a.sum, unit, a.power) || !finalize_pairs(&a, &work->out.final, result)) return 0;
    put_bytes(&work->out, row, result, present);
    return 1;
}
/* Writes the result of a row that a pair does not decide, from all limbs. Each warp has memory for one node. */
TALLY_RARE void put_limbs_of(const work_t *work, shared_t *shared, int32_t slot, int64_t row) {
    accumulator_t *const node = (accumulator_t *)(void *)work->nodes + (tally_block() * slot_warps + tally_warp());
    const noted_t noted = noted_in_slot(shared, slot);
    clear_accumulator(node);
    for (int32_t i = -shared->first[slot]; i <= shared->last[slot]; i++)
        node->sum[TALLY_EVIDENCE + i] = limb_of(shared->digits + slot, i);
    deposit_noted(&noted, 1, node);
    node->n += work->length;
    put_node(&work->out, row, node);
}
/* Writes results, where the block has all values of its rows: a lane makes the result of a slot. All lanes of the warp
 * take part; those without a slot have row -1. */
TALLY_FN void put_results(const work_t *work, shared_t *shared, int32_t slot, int64_t row) {
    int32_t is_left = 0;
    if (row >= 0) {
        const noted_t noted = noted_in_slot(shared, slot);
        const int64_t present = work->length - noted.absent;
        if (present == 0)
            put_nothing(&work->out, row);
        else
            is_left = !put_pairs(work, shared, slot, &noted, present, row);
    }
    for (uint32_t left = tally_ballot(is_left); left != 0; left &= left - 1) { /* one after another */
        if (tally_lane() == __builtin_ffs((int32_t)left) - 1) put_limbs_of(work, shared, slot, row);
        tally_warp_barrier();
    }
}
/* Adds a slot to limbs in memory, where the block has a part of the row's values. */
TALLY_FN void drain_slot(const work_t *work, const task_t *task, shared_t *shared, int32_t slot, int64_t row) {
    accumulator_t *const node =
        (accumulator_t *)(void *)work->nodes + (row * work->groups + task->chunk % work->groups);
    const noted_t noted = noted_in_slot(shared, slot);
    drain_number(shared->digits + slot, -shared->first[slot], shared->last[slot], node->sum + TALLY_EVIDENCE);
    deposit_noted(&noted, (shared->seen[slot] & is_there) != 0, node);
}
/* Finishes the slots: results, or limbs in memory. By all threads, after a barrier. */
TALLY_FN void put_block(const work_t *work, const task_t *task, shared_t *shared) {
    make_limbs(shared);
    tally_barrier();
    if (tally_warp() >= slot_warps) return;
    const int32_t slot = tally_thread();
    const int64_t row = slot < slots ? row_of_slot(work, task, slot) : -1;
    if (work->are_whole)
        put_results(work, shared, slot, row);
    else if (row >= 0)
        drain_slot(work, task, shared, slot, row);
}

#endif
