/* Where threads meet: the block's barrier, and the meetings of a warp; and what is wrong with how they do. */
#include "simt/running.h"

/* ---- the block's barrier ---- */

/* The first thread that has ended, or the number of threads. */
static int ended_thread(const block *b) {
    int w = 0;
    while (w < MOST_WARPS && b->warps[w].ended == 0) w++;
    return w * tally__machine.settings.lanes + (w < MOST_WARPS ? first_of(b->warps[w].ended) : 0);
}

void tally__machine_barrier(int32_t threads, const char *site) {
    thread *self = tally__machine.now;
    block *b = self->block;
    warp *w = self->warp;
    char *order = &b->order[b->turn];
    if (self->place.thread >= threads || threads > b->threads)
        tally__machine_fail("divergent barrier: it waits at %s for %d threads, whose it is not",
                            tally__short_site(site), threads);
    if (ended_thread(b) < threads)
        tally__machine_fail("divergent barrier: it waits at %s for thread %d, which has ended", tally__short_site(site),
                            ended_thread(b));
    if (w->arrived != 0)
        tally__machine_fail("deadlock: it waits at the barrier of %s, lane %d of its warp at the %s of %s",
                            tally__short_site(site), first_of(w->arrived), tally__meeting_name(w->meeting),
                            tally__short_site(w->site));
    if (b->waiting != 0 && b->barrier != site)
        tally__machine_fail("divergent barrier: it waits at %s, others at %s", tally__short_site(site),
                            tally__short_site(b->barrier));
    b->barrier = site;
    b->awaited = threads;
    tally__simt_seen(TALLY_SIMT_BARRIER, NULL, 0, site);
    w->at_barrier |= UINT32_C(1) << self->lane;
    TALLY_RELEASE(order);
    tally__schedule_wait(self->number);
    if (++b->waiting == threads) {
        tally__machine.counters.barriers++;
        b->waiting = 0;
        b->turn ^= 1;
        for (int i = 0; i < threads; i++) tally__schedule_ready(b->members[i].number);
        for (int i = 0; i < (threads + tally__machine.settings.lanes - 1) / tally__machine.settings.lanes; i++)
            b->warps[i].at_barrier = 0;
        tally__machine_step(TALLY_STEP_MET);
    } else
        tally__machine_step(TALLY_STEP_WAIT);
    TALLY_ACQUIRE(order);
}

/* ---- meetings of a warp ---- */

static void check_source(const thread *self, const char *name, int32_t source, const char *site) {
    const warp *w = self->warp;
    if (source < 0 || source >= tally__machine.settings.lanes)
        tally__machine_fail("the %s of %s reads lane %d of %d", name, tally__short_site(site), source,
                            tally__machine.settings.lanes);
    if ((w->lanes >> source & 1) == 0)
        tally__machine_fail("the %s of %s reads lane %d, which a block of %d threads does not have", name,
                            tally__short_site(site), source, self->block->threads);
    if (w->ended >> source & 1)
        tally__machine_fail("the %s of %s reads lane %d, which has ended", name, tally__short_site(site), source);
}

static uint32_t vote(const warp *w) {
    uint32_t result = w->meeting == TALLY_SIMT_MIN ? UINT32_MAX : 0;
    for (int i = 0; i < tally__machine.settings.lanes; i++) {
        uint32_t value = w->values[i];
        if ((w->lanes >> i & 1) == 0) continue;
        if (w->meeting == TALLY_SIMT_MIN)
            result = value < result ? value : result;
        else if (w->meeting == TALLY_SIMT_BALLOT)
            result |= value << i;
        else
            result = value > result ? value : result;
    }
    return result;
}

static void hand_out(warp *w, thread *first) {
    bool shuffles = w->meeting == TALLY_SIMT_SHUFFLE || w->meeting == TALLY_SIMT_SHUFFLE_XOR;
    uint32_t same = shuffles ? 0 : vote(w);
    tally__machine.counters.meetings++;
    for (int i = 0; i < tally__machine.settings.lanes && w->lanes >> i & 1; i++) {
        first[i].result = shuffles ? w->values[w->sources[i]] : same;
        tally__schedule_ready(first[i].number);
    }
    w->arrived = 0;
    w->turn ^= 1;
}

uint32_t tally__machine_meet(tally__simt_meeting meeting, uint32_t value, int32_t argument, const char *site) {
    thread *self = tally__machine.now;
    warp *w = self->warp;
    const char *name = tally__meeting_name(meeting);
    const int lane = self->lane;
    char *order = &w->order[w->turn];
    if (meeting == TALLY_SIMT_SHUFFLE) argument &= tally__machine.settings.lanes - 1; /* as in __shfl_sync */
    if (meeting == TALLY_SIMT_SHUFFLE_XOR) argument ^= lane;
    if (meeting == TALLY_SIMT_SHUFFLE || meeting == TALLY_SIMT_SHUFFLE_XOR) check_source(self, name, argument, site);
    if (w->ended != 0)
        tally__machine_fail("the %s of %s is for all lanes, but lane %d has ended", name, tally__short_site(site),
                            first_of(w->ended));
    if (w->at_barrier != 0)
        tally__machine_fail("deadlock: it waits at the %s of %s, lane %d of its warp at the barrier of %s", name,
                            tally__short_site(site), first_of(w->at_barrier), tally__short_site(self->block->barrier));
    if (w->arrived != 0 && (w->meeting != meeting || w->site != site))
        tally__machine_fail("divergent warp: it is at the %s of %s, lane %d at the %s of %s", name,
                            tally__short_site(site), first_of(w->arrived), tally__meeting_name(w->meeting),
                            tally__short_site(w->site));
    tally__machine_see_meeting(meeting, value, argument, site);
    w->meeting = meeting;
    w->site = site;
    w->values[lane] = value;
    w->sources[lane] = argument;
    w->arrived |= UINT32_C(1) << lane;
    /* Only the barrier orders memory, not shuffles and votes: CUDA C++ Programming Guide, "Warp Shuffle Functions",
     * "Warp Vote Functions". */
    if (meeting == TALLY_SIMT_WARP_BARRIER) TALLY_RELEASE(order);
    tally__schedule_wait(self->number);
    if (w->arrived == w->lanes) {
        hand_out(w, self - lane);
        tally__machine_step(TALLY_STEP_MET);
    } else
        tally__machine_step(TALLY_STEP_WAIT);
    if (meeting == TALLY_SIMT_WARP_BARRIER) TALLY_ACQUIRE(order);
    return self->result;
}
