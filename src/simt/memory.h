/* The memory of the simulated GPU. Behind each allocation lies a canary, so that a write beyond its end is found (the
 * address sanitizer finds it by itself). The driver calls these with its lock held. */
#ifndef TALLY_SIMT_MEMORY_H
#define TALLY_SIMT_MEMORY_H

#include <stdbool.h>

#include "cuda/driver.h"

/* Allocates, and fills with bytes that are no plausible values. False: no memory. */
bool tally__simt_take_memory(tally__cu_address *address, size_t bytes);
/* False: no allocation begins there. *whole: its canary was alive. */
bool tally__simt_give_memory_back(tally__cu_address address, bool *whole);
/* Whether all of these bytes are in one allocation. */
bool tally__simt_has_memory(tally__cu_address address, size_t bytes);
/* Whether a kernel may touch these bytes: false if they begin in an allocation or its canary and go beyond it. */
bool tally__simt_may_touch(const void *p, size_t bytes);
/* Whether a canary is dead; then says so in `sentence`, of the kernel `name`, and puts a new one. */
bool tally__simt_find_damage(char *sentence, size_t size, const char *name);
void tally__simt_count_memory(int64_t *allocations, int64_t *bytes);

#endif
