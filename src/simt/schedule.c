/* Schedules: the set of threads that can run, a bit for each, and five ways to choose from it. */
#include <stdlib.h>
#include <string.h>

#include "simt/schedule.h"

enum { WORD = 64, WORDS_OF_BLOCK = TALLY_SIMT_MOST_THREADS / WORD, WARP = 32, ATOMICS_AT_A_TIME = 1000 };

static struct {
    tally__simt_order order;
    int slots, threads, words; /* words of bits that a block needs */
    uint64_t random, blocks;
    int ready_count;
    int atomics; /* atomic operations in a row, and nothing else */
    uint64_t ready[TALLY_SIMT_MOST_BLOCKS][WORDS_OF_BLOCK];
} schedule;

bool tally__simt_parse(const char *text, tally__simt_settings *settings) {
    static const char *const names[TALLY_SIMT_ORDERS] = {"round", "reverse", "random", "greedy", "lockstep"};
    size_t length = strcspn(text, ":");
    char *end;
    for (int order = 0; order < TALLY_SIMT_ORDERS; order++) {
        if (strlen(names[order]) != length || strncmp(text, names[order], length) != 0) continue;
        settings->order = (tally__simt_order)order;
        if (text[length] == '\0') return true;
        if (order != TALLY_SIMT_RANDOM) return false;
        settings->seed = strtoull(text + length + 1, &end, 10);
        if (end == text + length + 1) return false;
        if (*end != ':') return *end == '\0';
        text = end + 1;
        settings->launch = strtoull(text, &end, 10);
        return end != text && *end == '\0';
    }
    return false;
}

/* splitmix64: Steele, Lea, Flood 2014. */
static uint64_t mix(uint64_t z) {
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}
static uint32_t below(uint32_t end) {
    schedule.random += 0x9e3779b97f4a7c15u;
    return (uint32_t)((mix(schedule.random) >> 32) * end >> 32);
}

void tally__schedule_start(const tally__simt_settings *settings, int slots, int threads) {
    memset(&schedule, 0, sizeof schedule);
    schedule.order = settings->order;
    schedule.random = mix(settings->seed + mix(settings->launch + 1));
    schedule.blocks = mix(schedule.random);
    schedule.slots = slots;
    schedule.threads = threads;
    schedule.words = (threads + WORD - 1) / WORD;
}

static uint64_t *word_of(int number) {
    return &schedule.ready[number / TALLY_SIMT_MOST_THREADS][number % TALLY_SIMT_MOST_THREADS / WORD];
}
void tally__schedule_ready(int number) {
    *word_of(number) |= UINT64_C(1) << number % WORD;
    schedule.ready_count++;
}
void tally__schedule_wait(int number) {
    *word_of(number) &= ~(UINT64_C(1) << number % WORD);
    schedule.ready_count--;
}

/* The first thread from `number` on that is ready, beginning again behind the last one. There is one. */
static int from(int number) {
    int slot = number / TALLY_SIMT_MOST_THREADS, word = number % TALLY_SIMT_MOST_THREADS / WORD;
    uint64_t bits = schedule.ready[slot][word] & ~UINT64_C(0) << number % WORD;
    while (bits == 0) {
        if (++word == schedule.words) word = 0, slot = slot + 1 == schedule.slots ? 0 : slot + 1;
        bits = schedule.ready[slot][word];
    }
    return slot * TALLY_SIMT_MOST_THREADS + word * WORD + __builtin_ctzll(bits);
}
/* The last thread before `number` that is ready, going on from the end before the first one. */
static int before(int number) {
    int slot = number / TALLY_SIMT_MOST_THREADS, word = number % TALLY_SIMT_MOST_THREADS / WORD;
    uint64_t bits = schedule.ready[slot][word] & ((UINT64_C(1) << number % WORD) - 1);
    while (bits == 0) {
        if (word-- == 0) word = schedule.words - 1, slot = (slot == 0 ? schedule.slots : slot) - 1;
        bits = schedule.ready[slot][word];
    }
    return slot * TALLY_SIMT_MOST_THREADS + word * WORD + WORD - 1 - __builtin_clzll(bits);
}
static int after(int number) {
    int end = TALLY_SIMT_MOST_BLOCKS * TALLY_SIMT_MOST_THREADS;
    if (number % WORD != WORD - 1) return from(number + 1);
    if (number % TALLY_SIMT_MOST_THREADS / WORD + 1 < schedule.words) return from(number + 1);
    number = (number / TALLY_SIMT_MOST_THREADS + 1) * TALLY_SIMT_MOST_THREADS; /* the next block's first */
    return from(number == end || number / TALLY_SIMT_MOST_THREADS == schedule.slots ? 0 : number);
}

static int any(void) {
    int slot = (int)below((uint32_t)schedule.slots), thread = (int)below((uint32_t)schedule.threads);
    return from(slot * TALLY_SIMT_MOST_THREADS + thread);
}

static int greedy(int now, tally__step step) {
    if (step == TALLY_STEP_ATOMIC) return now;
    return step == TALLY_STEP_SPIN ? after(now) : from(0);
}

static int lockstep(int now, tally__step step) {
    uint32_t lanes = (uint32_t)(*word_of(now) >> (now % WORD & WARP)), later = lanes & ~UINT32_C(1) << now % WARP;
    if (later == 0 && step != TALLY_STEP_SPIN) later = lanes;
    return later != 0 ? now - now % WARP + __builtin_ctz(later) : after(now);
}

/* Whether there were atomic operations alone for so long that threads may be waiting for one that never gets to run. */
static bool is_stuck(tally__step step) {
    schedule.atomics = step == TALLY_STEP_ATOMIC ? schedule.atomics + 1 : 0;
    if (schedule.atomics < ATOMICS_AT_A_TIME) return false;
    schedule.atomics = 0;
    return true;
}

int tally__schedule_next(int now, tally__step step) {
    if (schedule.ready_count == 0) return -1;
    if (is_stuck(step)) return after(schedule.order == TALLY_SIMT_LOCKSTEP ? now | (WARP - 1) : now);
    switch (schedule.order) {
    case TALLY_SIMT_REVERSE: return before(now);
    case TALLY_SIMT_RANDOM: return step == TALLY_STEP_ATOMIC && below(2) ? now : any();
    case TALLY_SIMT_GREEDY: return greedy(now, step);
    case TALLY_SIMT_LOCKSTEP: return lockstep(now, step);
    default: return after(now);
    }
}

static uint64_t common_divisor(uint64_t a, uint64_t b) {
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

int64_t tally__schedule_block(int64_t n, int64_t blocks) {
    uint64_t count = (uint64_t)blocks, step = schedule.blocks % count + 1;
    if (schedule.order == TALLY_SIMT_REVERSE) return blocks - 1 - n;
    if (schedule.order != TALLY_SIMT_RANDOM) return n;
    while (common_divisor(step, count) != 1) step++; /* its multiples reach each block once */
    return (int64_t)(((schedule.blocks >> 32) + (uint64_t)n * step) % count);
}
