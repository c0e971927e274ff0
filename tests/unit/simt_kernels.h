/* Kernels for test_simt.c, in the dialect of device/device.h: first right ones, which use each word, then ones with a
 * fault. `x` is input, `result` output, `arrivals` counters, `user` a number. */
#include "device/device.h"
#include "simt_work.h"

enum { MOST_THREADS = 256 };
typedef struct words_of_block {
    uint32_t v[MOST_THREADS];
} words_of_block;

static uint32_t *words(void *p) { return (uint32_t *)p; }
static int32_t number(void) { return tally_block() * tally_threads() + tally_thread(); }
static int32_t lanes_here(void) {
    int32_t left = tally_threads() - tally_warp() * TALLY_WARP;
    return left < TALLY_WARP ? left : TALLY_WARP;
}

/* ---- right ---- */

TALLY_ENTRY(test_place, test_work, 1) {
    uint32_t *out = words(work.result) + 4 * number();
    out[0] = (uint32_t)(tally_block() * 1000 + tally_blocks());
    out[1] = (uint32_t)tally_lane();
    out[2] = (uint32_t)tally_warp();
    out[3] = (uint32_t)tally_threads();
}

/* Each word of a warp once. */
TALLY_ENTRY(test_warp, test_work, 1) {
    uint32_t *out = words(work.result) + 8 * number();
    uint32_t v = (uint32_t)(tally_thread() * 37 % 101);
    int32_t partner = (tally_lane() ^ 5) < lanes_here() ? 5 : 0;
    out[0] = tally_shuffle(v, (tally_lane() + 1) % lanes_here());
    out[1] = tally_shuffle_xor(v, partner);
    out[2] = (uint32_t)tally_any(v == 37);
    out[3] = tally_ballot(v % 3 == 0);
    out[4] = tally_warp_max(v);
    out[5] = tally_warp_min(v);
    tally_warp_barrier();
    out[6] = tally_shuffle(v, 0);
    out[7] = tally_shuffle(v, TALLY_WARP); /* the lane modulo 32 */
}

/* A thread behind a team copies words, from x, to two buffers in turn; the team adds up what their neighbours
 * have of each. */
enum { TEAM = 2 * TALLY_WARP, MBARRIER_ITERATIONS = 9 };
typedef struct two_buffers {
    uint32_t words[2][TEAM], current[TEAM];
    tally_mbarrier come[2], left[2];
} two_buffers;
TALLY_ENTRY(test_mbarriers, test_work, 1) {
    TALLY_SHARED(two_buffers, buffers);
    const int32_t thread = tally_thread();
    uint32_t sum = 0;
    if (thread < 2) {
        tally_mbarrier_init(&buffers->come[thread], 1);
        tally_mbarrier_init(&buffers->left[thread], TEAM);
    }
    tally_barrier();
    for (int32_t iteration = 0; thread < TEAM && iteration < MBARRIER_ITERATIONS; iteration++) {
        tally_mbarrier_wait(&buffers->come[iteration % 2], iteration / 2);
        buffers->current[thread] = buffers->words[iteration % 2][thread];
        tally_consumer_barrier(TEAM);
        sum += buffers->current[(thread + 1) % TEAM];
        tally_consumer_barrier(TEAM);
        tally_mbarrier_arrive(&buffers->left[iteration % 2]);
    }
    for (int32_t iteration = 0; thread == TEAM && iteration < MBARRIER_ITERATIONS; iteration++) {
        tally_mbarrier *come = &buffers->come[iteration % 2];
        if (iteration >= 2) tally_mbarrier_wait(&buffers->left[iteration % 2], iteration / 2 - 1);
        tally_mbarrier_expect(come, TEAM * 4);
        for (int32_t half = 0; half < 2; half++)
            tally_copy_bulk(buffers->words[iteration % 2] + half * TEAM / 2,
                            work.x + 4 * (iteration * TEAM + half * TEAM / 2), TEAM * 2, half, come);
    }
    if (thread < TEAM) words(work.result)[tally_block() * TEAM + thread] = sum;
}

/* Sums by halves in shared memory; then rounds of writing what the neighbour reads. */
TALLY_ENTRY(test_barrier, test_work, 1) {
    TALLY_SHARED(words_of_block, sum);
    TALLY_SHARED(words_of_block, shared);
    int32_t i = tally_thread(), n = tally_threads();
    uint32_t v = (uint32_t)i;
    sum->v[i] = v + 1;
    tally_barrier();
    for (int32_t have = n; have > 1; have = (have + 1) / 2) {
        uint32_t more = i < have / 2 ? sum->v[have - 1 - i] : 0;
        tally_barrier();
        sum->v[i] += more;
        tally_barrier();
    }
    for (int iteration = 0; iteration < 5; iteration++) {
        shared->v[i] = v;
        tally_barrier();
        v = shared->v[(i + 1) % n];
        tally_barrier();
    }
    words(work.result)[number()] = sum->v[0] * 1000 + v;
}

TALLY_ENTRY(test_warp_barrier, test_work, 1) {
    TALLY_SHARED(words_of_block, shared);
    int32_t i = tally_thread(), first = tally_warp() * TALLY_WARP;
    uint32_t v = (uint32_t)i;
    for (int iteration = 0; iteration < 3; iteration++) {
        shared->v[i] = v;
        tally_warp_barrier();
        v = shared->v[first + (tally_lane() + 1) % lanes_here()];
        tally_warp_barrier();
    }
    words(work.result)[number()] = v;
}

/* What each thread was told must be a permutation: checked by the host. */
TALLY_ENTRY(test_atomics, test_work, 1) {
    int32_t *out = (int32_t *)work.result;
    out[number()] = (int32_t)tally_arrive(work.arrivals, (uint32_t)work.user);
    tally_add32(work.flags, 3);
    tally_or32(work.flags + 1, 1 << number() % 31);
    tally_add64((int64_t *)(void *)work.node, (int64_t)1 << 33);
    out[tally_blocks() * tally_threads() + number()] = tally_swap32(work.flags + 2, number());
}

TALLY_ENTRY(test_load16, test_work, 1) {
    tally_quad q = tally_load16(work.x + 16 * number());
    words(work.result)[number()] = q.w[0] + q.w[1] * 3 + q.w[2] * 5 + q.w[3] * 7;
}

/* A thread's two copies: what it sees of them before it awaits them, and then. */
typedef struct two_quads {
    tally_quad of[MOST_THREADS][2];
} two_quads;
TALLY_ENTRY(test_copies, test_work, 1) {
    TALLY_SHARED(two_quads, shared);
    uint32_t *const out = words(work.result) + 4 * number();
    tally_quad *const own = shared->of[tally_thread()];
    for (int32_t k = 0; k < 2; k++) tally_copy16(&own[k], work.x + 16 * number());
    out[0] = own[0].w[1], out[1] = own[1].w[1];
    tally_copied();
    out[2] = own[0].w[1], out[3] = own[1].w[1];
}

/* Blocks leave sums; the last one adds them. */
TALLY_ENTRY(test_last_block, test_work, 1) {
    TALLY_SHARED(words_of_block, sum);
    TALLY_SHARED(int32_t, last);
    uint64_t *nodes = (uint64_t *)(void *)work.nodes, total = 0;
    sum->v[tally_thread()] = (uint32_t)number();
    tally_barrier();
    if (tally_thread() == 0) {
        for (int32_t i = 0; i < tally_threads(); i++) total += sum->v[i];
        nodes[tally_block()] = total;
        tally_fence();
        *last = (int32_t)tally_arrive(work.arrivals, (uint32_t)tally_blocks() - 1) == tally_blocks() - 1;
        tally_fence();
    }
    tally_barrier();
    if (*last && tally_thread() == 0) {
        total = 0;
        for (int32_t b = 0; b < tally_blocks(); b++) total += tally_load_fresh(nodes + b);
        *(uint64_t *)work.result = total;
    }
}

/* Each waits for the one before, in the order of blocks or against it: a chain, which wants them alive at once. nodes:
 * value and flag. */
TALLY_ENTRY(test_chain, test_work, 1) {
    int64_t *nodes = (int64_t *)(void *)work.nodes;
    int32_t place = work.user ? tally_blocks() - 1 - tally_block() : tally_block();
    int64_t sum = place + 1;
    if (tally_thread() != 0) return;
    if (place > 0) {
        int64_t *before = nodes + 2 * (place - 1);
        while (tally_load_fresh((const uint64_t *)before + 1) == 0) {
        }
        sum += (int64_t)tally_load_fresh((const uint64_t *)before);
    }
    nodes[2 * place] = sum;
    tally_fence();
    tally_add64(nodes + 2 * place + 1, 1);
    ((int64_t *)work.result)[place] = sum;
}

/* The first warp waits, with atomics alone, for the last thread: each lane takes what that gave, and passes it on. */
TALLY_ENTRY(test_swaps, test_work, 1) {
    if (number() == tally_blocks() * tally_threads() - 1) tally_add32(work.flags, 1);
    if (number() >= TALLY_WARP) return;
    while (tally_swap32(work.flags, 0) == 0) {
    }
    tally_add32(work.flags, 1);
}

/* ---- with a fault ---- */

TALLY_ENTRY(test_missing_barrier, test_work, 1) {
    TALLY_SHARED(words_of_block, shared);
    shared->v[tally_thread()] = (uint32_t)tally_thread();
    words(work.result)[number()] = shared->v[(tally_thread() + 1) % tally_threads()];
}

/* As test_barrier's rounds, but for the barrier after reading. */
TALLY_ENTRY(test_missing_second_barrier, test_work, 1) {
    TALLY_SHARED(words_of_block, shared);
    int32_t i = tally_thread(), n = tally_threads();
    uint32_t v = (uint32_t)i;
    for (int iteration = 0; iteration < 5; iteration++) {
        shared->v[i] = v;
        tally_barrier();
        v = shared->v[(i + 1) % n];
    }
    words(work.result)[number()] = v;
}

/* A shuffle orders no memory. */
TALLY_ENTRY(test_missing_warp_barrier, test_work, 1) {
    TALLY_SHARED(words_of_block, shared);
    shared->v[tally_thread()] = (uint32_t)tally_thread();
    tally_any(1);
    words(work.result)[number()] = shared->v[(tally_lane() + 1) % lanes_here() + tally_warp() * TALLY_WARP];
}

/* As test_last_block with one thread to a block. */
TALLY_ENTRY(test_missing_fence, test_work, 1) {
    uint32_t *nodes = words(work.nodes), total = 0;
    nodes[tally_block()] = (uint32_t)tally_block();
    if ((int32_t)tally_arrive(work.arrivals, (uint32_t)tally_blocks() - 1) != tally_blocks() - 1) return;
    for (int32_t b = 0; b < tally_blocks(); b++) total += nodes[b];
    words(work.result)[0] = total;
}

TALLY_ENTRY(test_barrier_in_branch, test_work, 1) {
    (void)work;
    if (tally_thread() < tally_threads() / 2) tally_barrier();
}

TALLY_ENTRY(test_two_barriers, test_work, 1) {
    (void)work;
    if (tally_thread() < tally_threads() / 2)
        tally_barrier();
    else
        tally_barrier();
}

TALLY_ENTRY(test_ended_lane, test_work, 1) {
    if (tally_lane() == 7) return;
    tally_add32(work.flags, 1);
    words(work.result)[number()] = tally_shuffle(1, 7);
}

TALLY_ENTRY(test_vote_of_ended_lane, test_work, 1) {
    if (tally_lane() == 7) return;
    words(work.result)[number()] = (uint32_t)tally_any(1);
}

TALLY_ENTRY(test_absent_lane, test_work, 1) { words(work.result)[number()] = tally_shuffle_xor(1, 16); }

TALLY_ENTRY(test_two_shuffles, test_work, 1) {
    uint32_t v;
    if (tally_lane() == 0)
        v = tally_shuffle(1, 0);
    else
        v = tally_warp_max(1);
    words(work.result)[number()] = v;
}

TALLY_ENTRY(test_deadlock, test_work, 1) {
    (void)work;
    if (tally_lane() == 0)
        tally_barrier();
    else
        tally_warp_barrier();
}

/* At a barrier of the others; an mbarrier that fewer reach than it was made for; more shared memory than the launch
 * gives. */
TALLY_ENTRY(test_stranger, test_work, 1) {
    words(work.result)[number()] = 1;
    tally_consumer_barrier(TALLY_WARP);
}
TALLY_ENTRY(test_closed_mbarrier, test_work, 1) {
    TALLY_SHARED(tally_mbarrier, mbarrier);
    if (tally_thread() == 0) tally_mbarrier_init(mbarrier, tally_threads() + 1);
    tally_barrier();
    tally_mbarrier_arrive(mbarrier);
    tally_mbarrier_wait(mbarrier, 0);
    words(work.result)[number()] = 1;
}
TALLY_ENTRY(test_no_shared, test_work, 1) {
    TALLY_SHARED_BUFFER(buffer, 16);
    buffer[0] = 0;
    words(work.result)[number()] = (uint32_t)buffer[0];
}
TALLY_ENTRY(test_livelock, test_work, 1) {
    while (tally_load_fresh((const uint64_t *)(void *)work.nodes) != 1) {
    }
}
TALLY_ENTRY(test_atomic_livelock, test_work, 1) {
    while (tally_swap32(work.flags, 0) != 1) {
    }
}

TALLY_ENTRY(test_misaligned_load, test_work, 1) { words(work.result)[number()] = tally_load16(work.x + 4).w[0]; }

/* One thread more than there is room for. */
TALLY_ENTRY(test_shared_overrun, test_work, 1) {
    TALLY_SHARED(words_of_block, shared);
    TALLY_SHARED(words_of_block, other);
    uint32_t *volatile p = shared->v;
    other->v[tally_thread()] = 1;
    if (tally_thread() == 0) p[MOST_THREADS] = 1;
    tally_barrier();
    words(work.result)[number()] = other->v[0];
}

TALLY_ENTRY(test_too_much_shared, test_work, 1) {
    typedef struct {
        char bytes[40000];
    } half;
    TALLY_SHARED(half, a);
    TALLY_SHARED(half, b);
    a->bytes[0] = b->bytes[0] = 0;
    words(work.result)[number()] = (uint32_t)a->bytes[0];
}

/* Loads, or copies, 16 bytes of which the last 8 are behind what was allocated. */
TALLY_ENTRY(test_load_tail, test_work, 1) { words(work.result)[number()] = tally_load16(work.x + 32).w[0]; }
TALLY_ENTRY(test_copy_tail, test_work, 1) {
    TALLY_SHARED(two_quads, shared);
    tally_copy16(&shared->of[0][0], work.x + 32);
    tally_copied();
    words(work.result)[number()] = shared->of[0][0].w[0];
}

/* Reads, or writes, the value behind the last. */
TALLY_ENTRY(test_read_tail, test_work, 1) {
    words(work.result)[number()] = words((void *)(uintptr_t)work.x)[number() + 1];
}
TALLY_ENTRY(test_write_tail, test_work, 1) { words(work.result)[number() + 1] = 1; }
