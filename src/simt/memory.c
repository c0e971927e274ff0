/* The memory of the simulated GPU (memory.h). */
#define _GNU_SOURCE
#include "simt/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simt/sanitizers.h"

enum {
    ALIGNMENT = 256, /* that cuMemAlloc promises */
    FRESH = 0xA5,
    CANARY = 0xC3,
    FREED = 0xDD,
#ifdef TALLY_SIMT_ASAN
    CANARY_BYTES = 0
#else
    CANARY_BYTES = 64
#endif
};

typedef struct allocation {
    struct allocation *next;
    char *start;
    size_t bytes;
} allocation;
static allocation *allocations;

/* The link to the allocation that has this byte; to NULL if there is none. */
static allocation **link_to(tally__cu_address address) {
    allocation **link = &allocations;
    while (*link != NULL && address - (uintptr_t)(*link)->start >= (*link)->bytes) link = &(*link)->next;
    return link;
}

static bool canary_lives(const allocation *a) {
    for (size_t i = 0; i < CANARY_BYTES; i++)
        if ((unsigned char)a->start[a->bytes + i] != CANARY) return false;
    return true;
}

bool tally__simt_take_memory(tally__cu_address *address, size_t bytes) {
    allocation *made = malloc(sizeof *made);
    void *start;
    if (made == NULL) return false;
    if (posix_memalign(&start, ALIGNMENT, bytes + CANARY_BYTES) != 0) {
        free(made);
        return false;
    }
    memset(start, FRESH, bytes);
    memset((char *)start + bytes, CANARY, CANARY_BYTES);
    *made = (allocation){allocations, start, bytes};
    allocations = made;
    *address = (uintptr_t)start;
    return true;
}

bool tally__simt_give_memory_back(tally__cu_address address, bool *whole) {
    allocation **link = link_to(address), *a = *link;
    if (a == NULL || (uintptr_t)a->start != address) return false;
    *whole = canary_lives(a);
    *link = a->next;
    memset(a->start, FREED, a->bytes);
    free(a->start);
    free(a);
    return true;
}

bool tally__simt_has_memory(tally__cu_address address, size_t bytes) {
    const allocation *a = *link_to(address);
    return a != NULL && bytes <= a->bytes - (address - (uintptr_t)a->start);
}

bool tally__simt_may_touch(const void *p, size_t bytes) {
    for (const allocation *a = allocations; a != NULL; a = a->next) {
        const uintptr_t at = (uintptr_t)p - (uintptr_t)a->start;
        if (at < a->bytes + CANARY_BYTES) return at <= a->bytes && bytes <= a->bytes - at;
    }
    return true;
}

bool tally__simt_find_damage(char *sentence, size_t size, const char *name) {
    const allocation *a = allocations;
    while (a != NULL && canary_lives(a)) a = a->next;
    if (a == NULL) return false;
    memset(a->start + a->bytes, CANARY, CANARY_BYTES);
    snprintf(sentence, size, "%s: it wrote behind the %zu bytes allocated at %p", name, a->bytes, (void *)a->start);
    return true;
}

void tally__simt_count_memory(int64_t *count, int64_t *bytes) {
    *count = *bytes = 0;
    for (const allocation *a = allocations; a != NULL; a = a->next) {
        ++*count;
        *bytes += (int64_t)a->bytes;
    }
}
