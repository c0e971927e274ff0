/* States: any split of an array into states, merged in any order that keeps neighbours, finishes to the bits of the
 * whole. */
#include <string.h>

#include "operators.h"

enum { SAVED = 0, COPY = 1, MOST_PIECES = 12 };

/* What is split: an array (two for dot), and how states are opened for it. */
typedef struct whole {
    subject what;
    tally_context *context;
    const char *x, *y;
    int64_t count, leaf;
    size_t bytes;
} whole;

static whole make_whole(const subject *s, data_class class, int64_t count) {
    whole w = {.what = *s, .context = context_for(s, TALLY_BACKEND_CPU, 1), .count = count};
    w.x = data_of(s->type, class, count);
    w.y = data_of(s->type, (data_class)((class + 1) % DATA_CLASSES), count);
    w.leaf = tally_leaf_length(s->type);
    w.bytes = tally_type_size(s->type);
    set_scene(s, class, count);
    return w;
}

static tally_status push(tally_state *state, const whole *w, int64_t from, int64_t n) {
    const char *x = w->x + (size_t)from * w->bytes, *y = w->y + (size_t)from * w->bytes;
    if (tally_op_inputs(w->what.op) == 2)
        return tally_state_push_pair(state, tally_in(x, w->what.type, n), tally_in(y, w->what.type, n));
    return tally_state_push(state, tally_in(x, w->what.type, n));
}

/* Saves, loads, saves again: the same bytes; goes on with what was loaded. */
static tally_state *through_bytes(tally_state *state, const whole *w) {
    size_t size = 0, again = 0;
    char *saved, *copy;
    tally_state *loaded;
    EXPECT_OK(tally_state_save(state, NULL, 0, &size));
    saved = scratch(SAVED, size);
    copy = scratch(COPY, size);
    EXPECT_STATUS(tally_state_save(state, saved, size - 1, &again), TALLY_NO_SPACE);
    EXPECT(again == size, "the needed size is %zu or %zu", again, size);
    EXPECT_OK(tally_state_save(state, saved, size, &size));
    EXPECT_OK(tally_state_load(w->context, saved, size, &loaded));
    EXPECT_OK(tally_state_save(loaded, copy, size, &again));
    EXPECT(again == size && memcmp(saved, copy, size) == 0, "save, load, save gives other bytes");
    EXPECT(tally_state_first(loaded) == tally_state_first(state) &&
               tally_state_count(loaded) == tally_state_count(state) && tally_state_op(loaded) == w->what.op &&
               tally_state_type(loaded) == w->what.type,
           "the loaded state says something else of itself");
    tally_state_close(state);
    return loaded;
}

/* The state of values from ... from + n that thinks it begins at `first`, pushed in pieces of any size. */
static tally_state *open_piece(const whole *w, int64_t from, int64_t n, int64_t first, uint64_t *random) {
    tally_state *state;
    EXPECT_OK(tally_state_open(w->context, w->what.op, w->what.type, first, &state));
    for (int64_t done = 0; done < n;) {
        int64_t some = random_below(random, 3) ? n - done : random_below(random, 2 * w->leaf) % (n - done + 1);
        EXPECT_OK(push(state, w, from + done, some));
        done += some;
    }
    EXPECT(tally_state_first(state) == first && tally_state_count(state) == n, "the state covers %lld + %lld",
           (long long)tally_state_first(state), (long long)tally_state_count(state));
    return random_below(random, 3) ? state : through_bytes(state, w);
}

/* Boundaries of pieces: on leaves, beside them, anywhere; some pieces are empty. */
static int choose_boundaries(const whole *w, uint64_t *random, int64_t *boundaries) {
    int pieces = 1 + (int)random_below(random, MOST_PIECES - 1);
    boundaries[0] = 0;
    for (int i = 1; i < pieces; i++) {
        int64_t at = random_below(random, w->count + 1);
        if (random_below(random, 2)) at = at / w->leaf * w->leaf + random_below(random, 3) - 1;
        at = at < w->count ? at : w->count;
        boundaries[i] = at > boundaries[i - 1] ? at : boundaries[i - 1];
    }
    boundaries[pieces] = w->count;
    return pieces;
}

/* Merges neighbours in a random order until one is left. */
static tally_state *merge_all(tally_state **states, int count, uint64_t *random) {
    while (count > 1) {
        int i = (int)random_below(random, count - 1);
        EXPECT_OK(tally_state_merge(states[i], states[i + 1]));
        tally_state_close(states[i + 1]);
        memmove(&states[i + 1], &states[i + 2], (size_t)(count - i - 2) * sizeof *states);
        count--;
    }
    return states[0];
}

static void expect_finish(tally_state *state, const whole *w, size_t bytes, const char *what) {
    char got[64], wanted[64];
    tally_status status = perform(w->context, w->what.op, tally_in(w->x, w->what.type, w->count),
                                  tally_in(w->y, w->what.type, w->count), NULL, tally_out(wanted, TALLY_NATURAL, 1));
    EXPECT_STATUS(tally_state_finish(state, tally_out(got, TALLY_NATURAL, 1)), status);
    EXPECT_BITS(got, wanted, bytes, what);
    EXPECT(tally_state_count(state) == w->count, "the state covers %lld values", (long long)tally_state_count(state));
}

static void check_split(const whole *w, size_t bytes, bool all_at_zero, uint64_t *random) {
    int64_t boundaries[MOST_PIECES + 1];
    tally_state *states[MOST_PIECES], *state;
    int pieces = choose_boundaries(w, random, boundaries);
    now.segments = all_at_zero ? "states opened at 0" : "states of neighbours";
    for (int i = 0; i < pieces; i++)
        states[i] =
            open_piece(w, boundaries[i], boundaries[i + 1] - boundaries[i], all_at_zero ? 0 : boundaries[i], random);
    state = merge_all(states, pieces, random);
    expect_finish(state, w, bytes, "the merged states");
    tally_state_close(state);
}

static void test_splits(void **state) {
    subject s = {.op = -1};
    uint64_t random = seed;
    (void)state;
    for (int trial = 0; next_subject(&s); trial++)
        for (int round = 0; round < (quick ? 3 : 12); round++) {
            int64_t most = (quick ? 3 : 9) * tally_leaf_length(s.type);
            whole w =
                make_whole(&s, (data_class)((trial + round) % DATA_CLASSES), round ? random_below(&random, most) : 0);
            check_split(&w, result_bytes(&s), false, &random);
            if (!order_shows(&s)) check_split(&w, result_bytes(&s), true, &random);
        }
}

/* After merging, states of both kinds go on as if nothing had been. */
static void test_push_after_merge(void **state) {
    subject s = {.op = -1};
    uint64_t random = seed + 1;
    (void)state;
    for (int trial = 0; next_subject(&s); trial++) {
        int64_t leaf = tally_leaf_length(s.type), a = leaf + 3, b = 2 * leaf + trial % 5, all = 5 * leaf + 11;
        whole w = make_whole(&s, (data_class)(trial % DATA_CLASSES), all);
        for (int at_zero = 0; at_zero <= !order_shows(&s); at_zero++) {
            tally_state *first = open_piece(&w, 0, a, 0, &random);
            tally_state *second = open_piece(&w, a, b, at_zero ? 0 : a, &random);
            EXPECT_OK(tally_state_merge(first, second));
            first = through_bytes(first, &w);
            EXPECT_OK(push(first, &w, a + b, all - a - b - 5));
            tally_state_close(second);
            second = open_piece(&w, all - 5, 5, at_zero ? 0 : all - 5, &random);
            EXPECT_OK(tally_state_merge(first, second));
            expect_finish(first, &w, result_bytes(&s), "merged, pushed to and merged again");
            expect_finish(first, &w, result_bytes(&s), "finished twice");
            tally_state_close(second);
            tally_state_close(first);
        }
    }
}

/* Pushes of strided and backward arrays, and by several threads. */
static void test_pushed_layouts(void **state) {
    subject s = {.op = -1};
    (void)state;
    for (int trial = 0; next_subject(&s); trial++) {
        const layout *l = &layouts[trial % LAYOUTS];
        int64_t count = quick ? 30000 : (int64_t)(400000 / tally_type_size(s.type)), at = 0;
        whole w = make_whole(&s, (data_class)(trial % DATA_CLASSES), count);
        tally_state *sum;
        now.layout = l->name;
        EXPECT_OK(tally_state_open(context_for(&s, TALLY_BACKEND_CPU, 3), s.op, s.type, 0, &sum));
        for (int64_t n = 77; at < count; at += n, n = n * 7 < count - at ? n * 7 : count - at) {
            tally_array x = lay_out(l, w.x + (size_t)at * w.bytes, s.type, n, scratch(2, layout_bytes(l, w.bytes, n)));
            tally_array y = lay_out(l, w.y + (size_t)at * w.bytes, s.type, n, scratch(3, layout_bytes(l, w.bytes, n)));
            EXPECT_OK(tally_op_inputs(s.op) == 2 ? tally_state_push_pair(sum, x, y) : tally_state_push(sum, x));
        }
        expect_finish(sum, &w, result_bytes(&s), "pushes of another layout");
        tally_state_close(sum);
    }
}

/* ---- what is refused ---- */

static tally_state *open_at(tally_op op, tally_type type, int64_t first) {
    tally_state *state;
    subject fast = {op, type, TALLY_NAN_PROPAGATE, 0, TALLY_FAST};
    EXPECT_OK(tally_state_open(context_for(&fast, TALLY_BACKEND_CPU, 0), op, type, first, &state));
    return state;
}

static void test_order(void **state) {
    double x[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, got;
    int64_t at;
    tally_state *a = open_at(TALLY_SUM, TALLY_F64, 0), *b = open_at(TALLY_SUM, TALLY_F64, 4),
                *c = open_at(TALLY_SUM, TALLY_F64, 0);
    tally_state *arg = open_at(TALLY_ARGMAX, TALLY_F64, 6), *late = open_at(TALLY_ARGMAX, TALLY_F64, 20);
    (void)state;
    now = (scene){.op = TALLY_SUM, .type = TALLY_F64, .segments = "states out of order"};
    EXPECT_OK(tally_state_push(a, tally_in(x, TALLY_F64, 3)));
    EXPECT_OK(tally_state_push(b, tally_in(x + 4, TALLY_F64, 6)));
    EXPECT_STATUS(tally_state_merge(a, b), TALLY_BAD_ORDER);
    EXPECT_STATUS(tally_state_merge(a, c), TALLY_BAD_ORDER); /* its order shows: opened at 0 will not do */
    EXPECT_STATUS(tally_state_merge(b, a), TALLY_BAD_ORDER);
    EXPECT_STATUS(tally_state_finish(b, tally_out(&got, TALLY_F64, 1)), TALLY_BAD_ORDER);
    EXPECT_OK(tally_state_push(a, tally_in(x + 3, TALLY_F64, 1)));
    EXPECT_OK(tally_state_merge(a, b));
    EXPECT_OK(tally_state_finish(a, tally_out(&got, TALLY_F64, 1)));
    assert_true(got == 55);
    EXPECT_OK(tally_state_push(arg, tally_in(x, TALLY_F64, 10)));
    EXPECT_STATUS(tally_state_merge(arg, late), TALLY_BAD_ORDER);
    EXPECT_OK(tally_state_finish(arg, tally_out(&at, TALLY_I64, 1))); /* places are those of the whole */
    assert_int_equal(at, 15);
    tally_state *all[] = {a, b, c, arg, late};
    for (int i = 0; i < 5; i++) tally_state_close(all[i]);
}

static void test_unlike(void **state) {
    tally_state *sum = open_at(TALLY_SUM, TALLY_I32, 0), *others[4], *none = (tally_state *)(void *)&others;
    subject skip = {TALLY_SUM, TALLY_I32, TALLY_NAN_SKIP, 1, TALLY_BEST};
    (void)state;
    now = (scene){.op = TALLY_SUM, .type = TALLY_I32, .segments = "states unlike one another"};
    others[0] = open_at(TALLY_MIN, TALLY_I32, 0);
    others[1] = open_at(TALLY_SUM, TALLY_I64, 0);
    EXPECT_OK(tally_state_open(context_for(&skip, TALLY_BACKEND_CPU, 1), TALLY_SUM, TALLY_I32, 0, &others[2]));
    EXPECT_OK(tally_state_open(context_for(&(subject){TALLY_SUM, TALLY_I32, 0, 1, TALLY_BEST}, TALLY_BACKEND_CPU, 1),
                               TALLY_SUM, TALLY_I32, 0, &others[3]));
    for (int i = 0; i < 4; i++) {
        EXPECT_STATUS(tally_state_merge(sum, others[i]), TALLY_BAD_ARGUMENT);
        tally_state_close(others[i]);
    }
    EXPECT_STATUS(tally_state_merge(sum, sum), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_state_merge(sum, NULL), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_state_merge(NULL, sum), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_state_open(NULL, TALLY_SUM, TALLY_I32, -1, &none), TALLY_BAD_ARGUMENT);
    EXPECT(none == NULL, "a refused open left something in *state");
    EXPECT_STATUS(tally_state_open(NULL, TALLY_SUM, TALLY_I32, INT64_MAX, &none), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_state_open(NULL, TALLY_OP_END, TALLY_I32, 0, &none), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_state_open(NULL, TALLY_XOR, TALLY_F32, 0, &none), TALLY_BAD_TYPE);
    EXPECT_STATUS(tally_state_open(NULL, TALLY_SUM, TALLY_I32, 0, NULL), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_state_push(sum, tally_in(NULL, TALLY_I32, 1)), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_state_push(sum, tally_in("1234567", TALLY_I64, 1)), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_state_push_pair(sum, tally_in(NULL, TALLY_I32, 0), tally_in(NULL, TALLY_I32, 0)),
                  TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_state_push(NULL, tally_in(NULL, TALLY_I32, 0)), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_state_finish(NULL, tally_out(&none, TALLY_NATURAL, 1)), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_state_finish(sum, tally_out(NULL, TALLY_NATURAL, 1)), TALLY_BAD_ARGUMENT);
    EXPECT(tally_state_count(sum) == 0, "a refused call changed the state");
    assert_int_equal(tally_state_count(NULL), 0);
    assert_int_equal(tally_state_first(NULL), 0);
    assert_int_equal(tally_state_op(NULL), TALLY_OP_END);
    assert_int_equal(tally_state_type(NULL), TALLY_NATURAL);
    tally_state_close(sum);
    tally_state_close(NULL);
}

/* ---- the caller's own operators ---- */

static tally_context *context_with(tally_operator definition, tally_op *op) {
    tally_context *context;
    EXPECT_OK(tally_context_create(NULL, &context));
    *op = define(context, definition);
    return context;
}

/* Indices and order survive any split; states of another context's operator of that name are found and merged. */
static void test_user_states(void **state) {
    enum { N = 5000 };
    tally_op op, other_op;
    tally_context *context = context_with(run_operator(TALLY_I16), &op),
                  *other = context_with(run_operator(TALLY_I16), &other_op);
    const int16_t *x = data_of(TALLY_I16, ANY_BITS, N);
    (void)state;
    for (int64_t boundary = 0; boundary <= N; boundary += boundary % 5 ? 611 : 7) {
        index_run got;
        tally_state *a, *b, *loaded;
        size_t size;
        char *saved;
        now = (scene){.segments = "states of a user operator", .size = boundary};
        EXPECT_OK(tally_state_open(context, op, TALLY_I16, 0, &a));
        EXPECT_OK(tally_state_open(other, other_op, TALLY_I16, boundary, &b));
        EXPECT_OK(tally_state_push(a, tally_in(x, TALLY_I16, boundary)));
        EXPECT_OK(tally_state_push(b, tally_in(x + boundary, TALLY_I16, N - boundary)));
        EXPECT_OK(tally_state_save(b, NULL, 0, &size));
        saved = scratch(SAVED, size);
        EXPECT_OK(tally_state_save(b, saved, size, &size));
        EXPECT_STATUS(tally_state_load(NULL, saved, size, &loaded), TALLY_BAD_STATE);
        EXPECT_OK(tally_state_load(context, saved, size, &loaded));
        EXPECT_OK(tally_state_merge(a, boundary % 2 ? loaded : b));
        EXPECT_OK(tally_state_finish(a, tally_out(&got, TALLY_NATURAL, 1)));
        EXPECT(got.first == 0 && got.last == N - 1 && got.whole, "indices %lld to %lld, whole %lld",
               (long long)got.first, (long long)got.last, (long long)got.whole);
        tally_state_close(a), tally_state_close(b), tally_state_close(loaded);
    }
    assert_int_equal(broken_promises, 0);
    tally_context_destroy(context);
    tally_context_destroy(other);
}

/* One name, two operators: what was saved or merged for one is refused by the other. */
static void test_namesakes(void **state) {
    tally_op op, other_op;
    tally_context *context = context_with(squares_operator(8), &op),
                  *other = context_with(squares_operator(64), &other_op);
    char values[64 * 70] = {0}, saved[8192];
    tally_state *a, *b, *loaded;
    size_t size;
    (void)state;
    now = (scene){.segments = "operators of one name"};
    EXPECT_OK(tally_state_open(context, op, TALLY_STRUCT, 0, &a));
    EXPECT_OK(tally_state_open(other, other_op, TALLY_STRUCT, 0, &b));
    EXPECT_OK(tally_state_push(a, tally_in(values, TALLY_STRUCT, 70)));
    EXPECT_STATUS(tally_state_merge(b, a), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_state_merge(a, b), TALLY_BAD_ARGUMENT);
    EXPECT_OK(tally_state_save(a, saved, sizeof saved, &size));
    EXPECT_STATUS(tally_state_load(other, saved, size, &loaded), TALLY_BAD_STATE);
    EXPECT(loaded == NULL, "a refused load left something in *state");
    tally_state_close(a), tally_state_close(b);
    tally_context_destroy(context);
    tally_context_destroy(other);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_splits),         cmocka_unit_test(test_push_after_merge),
        cmocka_unit_test(test_pushed_layouts), cmocka_unit_test(test_order),
        cmocka_unit_test(test_unlike),         cmocka_unit_test(test_user_states),
        cmocka_unit_test(test_namesakes),
    };
    int skipped = begin_program(argc, argv);
    return skipped ? skipped : cmocka_run_group_tests(tests, NULL, NULL);
}
