/* Where arrays of the caller's end. */
#ifndef TALLY_EXTENT_H
#define TALLY_EXTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether `count` items of `bytes` bytes, `stride` apart from `address`, stay within the address space. */
static inline bool tally__fits_memory(const void *address, int64_t count, int64_t stride, size_t bytes) {
    int64_t span;
    uintptr_t first = (uintptr_t)address;
    if (count <= 1) return count == 0 || first <= UINTPTR_MAX - (bytes - 1);
    if (__builtin_mul_overflow(count - 1, stride, &span) || span == INT64_MIN) return false;
    if (span < 0) return (uintptr_t)-span <= first && first <= UINTPTR_MAX - (bytes - 1);
    return (uintptr_t)span <= UINTPTR_MAX - (bytes - 1) && first <= UINTPTR_MAX - (bytes - 1) - (uintptr_t)span;
}

#endif
