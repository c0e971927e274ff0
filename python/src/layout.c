/* Which calls reduce some axes of a strided array where it lies, and the copy that is made where none can. */
#include "python.h"

/* The fewest values of a result for which it has a call of its own; below, a copy is faster. */
#define WORTH_A_CALL 128

typedef struct axis_list {
    int count;
    int64_t shape[MOST_AXES], strides[MOST_AXES];
} axis_list;

static void add_axis(axis_list *it, int64_t extent, int64_t stride) {
    if (extent == 1) return;
    if (it->count && it->strides[it->count - 1] == extent * stride) {
        it->shape[it->count - 1] *= extent;
        it->strides[it->count - 1] = stride;
        return;
    }
    it->shape[it->count] = extent;
    it->strides[it->count++] = stride;
}

/* Where order does not matter, axes are taken from the widest stride to the narrowest, and forwards. */
static void take_any_order(axis_list *it, char **data) {
    axis_list sorted = {0};
    for (int k = 0; k < it->count; k++)
        if (it->strides[k] < 0) {
            *data += (it->shape[k] - 1) * it->strides[k];
            it->strides[k] = -it->strides[k];
        }
    for (int round = it->count; round > 0; round--) {
        int widest = 0;
        for (int k = 1; k < it->count; k++)
            if (it->strides[k] > it->strides[widest]) widest = k;
        add_axis(&sorted, it->shape[widest], it->strides[widest]);
        it->strides[widest] = -1;
    }
    *it = sorted;
}

bool layout_of(layout *it, const array *in, uint64_t reduced, bool any_order) {
    axis_list kept, along;
    kept.count = along.count = 0;
    it->data = in->data;
    it->outer = it->inner = 1;
    it->loops = 0;
    int64_t results = 1, length = 1;
    for (int k = 0; k < in->axes; k++) {
        const bool is_reduced = reduced >> k & 1;
        *(is_reduced ? &length : &results) *= in->shape[k];
        add_axis(is_reduced ? &along : &kept, in->shape[k], in->strides[k]);
    }
    it->length = length;
    it->stride = in->item;
    if (length == 0 || results == 0) {
        it->outer = results;
        return true;
    }
    if (any_order && along.count) take_any_order(&along, &it->data);
    if (along.count > 1) return false;
    const int64_t step = along.count ? along.strides[0] : 0;
    const bool usable = along.count == 0 || step != 0; /* a stride of 0 means "side by side" to the library */
    int left = kept.count;
    if (!usable) return false;
    if (left == 0) {
        if (along.count) it->stride = step;
        return true;
    }
    const int64_t extent = kept.shape[left - 1], apart = kept.strides[left - 1];
    if (apart == 0) return false;
    if (along.count == 0 || apart == length * step) { /* results follow one another */
        it->outer = extent;
        it->stride = along.count ? step : apart;
        left--;
    } else if (step == extent * apart) { /* results lie beside one another */
        it->inner = extent;
        it->stride = apart;
        left--;
        if (left && kept.strides[left - 1] == length * step) it->outer = kept.shape[--left];
    } else {
        it->stride = step;
        if (in->device == HOST && length < WORTH_A_CALL) return false;
    }
    if (left && in->device == HOST && it->outer * it->inner * length < WORTH_A_CALL) return false;
    it->loops = left;
    for (int k = 0; k < left; k++) {
        it->loop_shape[k] = kept.shape[k];
        it->loop_strides[k] = kept.strides[k];
    }
    return true;
}

/* ---- copying ---- */

static char *copy_run(char *to, const char *from, int64_t count, int64_t stride, int64_t item) {
#define COPY(type)                                            \
    for (int64_t k = 0; k < count; k++, to += sizeof(type)) { \
        type value;                                           \
        memcpy(&value, from + k * stride, sizeof value);      \
        memcpy(to, &value, sizeof value);                     \
    }                                                         \
    return to;
    switch (item) {
    case 1: COPY(uint8_t)
    case 2: COPY(uint16_t)
    case 4: COPY(uint32_t)
    default: COPY(uint64_t)
    }
#undef COPY
}

static char *copy_chosen(char *to, const char *from, int64_t count, int64_t stride, int64_t item, const char *mask,
                         int64_t mask_stride) {
    for (int64_t k = 0; k < count; k++)
        if (mask[k * mask_stride]) {
            memcpy(to, from + k * stride, (size_t)item);
            to += item;
        }
    return to;
}

/* Steps through the axes, the last one fastest. false: all are done. */
static bool next_index(int64_t *index, const int64_t *shape, int axes) {
    for (int k = axes; k-- > 0;) {
        if (++index[k] < shape[k]) return true;
        index[k] = 0;
    }
    return false;
}

typedef struct split {
    int count;
    int64_t shape[MOST_AXES], strides[MOST_AXES], mask_strides[MOST_AXES], index[MOST_AXES];
} split;

static int64_t place(const split *it, const int64_t *strides) {
    int64_t offset = 0;
    for (int k = 0; k < it->count; k++) offset += it->index[k] * strides[k];
    return offset;
}

int64_t layout_pack(char *values, int64_t *lengths, const array *in, uint64_t reduced, const array *mask,
                    const char *initial) {
    split kept = {0}, along = {0};
    for (int k = 0; k < in->axes; k++) {
        split *side = reduced >> k & 1 ? &along : &kept;
        side->shape[side->count] = in->shape[k];
        side->strides[side->count] = in->strides[k];
        side->mask_strides[side->count++] = mask ? mask->strides[k] : 0;
    }
    int64_t run = 1, stride = in->item, mask_stride = 0;
    if (along.count) { /* the last axis goes by runs */
        const int last = --along.count;
        run = along.shape[last], stride = along.strides[last], mask_stride = along.mask_strides[last];
    }
    int64_t results = 1, runs = 1;
    for (int k = 0; k < kept.count; k++) results *= kept.shape[k];
    for (int k = 0; k < along.count; k++) runs *= along.shape[k];
    char *to = values;
    for (int64_t result = 0; result < results; result++) {
        char *begin = to;
        if (initial) {
            memcpy(to, initial, (size_t)in->item);
            to += in->item;
        }
        const int64_t base = place(&kept, kept.strides), mask_base = place(&kept, kept.mask_strides);
        for (int64_t k = 0; k < runs; k++) {
            const char *from = in->data + base + place(&along, along.strides);
            if (mask)
                to = copy_chosen(to, from, run, stride, in->item,
                                 mask->data + mask_base + place(&along, along.mask_strides), mask_stride);
            else
                to = copy_run(to, from, run, stride, in->item);
            next_index(along.index, along.shape, along.count);
        }
        if (lengths) lengths[result] = (to - begin) / in->item;
        next_index(kept.index, kept.shape, kept.count);
    }
    return (to - values) / in->item;
}
