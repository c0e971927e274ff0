/* Memory from the caller's allocator. */
#include "internal.h"

/* Allocators align for any type, and kernels want whole cache lines. So the address is rounded up, and the one that the
 * allocator gave is kept in the word before it. */
void *tally__allocate(const tally_allocator *allocator, size_t bytes) {
    const size_t line = 64;
    char *given;
    uintptr_t start;
    if (bytes > SIZE_MAX - line - sizeof(void *)) return NULL;
    given = allocator->allocate(bytes + line + sizeof(void *), allocator->user);
    if (given == NULL) return NULL;
    start = ((uintptr_t)given + sizeof(void *) + line - 1) / line * line;
    ((void **)start)[-1] = given;
    return (void *)start;
}

void tally__release(const tally_allocator *allocator, void *memory) {
    if (memory != NULL) allocator->release(((void **)memory)[-1], allocator->user);
}
