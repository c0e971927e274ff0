/* Numbers of a text: run by run, or all in memory. */
#include <stdlib.h>
#include <string.h>

#include "base/complain.h"
#include "input/input.h"
#include "base/progress.h"
#include "formats/text.h"

enum { TEXT_BLOCK = 1 << 20, RUN_VALUES = 1 << 16 };

/* A block of text: bytes[0 .. used) are still to be read. */
typedef struct text_block {
    char *bytes;
    double *values; /* room for RUN_VALUES values of any type */
    size_t *zeros;  /* and for as many places */
    size_t used;
    bool last;
} text_block;

/* Fills the block behind what is left in it. */
static bool fill_block(input *in, text_block *block) {
    int64_t got = read_input(in, block->bytes + block->used, (int64_t)(TEXT_BLOCK - block->used));
    if (got < 0) {
        return false;
    }
    block->last = block->used + (size_t)got < TEXT_BLOCK;
    block->used += (size_t)got;
    advance_progress(got);
    return true;
}

/* Takes all runs out of the block but the piece of a number at its end. */
static bool drain_block(input *in, text_reader *reader, text_block *block, run_taker take, void *taker) {
    size_t at = 0;
    text_run run;
    do {
        if (!text_read(reader, block->bytes + at, block->used - at, block->last, block->values, block->zeros,
                       RUN_VALUES, &run)) {
            return complain(in->name, "%s", reader->trouble);
        }
        at += run.consumed;
        if (run.count > 0 && !take(taker, &run, block->values)) {
            return false;
        }
    } while (run.count > 0);
    memmove(block->bytes, block->bytes + at, block->used - at);
    block->used -= at;
    return true;
}

static bool read_blocks(input *in, text_reader *reader, text_block *block, run_taker take, void *taker) {
    do {
        if (!fill_block(in, block) || !drain_block(in, reader, block, take, taker)) {
            return false;
        }
    } while (!block->last);
    return true;
}

bool read_series(input *in, run_taker take, void *taker, tally_type *type) {
    text_reader reader;
    text_begin(&reader, in->wanted);
    text_block block = {.bytes = take_memory(in->name, TEXT_BLOCK, 1),
                        .values = take_memory(in->name, RUN_VALUES, sizeof(double)),
                        .zeros = take_memory(in->name, RUN_VALUES, sizeof(size_t))};
    bool done = block.bytes != NULL && block.values != NULL && block.zeros != NULL &&
                read_blocks(in, &reader, &block, take, taker);
    if (done && !text_verdict(&reader, type)) {
        done = complain(in->name, "%s", reader.trouble);
    }
    free(block.bytes);
    free(block.values);
    free(block.zeros);
    return done;
}

/* ---- in memory ---- */

_Static_assert(sizeof(size_t) == 8, "values and places take as much room");

typedef struct series {
    input *in;
    tally_type type; /* of the values so far */
    size_t count, capacity, zeros_capacity;
} series;

/* Memory for `count` items of 8 bytes more, with room to spare; NULL after a complaint. */
static void *lengthen(const input *in, void *items, size_t count, size_t *capacity) {
    if (count <= *capacity) {
        return items;
    }
    size_t longer = *capacity + *capacity / 2 + 2 * RUN_VALUES;
    void *moved = (int64_t)longer <= machine_memory() / 8 ? realloc(items, longer * 8) : NULL;
    if (moved == NULL) {
        complain(in->name, "it does not fit this machine's memory, as segments and pairs need");
    } else {
        *capacity = longer;
    }
    return moved;
}

static bool keep_zeros(series *kept, const text_zeros *zeros) {
    text_zeros *all = &kept->in->zeros;
    if (zeros->count == 0) {
        return true;
    }
    size_t *longer = lengthen(kept->in, all->places, all->count + zeros->count, &kept->zeros_capacity);
    if (longer == NULL) {
        return false;
    }
    all->places = longer;
    for (size_t k = 0; k < zeros->count; k++) {
        all->places[all->count++] = kept->count + zeros->places[k];
    }
    return true;
}

static bool keep_run(void *taker, const text_run *run, const void *values) {
    series *kept = taker;
    size_t size = type_size(run->type);
    unsigned char *longer = lengthen(kept->in, kept->in->owned, kept->count + run->count, &kept->capacity);
    if (longer == NULL) {
        return false;
    }
    kept->in->owned = longer;
    if (run->type != kept->type && kept->count > 0) {
        text_convert(longer, run->type, longer, kept->type, kept->count, kept->in->zeros);
    }
    if (!keep_zeros(kept, &run->zeros)) {
        return false;
    }
    kept->type = run->type;
    memcpy(kept->in->owned + kept->count * size, values, run->count * size);
    kept->count += run->count;
    return true;
}

bool load_series(input *in, tally_array *array) {
    series kept = {.in = in, .type = in->wanted};
    tally_type type;
    if (!read_series(in, keep_run, &kept, &type)) {
        return false;
    }
    *array = tally_in(in->owned, type, (int64_t)kept.count);
    in->layout = (npy_layout){.type = type, .size = type_size(type), .dimensions = 1, .count = (int64_t)kept.count};
    in->layout.shape[0] = in->layout.count;
    return true;
}
