#include "operators.h"

#include <string.h>

_Atomic int broken_promises;

static void promise(int kept) {
    if (!kept) broken_promises++;
}

/* Accumulators are aligned for any struct of their size: its lowest bit, at most a cache line. */
static void expect_accs(const void *accs, size_t size, int64_t count) {
    size_t alignment = size & (0 - size);
    promise((uintptr_t)accs % (alignment < 64 ? alignment : 64) == 0 && count >= 1);
}

static void expect_two(const void *left, const void *right, size_t size, int64_t count) {
    const char *l = left, *r = right;
    expect_accs(left, size, count);
    expect_accs(right, size, count);
    promise(l + size * (size_t)count <= r || r + size * (size_t)count <= l);
}

tally_op define(tally_context *context, tally_operator definition) {
    tally_op op = -1;
    EXPECT_OK(tally_define(context, &definition, &op));
    EXPECT(op >= TALLY_OP_USER, "the operator has number %d", (int)op);
    return op;
}

/* ---- squares ---- */

int64_t integer_of(const void *value, size_t input_size) {
    int16_t wide;
    int8_t narrow;
    if (input_size == 1) {
        memcpy(&narrow, value, 1);
        return narrow;
    }
    memcpy(&wide, value, 2);
    return wide;
}

static void squares_lift(void *accs, const void *values, int64_t count, int64_t first, void *user) {
    const size_t bytes = *(const size_t *)user;
    int64_t *to = accs;
    expect_accs(accs, sizeof *to, count);
    promise(first >= 0);
    for (int64_t k = 0; k < count; k++) {
        int64_t v = integer_of((const char *)values + (size_t)k * bytes, bytes);
        to[k] = v * v;
    }
}
static void squares_combine(void *left, const void *right, int64_t count, void *user) {
    (void)user;
    expect_two(left, right, sizeof(int64_t), count);
    for (int64_t k = 0; k < count; k++) ((int64_t *)left)[k] += ((const int64_t *)right)[k];
}
static void squares_finish(void *results, const void *accs, int64_t count, void *user) {
    (void)user;
    expect_two(results, accs, sizeof(int64_t), count);
    for (int64_t k = 0; k < count; k++) ((int64_t *)results)[k] = -((const int64_t *)accs)[k];
}

tally_operator squares_operator(size_t input_size) {
    static size_t sizes[65];
    static const int64_t zero = 0;
    sizes[input_size] = input_size;
    return (tally_operator){.size = sizeof(tally_operator),
                            .name = "squares",
                            .input = TALLY_STRUCT,
                            .input_size = input_size,
                            .acc_size = 8,
                            .result = TALLY_I64,
                            .commutative = 1,
                            .identity = &zero,
                            .lift = squares_lift,
                            .combine = squares_combine,
                            .finish = squares_finish,
                            .user = &sizes[input_size]};
}

/* ---- affine maps ---- */

affine compose(affine first, affine then) {
    const uint64_t p = AFFINE_PRIME;
    return (affine){(uint32_t)((uint64_t)then.a * first.a % p), (uint32_t)(((uint64_t)then.a * first.b + then.b) % p)};
}

static void affine_lift(void *accs, const void *values, int64_t count, int64_t first, void *user) {
    (void)first, (void)user;
    expect_accs(accs, sizeof(affine), count);
    memcpy(accs, values, (size_t)count * sizeof(affine));
}
static void affine_combine(void *left, const void *right, int64_t count, void *user) {
    affine *l = left;
    const affine *r = right;
    (void)user;
    expect_two(left, right, sizeof(affine), count);
    for (int64_t k = 0; k < count; k++) l[k] = compose(l[k], r[k]);
}
/* The map's value at 1. */
static void affine_finish(void *results, const void *accs, int64_t count, void *user) {
    (void)user;
    for (int64_t k = 0; k < count; k++) {
        const affine *a = (const affine *)accs + k;
        ((int32_t *)results)[k] = (int32_t)((a->a + a->b) % AFFINE_PRIME);
    }
}

tally_operator affine_operator(void) {
    static const affine one = {1, 0};
    return (tally_operator){.size = sizeof(tally_operator),
                            .name = "affine",
                            .input = TALLY_STRUCT,
                            .input_size = sizeof(affine),
                            .acc_size = sizeof(affine),
                            .result = TALLY_I32,
                            .identity = &one,
                            .lift = affine_lift,
                            .combine = affine_combine,
                            .finish = affine_finish};
}

/* ---- runs of indices ---- */

static void run_lift(void *accs, const void *values, int64_t count, int64_t first, void *user) {
    index_run *to = accs;
    (void)values, (void)user;
    expect_accs(accs, sizeof *to, count);
    for (int64_t k = 0; k < count; k++) to[k] = (index_run){first + k, first + k, 1};
}
static void run_combine(void *left, const void *right, int64_t count, void *user) {
    index_run *l = left;
    const index_run *r = right;
    (void)user;
    expect_two(left, right, sizeof *l, count);
    for (int64_t k = 0; k < count; k++) {
        if (r[k].first < 0) continue; /* the identity */
        if (l[k].first < 0)
            l[k] = r[k];
        else
            l[k] = (index_run){l[k].first, r[k].last, l[k].whole && r[k].whole && l[k].last + 1 == r[k].first};
    }
}

tally_operator run_operator(tally_type type) {
    static const index_run none = {-1, -1, 1};
    return (tally_operator){.size = sizeof(tally_operator),
                            .name = "run",
                            .input = type,
                            .acc_size = sizeof none,
                            .result = TALLY_STRUCT,
                            .result_size = sizeof none,
                            .identity = &none,
                            .lift = run_lift,
                            .combine = run_combine};
}

/* ---- sums of f32 ---- */

static void float_lift(void *accs, const void *values, int64_t count, int64_t first, void *user) {
    (void)first, (void)user;
    expect_accs(accs, sizeof(float), count);
    memcpy(accs, values, (size_t)count * sizeof(float));
}
static void float_combine(void *left, const void *right, int64_t count, void *user) {
    (void)user;
    expect_two(left, right, sizeof(float), count);
    for (int64_t k = 0; k < count; k++) ((float *)left)[k] += ((const float *)right)[k];
}

tally_operator float_sum_operator(int commutative) {
    static const float minus_zero = -0.0f;
    return (tally_operator){.size = sizeof(tally_operator),
                            .name = commutative ? "free-sum" : "kept-sum",
                            .input = TALLY_F32,
                            .acc_size = sizeof(float),
                            .result = TALLY_F32,
                            .commutative = commutative,
                            .identity = &minus_zero,
                            .lift = float_lift,
                            .combine = float_combine};
}
