/* Groups of vectors reduced where they lie (kernels/production/segments/features.h): one launch for leaves, one for
 * each level of the tree above. A segment has as many levels as its vectors need in groups of TALLY_FAN leaves. */
#include "cuda/features.h"

#include "cuda/units.h"
#include "cuda/shape.h"

enum {
    FREE_LOG_LEAF = 9,    /* vectors of a leaf of an operator whose order cannot show */
    MOST_EACH = 128,      /* the most positions of a team's tile */
    EACH_OF_NODES = 1024, /* the same in launches for nodes, where most tiles have no work */
    MOST_LEVELS = 6
};

/* Exact sums are kept in a few doubles, which can only be rounded to f32 and f64. Other formats have other kernels. */
static bool has_kernel(const tally__spec *spec) {
    const int digits = spec->final.format.digits; /* 0 for a tally_stats */
    return spec->user == NULL && (!spec->exact || digits == 0 || digits == 24 || digits == 53);
}
bool tally__reads_in_place(const tally__call *call, const tally_group_work *group) {
    const tally__input *in = &call->in;
    const uint64_t bits = (uintptr_t)in->x | (uintptr_t)in->y | (uint64_t)in->x_stride | (uint64_t)in->y_stride;
    int64_t x_bytes, y_bytes; /* from a vector to the next */
    const bool are_far = __builtin_mul_overflow(in->x_stride, group->inner, &x_bytes) ||
                         __builtin_mul_overflow(in->y_stride, group->inner, &y_bytes) || x_bytes < 0 || y_bytes < 0 ||
                         x_bytes > INT32_MAX || y_bytes > INT32_MAX;
    return has_kernel(call->spec) && !are_far && bits % tally__geometry_of(call->spec).value_bytes == 0 &&
           (uintptr_t)group->offsets % (uintptr_t)group->offset_bytes == 0;
}

/* How many features a thread has in the kernel. */
static int64_t features_of(const tally__call *c) {
    const int how = c->spec->exact         ? TALLY_FEATURES_EXACT
                    : c->spec->order_shows ? TALLY_FEATURES_ORDERED
                                           : TALLY_FEATURES_FREE;
    return TALLY_FEATURES_ACROSS_OF((int64_t)tally__geometry_of(c->spec).value_bytes, c->spec->inputs, how);
}

static tally_status count_blocks(const tally__call *c, tally_group_work *group, int64_t *blocks) {
    const int64_t chunks = tally__over(group->inner, features_of(c) << group->log_across),
                  teams = TALLY_THREADS >> group->log_across,
                  tiles = (group->places + group->segments) / group->each + 1;
    TALLY_CHECK(!__builtin_mul_overflow(tally__over(tiles, teams), chunks, blocks) && *blocks < INT32_MAX, UNSUPPORTED,
                "%lld vectors of %lld features in %lld segments are more than this version reduces on a GPU at once",
                (long long)group->places, (long long)group->inner, (long long)group->segments);
    group->chunks = (int32_t)chunks;
    group->share = tally__over(group->segments, tally__over(tiles, teams));
    return TALLY_OK;
}

/* Makes teams and tiles as large as possible while all multiprocessors are busy. */
static tally_status shape_teams(const tally__call *c, tally_group_work *group, int64_t *blocks) {
    const int64_t wide = tally__over(group->inner, features_of(c)),
                  busy = 64 * TALLY_THREADS * (int64_t)c->gpu->multiprocessors;
    group->log_across = wide < 32 ? tally__log_above(wide) : 5;
    group->log_leaf = c->spec->order_shows ? tally__log_above(tally__geometry_of(c->spec).leaf) : FREE_LOG_LEAF;
    group->each = MOST_EACH;
    while (group->each > 8 && (group->places + group->segments) / group->each * wide < busy) group->each /= 2;
    return count_blocks(c, group, blocks);
}

/* Offsets in scratch memory: of the words that kernels set, which are cleared together; of results to be converted; of
 * the nodes of each level. */
typedef struct memory {
    uint64_t words, results, nodes[MOST_LEVELS], bytes;
    int64_t slots[MOST_LEVELS];
    int levels;
} memory;
enum { HAS_NODES, IS_UNSURE, WORDS };

static memory lay_out(const tally__call *c, const tally_group_work *group) {
    const int64_t node_bytes =
        c->spec->exact ? TALLY_EXPANSION_NODE_BYTES : (int64_t)tally__geometry_of(c->spec).node_size;
    memory m = {0};
    m.words = tally__take(&m.bytes, WORDS * 4);
    m.results = tally__take(&m.bytes, tally__staging_bytes(c, group->segments * group->inner));
    for (int log = group->log_leaf; group->places >> log > 0 && m.levels < MOST_LEVELS; log += TALLY_LOG_FAN) {
        m.slots[m.levels] = (group->places >> log) + 2;
        m.nodes[m.levels] = tally__take(&m.bytes, 2 * m.slots[m.levels] * group->inner * node_bytes);
        m.levels++;
    }
    return m;
}

static tally_status launch_all(const tally__call *c, tally_features_work *work, const memory *m, int64_t blocks) {
    tally_group_work *group = &work->group;
    char *const base = tally__pointer(c->scratch.nodes);
    tally__loaded kernels;
    TALLY_TRY(tally__gpu_kernel(c->gpu, c->spec, TALLY_FORM_FEATURES, &kernels));
    group->nodes_to = base + m->nodes[0];
    group->slots_to = m->slots[0];
    TALLY_TRY(tally__call_launch(c, &kernels, kernels.first, blocks, TALLY_START_BEHIND, work));
    group->each = EACH_OF_NODES;
    for (int level = 0; level < m->levels; level++, group->log_leaf += TALLY_LOG_FAN) {
        TALLY_TRY(count_blocks(c, group, &blocks));
        group->nodes_from = base + m->nodes[level];
        group->slots_from = m->slots[level];
        group->nodes_to = level + 1 < m->levels ? base + m->nodes[level + 1] : NULL;
        group->slots_to = level + 1 < m->levels ? m->slots[level + 1] : 0;
        TALLY_TRY(tally__call_launch(c, &kernels,
                                     c->spec->exact ? TALLY_ENTRY_expansion_feature_nodes : TALLY_ENTRY_feature_nodes,
                                     blocks, TALLY_START_BEHIND, work));
    }
    return TALLY_OK;
}

tally_status tally__reduce_features(tally__call *c, const tally_group_work *groups, int32_t *flags,
                                    tally__report *report, bool *is_done) {
    const bool is_waited_for = tally__call_waits(c);
    tally_features_work work = {
        .x = c->in.x, .y = c->in.y, .x_stride = c->in.x_stride, .y_stride = c->in.y_stride, .group = *groups};
    int64_t blocks;
    int32_t words[WORDS] = {0};
    *is_done = true;
    TALLY_TRY(shape_teams(c, &work.group, &blocks));
    const memory m = lay_out(c, &work.group);
    TALLY_TRY(tally__gpu_scratch(c->gpu, c->spec->context, c->stream, TALLY_FOR_FEATURES, (size_t)m.bytes, 0, 0,
                                 &c->scratch));
    const tally__cu_address base = c->scratch.nodes, staging = base + (tally__cu_address)m.results,
                            at_words = base + (tally__cu_address)m.words;
    work.out = tally__results_of(c, staging, flags);
    work.group.has_nodes = (int32_t *)tally__pointer(at_words) + HAS_NODES;
    work.group.is_unsure = (int32_t *)tally__pointer(at_words) + IS_UNSURE;
    TALLY_TRY(tally__call_clear(c, at_words, sizeof words));
    TALLY_TRY(launch_all(c, &work, &m, blocks));
    if (c->spec->exact && is_waited_for) {
        TALLY_TRY(tally__call_fetch(c, words, at_words, sizeof words));
        if (words[IS_UNSURE] != 0) return *is_done = false, TALLY_OK;
    }
    TALLY_TRY(tally__call_finalize(c, staging, work.group.segments * work.group.inner, tally__address(work.out.flags),
                                   report));
    if (c->spec->exact && !is_waited_for) {
        *is_done = false;
        c->wanted = work.group.is_unsure;
    }
    return TALLY_OK;
}
