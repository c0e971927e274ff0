#include "input/keys.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { FIRST_SLOTS = 64 };

uint64_t hash_key(const char *text, size_t length) { return XXH3_64bits(text, length); }

/* Moves all keys to a new table of that number of slots. */
static int spread(key_table *table, size_t slot_count) {
    uint32_t *slots = calloc(slot_count, sizeof *slots);
    if (slots == NULL) {
        return -1;
    }
    for (uint32_t k = 0; k < table->count; k++) {
        size_t slot = table->keys[k].hash & (slot_count - 1);
        while (slots[slot] != 0) {
            slot = (slot + 1) & (slot_count - 1);
        }
        slots[slot] = k + 1;
    }
    free(table->slots);
    table->slots = slots;
    table->slot_count = slot_count;
    return 0;
}

static int make_capacity(key_table *table, uint32_t length) {
    if (2 * ((size_t)table->count + 1) > table->slot_count &&
        (table->count > UINT32_MAX / 4 ||
         spread(table, table->slot_count == 0 ? FIRST_SLOTS : 2 * table->slot_count) != 0)) {
        return -1;
    }
    if (table->count == table->capacity) {
        uint32_t capacity = table->capacity == 0 ? FIRST_SLOTS : 2 * table->capacity;
        key_entry *longer = realloc(table->keys, capacity * sizeof *longer);
        if (longer == NULL) {
            return -1;
        }
        table->keys = longer;
        table->capacity = capacity;
    }
    if (length > table->byte_capacity - table->byte_count) {
        size_t capacity = 2 * table->byte_capacity + length + FIRST_SLOTS;
        char *longer = realloc(table->bytes, capacity);
        if (longer == NULL) {
            return -1;
        }
        table->bytes = longer;
        table->byte_capacity = capacity;
    }
    return 0;
}

int64_t add_key(key_table *table, const char *text, uint32_t length, uint64_t hash) {
    if (make_capacity(table, length) != 0) {
        return -1;
    }
    size_t slot = hash & (table->slot_count - 1);
    while (table->slots[slot] != 0) {
        slot = (slot + 1) & (table->slot_count - 1);
    }
    memcpy(table->bytes + table->byte_count, text, length);
    table->keys[table->count] = (key_entry){hash, table->byte_count, length};
    table->byte_count += length;
    table->slots[slot] = ++table->count;
    return table->count - 1;
}

int64_t number_key(key_table *table, const char *text, uint32_t length, uint64_t hash) {
    if (table->slot_count != 0) {
        for (size_t slot = hash & (table->slot_count - 1); table->slots[slot] != 0;
             slot = (slot + 1) & (table->slot_count - 1)) {
            const key_entry *found = &table->keys[table->slots[slot] - 1];
            if (found->hash == hash && found->length == length && memcmp(table->bytes + found->at, text, length) == 0) {
                return table->slots[slot] - 1;
            }
        }
    }
    return add_key(table, text, length, hash);
}

void clear_keys(key_table *table) {
    table->count = 0;
    table->byte_count = 0;
    if (table->slots != NULL) {
        memset(table->slots, 0, table->slot_count * sizeof *table->slots);
    }
}

void keep_last_key(key_table *table) {
    if (table->count > 0) {
        key_entry last = table->keys[table->count - 1];
        memmove(table->bytes, table->bytes + last.at, last.length);
        clear_keys(table);
        table->keys[0] = (key_entry){last.hash, 0, last.length};
        table->slots[last.hash & (table->slot_count - 1)] = 1;
        table->byte_count = last.length;
        table->count = 1;
    }
}

void free_keys(key_table *table) {
    free(table->bytes);
    free(table->keys);
    free(table->slots);
    *table = (key_table){0};
}

const char *key_field(const char *text, int k) {
    for (; k > 0; k--) {
        text += strlen(text) + 1;
    }
    return text;
}
