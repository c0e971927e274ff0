/* Rows along an axis that is not the last: where a thread stands, and what it reads. Panels are results side by side, TALLY_ACROSS for each
 * thread; threads that share a panel are its subs; a panel's rows are cut into chunks. No include guard; behind lib/leaf.h. */
typedef struct TALLY_N(panel) {
    tally_source x, y;
    int64_t begin;        /* the first value of the panel's first row */
    int64_t inner, i;     /* values from one row to the next; this thread's first result among them */
    int32_t across, sub, subs, lane;
    int32_t slot, threads; /* of the panels that the block takes; threads of each */
    int64_t outer, index, chunk; /* the panel's outer index, its number, and the chunk of it */
    int32_t is_task;      /* there is such a panel and chunk */
    int32_t is_there;     /* and it has results for this thread */
    int32_t apart;        /* of this thread's results */
    int32_t is_whole;     /* they lie side by side, at an address that is a multiple of their bytes, and all are there */
} TALLY_N(panel);

/* One value of each of the thread's results. */
typedef struct TALLY_N(strip) {
    TALLY_T v[TALLY_ACROSS];
} TALLY_N(strip);

TALLY_FN TALLY_N(strip) TALLY_N(read_strip)(const tally_source *from, const TALLY_N(panel) *panel, int64_t k) {
    TALLY_N(strip) strip;
    const int64_t at = panel->begin + k * panel->inner + panel->i;
    if (panel->is_whole) {
        const char *p = from->values + at * TALLY_BYTES;
        tally_quad quad;
        if (sizeof strip == 16)
            quad = tally_load16(p);
        else if (sizeof strip % 4 == 0) {
            TALLY_UNROLL
            for (uint32_t j = 0; j < sizeof strip / 4; j++) quad.w[j] = ((const uint32_t *)(const void *)p)[j];
        } else
            quad.w[0] = sizeof strip == 2 ? *(const uint16_t *)(const void *)p : *(const uint8_t *)p;
        __builtin_memcpy(&strip, &quad, sizeof strip);
    } else {
        TALLY_UNROLL
        for (int32_t v = 0; v < TALLY_ACROSS; v++)
            strip.v[v] = panel->i + v * panel->apart < panel->inner ? TALLY_N(read_one)(from, at + v * panel->apart) : (TALLY_T)0;
    }
    return strip;
}

TALLY_FN TALLY_N(panel) TALLY_N(panel_of)(const tally_work *work) {
    const int32_t threads = 1 << (work->log_across + work->log_subs), here = tally_thread() % threads, width = TALLY_ACROSS << work->log_across;
    const int64_t panels = (work->inner + width - 1) / width, task = (int64_t)tally_block() * (TALLY_BLOCK / threads) + tally_thread() / threads;
    TALLY_N(panel) panel;
    panel.x = tally_source_of(work->x, work->x_stride, TALLY_BYTES);
    panel.y = tally_source_of(work->y, work->y_stride, TALLY_BYTES);
    panel.threads = threads;
    panel.slot = tally_thread() / threads;
    panel.index = task / work->tiles;
    panel.chunk = task % work->tiles;
    panel.outer = panel.index / panels;
    panel.begin = panel.outer * work->length * work->inner;
    panel.inner = work->inner;
    panel.across = 1 << work->log_across;
    panel.subs = 1 << work->log_subs;
    panel.sub = here >> work->log_across;
    panel.lane = here & (panel.across - 1);
    panel.is_whole = panel.x.is_packed && panel.y.is_packed && work->inner % TALLY_ACROSS == 0;
    panel.apart = panel.is_whole ? 1 : panel.across;
    panel.i = panel.index % panels * width + (panel.is_whole ? panel.lane * TALLY_ACROSS : panel.lane);
    panel.is_task = panel.outer < work->outer;
    panel.is_there = panel.is_task && panel.i < work->inner;
    return panel;
}
/* The number among all results of this thread's result v; -1: there is none. */
TALLY_FN int64_t TALLY_N(result_of)(const TALLY_N(panel) *panel, int32_t v) {
    const int64_t i = panel->i + v * panel->apart;
    return panel->is_task && panel->sub == 0 && i < panel->inner ? panel->outer * panel->inner + i : -1;
}
