/* Records what threads do, for a trace. */
#include "simt/running.h"

static tally__simt_event event_of(tally__simt_sight sight, const char *site) {
    const thread *self = tally__machine.now;
    return (tally__simt_event){.sight = sight,
                               .launch = tally__machine.launches_traced - 1,
                               .block = self->block->index,
                               .thread = self->place.thread,
                               .step = self->step,
                               .label = self->label,
                               .object = TALLY_SIMT_GLOBAL,
                               .site = site};
}

void tally__machine_see_meeting(tally__simt_meeting meeting, uint32_t value, int32_t source, const char *site) {
    if (!tally__machine.words.traces) return;
    tally__simt_event event = event_of(TALLY_SIMT_MEETING, site);
    event.taken = meeting == TALLY_SIMT_SHUFFLE || meeting == TALLY_SIMT_SHUFFLE_XOR;
    event.at = source;
    event.value = value;
    tally__simt_trace_add(&event);
}

void tally__machine_see(tally__simt_sight sight, const void *p, size_t bytes, const char *site) {
    thread *self = tally__machine.now;
    const block *b = self->block;
    tally__simt_event event;
    if (sight == TALLY_SIMT_STEP) {
        self->step++;
        self->label = (int32_t)bytes;
    }
    event = event_of(sight, site);
    if (p != NULL) __builtin_memcpy(&event.value, p, bytes < sizeof event.value ? bytes : sizeof event.value);
    event.bytes = p != NULL ? (int32_t)bytes : 0;
    event.taken = sight == TALLY_SIMT_BRANCH && bytes != 0;
    event.at = (int64_t)(uintptr_t)p;
    for (int i = 0; i < b->object_count; i++) {
        const object *o = &b->objects[i];
        if ((uintptr_t)p - (uintptr_t)o->start >= o->bytes) continue;
        event.object = i;
        event.object_site = o->site;
        event.at = (const char *)p - o->start;
    }
    tally__simt_trace_add(&event);
}
