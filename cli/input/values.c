/* Values of arrays and of raw files: block by block, or all in memory; in C order and native bytes. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/complain.h"
#include "input/input.h"
#include "formats/numbers.h"
#include "base/progress.h"

/* Whole leaves of every type, so that states take blocks without a rest. Mapped memory is handed out in pieces large
 * enough for all threads; what is read or rearranged goes through a block that stays in the cache's reach. */
enum { MAPPED_BYTES = 64 << 20, BLOCK_BYTES = 4 << 20, GROWTH_BYTES = 16 << 20 };

/* ---- rearranging ---- */

/* Copies one run along the last index, whose values lie `stride` bytes apart. */
static void gather_run(unsigned char *to, const unsigned char *from, int64_t stride, size_t size, int64_t count) {
    switch (size) {
    case 1:
        for (int64_t k = 0; k < count; k++) {
            to[k] = from[k * stride];
        }
        break;
    case 2:
        for (int64_t k = 0; k < count; k++) {
            memcpy(to + 2 * k, from + k * stride, 2);
        }
        break;
    case 4:
        for (int64_t k = 0; k < count; k++) {
            memcpy(to + 4 * k, from + k * stride, 4);
        }
        break;
    case 8:
        for (int64_t k = 0; k < count; k++) {
            memcpy(to + 8 * k, from + k * stride, 8);
        }
        break;
    default:
        for (int64_t k = 0; k < count; k++) {
            memcpy(to + k * (int64_t)size, from + k * stride, size);
        }
    }
}

/* A place in an array: its indices, and where that is in Fortran order, in items. */
typedef struct place {
    int64_t index[NPY_DIMENSIONS_MAX];
    int64_t step[NPY_DIMENSIONS_MAX];
    int64_t offset;
} place;

static void find_place(place *p, const int64_t *shape, int dimensions, int64_t rank) {
    int64_t step = 1;
    for (int d = 0; d < dimensions; d++) {
        p->step[d] = step;
        step *= shape[d];
    }
    p->offset = 0;
    for (int d = dimensions - 1; d >= 0; d--) {
        p->index[d] = rank % shape[d];
        rank /= shape[d];
        p->offset += p->index[d] * p->step[d];
    }
}

/* Moves on by `run` along the last index, carrying into the ones before. */
static void move_place(place *p, const int64_t *shape, int dimensions, int64_t run) {
    int d = dimensions - 1;
    p->index[d] += run;
    p->offset += run * p->step[d];
    while (d > 0 && p->index[d] == shape[d]) {
        p->offset -= shape[d] * p->step[d];
        p->index[d] = 0;
        d--;
        p->index[d]++;
        p->offset += p->step[d];
    }
}

void gather_values(void *to, const void *from, const int64_t *shape, int dimensions, size_t size, int64_t first,
                   int64_t count) {
    if (count <= 0 || dimensions == 0) {
        memcpy(to, from, count > 0 ? (size_t)count * size : 0);
        return;
    }
    place p;
    find_place(&p, shape, dimensions, first);
    int last = dimensions - 1;
    unsigned char *target = to;
    while (count > 0) {
        int64_t run = shape[last] - p.index[last];
        run = run < count ? run : count;
        gather_run(target, (const unsigned char *)from + p.offset * (int64_t)size, p.step[last] * (int64_t)size, size,
                   run);
        move_place(&p, shape, dimensions, run);
        target += run * (int64_t)size;
        count -= run;
    }
}

static void swap_bytes(unsigned char *values, size_t size, int64_t count) {
    for (int64_t k = 0; k < count; k++, values += size) {
        if (size == 2) {
            uint16_t bits;
            memcpy(&bits, values, 2);
            memcpy(values, &(uint16_t){__builtin_bswap16(bits)}, 2);
        } else if (size == 4) {
            uint32_t bits;
            memcpy(&bits, values, 4);
            memcpy(values, &(uint32_t){__builtin_bswap32(bits)}, 4);
        } else {
            uint64_t bits;
            memcpy(&bits, values, 8);
            memcpy(values, &(uint64_t){__builtin_bswap64(bits)}, 8);
        }
    }
}

/* Whether values have to move because the array lies in Fortran order. An array with at most one extent above 1 lies
 * the same way in both orders. */
static bool must_gather(const input *in) {
    int long_extents = 0;
    for (int d = 0; d < in->layout.dimensions; d++) {
        long_extents += in->layout.shape[d] > 1;
    }
    return in->layout.fortran && !in->in_memory_order && long_extents > 1;
}

/* Copies values first .. first + count - 1 from held memory, in C order and native bytes. */
static void copy_held(const input *in, unsigned char *to, int64_t first, int64_t count) {
    const npy_layout *layout = &in->layout;
    if (must_gather(in)) {
        gather_values(to, in->held, layout->shape, layout->dimensions, layout->size, first, count);
    } else {
        memcpy(to, in->held + first * (int64_t)layout->size, (size_t)count * layout->size);
    }
    if (layout->swapped) {
        swap_bytes(to, layout->size, count);
    }
}

/* ---- reading whole ---- */

static bool check_end(input *in) {
    unsigned char more;
    int64_t got = read_input(in, &more, 1);
    return got == 0 ||
           (got > 0 &&
            complain(in->name, "it goes on behind its array; if that is a second array, save each by itself"));
}

static bool ends_early(const input *in, int64_t bytes) {
    return complain(in->name, "it ends early, after %" PRId64 " bytes of values", bytes);
}

/* Reads a stream of known length into owned memory. */
static bool hold_counted(input *in) {
    int64_t bytes = in->layout.count * (int64_t)in->layout.size;
    in->owned = take_memory(in->name, in->layout.count, in->layout.size);
    if (in->owned == NULL) {
        return false;
    }
    int64_t got = read_input(in, in->owned, bytes);
    in->held = in->owned;
    return got >= 0 && (got == bytes ? check_end(in) : ends_early(in, got));
}

static bool grow(input *in, int64_t *capacity) {
    *capacity += *capacity / 2 + GROWTH_BYTES;
    unsigned char *longer = *capacity <= machine_memory() ? realloc(in->owned, (size_t)*capacity) : NULL;
    if (longer == NULL) {
        return complain(in->name, "it does not fit this machine's memory, as segments, axes and Fortran order need");
    }
    in->owned = longer;
    return true;
}

/* Reads raw values until the stream ends. */
static bool hold_uncounted(input *in) {
    int64_t capacity = 0, bytes = 0, size = (int64_t)in->layout.size;
    do {
        if (!grow(in, &capacity)) {
            return false;
        }
        int64_t got = read_input(in, in->owned + bytes, capacity - bytes);
        if (got < 0) {
            return false;
        }
        bytes += got;
    } while (bytes == capacity);
    if (bytes % size != 0) {
        return complain(in->name, "its %" PRId64 " bytes are no whole number of %s values", bytes,
                        type_name(in->layout.type));
    }
    in->held = in->owned;
    in->layout.count = bytes / size;
    in->layout.shape[0] = in->layout.count;
    return true;
}

static bool hold(input *in) {
    if (in->held != NULL) {
        return true;
    }
    return in->layout.count >= 0 ? hold_counted(in) : hold_uncounted(in);
}

bool load_values(input *in, tally_array *array) {
    if (!hold(in)) {
        return false;
    }
    *array = tally_in(in->held, in->layout.type, in->layout.count);
    if (!must_gather(in) && !in->layout.swapped) {
        return true;
    }
    unsigned char *moved = take_memory(in->name, in->layout.count, in->layout.size);
    if (moved == NULL) {
        return false;
    }
    copy_held(in, moved, 0, in->layout.count);
    free(in->owned);
    in->owned = moved;
    in->held = NULL; /* it lay as in the file; nobody asks for it again */
    array->data = moved;
    return true;
}

/* ---- a block at a time ---- */

bool values_at_hand(const input *in) { return in->held != NULL && !in->layout.swapped && !must_gather(in); }

int64_t block_values(const input *in) {
    return (values_at_hand(in) ? MAPPED_BYTES : BLOCK_BYTES) / (int64_t)in->layout.size;
}

static bool take_block(input *in) {
    if (in->block == NULL) {
        in->block = take_memory(in->name, BLOCK_BYTES, 1);
    }
    return in->block != NULL;
}

/* Reads up to count values into the block; *count becomes what came. */
static bool read_block(input *in, int64_t *count) {
    int64_t size = (int64_t)in->layout.size;
    int64_t got = read_input(in, in->block, *count * size);
    if (got < 0) {
        return false;
    }
    if (got < *count * size && in->layout.count >= 0) {
        return ends_early(in, in->at * size + got);
    }
    if (got % size != 0) {
        return complain(in->name, "it ends within a value: its bytes are no whole number of %s values",
                        type_name(in->layout.type));
    }
    *count = got / size;
    if (in->layout.swapped) {
        swap_bytes(in->block, in->layout.size, *count);
    }
    return true;
}

bool next_values(input *in, int64_t most, tally_array *array) {
    *array = tally_in(NULL, in->layout.type, 0);
    int64_t count = most;
    if (in->layout.count >= 0 && in->layout.count - in->at < most) {
        count = in->layout.count - in->at;
    }
    if (count == 0) {
        return in->held != NULL || check_end(in);
    }
    if (in->held == NULL && must_gather(in) && !hold(in)) {
        return false;
    }
    if (values_at_hand(in)) {
        array->data = in->held + in->at * (int64_t)in->layout.size;
    } else {
        if (!take_block(in)) {
            return false;
        }
        if (in->held != NULL) {
            copy_held(in, in->block, in->at, count);
        } else if (!read_block(in, &count)) {
            return false;
        }
        array->data = in->block;
    }
    array->count = count;
    in->at += count;
    advance_progress(count * (int64_t)in->layout.size);
    return true;
}
