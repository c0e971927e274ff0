/* How much stack calls of the CPU need, as tally.h promises: every operator, type, accuracy and shape on a thread whose
 * stack is painted before and looked at afterwards. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "support.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(undefined_behavior_sanitizer)
#define IS_SANITIZED 1
#endif
#endif

enum {
    PROMISED = TALLY_STACK_BYTES,
    STACK = 1 << 20,
    PAINT = 0xa5,
    PART = 4096,
    FRAME = 4096 /* of the thread's own, and this file's */
};
enum { OUT = 0, STRIDED = 1, OTHER = 2, MOST_OUT = 1 << 20 };

static unsigned char *stack;

static size_t deepest(void) {
    static unsigned char paint[PART];
    size_t untouched = 0;
    memset(paint, PAINT, PART);
    while (untouched < STACK && memcmp(stack + untouched, paint, PART) == 0) untouched += PART;
    while (untouched < STACK && stack[untouched] == PAINT) untouched++;
    return STACK - untouched;
}

/* One thing to be done on such a thread. */
typedef struct deed {
    subject s;
    int what;
    tally_context *context;
    tally_array x, y;
} deed;
enum {
    WHOLE,
    STRIDED_WHOLE,
    OFFSETS,
    LENGTHS,
    SEGMENT_IDS,
    SHORT_ROWS,
    LONG_ROWS,
    NARROW_COLUMNS,
    COLUMNS,
    WIDE_COLUMNS,
    STRIDED_SEGMENTS,
    STATES,
    DEEDS
};
static const char *const names[DEEDS] = {"whole",          "whole, strided",   "offsets",           "lengths",
                                         "segment_ids",    "short rows",       "long rows",         "columns of 20",
                                         "columns of 400", "columns of 20000", "segments, strided", "states"};

enum { VALUES = 200000, SEGMENTS = 1000 };
static int32_t offsets[SEGMENTS + 1], lengths[SEGMENTS], segment_ids[VALUES];

static void do_states(const deed *d) {
    tally_state *a, *b, *again = NULL;
    tally_array x = d->x, y = d->y;
    static unsigned char saved[1 << 16];
    size_t size;
    if (tally_state_open(d->context, d->s.op, d->s.type, 0, &a) != TALLY_OK) return;
    if (tally_state_open(d->context, d->s.op, d->s.type, 5001, &b) == TALLY_OK) {
        x.count = y.count = 5001;
        if (tally_op_inputs(d->s.op) == 2)
            (void)!tally_state_push_pair(a, x, y), (void)!tally_state_push_pair(b, d->x, d->y);
        else
            (void)!tally_state_push(a, x), (void)!tally_state_push(b, d->x);
        (void)!tally_state_merge(a, b);
        (void)!tally_state_finish(a, tally_out(scratch(OUT, MOST_OUT), TALLY_NATURAL, 1));
        if (tally_state_save(a, saved, sizeof saved, &size) == TALLY_OK &&
            tally_state_load(d->context, saved, size, &again) == TALLY_OK)
            tally_state_close(again);
        tally_state_close(b);
    }
    tally_state_close(a);
}

static void *act(void *argument) {
    deed *d = argument;
    tally_array x = d->x, y = d->y;
    tally_segments segments;
    char *out = scratch(OUT, MOST_OUT);
    int64_t results = SEGMENTS;
    switch (d->what) {
    case STATES: do_states(d); return NULL;
    case STRIDED_WHOLE:
    case STRIDED_SEGMENTS:
        x.data = y.data = scratch(STRIDED, VALUES * 9 + 16);
        x.stride = y.stride = 9;
        break;
    default: break;
    }
    switch (d->what) {
    case WHOLE:
    case STRIDED_WHOLE: (void)perform(d->context, d->s.op, x, y, NULL, tally_out(out, TALLY_NATURAL, 1)); return NULL;
    case LENGTHS: segments = tally_lengths(lengths, TALLY_I32, SEGMENTS); break;
    case SEGMENT_IDS: segments = tally_segment_ids(segment_ids, TALLY_I32, SEGMENTS); break;
    case SHORT_ROWS: segments = tally_rows(results = 20000, 10, 1); break;
    case LONG_ROWS: segments = tally_rows(results = 2, VALUES / 2, 1); break;
    case NARROW_COLUMNS: segments = tally_rows(1, VALUES / 20, results = 20); break;
    case COLUMNS: segments = tally_rows(1, VALUES / 400, results = 400); break;
    case WIDE_COLUMNS: segments = tally_rows(1, 10, results = 20000); break;
    default: segments = tally_offsets(offsets, TALLY_I32, SEGMENTS); break;
    }
    (void)perform(d->context, d->s.op, x, y, &segments, tally_out(out, TALLY_NATURAL, results));
    return NULL;
}

static void test_stack(void **state) {
    subject s = {.op = -1};
    size_t most = 0;
    (void)state;
#ifdef IS_SANITIZED
    printf("SKIPPED under sanitizers, whose frames are larger: test_stack\n");
    skip();
#endif
    for (int k = 0; k <= SEGMENTS; k++) offsets[k] = k * (VALUES / SEGMENTS);
    for (int k = 0; k < SEGMENTS; k++) lengths[k] = VALUES / SEGMENTS;
    for (int k = 0; k < VALUES; k++) segment_ids[k] = k / (VALUES / SEGMENTS);
    stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(stack != MAP_FAILED);
    memset(scratch(STRIDED, VALUES * 9 + 16), 0x3c, VALUES * 9 + 16);
    for (int trial = 0; next_subject(&s); trial++) {
        deed d = {.s = s};
        char *values = scratch(OTHER, (size_t)VALUES * 8);
        memcpy(values, data_of(s.type, trial % 2 ? ANY_BITS : SMALL_INTEGERS, VALUES),
               (size_t)VALUES * tally_type_size(s.type));
        d.x = d.y = tally_in(values, s.type, VALUES);
        for (d.what = 0; d.what < DEEDS; d.what++) {
            for (int reference = 0; reference < (trial % 16 == 0 ? 2 : 1); reference++) {
                pthread_attr_t attributes;
                pthread_t thread;
                if (quick && (trial + d.what) % 5 != 0) continue;
                d.context = context_for(&s, reference ? TALLY_BACKEND_REFERENCE : TALLY_BACKEND_CPU, 1);
                memset(stack, PAINT, STACK);
                assert_int_equal(pthread_attr_init(&attributes), 0);
                assert_int_equal(pthread_attr_setstack(&attributes, stack, STACK), 0);
                assert_int_equal(pthread_create(&thread, &attributes, act, &d), 0);
                assert_int_equal(pthread_join(thread, NULL), 0);
                pthread_attr_destroy(&attributes);
                now = (scene){.op = s.op,
                              .type = s.type,
                              .nan = s.nan,
                              .accuracy = s.accuracy,
                              .layout = names[d.what],
                              .data = reference ? "reference" : "cpu"};
                const size_t used = deepest() - (deepest() > FRAME ? FRAME : 0);
                if (used > most) {
                    most = used;
                    printf("%6zu bytes: %s of %s, %s, %s%s\n", used, tally_op_name(s.op), tally_type_name(s.type),
                           s.accuracy == TALLY_FAST ? "fast" : "exact", names[d.what],
                           reference ? ", by the reference" : "");
                }
                EXPECT(used <= PROMISED, "it takes %zu bytes of stack, and tally.h promises %d", used, (int)PROMISED);
            }
        }
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_stack)};
    int skipped = begin_program(argc, argv);
    return skipped ? skipped : cmocka_run_group_tests(tests, NULL, NULL);
}
