/* Texts numbered in order of first appearance. A key is a run of fields, each with a NUL behind it. */
#ifndef KEYS_H
#define KEYS_H

#include <stddef.h>
#include <stdint.h>

typedef struct key_entry {
    uint64_t hash;
    size_t at; /* where it begins in `bytes` */
    uint32_t length;
} key_entry;

typedef struct key_table {
    char *bytes;
    size_t byte_count, byte_capacity;
    key_entry *keys;
    uint32_t count, capacity;
    uint32_t *slots; /* 1 + the number of a key, or 0; slot_count is a power of two */
    size_t slot_count;
} key_table;

uint64_t hash_key(const char *text, size_t length);

/* The number of a key, which is added if it is new; -1: no memory. */
int64_t number_key(key_table *table, const char *text, uint32_t length, uint64_t hash);

/* The number of a key that is added without a look at the others; -1: no memory. */
int64_t add_key(key_table *table, const char *text, uint32_t length, uint64_t hash);

static inline const char *key_text(const key_table *table, int64_t place) {
    return table->bytes + table->keys[place].at;
}

void keep_last_key(key_table *table); /* it becomes number 0 */
void clear_keys(key_table *table);    /* keeps the memory */
void free_keys(key_table *table);

/* Field k of a key. */
const char *key_field(const char *text, int k);

#endif
