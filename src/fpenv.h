/* The floating-point environment a caller may have left: for the length of a call, on each thread that computes,
 * results are rounded to nearest even, subnormals are not flushed, and no exception traps. Then all of it is as it was,
 * the flags of exceptions included. */
#ifndef TALLY_FPENV_H
#define TALLY_FPENV_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
typedef unsigned int tally__fpenv;
/* Bits 0 to 5 are flags, 7 to 12 mask exceptions, 13 and 14 round, 15 flushes results, 6 flushes inputs. */
static inline tally__fpenv tally__fpenv_enter(void) {
    const unsigned int left = _mm_getcsr(), wanted = (left & ~0xe040u) | 0x1f80u;
    if (left != wanted) _mm_setcsr(wanted);
    return left;
}
static inline void tally__fpenv_leave(tally__fpenv left) {
    if (_mm_getcsr() != left) _mm_setcsr(left);
}
/* Whether the flag that a result was rounded (bit 5) is up. Arithmetic that it is to tell of reads and writes memory,
 * which the compiler does not move past these instructions. Between enter and leave nobody else asks for it, so it is
 * not put back. */
static inline bool tally__is_inexact(void) {
    unsigned int flags;
    __asm__ volatile("stmxcsr %0" : "=m"(flags) : : "memory");
    return flags & 0x20u;
}
static inline void tally__lower_inexact(void) {
    unsigned int flags;
    __asm__ volatile("stmxcsr %0" : "=m"(flags) : : "memory");
    if (!(flags & 0x20u)) return; /* to write takes longer than to read */
    flags &= ~0x20u;
    __asm__ volatile("ldmxcsr %0" : : "m"(flags) : "memory");
}
#elif defined(__aarch64__)
typedef struct tally__fpenv {
    uint64_t control, status;
} tally__fpenv;
/* Bits 22 and 23 round, 24 flushes to zero, 19 flushes halves, 0 and 1 are the newer flushes, 8 to 12 and 15 trap. */
static inline tally__fpenv tally__fpenv_enter(void) {
    const uint64_t changed = 0x1c80003u | 0x9f00u;
    tally__fpenv left;
    __asm__ volatile("mrs %0, fpcr" : "=r"(left.control));
    __asm__ volatile("mrs %0, fpsr" : "=r"(left.status));
    if (left.control & changed) __asm__ volatile("msr fpcr, %0" : : "r"(left.control & ~changed));
    return left;
}
static inline void tally__fpenv_leave(tally__fpenv left) {
    __asm__ volatile("msr fpsr, %0" : : "r"(left.status));
    __asm__ volatile("msr fpcr, %0" : : "r"(left.control));
}
/* Bit 4 of its flags; see above. */
static inline bool tally__is_inexact(void) {
    uint64_t flags;
    __asm__ volatile("mrs %0, fpsr" : "=r"(flags) : : "memory");
    return flags & 0x10;
}
static inline void tally__lower_inexact(void) {
    uint64_t flags;
    __asm__ volatile("mrs %0, fpsr" : "=r"(flags) : : "memory");
    __asm__ volatile("msr fpsr, %0" : : "r"(flags & ~(uint64_t)0x10) : "memory");
}
#else
#include <fenv.h>
typedef fenv_t tally__fpenv;
static inline tally__fpenv tally__fpenv_enter(void) {
    fenv_t left;
    feholdexcept(&left);
    fesetround(FE_TONEAREST);
    return left;
}
static inline void tally__fpenv_leave(tally__fpenv left) { fesetenv(&left); }
static inline bool tally__is_inexact(void) { return fetestexcept(FE_INEXACT) != 0; }
static inline void tally__lower_inexact(void) { feclearexcept(FE_INEXACT); }
#endif

#endif
