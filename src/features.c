/* Copies vectors of features apart: feature f of all vectors side by side. That transposes a matrix of few columns;
 * numbers of 4 or 8 bytes go through squares that fit registers. */
#include <string.h>

#include "grouping.h"

enum { SQUARE_BYTES = 16, AHEAD = 24 /* vectors: how far ahead scattered ones are prefetched */ };

/* What is copied: n vectors from place `at` on. */
typedef struct vectors {
    const char *from;      /* the first wanted number of vector 0 */
    int64_t pitch, stride; /* bytes from a vector to the next, from a number to the next */
    const int64_t *order;  /* the vector at each place, or NULL */
    int64_t at, n, places; /* places: how many `order` has */
    int64_t features;      /* wanted numbers of each vector */
    char *to;
    int64_t apart; /* numbers from one feature to the next, in `to` */
} vectors;

static const char *vector_at(const vectors *v, int64_t i) {
    const int64_t place = v->at + i;
    if (v->order == NULL) return v->from + place * v->pitch;
    if (place + AHEAD < v->places) __builtin_prefetch(v->from + v->order[place + AHEAD] * v->pitch);
    return v->from + v->order[place] * v->pitch;
}

/* Copies vectors first ... end - 1, number by number. */
static void copy_numbers(const vectors *v, int64_t first, int64_t end, size_t bytes) {
#define TALLY_COPY(size)                                                                       \
    for (int64_t i = first; i < end; i++) {                                                    \
        const char *vector = vector_at(v, i);                                                  \
        for (int64_t f = 0; f < v->features; f++)                                              \
            memcpy(v->to + (size_t)(f * v->apart + i) * (size), vector + f * v->stride, size); \
    }
    switch (bytes) {
    case 1: TALLY_COPY(1) break;
    case 2: TALLY_COPY(2) break;
    case 4: TALLY_COPY(4) break;
    case 8: TALLY_COPY(8) break;
    default: TALLY_COPY(bytes)
    }
#undef TALLY_COPY
}

/* Squares of 4 x 4 numbers of 4 bytes, or 2 x 2 of 8. The last ones of a vector overlap those before. */
typedef uint32_t four __attribute__((vector_size(SQUARE_BYTES), aligned(1), may_alias));
typedef uint64_t two __attribute__((vector_size(SQUARE_BYTES), aligned(1), may_alias));

static inline void transpose_four(const char *const *from, int64_t offset, char *to, int64_t apart) {
#define TALLY_ROW(k) (*(const four *)(const void *)(from[k] + offset))
    const four a = TALLY_ROW(0), b = TALLY_ROW(1), c = TALLY_ROW(2), d = TALLY_ROW(3);
#undef TALLY_ROW
    const four ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7),
               cd = __builtin_shufflevector(c, d, 0, 4, 1, 5), cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    *(four *)(void *)to = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
    *(four *)(void *)(to + apart) = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
    *(four *)(void *)(to + 2 * apart) = __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5);
    *(four *)(void *)(to + 3 * apart) = __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
}
static inline void transpose_two(const char *const *from, int64_t offset, char *to, int64_t apart) {
    const two a = *(const two *)(const void *)(from[0] + offset), b = *(const two *)(const void *)(from[1] + offset);
    *(two *)(void *)to = __builtin_shufflevector(a, b, 0, 2);
    *(two *)(void *)(to + apart) = __builtin_shufflevector(a, b, 1, 3);
}
/* Members are copied to locals first: numbers are written through pointers that may alias *v. */
#define TALLY_TRANSPOSE(name, transpose, side, bytes)                                                      \
    static int64_t name(const vectors *all) {                                                              \
        const vectors v = *all;                                                                            \
        const int64_t apart = v.apart * (bytes), last = v.features - (side);                               \
        int64_t i = 0;                                                                                     \
        for (; i + (side) <= v.n; i += (side)) {                                                           \
            const char *from[side];                                                                        \
            char *const to = v.to + i * (bytes);                                                           \
            for (int k = 0; k < (side); k++) from[k] = vector_at(&v, i + k);                               \
            for (int64_t f = 0; f < last; f += (side)) transpose(from, f *(bytes), to + f * apart, apart); \
            transpose(from, last *(bytes), to + last * apart, apart);                                      \
        }                                                                                                  \
        return i;                                                                                          \
    }
TALLY_TRANSPOSE(transpose_fours, transpose_four, 4, 4)
TALLY_TRANSPOSE(transpose_twos, transpose_two, 2, 8)
#undef TALLY_TRANSPOSE

static void copy_apart(const vectors *v, size_t bytes) {
    const bool side_by_side = v->stride == (int64_t)bytes;
    int64_t done = 0;
    if (bytes == 4 && side_by_side && v->features >= 4) done = transpose_fours(v);
    if (bytes == 8 && side_by_side && v->features >= 2) done = transpose_twos(v);
    copy_numbers(v, done, v->n, bytes);
}

void tally__gather_features(const tally__spec *spec, const tally__input *in, const tally__grouping *g, int64_t inner,
                            int64_t at, int64_t n, int64_t f, int64_t features, void *x, void *y, int64_t apart) {
    const size_t bytes = spec->kernel->value_bytes;
    vectors v = {.order = g->order, .at = at, .n = n, .features = features, .apart = apart};
    v.places = g->order != NULL ? g->ends[g->count - 1] : 0;
    for (int k = 0; k < spec->inputs && n > 0; k++) {
        v.stride = k == 0 ? in->x_stride : in->y_stride;
        v.pitch = inner * v.stride;
        v.from = (k == 0 ? in->x : in->y) + f * v.stride;
        v.to = k == 0 ? x : y;
        copy_apart(&v, bytes);
    }
}
