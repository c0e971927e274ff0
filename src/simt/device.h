/* The words of device/device.h for the simulator: the same text compiled as C11, each thread a fiber. What a word means
 * stands there; what it does in the simulator, in running.h. Words at which threads meet are macros, to say in messages
 * where in the text they stand. */
#ifndef TALLY_SIMT_DEVICE_H
#define TALLY_SIMT_DEVICE_H

#include "device/device.h"
#include "simt/words.h"

/* A kernel is launched with the address of its struct. */
#define TALLY_ENTRY_OF(threads, name, type, resident) TALLY_ENTRY_NAMED(name, type)
#define TALLY_ENTRY_NAMED(name, type)                                 \
    static void name##_body(type);                                    \
    void name(const void *);                                          \
    void name(const void *work) { name##_body(*(const type *)work); } \
    static void name##_body(const type work)
#define TALLY_SHARED(type, name) \
    type *const name =           \
        tally__simt->shared(sizeof(type), _Alignof(type) > 16 ? _Alignof(type) : 16, TALLY_SIMT_HERE " (" #name ")")

#define TALLY_SHARED_BUFFER(name, bytes) \
    char *const name = tally__simt->shared_buffer((size_t)(bytes), TALLY_SIMT_HERE " (" #name ")")

typedef const void *tally_shared_address;
#define tally_address_of(p) (p)
#define tally_at_address(at) (at)

#define TALLY_SIMT_TEXT_(x) #x
#define TALLY_SIMT_TEXT(x) TALLY_SIMT_TEXT_(x)
#define TALLY_SIMT_HERE __FILE__ ":" TALLY_SIMT_TEXT(__LINE__)

/* What a trace is told; nothing happens while there is none. */
TALLY_FN void tally__simt_seen(tally__simt_sight sight, const void *p, size_t bytes, const char *site) {
    if (tally__simt->traces) tally__simt->see(sight, p, bytes, site);
}
TALLY_FN int32_t tally__simt_branch(int32_t taken, const char *site) {
    tally__simt_seen(TALLY_SIMT_BRANCH, NULL, (size_t)taken, site);
    return taken;
}
#define TALLY_READ(a) (tally__simt_seen(TALLY_SIMT_READ, &(a), sizeof(a), TALLY_SIMT_HERE), (a))
#define TALLY_WRITE(a, v) ((a) = (v), tally__simt_seen(TALLY_SIMT_WRITE, &(a), sizeof(a), TALLY_SIMT_HERE))
#define tally_branch(p) tally__simt_branch((p) != 0, TALLY_SIMT_HERE)
#define tally_step(label) tally__simt_seen(TALLY_SIMT_STEP, NULL, (size_t)(label), TALLY_SIMT_HERE)

TALLY_FN int32_t tally_thread(void) { return tally__simt->here->thread; }
TALLY_FN int32_t tally_thread_again(void) { return tally_thread(); }
TALLY_FN int32_t tally_threads(void) { return tally__simt->here->threads; }
TALLY_FN int32_t tally_block(void) { return tally__simt->here->block; }
TALLY_FN int32_t tally_blocks(void) { return tally__simt->here->blocks; }
TALLY_FN int32_t tally_lane(void) { return tally__simt->here->thread % TALLY_WARP; }
TALLY_FN int32_t tally_warp(void) { return tally__simt->here->thread / TALLY_WARP; }

#define tally_consumer_barrier(threads) tally__simt->barrier(threads, TALLY_SIMT_HERE)
#define tally_barrier() tally_consumer_barrier(tally_threads())
#define tally_warp_barrier() ((void)tally__simt->meet(TALLY_SIMT_WARP_BARRIER, 0, 0, TALLY_SIMT_HERE))
#define tally_fence() tally__simt->fence()
#define tally_shuffle(v, lane) tally__simt->meet(TALLY_SIMT_SHUFFLE, v, lane, TALLY_SIMT_HERE)
#define tally_shuffle_xor(v, mask) tally__simt->meet(TALLY_SIMT_SHUFFLE_XOR, v, mask, TALLY_SIMT_HERE)
#define tally_any(p) ((int32_t)tally__simt->meet(TALLY_SIMT_ANY, (p) != 0, 0, TALLY_SIMT_HERE))
#define tally_ballot(p) tally__simt->meet(TALLY_SIMT_BALLOT, (p) != 0, 0, TALLY_SIMT_HERE)
#define tally_warp_max(v) tally__simt->meet(TALLY_SIMT_MAX, v, 0, TALLY_SIMT_HERE)
#define tally_warp_min(v) tally__simt->meet(TALLY_SIMT_MIN, v, 0, TALLY_SIMT_HERE)

/* Of two of which one is a NaN, or both. A NaN loses its bits, as on GPUs. */
TALLY_FN float tally__of_nan(float a, float b, int32_t nan) {
    if (nan || (a != a && b != b)) return tally_from_bits_f32(0x7fffffff);
    return a != a ? b : a;
}
TALLY_FN float tally_lesser(float a, float b, int32_t nan) {
    if (a != a || b != b) return tally__of_nan(a, b, nan);
    return a == b ? (__builtin_signbit(a) ? a : b) : a < b ? a : b;
}
TALLY_FN float tally_greater(float a, float b, int32_t nan) {
    if (a != a || b != b) return tally__of_nan(a, b, nan);
    return a == b ? (__builtin_signbit(a) ? b : a) : a > b ? a : b;
}
TALLY_FN uint32_t tally_min_less_one(uint32_t v, uint32_t least) { return v - 1 < least ? v - 1 : least; }

TALLY_FN uint32_t tally_add_bytes(uint32_t v, uint32_t times, uint32_t sum) {
    for (int32_t bit = 0; bit < 32; bit += 8) sum += (v >> bit & 255) * (times >> bit & 255);
    return sum;
}
TALLY_FN int32_t tally_add_signed_bytes(uint32_t v, uint32_t times, int32_t sum) {
    for (int32_t bit = 0; bit < 32; bit += 8) sum += (int8_t)(v >> bit) * (int8_t)(times >> bit);
    return sum;
}
TALLY_FN uint32_t tally_max_halves(uint32_t v, uint32_t most) {
    uint32_t low = v & 0xffff, high = v >> 16;
    low = low > (most & 0xffff) ? low : most & 0xffff;
    return (high > most >> 16 ? high : most >> 16) << 16 | low;
}
TALLY_FN uint32_t tally_max_halves_plus(uint32_t v, uint32_t by, uint32_t most) {
    const int16_t low = (int16_t)(v + by), high = (int16_t)((v >> 16) + (by >> 16)), low_most = (int16_t)most,
                  high_most = (int16_t)(most >> 16);
    return (uint32_t)(uint16_t)(high > high_most ? high : high_most) << 16 |
           (uint16_t)(low > low_most ? low : low_most);
}
TALLY_FN uint32_t tally_min_halves_less_one(uint32_t v, uint32_t least) {
    uint32_t low = (v - 1) & 0xffff, high = ((v >> 16) - 1) & 0xffff;
    low = low < (least & 0xffff) ? low : least & 0xffff;
    return (high < least >> 16 ? high : least >> 16) << 16 | low;
}

/* Atomics order nothing else (relaxed), as on the device. They are written out here, in the kernel's unit, for the
 * thread sanitizer to see; and since only the words switch, loading and storing is atomic enough. */
TALLY_FN uint32_t tally_arrive(uint32_t *counter, uint32_t most) {
    uint32_t before;
    tally__simt->before_atomic(counter, sizeof *counter);
    before = __atomic_load_n(counter, __ATOMIC_RELAXED);
    __atomic_store_n(counter, before >= most ? 0 : before + 1, __ATOMIC_RELAXED);
    return before;
}
TALLY_FN void tally_add32(int32_t *p, int32_t v) {
    tally__simt->before_atomic(p, sizeof *p);
    __atomic_fetch_add(p, v, __ATOMIC_RELAXED);
}
TALLY_FN int32_t tally_fetch_add32(int32_t *p, int32_t v) {
    tally__simt->before_atomic(p, sizeof *p);
    return __atomic_fetch_add(p, v, __ATOMIC_RELAXED);
}
TALLY_FN void tally_add64(int64_t *p, int64_t v) {
    tally__simt->before_atomic(p, sizeof *p);
    __atomic_fetch_add(p, v, __ATOMIC_RELAXED);
}
TALLY_FN void tally_min64(int64_t *p, int64_t v) {
    tally__simt->before_atomic(p, sizeof *p);
    if (v < __atomic_load_n(p, __ATOMIC_RELAXED)) __atomic_store_n(p, v, __ATOMIC_RELAXED);
}
TALLY_FN void tally_max64(int64_t *p, int64_t v) {
    tally__simt->before_atomic(p, sizeof *p);
    if (v > __atomic_load_n(p, __ATOMIC_RELAXED)) __atomic_store_n(p, v, __ATOMIC_RELAXED);
}
TALLY_FN void tally_or32(int32_t *p, int32_t v) {
    tally__simt->before_atomic(p, sizeof *p);
    __atomic_fetch_or(p, v, __ATOMIC_RELAXED);
}
TALLY_FN void tally_max32(int32_t *p, int32_t v) {
    tally__simt->before_atomic(p, sizeof *p);
    if (v > __atomic_load_n(p, __ATOMIC_RELAXED)) __atomic_store_n(p, v, __ATOMIC_RELAXED);
}
TALLY_FN int32_t tally_swap32(int32_t *p, int32_t v) {
    tally__simt->before_atomic(p, sizeof *p);
    return __atomic_exchange_n(p, v, __ATOMIC_RELAXED);
}
TALLY_FN int32_t tally_look32(const int32_t *p) { return __atomic_load_n(p, __ATOMIC_RELAXED); }
TALLY_FN tally_quad tally_load16(const char *p) {
    tally_quad q;
    tally__simt->before_load16(p);
    __builtin_memcpy(q.w, p, sizeof q.w);
    return q;
}
TALLY_FN tally_quad tally_load16_again(const char *p) { return tally_load16(p); }
TALLY_FN tally_quad tally_take16(const char *p) { return tally_load16(p); }
TALLY_FN void tally_put16(char *p, const tally_quad *q) {
    tally__simt->before_load16(p);
    __builtin_memcpy(p, q->w, sizeof q->w);
}
/* Copies arrive when they are awaited, and not before. */
TALLY_FN void tally_copy16(void *to, const char *p) {
    tally__simt->before_load16(p);
    tally__simt->before_load16(to);
    tally__simt->begin_copy(to, p);
    __builtin_memset(to, 0xA5, sizeof(tally_quad));
}
TALLY_FN void tally_copied(void) {
    for (const tally__simt_copy *next; (next = tally__simt->next_copy()) != NULL;)
        __builtin_memcpy(next->to, next->from, sizeof(tally_quad));
}
TALLY_FN uint32_t tally_reverse(uint32_t n, int32_t bits) {
    uint32_t reversed = 0;
    for (int32_t b = 0; b < bits; b++) reversed = reversed << 1 | (n >> b & 1);
    return reversed;
}
TALLY_FN void tally_let_next_start(void) {}
TALLY_FN void tally_await_before(void) {}
#define TALLY_HAS_BULK 1
typedef struct tally_mbarrier {
    uint32_t each, reached; /* arrivals of a phase, of all */
    int64_t bytes;          /* that are still to come: the last phase has not ended */
} tally_mbarrier;
TALLY_FN void tally_mbarrier_init(tally_mbarrier *mbarrier, int32_t arrivals) {
    const tally_mbarrier none = {(uint32_t)arrivals, 0, 0};
    *mbarrier = none;
}
TALLY_FN void tally_mbarrier_arrive(tally_mbarrier *mbarrier) {
    tally_fence();
    tally_arrive(&mbarrier->reached, UINT32_MAX);
    tally__simt->wake(mbarrier);
}
TALLY_FN void tally_mbarrier_expect(tally_mbarrier *mbarrier,
                                    int32_t bytes) { /* both at once: only words switch to other threads */
    tally_mbarrier_arrive(mbarrier);
    __atomic_fetch_add(&mbarrier->bytes, bytes, __ATOMIC_RELAXED);
}
TALLY_FN void tally_copy_bulk(void *to, const char *from, int32_t bytes, int32_t stays, tally_mbarrier *mbarrier) {
    (void)stays;
    for (int32_t b = 0; b < bytes; b += 16) {
        const tally_quad quad = tally_load16(from + b);
        tally_put16((char *)to + b, &quad);
    }
    tally_fence();
    __atomic_fetch_sub(&mbarrier->bytes, bytes, __ATOMIC_RELAXED);
    tally__simt->wake(mbarrier);
}
/* Like the device it knows of a phase only whether its number is odd, and takes the last but one for one that is still
 * to begin. */
TALLY_FN void tally_mbarrier_wait(tally_mbarrier *mbarrier, int32_t phase) {
    for (;;) { /* for ever, if fewer arrive or fewer bytes come: a deadlock */
        tally__simt->before_fresh(mbarrier);
        const uint32_t ended = __atomic_load_n(&mbarrier->reached, __ATOMIC_RELAXED) / mbarrier->each -
                               (__atomic_load_n(&mbarrier->bytes, __ATOMIC_RELAXED) != 0);
        if (((ended ^ (uint32_t)phase) & 1) != 0) return;
        tally__simt->sleep(mbarrier);
    }
}
TALLY_FN uint64_t tally_load_fresh(const uint64_t *p) {
    tally__simt->before_fresh(p);
    return __atomic_load_n(p, __ATOMIC_RELAXED);
}
TALLY_FN void tally_store_fresh(uint64_t *p, uint64_t v) {
    tally__simt->before_atomic(p, sizeof *p);
    __atomic_store_n(p, v, __ATOMIC_RELAXED);
}

#endif
