#include "segment_problems.h"

#include <string.h>

/* What the CPU gives for each slice; of empty ones for the first. */
static tally_status reduce_slices(const subject *s, const char *x, const char *y, const ragged *r, char *wanted) {
    tally_context *context = context_for(s, TALLY_BACKEND_CPU, 1);
    int64_t width = (int64_t)tally_type_size(s->type), at = r->skip * width;
    size_t bytes = result_bytes(s);
    tally_status all = TALLY_OK;
    const char *of_nothing = NULL;
    for (int64_t i = 0; i < r->count; i++) {
        if (r->lengths[i] == 0 && of_nothing != NULL) {
            memcpy(wanted + (size_t)i * bytes, of_nothing, bytes);
            continue;
        }
        if (r->lengths[i] == 0) of_nothing = wanted + (size_t)i * bytes;
        tally_status one =
            perform(context, s->op, tally_in(x + at, s->type, r->lengths[i]), tally_in(y + at, s->type, r->lengths[i]),
                    NULL, tally_out(wanted + (size_t)i * bytes, TALLY_NATURAL, 1));
        EXPECT(one == TALLY_OK || one == TALLY_EMPTY || one == TALLY_OVERFLOW, "slice %d gave %s", (int)i,
               tally_status_name(one));
        if (one != TALLY_OK && all != TALLY_OVERFLOW) all = one;
        at += r->lengths[i] * width;
    }
    return all;
}

problem pose_values(const subject *s, const char *x, const char *y, ragged r) {
    char *wanted = scratch(WANTED, result_bytes(s) * (size_t)r.count + 1);
    problem p = {.s = s, .x = x, .y = y, .r = r, .wanted = wanted};
    p.due = reduce_slices(s, x, y, &p.r, wanted);
    return p;
}

problem pose_segments(const subject *s, ragged r, data_class class) {
    set_scene(s, class, r.values);
    return pose_values(s, data_of(s->type, class, r.values),
                       data_of(s->type, (data_class)((class + 5) % DATA_CLASSES), r.values), r);
}

tally_array on_device(const void *values, tally_type type, int64_t count, size_t offset, tally__cu_address *memory) {
    *memory = device_copy(values, (size_t)count * tally_type_size(type), offset);
    return (tally_array){(const void *)(uintptr_t)(*memory + offset), type, count, 0};
}

void expect_results(const char *got, int64_t stride, const char *wanted, size_t bytes, int64_t count) {
    for (now.segment = 0; now.segment < count; now.segment++)
        EXPECT_BITS(got + now.segment * stride, wanted + (size_t)now.segment * bytes, bytes, "the result");
}

void compare_host(const problem *p, tally_segmentation form, tally_type index_type, int trial) {
    const subject *s = p->s;
    const layout *l = &layouts[trial % LAYOUTS], *other = &layouts[(trial + 2) % LAYOUTS];
    size_t bytes = result_bytes(s), index_bytes, width = tally_type_size(s->type);
    int64_t skip, count, stride = (int64_t)bytes + (trial % 3 == 2 ? 5 : 0);
    tally_segments segments = make_segments(form, index_type, &p->r, trial % 4, &skip, &count, &index_bytes);
    const char *x = p->x + skip * (int64_t)width, *y = p->y + skip * (int64_t)width;
    tally_array left = lay_out(l, x, s->type, count, scratch(X, layout_bytes(l, width, count)));
    tally_array right = lay_out(other, y, s->type, count, scratch(Y, layout_bytes(other, width, count)));
    char *out = scratch(OUT, (size_t)(stride * p->r.count) + 64);
    now.layout = l->name;
    memset(out, 0xa5, (size_t)(stride * p->r.count) + 64);
    choose_schedule(trial);
    EXPECT_STATUS(perform(context_for(s, backend, 1), s->op, left, right, &segments,
                          (tally_output){out, TALLY_NATURAL, p->r.count, stride}),
                  p->due);
    expect_results(out, stride, p->wanted, bytes, p->r.count);
}

void compare_device(const problem *p, tally_segmentation form, tally_type index_type, int trial) {
    const subject *s = p->s;
    size_t bytes = result_bytes(s), index_bytes, width = tally_type_size(s->type),
           offset = (size_t)(trial % 4) * (trial % 5 ? width : 1);
    const size_t behind =
        (size_t)(trial % 3 == 0 ? 4 * (trial / 3 % 4) : trial % 3); /* the index's address, from a multiple of 16 */
    int64_t skip, count, stride = (int64_t)bytes + (trial % 3 == 2 ? 5 : 0);
    tally_segments segments = make_segments(form, index_type, &p->r, 0, &skip, &count, &index_bytes);
    tally__cu_address memory[4];
    tally_array left = on_device(p->x + skip * (int64_t)width, s->type, count, offset, &memory[0]);
    tally_array right = on_device(p->y + skip * (int64_t)width, s->type, count, 0, &memory[1]);
    char *out = scratch(OUT, (size_t)(stride * p->r.count) + 64);
    now.layout = "device memory";
    memory[2] = device_copy(segments.index, index_bytes, behind);
    segments.index = (const void *)(uintptr_t)(memory[2] + behind);
    memset(out, 0xa5, (size_t)(stride * p->r.count) + 64);
    memory[3] = device_copy(out, (size_t)(stride * p->r.count), 0);
    choose_schedule(trial);
    EXPECT_STATUS(perform(context_for(s, backend, 1), s->op, left, right, &segments,
                          (tally_output){(void *)(uintptr_t)memory[3], TALLY_NATURAL, p->r.count, stride}),
                  TALLY_OK);
    device_read(out, memory[3], (size_t)(stride * p->r.count));
    expect_results(out, stride, p->wanted, bytes, p->r.count);
    for (int k = 0; k < 4; k++) driver->release(memory[k]);
}

tally_context *checked_context_for(const subject *s, int checked) {
    tally_options options = tally_get_options(context_for(s, backend, 1));
    tally_context *context;
    options.checked = checked;
    EXPECT_OK(tally_context_create(NULL, &context));
    EXPECT_OK(tally_set_options(context, &options));
    return context;
}
