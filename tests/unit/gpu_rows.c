#include "gpu_rows.h"

#include <stdlib.h>
#include <string.h>

/* Numbers between -1 and 1 whose sums are rounded in every order: what the classes of data_of seldom are. */
static const char *rounding_data(tally_type type, int64_t count) {
    static struct {
        char *values;
        int64_t count;
    } pools[TALLY_TYPE_END]; /* each call takes another stretch: values made anew for every call took a third of the
                                time */
    static uint64_t random = 7;
    const int64_t bytes = (int64_t)tally_type_size(type);
    if (pools[type].count < 2 * count) {
        pools[type].count = 2 * count + 4096;
        pools[type].values = realloc(pools[type].values, (size_t)(pools[type].count * bytes));
        assert_non_null(pools[type].values);
        for (int64_t i = 0; i < pools[type].count; i++)
            put_number(type, pools[type].values, i, (double)(int64_t)(next_random(&random) >> 11) * 0x1p-52 - 1);
    }
    return pools[type].values + random_below(&random, pools[type].count - count + 1) * bytes;
}

void compare_rows(const subject *s, int class, shape of, int trial, const layout *l, bool on_device) {
    const int64_t count = of.outer * of.length * of.inner, results = of.outer * of.inner;
    const size_t bytes = result_bytes(s), space = layout_bytes(l, tally_type_size(s->type), count),
                 all = (size_t)results * bytes;
    const char *y = data_of(s->type, (data_class)((class + 5) % DATA_CLASSES), count), *x;
    if (class == ROUNDING && !is_float(s->type)) class = CANCELLATION;
    x = class == ROUNDING ? rounding_data(s->type, count) : data_of(s->type, (data_class) class, count);
    tally_array left = lay_out(l, x, s->type, count, scratch(0, space + 64)), right = {y, s->type, count, 0};
    tally_segments segments = tally_rows(of.outer, of.length, of.inner);
    char *wanted = scratch(1, all + 64), *got = scratch(2, all + 64);
    tally_output out = {got, TALLY_NATURAL, results, 0};
    tally__cu_address copies[3] = {0, 0, 0};
    memset(wanted, 0x5a, all + 64);
    memset(got, 0x5a, all + 64);
    tally_status due = perform(context_for(s, TALLY_BACKEND_CPU, 1), s->op, left, right, &segments,
                               (tally_output){wanted, TALLY_NATURAL, results, 0});
    set_scene(s, class == ROUNDING ? ANY_BITS : (data_class) class, count);
    if (class == ROUNDING) now.data = "rounding";
    now.outer = of.outer, now.length = of.length, now.inner = of.inner;
    choose_schedule(trial);
    if (on_device) {
        const char *memory = scratch(0, 1);
        copies[0] = device_copy(memory, space, 0);
        copies[1] = device_copy(y, (size_t)count * tally_type_size(s->type), 0);
        copies[2] = device_copy(got, all + 64, 0);
        left.data = (const char *)(uintptr_t)copies[0] + ((const char *)left.data - memory);
        right.data = (const char *)(uintptr_t)copies[1];
        out.data = (void *)(uintptr_t)copies[2];
        if (due != TALLY_OK && of.length > 0) due = TALLY_OK; /* of the values nothing is known when the call returns */
    }
    EXPECT_STATUS(perform(context_for(s, backend, 1), s->op, left, right, &segments, out), due);
    if (on_device) {
        device_read(got, copies[2], all + 64);
        for (int i = 0; i < 3; i++) driver->release(copies[i]);
    }
    for (int64_t i = 0; i < results; i++) {
        now.segment = i;
        EXPECT_BITS(got + (size_t)i * bytes, wanted + (size_t)i * bytes, bytes, "a result");
    }
    for (int k = 0; k < 64; k++) EXPECT(got[all + (size_t)k] == 0x5a, "a write behind the results");
}
