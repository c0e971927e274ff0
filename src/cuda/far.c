/* What the CPU needs of arrays that lie on a GPU, for states: nodes, and the values of less than a leaf. */
#include "cuda/far.h"

#include "cuda/call.h"
#include "cuda/whole.h"

/* Opens a call for arrays that lie on a GPU. The caller closes it, also after a failure. */
static tally_status begin_far(const tally__spec *spec, const tally__input *in, tally__call *c) {
    TALLY_TRY(tally__call_open(c, tally__platform_of(&spec->options), spec, in, NULL, NULL));
    TALLY_CHECK(c->copy_count == 0, BAD_ARGUMENT,
                "the two arrays lie in different memory: both must be in that of one GPU, or both in the host's");
    return tally__check_given(c);
}

tally_status tally__far_tree(const tally__spec *spec, const tally__input *in, int64_t begin, int64_t n, int64_t first,
                             tally__node *node) {
    tally__call c;
    tally_status status = begin_far(spec, in, &c);
    if (status == TALLY_OK) status = tally__launch_whole(&c, begin, n, first, TALLY_WRITES_NODE, 0);
    if (status == TALLY_OK) status = tally__call_fetch(&c, node, c.scratch.node, tally__geometry_of(spec).node_size);
    tally__call_close(&c);
    return status;
}

/* Copies n values, fewer than a leaf, that lie `stride` bytes apart: at once if they lie side by side, otherwise one by
 * one. */
static tally_status copy_far(const tally__call *c, const char *from, int64_t stride, int64_t n, char *to) {
    const tally__driver *driver = c->gpu->driver;
    int64_t bytes = (int64_t)tally__geometry_of(c->spec).value_bytes, pieces = stride == bytes ? 1 : n;
    for (int64_t i = 0; i < pieces; i++)
        TALLY_TRY(tally__gpu_check(driver,
                                   driver->copy_out(to + i * bytes, tally__address(from + i * stride),
                                                    (size_t)(n / pieces * bytes), c->stream),
                                   "copy values"));
    return TALLY_OK;
}

tally_status tally__far_values(const tally__spec *spec, const tally__input *in, int64_t begin, int64_t n, void *x,
                               void *y) {
    tally__call c;
    tally_status status;
    if (n == 0) return TALLY_OK;
    status = begin_far(spec, in, &c);
    if (status == TALLY_OK) status = copy_far(&c, in->x + begin * in->x_stride, in->x_stride, n, x);
    if (status == TALLY_OK && spec->inputs == 2)
        status = copy_far(&c, in->y + begin * in->y_stride, in->y_stride, n, y);
    if (status == TALLY_OK)
        status = tally__gpu_check(c.gpu->driver, c.gpu->driver->stream_wait(c.stream), "copy values");
    tally__call_close(&c);
    return status;
}

tally_status tally__far_store(const tally__spec *spec, void *to, const void *bytes, size_t count) {
    const tally__input none = {.count = 0};
    const tally__sink sink = {.data = to};
    tally__call c;
    tally_status status = tally__call_open(&c, tally__platform_of(&spec->options), spec, &none, NULL, &sink);
    if (status == TALLY_OK) status = tally__call_store(&c, tally__address(to), bytes, count);
    tally__call_close(&c);
    return status;
}
