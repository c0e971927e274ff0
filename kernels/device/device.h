/* The words of device code beyond device/dialect.h: threads, warps, barriers, shuffles, atomics, shared memory. NVRTC
 * gets them here; for the simulator they are functions of src/simt/device.h. */
/* clang-format off */
/* Kernels
 *   TALLY_ENTRY(name, type, blocks)    begins a kernel: its one parameter is `const type work` (device/work.h).
 *                                      Registers are limited so that a multiprocessor holds `blocks` blocks of
 *                                      TALLY_THREADS threads, less TALLY_FEWER: while registers spill, the host
 *                                      compiles again with one block fewer
 *   TALLY_ENTRY_OF(threads, name, type, blocks)   the same for blocks of another size
 *   TALLY_SHARED(type, name)           a pointer `name` to one `type` in shared memory, at a multiple of 16;
 *                                      undefined at first
 *   TALLY_SHARED_BUFFER(name, bytes)   a `char *name` to more shared memory, at a multiple of 128; the launch
 *                                      gives the size
 *   tally_address_of(p)  tally_at_address(a)   a pointer to shared memory as a tally_shared_address and back: for
 *                                      functions that are not inlined, which would not know what memory a pointer is to
 *
 * Threads
 *   tally_thread()  tally_threads()  tally_block()  tally_blocks()   one dimension each
 *   tally_lane()  tally_warp()         of a warp of TALLY_WARP threads
 *   tally_thread_again()               tally_thread(), computed anew, so that a compiler keeps no registers for what
 *                                      follows from it. tally_lane() is computed anew, too, in a text that defines
 *                                      TALLY_LANE_AGAIN before all else
 *
 * Barriers and fences
 *   tally_barrier()                    all threads of the block arrive; writes before it are seen after it
 *   tally_consumer_barrier(threads)    the same for the block's first `threads` threads: whole warps, and the same
 *                                      number at each call of a kernel
 *   tally_warp_barrier()               the same for a whole warp
 *   tally_fence()                      writes before it are seen by whoever sees writes after it, in all blocks
 *
 * Within a warp: all lanes take part
 *   tally_shuffle(v, lane)  tally_shuffle_xor(v, mask)   32 bits of another lane
 *   tally_any(p)  tally_ballot(p)      whether p holds for a lane; a bit for each lane
 *   tally_warp_max(v)  tally_warp_min(v)   of unsigned 32 bits
 *
 * Arithmetic
 *   tally_lesser(a, b, nan)  tally_greater(a, b, nan)   of two f32, with -0 below 0. If one is a NaN: a NaN where
 *                                      the constant `nan` is not 0, and otherwise the other one.
 *                                      A NaN has bits of its own, not those of a or b
 *   tally_min_less_one(v, least)       the lesser of v - 1, which wraps around, and `least`
 *   tally_add_bytes(v, times, sum)  tally_add_signed_bytes(v, times, sum)   adds to sum the products of the bytes of
 *                                      both words
 *   tally_reverse(n, bits)             n < 2^bits with its bits in reverse order; bits is at most 31
 *   tally_max_halves(v, most)  tally_min_halves_less_one(v, least)   of both 16-bit halves
 *   tally_max_halves_plus(v, by, most) the larger of v + by and `most`, of both 16-bit halves, which have signs
 *
 * Atomics
 *   tally_arrive(counter, most)        returns the counter and adds 1; at `most` it becomes 0 instead
 *   tally_add32(p, v)  tally_add64(p, v)  tally_or32(p, v)  tally_max32(p, v)  tally_min64(p, v)  tally_max64(p, v)
 *   tally_swap32(p, v)                 returns what was there
 *   tally_fetch_add32(p, v)            adds, and returns what was there
 *
 * Memory
 *   tally_load16(p)                    16 bytes at an aligned address, as tally_quad; not written during the launch
 *   tally_load16_again(p)              the same for data that is read again soon: it stays in the first-level cache
 *   tally_take16(p)                    the same from shared memory
 *   tally_put16(p, quad)               16 bytes to memory, at an aligned address
 *   tally_copy16(to, p)                starts to copy 16 bytes to shared memory, at aligned addresses
 *   tally_copied()                     waits for the copies that this thread started
 *   tally_look32(p)                    32 bits that others may be writing; the value may be an old one
 *   tally_load_fresh(p)  tally_store_fresh(p, v)   64 bits, whole, past caches that blocks do not share
 *
 * Consecutive kernels (programmatic dependent launch)
 *   tally_let_next_start()             lets the next kernel start early: once all blocks have called this or ended
 *   tally_await_before()               in a kernel that may start early: waits until the kernel before has ended and
 *                                      its writes are seen. Each block calls it before it reads what others wrote
 *
 * Mbarriers and bulk copies (TALLY_HAS_BULK: whether the device can)
 *   tally_mbarrier_init(mbarrier, arrivals)  tally_mbarrier_arrive(mbarrier)  tally_mbarrier_wait(mbarrier, phase)
 *                                      a tally_mbarrier in shared memory, made by one thread before a barrier. A phase
 *                                      ends when `arrivals` threads have arrived; the first phase is 0. wait returns
 *                                      when the phase has ended, and then sees what these threads wrote before. Nobody
 *                                      may wait for a phase before the one before it has ended
 *   tally_mbarrier_expect(mbarrier, bytes)
 *                                      one thread arrives; the phase does not end before `bytes` bytes (not 0) have
 *                                      been copied
 *   tally_copy_bulk(to, from, bytes, stays, mbarrier)
 *                                      starts to copy bytes to shared memory. Addresses and size are multiples of 16;
 *                                      `stays`: whether caches should keep the bytes
 *
 * Words without effect on a GPU, for gallery/kernels. The simulator counts and draws what goes through them
 * (src/simt/trace.h).
 *   TALLY_READ(a)  TALLY_WRITE(a, v)   the lvalue a; a = v
 *   tally_branch(p)                    whether p holds, where a branch depends on it
 *   tally_step(label)                  a step of the algorithm begins; all lanes of a warp call this */
/* clang-format on */
#ifndef TALLY_DEVICE_H
#define TALLY_DEVICE_H

#include "device/work.h"

/* Defined on the compiler's command line, or by the text of a form. */
#ifndef TALLY_FEWER
#define TALLY_FEWER 0
#endif
#ifndef TALLY_LANE_AGAIN
#define TALLY_LANE_AGAIN 0
#endif

/* Loops over arrays in registers say how they are unrolled. */
#if TALLY_IS_CUDA
#define TALLY_UNROLL _Pragma("unroll")
#define TALLY_PRAGMA(text) _Pragma(#text)
#define TALLY_UNROLL_BY(count) TALLY_PRAGMA(unroll(count))
#define TALLY_ROLL _Pragma("unroll 1")
#else
#define TALLY_UNROLL
#define TALLY_UNROLL_BY(count)
#define TALLY_ROLL
#endif

typedef struct tally_quad {
    uint32_t w[4];
} tally_quad;

#if TALLY_IS_CUDA

#define TALLY_ENTRY_OF(threads, name, type, blocks)                                                          \
    extern "C" __global__ void __launch_bounds__(threads, (blocks) > TALLY_FEWER ? (blocks)-TALLY_FEWER : 1) \
        name(const __grid_constant__ type work)
#define TALLY_SHARED(type, name)                 \
    __shared__ __align__(16) type name##_shared; \
    type *const name = &name##_shared
#define TALLY_SHARED_BUFFER(name, bytes)                  \
    extern __shared__ __align__(128) char name##_bytes[]; \
    char *const name = name##_bytes

typedef uint32_t tally_shared_address;
TALLY_FN tally_shared_address tally_address_of(const void *p) {
    return (tally_shared_address)__cvta_generic_to_shared(p);
}
TALLY_FN const void *tally_at_address(tally_shared_address at) { return __cvta_shared_to_generic(at); }

TALLY_FN int32_t tally_thread(void) { return (int32_t)threadIdx.x; }
TALLY_FN int32_t tally_thread_again(void) {
    int32_t thread;
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
    return thread;
}
TALLY_FN int32_t tally_threads(void) { return (int32_t)blockDim.x; }
TALLY_FN int32_t tally_block(void) { return (int32_t)blockIdx.x; }
TALLY_FN int32_t tally_blocks(void) { return (int32_t)gridDim.x; }
#if TALLY_LANE_AGAIN
TALLY_FN int32_t tally_lane(void) {
    int32_t lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}
#else
TALLY_FN int32_t tally_lane(void) { return (int32_t)(threadIdx.x % TALLY_WARP); }
#endif
TALLY_FN int32_t tally_warp(void) { return (int32_t)(threadIdx.x / TALLY_WARP); }
TALLY_FN void tally_barrier(void) { __syncthreads(); }
TALLY_FN void tally_consumer_barrier(int32_t threads) {
    asm volatile("barrier.cta.sync.aligned 1, %0;" ::"r"(threads) : "memory");
}
TALLY_FN void tally_warp_barrier(void) { __syncwarp(); }
TALLY_FN void tally_fence(void) { __threadfence(); }
TALLY_FN uint32_t tally_shuffle(uint32_t v, int32_t lane) { return __shfl_sync(0xffffffffu, v, lane); }
TALLY_FN uint32_t tally_shuffle_xor(uint32_t v, int32_t mask) { return __shfl_xor_sync(0xffffffffu, v, mask); }
TALLY_FN int32_t tally_any(int32_t p) { return __any_sync(0xffffffffu, p); }
TALLY_FN uint32_t tally_ballot(int32_t p) { return __ballot_sync(0xffffffffu, p); }
#if __CUDA_ARCH__ >= 800
TALLY_FN uint32_t tally_warp_max(uint32_t v) { return __reduce_max_sync(0xffffffffu, v); }
TALLY_FN uint32_t tally_warp_min(uint32_t v) { return __reduce_min_sync(0xffffffffu, v); }
#else
TALLY_FN uint32_t tally_warp_max(uint32_t v) {
    for (int32_t mask = 16; mask > 0; mask /= 2) v = max(v, tally_shuffle_xor(v, mask));
    return v;
}
TALLY_FN uint32_t tally_warp_min(uint32_t v) {
    for (int32_t mask = 16; mask > 0; mask /= 2) v = min(v, tally_shuffle_xor(v, mask));
    return v;
}
#endif
#if __CUDA_ARCH__ >= 800
TALLY_FN float tally_lesser(float a, float b, const int32_t nan) {
    float c;
    if (nan)
        asm("min.NaN.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b));
    else
        asm("min.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b));
    return c;
}
TALLY_FN float tally_greater(float a, float b, const int32_t nan) {
    float c;
    if (nan)
        asm("max.NaN.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b));
    else
        asm("max.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b));
    return c;
}
#else
TALLY_FN float tally_lesser(float a, float b, const int32_t nan) {
    return nan && a != a ? a : nan && b != b ? b : fminf(a, b);
}
TALLY_FN float tally_greater(float a, float b, const int32_t nan) {
    return nan && a != a ? a : nan && b != b ? b : fmaxf(a, b);
}
#endif
TALLY_FN uint32_t tally_min_less_one(uint32_t v, uint32_t least) { return __viaddmin_u32(v, 0xffffffffu, least); }
TALLY_FN uint32_t tally_add_bytes(uint32_t v, uint32_t times, uint32_t sum) { return __dp4a(v, times, sum); }
TALLY_FN int32_t tally_add_signed_bytes(uint32_t v, uint32_t times, int32_t sum) {
    return __dp4a((int32_t)v, (int32_t)times, sum);
}
TALLY_FN uint32_t tally_max_halves(uint32_t v, uint32_t most) { return __vmaxu2(v, most); }
TALLY_FN uint32_t tally_max_halves_plus(uint32_t v, uint32_t by, uint32_t most) {
    return __viaddmax_s16x2(v, by, most);
}
TALLY_FN uint32_t tally_min_halves_less_one(uint32_t v, uint32_t least) {
    return __viaddmin_u16x2(v, 0xffffffffu, least);
}
TALLY_FN uint32_t tally_arrive(uint32_t *counter, uint32_t most) { return atomicInc(counter, most); }
TALLY_FN void tally_add32(int32_t *p, int32_t v) { atomicAdd(p, v); }
TALLY_FN int32_t tally_fetch_add32(int32_t *p, int32_t v) { return atomicAdd(p, v); }
TALLY_FN void tally_add64(int64_t *p, int64_t v) { atomicAdd((unsigned long long *)p, (unsigned long long)v); }
TALLY_FN void tally_or32(int32_t *p, int32_t v) { atomicOr(p, v); }
TALLY_FN void tally_max32(int32_t *p, int32_t v) { atomicMax(p, v); }
TALLY_FN void tally_min64(int64_t *p, int64_t v) { atomicMin((long long *)p, (long long)v); }
TALLY_FN void tally_max64(int64_t *p, int64_t v) { atomicMax((long long *)p, (long long)v); }
TALLY_FN int32_t tally_swap32(int32_t *p, int32_t v) { return atomicExch(p, v); }
TALLY_FN int32_t tally_look32(const int32_t *p) { return *(const volatile int32_t *)p; }
#define TALLY_LOAD_QUAD(kept, q, p)                                       \
    asm volatile("ld.global.nc" kept ".v4.u32 {%0, %1, %2, %3}, [%4];"    \
                 : "=r"(q.w[0]), "=r"(q.w[1]), "=r"(q.w[2]), "=r"(q.w[3]) \
                 : "l"(p))
TALLY_FN tally_quad tally_load16(const char *p) {
    tally_quad q;
    TALLY_LOAD_QUAD(".L1::no_allocate", q, p);
    return q;
}
TALLY_FN tally_quad tally_load16_again(const char *p) {
    tally_quad q;
    TALLY_LOAD_QUAD("", q, p);
    return q;
}
TALLY_FN tally_quad tally_take16(const char *p) {
    const uint4 v = *(const uint4 *)(const void *)p;
    const tally_quad q = {{v.x, v.y, v.z, v.w}};
    return q;
}
TALLY_FN void tally_put16(char *p, const tally_quad *q) {
    *(uint4 *)(void *)p = make_uint4(q->w[0], q->w[1], q->w[2], q->w[3]);
}
TALLY_FN uint32_t tally_reverse(uint32_t n, int32_t bits) { return __brev(n) >> 1 >> (31 - bits); }
#if __CUDA_ARCH__ >= 800
TALLY_FN void tally_copy16(void *to, const char *p) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((uint32_t)__cvta_generic_to_shared(to)), "l"(p)
                 : "memory");
}
TALLY_FN void tally_copied(void) { asm volatile("cp.async.wait_all;" ::: "memory"); }
#else
TALLY_FN void tally_copy16(void *to, const char *p) { *(uint4 *)to = *(const uint4 *)p; }
TALLY_FN void tally_copied(void) {}
#endif
#if __CUDA_ARCH__ >= 900
TALLY_FN void tally_let_next_start(void) { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
TALLY_FN void tally_await_before(void) { asm volatile("griddepcontrol.wait;" ::: "memory"); }
#else
TALLY_FN void tally_let_next_start(void) {}
TALLY_FN void tally_await_before(void) {}
#endif
#if __CUDA_ARCH__ >= 900
#define TALLY_HAS_BULK 1
typedef struct tally_mbarrier {
    uint64_t barrier;
} tally_mbarrier;
TALLY_FN void tally_mbarrier_init(tally_mbarrier *mbarrier, int32_t arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"((uint32_t)__cvta_generic_to_shared(mbarrier)),
                 "r"(arrivals)
                 : "memory");
}
TALLY_FN void tally_mbarrier_arrive(tally_mbarrier *mbarrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"((uint32_t)__cvta_generic_to_shared(mbarrier))
                 : "memory");
}
TALLY_FN void tally_mbarrier_expect(tally_mbarrier *mbarrier, int32_t bytes) {
    asm volatile(
        "fence.proxy.async.shared::cta;\n\t"
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"((uint32_t)__cvta_generic_to_shared(mbarrier)),
        "r"(bytes)
        : "memory");
}
TALLY_FN void tally_copy_bulk(void *to, const char *from, int32_t bytes, int32_t stays, tally_mbarrier *mbarrier) {
    const uint32_t there = (uint32_t)__cvta_generic_to_shared(to), its = (uint32_t)__cvta_generic_to_shared(mbarrier);
    if (stays) {
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(there),
            "l"(from), "r"(bytes), "r"(its)
            : "memory");
    } else {
        uint64_t policy;
        asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;\n\t" : "=l"(policy));
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, "
                     "[%3], %4;" ::"r"(there),
                     "l"(from), "r"(bytes), "r"(its), "l"(policy)
                     : "memory");
    }
}
TALLY_FN void tally_mbarrier_wait(tally_mbarrier *mbarrier, int32_t phase) {
    asm volatile("{\n\t.reg .pred done;\n\t"
                 "again:\n\tmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1, 10000000;\n\t"
                 "@!done bra again;\n\t}" ::"r"((uint32_t)__cvta_generic_to_shared(mbarrier)),
                 "r"(phase & 1)
                 : "memory");
}
#else
#define TALLY_HAS_BULK 0
typedef struct tally_mbarrier {
    uint32_t each, reached;
} tally_mbarrier;
TALLY_FN void tally_mbarrier_init(tally_mbarrier *mbarrier, int32_t arrivals) {
    mbarrier->each = (uint32_t)arrivals;
    mbarrier->reached = 0;
}
TALLY_FN void tally_mbarrier_arrive(tally_mbarrier *mbarrier) {
    __threadfence_block();
    atomicAdd(&mbarrier->reached, 1u);
}
TALLY_FN void tally_mbarrier_expect(tally_mbarrier *mbarrier, int32_t bytes) {
    (void)bytes;
    tally_mbarrier_arrive(mbarrier);
}
TALLY_FN void tally_copy_bulk(void *to, const char *from, int32_t bytes, int32_t stays, tally_mbarrier *mbarrier) {
    (void)to, (void)from, (void)bytes, (void)stays, (void)mbarrier;
}
TALLY_FN void tally_mbarrier_wait(tally_mbarrier *mbarrier, int32_t phase) {
    const uint32_t wanted = ((uint32_t)phase + 1) * mbarrier->each;
    while ((int32_t)(*(volatile uint32_t *)&mbarrier->reached - wanted) < 0) {
    }
    __threadfence_block();
}
#endif
TALLY_FN uint64_t tally_load_fresh(const uint64_t *p) {
    uint64_t v;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
    return v;
}
TALLY_FN void tally_store_fresh(uint64_t *p, uint64_t v) {
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
}
#define TALLY_READ(a) (a)
#define TALLY_WRITE(a, v) ((a) = (v))
#define tally_branch(p) (p)
#define tally_step(label) ((void)(label))

#else
#include "simt/device.h"
#endif

#define TALLY_ENTRY(name, type, blocks) TALLY_ENTRY_OF(TALLY_THREADS, name, type, blocks)

#endif
