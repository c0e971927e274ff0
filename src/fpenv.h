/* The floating-point environment a caller may have left: rounding to nearest even and no flushing of subnormals are set for
 * the length of a call on each thread that computes, and what was there is put back. */
#ifndef TALLY_FPENV_H
#define TALLY_FPENV_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
typedef unsigned int tally__fpenv;
/* Bits 13 and 14 round, 15 flushes results, 6 flushes inputs. */
static inline tally__fpenv tally__fpenv_enter(void) {
    unsigned int left = _mm_getcsr();
    if (left & 0xe040u) _mm_setcsr(left & ~0xe040u);
    return left;
}
static inline void tally__fpenv_leave(tally__fpenv left) {
    if (left & 0xe040u) _mm_setcsr(left);
}
/* The flag that a result was rounded (bit 5): whether it is up; and lowers it. Arithmetic that it is to tell of reads and writes memory, which the
 * compiler does not move past these instructions. */
static inline bool tally__take_inexact(void) {
    unsigned int was;
    __asm__ volatile("stmxcsr %0" : "=m"(was) : : "memory");
    unsigned int lowered = was & ~0x20u;
    __asm__ volatile("ldmxcsr %0" : : "m"(lowered) : "memory");
    return was & 0x20u;
}
static inline void tally__raise_inexact(void) { _mm_setcsr(_mm_getcsr() | 0x20u); }
#elif defined(__aarch64__)
typedef uint64_t tally__fpenv;
/* Bits 22 and 23 round, 24 flushes to zero, 19 flushes halves, 0 and 1 are the newer flushes. */
static inline tally__fpenv tally__fpenv_enter(void) {
    uint64_t left;
    __asm__ volatile("mrs %0, fpcr" : "=r"(left));
    if (left & 0x1c80003u) __asm__ volatile("msr fpcr, %0" : : "r"(left & ~(uint64_t)0x1c80003u));
    return left;
}
static inline void tally__fpenv_leave(tally__fpenv left) {
    if (left & 0x1c80003u) __asm__ volatile("msr fpcr, %0" : : "r"(left));
}
/* Bit 4 of its flags; see above. */
static inline bool tally__take_inexact(void) {
    uint64_t was;
    __asm__ volatile("mrs %0, fpsr" : "=r"(was) : : "memory");
    __asm__ volatile("msr fpsr, %0" : : "r"(was & ~(uint64_t)0x10) : "memory");
    return was & 0x10;
}
static inline void tally__raise_inexact(void) {
    uint64_t was;
    __asm__ volatile("mrs %0, fpsr" : "=r"(was));
    __asm__ volatile("msr fpsr, %0" : : "r"(was | 0x10));
}
#else
#include <fenv.h>
typedef int tally__fpenv;
static inline tally__fpenv tally__fpenv_enter(void) {
    int left = fegetround();
    if (left != FE_TONEAREST) fesetround(FE_TONEAREST);
    return left;
}
static inline void tally__fpenv_leave(tally__fpenv left) {
    if (left != FE_TONEAREST) fesetround(left);
}
static inline bool tally__take_inexact(void) {
    bool was = fetestexcept(FE_INEXACT) != 0;
    feclearexcept(FE_INEXACT);
    return was;
}
static inline void tally__raise_inexact(void) { feraiseexcept(FE_INEXACT); }
#endif

#endif
