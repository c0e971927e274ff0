/* Callers that have set another rounding direction, flush subnormals to zero, trap floating-point exceptions or watch
 * their flags get the same bits, and their settings and flags back. */
#include <fenv.h>
#include <string.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "support.h"

enum { OUT = 0, WANTED = 1, MOST_OUT = 1 << 16 };

/* ---- environments ---- */

static void set_flushing(bool on) {
#if defined(__x86_64__)
    _mm_setcsr(on ? _mm_getcsr() | 0x8040u : _mm_getcsr() & ~0x8040u);
#elif defined(__aarch64__)
    uint64_t fpcr;
    __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
    fpcr = on ? fpcr | 1u << 24 : fpcr & ~((uint64_t)1 << 24);
    __asm__ volatile("msr fpcr, %0" : : "r"(fpcr));
#else
    (void)on;
#endif
}

/* Where a thread can be made to trap: glibc has these two, and x86 the hardware. */
#if defined(__x86_64__) && defined(__GLIBC__)
static void set_traps(bool on) { (void)(on ? feenableexcept(FE_ALL_EXCEPT) : fedisableexcept(FE_ALL_EXCEPT)); }
#else
static void set_traps(bool on) { (void)on; }
#endif

/* The control bits, and the flags that arithmetic raises. */
static uint64_t settings(void) {
    uint64_t bits = (uint64_t)fegetround() << 32;
#if defined(__x86_64__)
    bits |= _mm_getcsr();
#elif defined(__aarch64__)
    uint64_t fpcr;
    __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
    bits |= fpcr & 0xffffffffu;
    bits |= (uint64_t)fetestexcept(FE_ALL_EXCEPT) << 40;
#endif
    return bits;
}

static const struct {
    const char *name;
    int rounding;
    bool flush, traps; /* or a flag is up */
} environments[] = {
    {"rounding up", FE_UPWARD, false, false},
    {"rounding down", FE_DOWNWARD, false, false},
    {"rounding to zero", FE_TOWARDZERO, false, false},
    {"flushing subnormals", FE_TONEAREST, true, false},
    {"rounding up and flushing", FE_UPWARD, true, false},
    {"trapping every exception", FE_TONEAREST, false, true},
};
enum { ENVIRONMENTS = sizeof environments / sizeof *environments };

/* ---- calls ---- */

/* One of every kind of call, their results side by side at `out`. */
typedef struct calls {
    subject what;
    tally_context *context;
    tally_array x, y;
    tally_segments segments, rows;
    size_t bytes;
    char *out;
    size_t used;
} calls;

static tally_output next_output(calls *c, tally_type type, int64_t count, size_t bytes) {
    tally_output out = {c->out + c->used, type, count, 0};
    c->used += (size_t)count * bytes;
    assert_true(c->used <= MOST_OUT);
    return out;
}

static tally_status push(tally_state *state, const calls *c, int64_t n) {
    tally_array x = c->x, y = c->y;
    x.count = y.count = n;
    return tally_op_inputs(c->what.op) == 2 ? tally_state_push_pair(state, x, y) : tally_state_push(state, x);
}

static void call_states(calls *c, int64_t boundary, tally_status *statuses) {
    tally_state *a, *b;
    statuses[0] = tally_state_open(c->context, c->what.op, c->what.type, 0, &a);
    statuses[1] = tally_state_open(c->context, c->what.op, c->what.type, boundary, &b);
    statuses[2] = push(a, c, boundary);
    statuses[3] = push(b, c, c->x.count);
    statuses[4] = tally_state_merge(a, b);
    statuses[5] = tally_state_finish(a, next_output(c, TALLY_NATURAL, 1, c->bytes));
    tally_state_close(a);
    tally_state_close(b);
}

enum { STATUSES = 10 };
static void call_all(calls *c, tally_status *statuses) {
    subject *s = &c->what;
    c->used = 0;
    statuses[0] = perform(c->context, s->op, c->x, c->y, NULL, next_output(c, TALLY_NATURAL, 1, c->bytes));
    statuses[1] = perform(c->context, s->op, c->x, c->y, &c->segments,
                          next_output(c, TALLY_NATURAL, c->segments.count, c->bytes));
    statuses[2] = perform(c->context, s->op, c->x, c->y, &c->rows,
                          next_output(c, TALLY_NATURAL, c->rows.count * c->rows.inner, c->bytes));
    statuses[3] =
        s->op == TALLY_STATS ? TALLY_OK : perform(c->context, s->op, c->x, c->y, NULL, next_output(c, TALLY_F16, 1, 4));
    call_states(c, 5000, statuses + 4);
}

static void check_environment(calls *c, int e, const tally_status *wanted_statuses, const char *wanted, size_t used) {
    tally_status statuses[STATUSES];
    uint64_t before, after;
    c->out = scratch(OUT, MOST_OUT);
    memset(c->out, 0, MOST_OUT);
    now.layout = environments[e].name;
    fesetround(environments[e].rounding);
    set_flushing(environments[e].flush);
    feclearexcept(FE_ALL_EXCEPT);
    if (environments[e].traps)
        set_traps(true);
    else
        feraiseexcept(FE_DIVBYZERO);
    before = settings();
    call_all(c, statuses);
    after = settings();
    set_traps(false);
    set_flushing(false);
    fesetround(FE_TONEAREST);
    EXPECT(before == after, "the caller's settings %llx have become %llx", (unsigned long long)before,
           (unsigned long long)after);
    EXPECT(memcmp(statuses, wanted_statuses, sizeof statuses) == 0, "the statuses are others");
    EXPECT(c->used == used && memcmp(c->out, wanted, used) == 0, "the results are others");
}

static void test_environments(void **state) {
    subject s = {.op = -1};
    (void)state;
    for (int trial = 0; next_subject(&s); trial++) {
        static const data_class classes[] = {SUBNORMALS, CANCELLATION, ANY_BITS, SPECIALS};
        data_class class = classes[trial % 4];
        /* Some arrays are shared by threads, which have settings of their own. */
        int64_t n = (trial % 4 || quick ? 70000 : 320000) / (int64_t)tally_type_size(s.type),
                offsets[6] = {2, 2, 30, 90, 6000, n};
        tally_status statuses[STATUSES];
        calls c = {.what = s, .context = context_for(&s, TALLY_BACKEND_CPU, 3), .bytes = result_bytes(&s)};
        now = (scene){.op = s.op,
                      .type = s.type,
                      .nan = s.nan,
                      .accuracy = s.accuracy,
                      .data = class_names[class],
                      .size = n,
                      .threads = 3};
        n -= n % 40;
        offsets[5] = n;
        c.x = tally_in(data_of(s.type, class, n), s.type, n);
        c.y = tally_in(data_of(s.type, SMALL_INTEGERS, n), s.type, n);
        c.segments = tally_offsets(offsets, TALLY_I64, 5);
        c.rows = tally_rows(1, n / 40, 40);
        c.out = scratch(WANTED, MOST_OUT);
        memset(c.out, 0, MOST_OUT);
        call_all(&c, statuses);
        size_t used = c.used;
        for (int e = 0; e < ENVIRONMENTS; e++)
            if ((trial + e) % (quick ? 3 : 2) == 0) check_environment(&c, e, statuses, scratch(WANTED, MOST_OUT), used);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_environments)};
    int skipped = begin_program(argc, argv);
    return skipped ? skipped : cmocka_run_group_tests(tests, NULL, NULL);
}
