#include "node_side.h"

tally_status segments_nodes(tally_context *context, const subject *s, const void *x, const void *y, int64_t count,
                            tally_segments segments, void *nodes, size_t space) {
    const tally_array left = tally_in(x, s->type, count), right = tally_in(y, s->type, count);
    return tally_op_inputs(s->op) == 2
               ? tally_reduce_segments_nodes_pair(context, s->op, left, right, segments, nodes, space)
               : tally_reduce_segments_nodes(context, s->op, left, segments, nodes, space);
}

void expect_nodes(side *g, int64_t count, const char *what) {
    device_read(g->got, g->nodes + g->offset, (size_t)count * g->node);
    EXPECT_BITS(g->got, g->wanted, (size_t)count * g->node, what);
}

void open_side(side *g, const subject *s, data_class class, int64_t count, int trial) {
    char empty[SEGMENTS * MOST_NODE] = {0};
    g->s = s;
    g->x = data_of(s->type, class, count);
    g->y = data_of(s->type, TIES, count);
    g->context = context_for(s, backend, 1);
    g->host = context_for(s, TALLY_BACKEND_CPU, 1);
    EXPECT_OK(tally_node_bytes(g->host, s->op, s->type, &g->node));
    g->offset =
        s->accuracy == TALLY_FAST || tally_type_size(s->type) < 2 ? (size_t)(trial % 3) : 8 * (size_t)(trial % 2);
    if (g->node % 8 == 0) g->offset = 8 * (size_t)(trial % 2);
    g->x_there = device_copy(g->x, (size_t)count * tally_type_size(s->type), 0);
    g->y_there = device_copy(g->y, (size_t)count * tally_type_size(s->type), 0);
    g->nodes = device_copy(empty, SEGMENTS * g->node, g->offset);
    set_scene(s, class, count);
    choose_schedule(trial);
}
void close_side(side *g) {
    driver->release(g->nodes);
    driver->release(g->y_there);
    driver->release(g->x_there);
}
