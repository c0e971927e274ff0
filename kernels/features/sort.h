/* A pass of a stable radix sort of keys, which sorts them by one digit: how a block counts the digits of its tile, and
 * where each of them begins in the sorted tile. */
#ifndef TALLY_SORT_H
#define TALLY_SORT_H

#include "device/device.h"
#include "device/lanes.h"
#include "features/groups.h"

TALLY_FN int32_t tally_digit(const tally_group_work *group, uint32_t key) {
    return (int32_t)(key >> group->shift) & (TALLY_SORT_DIGITS - 1);
}
/* A bit for each lane that has a key with this lane's digit. */
TALLY_FN uint32_t tally_peers(int32_t digit, int32_t is_there) {
    uint32_t peers = tally_ballot(is_there);
    TALLY_ROLLED
    for (int32_t bit = 0; bit < TALLY_SORT_BITS; bit++) {
        const uint32_t with = tally_ballot(digit >> bit & 1);
        peers &= digit >> bit & 1 ? with : ~with;
    }
    return peers;
}
/* The warp's part of the tile: its first key, and the key of a lane in an iteration. */
TALLY_FN int64_t tally_first_key(void) {
    return (int64_t)tally_block() * TALLY_SORT_TILE + tally_warp() * (TALLY_SORT_TILE / TALLY_WARPS) + tally_lane();
}
/* Counts this lane's digit for the warp; gives how often the digit came before. */
TALLY_FN int32_t tally_count_digit(int32_t *counts, int32_t digit, int32_t is_there) {
    const uint32_t peers = tally_peers(digit, is_there);
    const int32_t before = is_there ? counts[digit] : 0, among = tally_lanes_before(peers);
    tally_warp_barrier();
    if (is_there && among == 0) counts[digit] = before + __builtin_popcount(peers);
    tally_warp_barrier();
    return before + among;
}

typedef struct tally_digit_counts {
    int32_t of[TALLY_WARPS][TALLY_SORT_DIGITS];
} tally_digit_counts;
TALLY_FN void tally_clear_digits(tally_digit_counts *counts) {
    for (int32_t w = 0; w < TALLY_WARPS; w++) counts->of[w][tally_thread()] = 0;
    tally_barrier();
}
/* Scans the counts of the thread's digit over the warps: each count becomes the sum of those of the warps before. Gives
 * the sum of all. */
TALLY_FN int32_t tally_sum_warps(tally_digit_counts *counts) {
    int32_t sum = 0;
    for (int32_t w = 0; w < TALLY_WARPS; w++) {
        const int32_t here = counts->of[w][tally_thread()];
        counts->of[w][tally_thread()] = sum;
        sum += here;
    }
    return sum;
}

typedef struct tally_sort_shared {
    tally_digit_counts counts;
    int32_t begins[TALLY_SORT_DIGITS]; /* where each digit begins in the sorted tile */
    int32_t sums[TALLY_WARPS];
    uint32_t keys[TALLY_SORT_TILE], order[TALLY_SORT_TILE];
} tally_sort_shared;

/* Computes begins[]: each thread has one digit, which occurs `mine` times. */
TALLY_FN void tally_place_digits(tally_sort_shared *shared, int32_t mine) {
    const int32_t sum = (int32_t)tally_sum_until((uint32_t)mine);
    int32_t before = 0;
    if (tally_lane() == TALLY_WARP - 1) shared->sums[tally_warp()] = sum;
    tally_barrier();
    for (int32_t w = 0; w < tally_warp(); w++) before += shared->sums[w];
    shared->begins[tally_thread()] = before + sum - mine;
}

#endif
