/* Exact sums against GMP and MPFR: the true sums as integers, the results rounded once by MPFR, on data chosen to
 * defeat fast paths. Every result is a case: some 2.3 million for each instruction set (fewer with --quick). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sums_checks.h"
#include "sums_data.h"

/* Any split into states, merged in any order, saved and loaded: the bytes of one state that was pushed everything. */
static void check_states(tally_context *context, tally_op op, tally_array x, uint64_t *random) {
    static unsigned char whole[4096], parts[4096];
    size_t bytes = tally_type_size(x.type), size, other;
    tally_state *one, *sum;
    now.op = op;
    EXPECT_OK(tally_state_open(context, op, x.type, 0, &one));
    EXPECT_OK(tally_state_open(context, op, x.type, 0, &sum));
    EXPECT_OK(tally_state_push(one, x));
    for (int64_t at = 0; at < x.count;) {
        int64_t n = 1 + random_below(random, x.count - at);
        tally_array part = tally_in((const char *)x.data + (size_t)at * bytes, x.type, n);
        tally_state *piece;
        EXPECT_OK(tally_state_open(context, op, x.type, 0, &piece));
        EXPECT_OK(tally_state_push(piece, part));
        if (next_random(random) % 2) {
            EXPECT_OK(tally_state_merge(sum, piece));
        } else {
            EXPECT_OK(tally_state_merge(piece, sum));
            tally_state *swap = sum;
            sum = piece, piece = swap;
        }
        tally_state_close(piece);
        at += n;
    }
    EXPECT_OK(tally_state_save(one, whole, sizeof whole, &size));
    EXPECT_OK(tally_state_save(sum, parts, sizeof parts, &other));
    EXPECT(size == other && memcmp(whole, parts, size) == 0, "states of %s differ by their split", now.data);
    cases++;
    tally_state_close(one);
    tally_state_close(sum);
}

/* Short segments have ways of their own: the bits of the reference, for every operator and both formats. */
static void check_segments(tally_type type, int class, uint64_t *random) {
    enum { COUNT = 150 };
    static const tally_op ops[] = {TALLY_SUM, TALLY_MEAN, TALLY_NORM1, TALLY_SUMSQ, TALLY_NORM2,
                                   TALLY_VAR, TALLY_STD,  TALLY_DOT,   TALLY_STATS};
    int64_t offsets[COUNT + 1] = {0}, longest = 1 + random_below(random, 70);
    subject s = {TALLY_SUM, type, (tally_nan)random_below(random, 2), (int)random_below(random, 3), TALLY_BEST};
    int fixed = (int)random_below(random, 3);
    for (int i = 0; i < COUNT; i++)
        offsets[i + 1] = offsets[i] + (fixed == 0   ? longest % 9
                                       : fixed == 1 ? random_below(random, longest + 1)
                                                    : 1 + random_below(random, 4));
    char *x = scratch(0, (size_t)offsets[COUNT] * 8), *y = scratch(1, (size_t)offsets[COUNT] * 8);
    for (int64_t i = 0; i < offsets[COUNT]; i++) {
        put_number(type, x, i, draw(class, i, type, random));
        put_number(type, y, i, draw(class, i + 1, type, random));
    }
    for (int i = 0; i < COUNT; i++) /* zeros among others: now and then -0 alone */
        for (int64_t k = offsets[i], minus = random_below(random, 3); k < offsets[i + 1] && i % 12 == 0; k++) {
            put_number(type, x, k, k == offsets[i] && minus == 0 ? 0.0 : -0.0);
            if (minus > 0) put_number(type, y, k, 1.0);
        }
    tally_array in = tally_in(x, type, offsets[COUNT]);
    tally_array other =
        tally_in(random_below(random, 3) == 0 ? x : y, type, offsets[COUNT]); /* dot of one with itself */
    tally_segments segments = tally_offsets(offsets, TALLY_I64, COUNT);
    now.type = type, now.data = names[class], now.ddof = s.ddof, now.nan = s.nan;
    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++)
        for (int wide = 0; wide < 2 - (ops[k] == TALLY_STATS); wide++) {
            char *got = scratch(2, COUNT * sizeof(tally_stats)), *wanted = scratch(3, COUNT * sizeof(tally_stats));
            size_t bytes = ops[k] == TALLY_STATS ? sizeof(tally_stats) : wide ? 8 : 4;
            tally_type out = ops[k] == TALLY_STATS ? TALLY_NATURAL : wide ? TALLY_F64 : TALLY_F32;
            now.op = ops[k];
            tally_status a = perform(context_for(&s, TALLY_BACKEND_CPU, 1), ops[k], in, other, &segments,
                                     (tally_output){got, out, COUNT, 0});
            tally_status b = perform(context_for(&s, TALLY_BACKEND_REFERENCE, 1), ops[k], in, other, &segments,
                                     (tally_output){wanted, out, COUNT, 0});
            EXPECT(a == b, "status %s, of the reference %s", tally_status_name(a), tally_status_name(b));
            for (now.segment = 0; now.segment < COUNT; now.segment++, cases++) {
                now.size = offsets[now.segment + 1] - offsets[now.segment];
                EXPECT_BITS(got + (size_t)now.segment * bytes, wanted + (size_t)now.segment * bytes, bytes,
                            "a segment");
            }
        }
    now.segment = 0, now.nan = 0;
}

/* What every operator gives of two whole arrays. */
static void check_operators(tally_context *context, tally_array x, tally_array y, int ddof) {
    truth squares, products;
    begin_truth(&squares);
    begin_truth(&products);
    for (int64_t i = 0; i < x.count; i++) {
        const double a = as_double(x.type, x.data, i);
        add_truth(&squares, a, a);
        add_truth(&products, a, as_double(y.type, y.data, i));
    }
    for (int k = 0; k < SINGLE; k++) check_operator(&squares, context, single[k], x, y, ddof);
    check_operator(&products, context, TALLY_DOT, x, y, 0);
    check_stats(&squares, context, x, ddof);
    end_truth(&squares);
    end_truth(&products);
}

static const int thread_counts[] = {1, 2, 5};

static void check_data(tally_type type, int class, int64_t n, int shape, uint64_t *random) {
    size_t bytes = tally_type_size(type);
    int offset = (int)random_below(random, 16);
    char *x = (char *)scratch(0, (size_t)(n + 1) * bytes + 64) + offset;
    char *y = (char *)scratch(1, (size_t)(n + 1) * bytes + 64) + offset;
    subject s = {TALLY_SUM, type, TALLY_NAN_PROPAGATE, (int)random_below(random, 3), TALLY_BEST};
    tally_context *context = context_for(&s, TALLY_BACKEND_CPU, thread_counts[random_below(random, 3)]);
    now.type = type, now.data = names[class], now.size = n, now.ddof = s.ddof;
    for (int64_t i = 0; i < n; i++) {
        put_number(type, x, i, draw(class, i, type, random));
        put_number(type, y, i, draw(shape == 2 ? (int)random_below(random, CLASSES) : class, i, type, random));
    }
    if (shape == 1) /* cancel in pairs far apart */
        for (int64_t i = 0; i < n / 2; i++) put_number(type, x, n - 1 - i, -as_double(type, x, i));
    check_operators(context, tally_in(x, type, n), tally_in(y, type, n), s.ddof);
    check_states(context, single[random_below(random, SINGLE)], tally_in(x, type, n), random);
}

static void test_against_mpfr(void **unused) {
    uint64_t random = seed;
    int rounds = quick ? 2 : 25;
    (void)unused;
    for (int round = 0; round < rounds; round++)
        for (tally_type type = TALLY_F16; type <= TALLY_F64; type++)
            for (int class = 0; class < CLASSES; class ++) {
                if (round % 3 == 0) check_segments(type, class, &random);
                for (int shape = 0; shape < 3; shape++) {
                    int64_t n = round % 8 == 7   ? random_below(&random, 3000)
                                : round % 8 == 6 ? 500 + random_below(&random, 600)
                                                 : random_below(&random, 40);
                    if (round % 25 == 24 && shape == 0) n = random_below(&random, 150000);
                    check_data(type, class, n, shape, &random);
                }
            }
    print_message("%lld cases\n", (long long)cases);
}

/* ---- many tiles ---- */

/* Tiles of one array that are not alike, all digits in use: levels are planned anew, or shared, and counted in until
 * they are full. */
static void check_tiles(tally_type type, uint64_t *random) {
    const int64_t tile = tally_leaf_length(type), n = tile * (quick ? 40 : 200) + random_below(random, tile);
    const int reach = type == TALLY_F64 ? 100 : 15;
    size_t bytes = tally_type_size(type);
    char *x = scratch(0, (size_t)n * bytes), *y = scratch(1, (size_t)n * bytes);
    subject s = {TALLY_SUM, type, TALLY_NAN_PROPAGATE, 1, TALLY_BEST};
    tally_context *context = context_for(&s, TALLY_BACKEND_CPU, thread_counts[random_below(random, 3)]);
    int power = 0, binades = 10;
    uint64_t signs = 0;
    now.type = type, now.data = "changing tiles", now.size = n, now.ddof = s.ddof;
    for (int64_t i = 0; i < n; i++) {
        if (i % (tile / 2) == 0 && random_below(random, 3) == 0) {
            power = random_below(random, 4) ? power + (int)random_below(random, 9) - 4
                                            : (int)random_below(random, 2 * reach) - reach;
            binades = 1 + (int)random_below(random, type == TALLY_F64 ? 30 : 12);
            signs = random_below(random, 2) ? UINT64_MAX : INT64_MAX;
        }
        for (int k = 0; k < 2; k++)
            put_number(type, k ? y : x, i,
                       from_parts(next_random(random) & signs, 1023 + power - (int)random_below(random, binades)));
    }
    check_operators(context, tally_in(x, type, n), tally_in(y, type, n), s.ddof);
    for (int k = 0; k < SINGLE; k++) check_states(context, single[k], tally_in(x, type, n), random); /* all digits */
}

/* As large as the counts of a level can get, for longer than they fit. `over`: with a value too small for the fewest
 * levels by so many binades. */
static void check_full_counts(tally_type type, int64_t tiles, int over) {
    enum { ROW = 64 };
    const int64_t tile = tally_leaf_length(type), n = tiles * tile;
    const double most = type == TALLY_F64 ? 1 - 0x1p-53 : 1 - 0x1p-24,
                 least = ldexp(type == TALLY_F64 ? 1 + 0x1p-52 : 1 + 0x1p-23, (type == TALLY_F64 ? -39 : -22) - over);
    size_t bytes = tally_type_size(type);
    char *x = scratch(0, (size_t)n * bytes);
    subject s = {TALLY_SUM, type, TALLY_NAN_PROPAGATE, 0, TALLY_BEST};
    tally_context *context = context_for(&s, TALLY_BACKEND_CPU, 1);
    truth t, one;
    now.type = type, now.data = "full counts", now.size = n;
    for (int64_t i = 0; i < n; i++) put_number(type, x, i, i % tile ? most : least);
    begin_truth(&t);
    begin_truth(&one);
    for (int64_t i = 0; i < 2; i++) add_truth(&one, i ? most : least, i ? most : least);
    add_truth(&t, most, most);
    mpz_mul_si(t.values, t.values, (long)(n - 2 * tiles));
    mpz_mul_si(t.products, t.products, (long)(n - 2 * tiles));
    mpz_addmul_ui(t.values, one.values, (unsigned long)tiles);
    mpz_addmul_ui(t.products, one.products, (unsigned long)tiles);
    mpz_set(t.magnitudes, t.values);
    t.n = n;
    for (int k = 0; k < SINGLE; k++)
        check_operator(&t, context, single[k], tally_in(x, type, n), tally_in(x, type, n), 0);
    end_truth(&t);
    end_truth(&one);
    now.op = TALLY_SUM, now.segments = "rows"; /* lanes of a batch get as full */
    double *sums = scratch(1, (size_t)(n / ROW) * sizeof *sums);
    EXPECT_OK(tally_reduce_segments(context, TALLY_SUM, tally_in(x, type, n), tally_rows(n / ROW, ROW, 1),
                                    tally_out(sums, TALLY_F64, n / ROW)));
    begin_truth(&t);
    for (int64_t i = 0; i < ROW; i++) add_truth(&t, i ? most : least, 0);
    for (int64_t row = 0; row < n / ROW; row++)
        expect_double(sums[row], row * ROW % tile ? ROW * most : truth_of(&t, TALLY_SUM, 0, format_of(TALLY_F64)),
                      "a row");
    end_truth(&t);
    now.segments = NULL;
}

/* A few tiles whose levels count more than a double holds; with large `reach`, the first of them without levels. */
static void check_long_parts(tally_type type, int reach, uint64_t *random) {
    const int64_t n = 4 * tally_leaf_length(type) - random_below(random, 9);
    size_t bytes = tally_type_size(type);
    char *x = scratch(0, (size_t)n * bytes);
    subject s = {TALLY_SUM, type, TALLY_NAN_PROPAGATE, 0, TALLY_BEST};
    tally_context *context = context_for(&s, TALLY_BACKEND_CPU, 1);
    truth t;
    now.type = type, now.data = "long parts", now.size = n;
    begin_truth(&t);
    for (int64_t i = 0; i < n; i++) {
        bool far = i % 8 == 0 && (reach < 60 || i < tally_leaf_length(type));
        int exponent = i == 0 && reach < 60 ? 1022 - reach : far ? 1022 - (int)random_below(random, reach) : 1022;
        put_number(type, x, i, from_parts(next_random(random) & INT64_MAX, exponent));
        add_truth(&t, as_double(type, x, i), as_double(type, x, i));
    }
    for (int k = 0; k < SINGLE; k++)
        check_operator(&t, context, single[k], tally_in(x, type, n), tally_in(x, type, n), 0);
    check_stats(&t, context, tally_in(x, type, n), 0);
    end_truth(&t);
}

static void test_tiles_against_mpfr(void **unused) {
    uint64_t random = seed + 3;
    (void)unused;
    for (int k = 0; k < 16; k++) {
        check_long_parts(TALLY_F32, k < 4 ? 21 : 5 + 7 * k, &random);
        check_long_parts(TALLY_F64, k < 4 ? 38 : 5 + 12 * k, &random);
    }
    for (tally_type type = TALLY_F16; type <= TALLY_F64; type++) check_tiles(type, &random);
    for (tally_type type = TALLY_F32; type <= TALLY_F64; type++) {
        check_full_counts(type, 1000, 0);
        check_full_counts(type, 8, 1);
    }
}

/* ---- pieces ---- */

enum { PIECES = 24 };

static void expect_piece(truth *t, tally_op op, tally_type type, tally_type out, int ddof, const char *result) {
    tally_stats stats;
    if (op == TALLY_STATS) {
        memcpy(&stats, result, sizeof stats);
        expect_stats(t, &stats, type, ddof);
    } else
        expect_double(read_result(out, result), truth_of(t, op, ddof, format_of(out)), tally_type_name(out));
}

static int64_t piece_length(uint64_t *random) {
    static const int64_t below[] = {1, 20, 20, 20, 80, 1100};
    int64_t length = random_below(random, below[random_below(random, 6)] + 1);
    return random_below(random, 200) ? length : random_below(random, 9000);
}

/* Segments of any length, or columns of a table, with NaNs among them that may have to be skipped. The first one also
 * by itself. */
static void check_pieces(tally_type type, int class, uint64_t *random) {
    static const tally_op ops[] = {TALLY_SUM, TALLY_MEAN, TALLY_NORM1, TALLY_SUMSQ, TALLY_NORM2,
                                   TALLY_VAR, TALLY_STD,  TALLY_STATS, TALLY_DOT};
    static const int rarities[] = {0, 0, 50, 3};
    truth squares[PIECES], products[PIECES];
    subject s = {TALLY_SUM, type, (tally_nan)random_below(random, 2), (int)random_below(random, 3), TALLY_BEST};
    tally_context *context = context_for(&s, TALLY_BACKEND_CPU, thread_counts[random_below(random, 3)]);
    bool table = random_below(random, 3) == 0;
    int64_t offsets[PIECES + 1] = {0}, outer = 1 + random_below(random, 2),
                             inner = 1 + random_below(random, PIECES / 2);
    int64_t length = piece_length(random), count = table ? outer * inner : 1 + random_below(random, PIECES), n;
    uint64_t rarity = (uint64_t)rarities[random_below(random, 4)];
    tally_segments segments = table ? tally_rows(outer, length, inner) : tally_offsets(offsets, TALLY_I64, count);
    for (int k = 0; k < count; k++) offsets[k + 1] = offsets[k] + (table ? length : piece_length(random));
    n = offsets[count];
    char *x = scratch(0, (size_t)n * 8 + 1), *y = scratch(1, (size_t)n * 8 + 1),
         *results = scratch(2, PIECES * sizeof(tally_stats));
    for (int64_t i = 0; i < n; i++) {
        put_number(type, x, i, rarity && next_random(random) % rarity == 0 ? NAN : draw(class, i, type, random));
        put_number(type, y, i, rarity && next_random(random) % rarity == 0 ? NAN : draw(class, i + 1, type, random));
    }
    bool empty = false, empty_pair = false;
    for (int k = 0; k < count; k++) {
        begin_truth(&squares[k]);
        begin_truth(&products[k]);
        for (int64_t i = 0; i < offsets[k + 1] - offsets[k]; i++) {
            int64_t at = table ? (k / inner * length + i) * inner + k % inner : offsets[k] + i;
            double a = as_double(type, x, at), b = as_double(type, y, at);
            if (s.nan != TALLY_NAN_SKIP || !isnan(a)) add_truth(&squares[k], a, a);
            if (s.nan != TALLY_NAN_SKIP || !(isnan(a) || isnan(b))) add_truth(&products[k], a, b);
        }
        empty |= squares[k].n == 0;
        empty_pair |= products[k].n == 0;
    }
    tally_array in = tally_in(x, type, n), other = tally_in(y, type, n);
    tally_array first = tally_in(x, type, offsets[1]), other_first = tally_in(y, type, offsets[1]);
    now.type = type, now.data = names[class], now.ddof = s.ddof, now.nan = s.nan,
    now.segments = table ? "table" : "offsets";
    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) {
        tally_op op = ops[k];
        tally_type out = op == TALLY_STATS ? TALLY_NATURAL : TALLY_F16 + (tally_type)random_below(random, 4);
        size_t bytes = op == TALLY_STATS ? sizeof(tally_stats) : tally_type_size(out);
        bool refuses = op == TALLY_MEAN || op == TALLY_VAR || op == TALLY_STD || op == TALLY_STATS;
        truth *truths = op == TALLY_DOT ? products : squares;
        now.op = op;
        EXPECT_STATUS(perform(context, op, in, other, &segments, (tally_output){results, out, count, 0}),
                      refuses && (op == TALLY_DOT ? empty_pair : empty) ? TALLY_EMPTY : TALLY_OK);
        for (now.segment = 0; now.segment < count; now.segment++) {
            now.size = offsets[now.segment + 1] - offsets[now.segment];
            expect_piece(&truths[now.segment], op, type, out, s.ddof, results + (size_t)now.segment * bytes);
        }
        now.segment = 0, now.size = offsets[1];
        if (table && inner > 1) continue; /* it is not side by side */
        EXPECT_STATUS(perform(context, op, first, other_first, NULL, (tally_output){results, out, 1, 0}),
                      refuses && truths[0].n == 0 ? TALLY_EMPTY : TALLY_OK);
        expect_piece(&truths[0], op, type, out, s.ddof, results);
    }
    for (int k = 0; k < count; k++) {
        end_truth(&squares[k]);
        end_truth(&products[k]);
    }
    now.segments = NULL, now.nan = TALLY_NAN_PROPAGATE;
}

static void test_pieces_against_mpfr(void **unused) {
    uint64_t random = seed + 1;
    int rounds = quick ? 1 : 3;
    (void)unused;
    for (int round = 0; round < rounds; round++)
        for (tally_type type = TALLY_F16; type <= TALLY_F64; type++)
            for (int class = 0; class < CLASSES; class ++) check_pieces(type, class, &random);
}

/* ---- counts that no array has ---- */

/* A state merged with a copy of itself over and over: 2^times as many values. */
static void check_doubled(tally_type type, int class, tally_op op, uint64_t *random) {
    static unsigned char saved[4096];
    subject s = {op, type, TALLY_NAN_PROPAGATE, (int)random_below(random, 3), TALLY_BEST};
    tally_context *context = context_for(&s, TALLY_BACKEND_CPU, 1);
    int64_t n = 1 + random_below(random, 30);
    unsigned times = (unsigned)random_below(random, 50);
    char *x = scratch(0, 30 * 8), result[8];
    tally_type out = TALLY_F16 + (tally_type)random_below(random, 4);
    tally_state *state, *copy;
    size_t size;
    truth t;
    now.op = op, now.type = type, now.data = names[class], now.size = n << times, now.ddof = s.ddof;
    begin_truth(&t);
    for (int64_t i = 0; i < n; i++) {
        put_number(type, x, i, draw(class, i, type, random));
        add_truth(&t, as_double(type, x, i), as_double(type, x, i));
    }
    mpz_mul_2exp(t.values, t.values, times);
    mpz_mul_2exp(t.magnitudes, t.magnitudes, times);
    mpz_mul_2exp(t.products, t.products, times);
    t.n <<= times;
    EXPECT_OK(tally_state_open(context, op, type, 0, &state));
    EXPECT_OK(tally_state_push(state, tally_in(x, type, n)));
    for (unsigned k = 0; k < times; k++) {
        EXPECT_OK(tally_state_save(state, saved, sizeof saved, &size));
        EXPECT_OK(tally_state_load(context, saved, size, &copy));
        EXPECT_OK(tally_state_merge(state, copy));
        tally_state_close(copy);
    }
    EXPECT(tally_state_count(state) == t.n, "the state counts %lld values", (long long)tally_state_count(state));
    EXPECT_OK(tally_state_finish(state, tally_out(result, out, 1)));
    expect_double(read_result(out, result), truth_of(&t, op, s.ddof, format_of(out)), tally_type_name(out));
    tally_state_close(state);
    end_truth(&t);
}

static void test_large_counts_against_mpfr(void **unused) {
    uint64_t random = seed + 2;
    int rounds = 1;
    (void)unused;
    for (int round = 0; round < rounds; round++)
        for (tally_type type = TALLY_F16; type <= TALLY_F64; type++)
            for (int class = 0; class < CLASSES; class ++)
                for (int k = 0; k < SINGLE; k++) check_doubled(type, class, single[k], &random);
}

/* ---- hard cases ---- */

/* A mean that is just above half of the smallest number, by less than the last digit that is kept of a quotient. */
static void test_tie_of_quotient(void **unused) {
    enum { COUNT = (1 << 17) + 1 };
    static double x[COUNT];
    (void)unused;
    now = (scene){.op = TALLY_MEAN, .type = TALLY_F64, .size = COUNT, .data = "just above a tie"};
    for (int ones = COUNT / 2; ones <= COUNT / 2 + 1; ones++) {
        double mean;
        for (int i = 0; i < COUNT; i++) x[i] = i % 2 == 0 && i / 2 < ones ? 0x1p-1074 : 0;
        if (ones > COUNT / 2) x[COUNT - 1] = 0x1p-1074;
        EXPECT_OK(tally_reduce(NULL, TALLY_MEAN, tally_in(x, TALLY_F64, COUNT), tally_out(&mean, TALLY_F64, 1)));
        expect_double(mean, ones > COUNT / 2 ? 0x1p-1074 : 0, "the mean");
    }
}

/* A variance that is below a tie by what stands some 500 binades below it: 3 d^2 / 8 has 54 bits, and an even number is
 * above it. The leading words of the squared sum do not tell (kernels/sums/window.h). */
static void test_tie_of_long_spread(void **unused) {
    const double d = 60000001, x[] = {d, 0x1p-500, 0, 0};
    double var = 0;
    tally_options options = TALLY_OPTIONS_INIT;
    tally_context *context;
    (void)unused;
    now = (scene){.op = TALLY_VAR, .type = TALLY_F64, .size = 4, .data = "below a tie"};
    options.ddof = 2;
    EXPECT_OK(tally_context_create(NULL, &context));
    EXPECT_OK(tally_set_options(context, &options));
    EXPECT_OK(tally_reduce(context, TALLY_VAR, tally_in(x, TALLY_F64, 4), tally_out(&var, TALLY_F64, 1)));
    expect_double(var, (double)(3 * (int64_t)d * (int64_t)d - 1) / 8, "the variance");
    tally_context_destroy(context);
}

/* Spreads of nearly equal values, by rows of either axis. Squares of f64 have twice as many digits as these, and their
 * sums more than two doubles. */
static void check_nearly_equal(tally_type type, int64_t n, int ddof, int64_t inner, uint64_t *random) {
    enum { ROWS = 256 };
    const int64_t step = inner == 1 ? 1 : ROWS, apart = inner == 1 ? n : 1;
    char *x = scratch(0, (size_t)(n * ROWS) * 8);
    double *vars = scratch(1, ROWS * sizeof *vars);
    subject s = {TALLY_VAR, type, TALLY_NAN_PROPAGATE, ddof, TALLY_BEST};
    tally_context *context = context_for(&s, TALLY_BACKEND_CPU, 1);
    now = (scene){.op = TALLY_VAR, .type = type, .size = n, .ddof = ddof, .data = names[CLASSES - 1]};
    for (int64_t i = 0; i < n * ROWS; i++) put_number(type, x, i, draw(CLASSES - 1, i, type, random));
    EXPECT_OK(tally_reduce_segments(context, TALLY_VAR, tally_in(x, type, n * ROWS), tally_rows(ROWS / inner, n, inner),
                                    tally_out(vars, TALLY_F64, ROWS)));
    for (int64_t row = 0; row < ROWS; row++) {
        truth t;
        begin_truth(&t);
        for (int64_t i = 0; i < n; i++) {
            const double value = as_double(type, x, row * apart + i * step);
            add_truth(&t, value, value);
        }
        expect_double(vars[row], truth_of(&t, TALLY_VAR, ddof, format_of(TALLY_F64)), "a row");
        end_truth(&t);
    }
}
static void test_nearly_equal(void **unused) {
    uint64_t random = seed;
    (void)unused;
    for (tally_type type = TALLY_F32; type <= TALLY_F64; type++)
        for (int64_t n = 2; n <= 128; n += n & (n - 1) ? n - 2 : 1) /* powers of two, and one more */
            for (int k = 0; k < 4; k++) check_nearly_equal(type, n, k % 2, k < 2 ? 1 : 256, &random);
}

/* Many values with all digits set, of one sign and one size, among which smaller ones keep levels from taking them. */
static void test_full_bins(void **unused) {
    enum { COUNT = 1 << 17 };
    (void)unused;
    for (tally_type type = TALLY_F32; type <= TALLY_F64; type++)
        for (int sign = -1; sign <= 1; sign += 2) {
            subject s = {TALLY_SUM, type, TALLY_NAN_PROPAGATE, 1, TALLY_BEST};
            double large = type == TALLY_F32 ? 0x1.fffffep127 : 0x1.fffffffffffffp408,
                   small = type == TALLY_F32 ? 0x1p-149 : 0x1p-1074;
            double other = type == TALLY_F32 ? large / 2 : large * 0x1p-8;
            tally_context *context = context_for(&s, TALLY_BACKEND_CPU, 1);
            char *x = scratch(0, COUNT * 8), *y = scratch(1, COUNT * 8);
            tally_array a = tally_in(x, type, COUNT), b = tally_in(y, type, COUNT);
            truth squares, products;
            now =
                (scene){.type = type, .size = COUNT, .data = sign < 0 ? "full bins, negative" : "full bins", .ddof = 1};
            begin_truth(&squares);
            begin_truth(&products);
            for (int64_t i = 0; i < COUNT; i++) {
                put_number(type, x, i, i % 300 == 7 ? small : sign * large);
                put_number(type, y, i, i % 300 == 8 ? small : other);
                add_truth(&squares, as_double(type, x, i), as_double(type, x, i));
                add_truth(&products, as_double(type, x, i), as_double(type, y, i));
            }
            for (int i = 0; i < SINGLE; i++) check_operator(&squares, context, single[i], a, a, 1);
            check_stats(&squares, context, a, 1);
            check_operator(&products, context, TALLY_DOT, a, b, 1);
            end_truth(&squares);
            end_truth(&products);
        }
}

static void check_numbers(const double *numbers, int64_t count, int ddof) {
    subject s = {TALLY_SUM, TALLY_F64, TALLY_NAN_PROPAGATE, ddof, TALLY_BEST};
    tally_context *context = context_for(&s, TALLY_BACKEND_CPU, 1);
    const tally_array in = tally_in(numbers, TALLY_F64, count);
    truth t;
    now.size = count, now.ddof = ddof;
    begin_truth(&t);
    for (int64_t i = 0; i < count; i++) add_truth(&t, numbers[i], numbers[i]);
    for (int i = 0; i < SINGLE; i++) check_operator(&t, context, single[i], in, in, ddof);
    check_operator(&t, context, TALLY_DOT, in, in, ddof);
    check_stats(&t, context, in, ddof);
    end_truth(&t);
}

/* Sums and deviations just beside a tie, an overflow or a power of two. */
static void test_hard_cases(void **unused) {
    static const double sets[][6] = {
        {1, 0x1p-200}, /* its deviation is just below 1/2: a root of ones */
        {1, 0x1p-53},  /* a tie */
        {0x1.fffffffffffffp0},
        {0x1.fffffffffffffp0, 4}, /* all digits are ones */
        {1, 0x1p-53, 0x1p-1074},  /* just above one, by far */
        {1, 0x1p-53, -0x1p-1074}, /* just below */
        {1, 0x1.8p-52, 0x1p-53},  /* a tie to even upwards */
        {-1, -0x1p-53},
        {-1, -0x1p-53, 0x1p-1074},
        {-1, -0x1p-53, -0x1p-1074},
        {0x1.fffffffffffffp1023, 0x1p969}, /* below half a unit: the largest */
        {0x1.fffffffffffffp1023, 0x1p970}, /* a tie: infinite */
        {0x1.fffffffffffffp1023, 0x1p970, -0x1p-1074},
        {0x1p-1074, 0x1p-1074, -0x1p-1074},
        {0x1p-1022, -0x1p-1074},
        {0x1p1000, 1, -0x1p1000},
        {-0x1p32, 1},
        {-0x1p64, 0x1p-1074},
        {-0x1p-32},
        {0x1p-537, 0x1p-538}, /* squares around the smallest */
        {3, 0x9p-53, 0x1p-105},
        {3, 0x9p-53, -0x1p-105}, /* means beside a tie by less than a double tells */
        {1, 0x1.00000004p0},     /* deviations far below the squares' last digit */
        {0x1p-149, 0x1p-150},
        {0x1p128, -0x1p103},
        {0x1p128, -0x1p103, -1},
        {65520},
        {65520, -0x1p-24},
        {0x1p-25},
        {0x1p-25, 0x1p-1074},
    };
    static const double pairs[][2][3] = {
        {{-1, 0, -2}, {0, -1, 0}}, /* all products are -0, though no array is all zeros */
        {{-1, 0, -2}, {0, 1, 0}},  /* not all */
        {{-1, 1, 0}, {1, 1, -1}},  /* they cancel: 0 */
        {{0x1p-600, 1, 1}, {-0x1p-600, 0x1p-1074, 0x1p-1074}},
        {{0x1.fffffffffffffp-538, 0x1.fffffffffffffp-538, 0}, {0x1.fffffffffffffp-538, -0x1p-537, 1}},
        {{0x1p-1000, -0x1p-1000, 0x3p-1074},
         {0x1.fffffffffffffp52, 0x1.fffffffffffffp52, 0x1.fffffffffffffp52}}, /* few digits, far below */
        {{INFINITY, 0, 1}, {0, 1, 1}},
        {{INFINITY, -INFINITY, 1}, {1, -1, 1}},
    };
    (void)unused;
    now.data = "hard cases", now.type = TALLY_F64;
    for (size_t k = 0; k < sizeof sets / sizeof *sets; k++)
        for (int ddof = 0; ddof < 3; ddof++) {
            int64_t count = 6;
            while (count > 1 && sets[k][count - 1] == 0) count--;
            now.segment = (int64_t)k;
            check_numbers(sets[k], count, ddof);
        }
    for (int e = 54; e < 260; e++) { /* all digits are ones, the last of them the last that some number of levels holds;
                                        too far apart for plain sums */
        const double large = ldexp(1, e), numbers[] = {large, 0x1p50, 0x1.fffffffffffffp0, -0x1p50, -large};
        now.segment = e;
        check_numbers(numbers, 5, 0);
    }
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        subject s = {TALLY_DOT, TALLY_F64, TALLY_NAN_PROPAGATE, 0, TALLY_BEST};
        truth t;
        now.size = 3, now.segment = (int64_t)k;
        begin_truth(&t);
        for (int i = 0; i < 3; i++) add_truth(&t, pairs[k][0][i], pairs[k][1][i]);
        check_operator(&t, context_for(&s, TALLY_BACKEND_CPU, 1), TALLY_DOT, tally_in(pairs[k][0], TALLY_F64, 3),
                       tally_in(pairs[k][1], TALLY_F64, 3), 0);
        end_truth(&t);
    }
    now.segment = 0;
}

int main(int argc, char **argv) {
    int skipped = begin_program(argc, argv);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_hard_cases),
                                       cmocka_unit_test(test_tie_of_quotient),
                                       cmocka_unit_test(test_tie_of_long_spread),
                                       cmocka_unit_test(test_nearly_equal),
                                       cmocka_unit_test(test_full_bins),
                                       cmocka_unit_test(test_against_mpfr),
                                       cmocka_unit_test(test_tiles_against_mpfr),
                                       cmocka_unit_test(test_pieces_against_mpfr),
                                       cmocka_unit_test(test_large_counts_against_mpfr)};
    return skipped ? skipped : cmocka_run_group_tests(tests, NULL, NULL);
}
