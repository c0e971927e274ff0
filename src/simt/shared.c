/* Memory: shared objects and the gaps between them, and what orders accesses. */
#include <stdio.h>

#include "simt/running.h"

enum { POISON = 0xA5 };

void tally__machine_fence(void) {
    tally__machine.counters.fences++;
    tally__simt_seen(TALLY_SIMT_FENCE, NULL, 0, "a fence");
    TALLY_RELEASE(&tally__machine.fence);
    TALLY_ACQUIRE(&tally__machine.fence);
}

static void check_alignment(const void *p, size_t bytes, const char *what) {
    if ((uintptr_t)p % bytes != 0) tally__machine_fail("%s at %p, which is not a multiple of %zu", what, p, bytes);
}

void tally__machine_before_atomic(const void *p, size_t bytes) {
    check_alignment(p, bytes, "an atomic operation");
    tally__machine.counters.atomics++;
    tally__machine_step(TALLY_STEP_ATOMIC);
    tally__simt_seen(TALLY_SIMT_ATOMIC, p, bytes, "an atomic operation"); /* nobody runs before the operation */
}

void tally__machine_before_fresh(const void *p) {
    check_alignment(p, sizeof(uint64_t), "a fresh load");
    tally__machine.counters.fresh_loads++;
    tally__machine_step(TALLY_STEP_SPIN);
    TALLY_ACQUIRE(&tally__machine.fence);
}

static void check_end(const void *p, size_t bytes, const char *what) {
    if (tally__machine.job->is_inside != NULL && !tally__machine.job->is_inside(p, bytes))
        tally__machine_fail("%s at %p goes on behind what was allocated", what, p);
}

void tally__machine_before_load16(const void *p) {
    check_alignment(p, sizeof(tally_quad), "a 16-byte load");
    check_end(p, sizeof(tally_quad), "a 16-byte load");
    tally__machine.counters.loads16++;
    tally__simt_seen(TALLY_SIMT_READ, p, sizeof(tally_quad), "a 16-byte load");
}

/* ---- copies on their way ---- */

static copies *copies_of(const thread *t) { return &t->block->copies[t->place.thread]; }

void tally__machine_begin_copy(void *to, const void *from) {
    copies *mine = copies_of(tally__machine.now);
    if (mine->begun - mine->done == MOST_COPIES)
        tally__machine_fail("more than %d copies of a thread are on their way", MOST_COPIES);
    mine->of[mine->begun++ % MOST_COPIES] = (tally__simt_copy){to, from};
}
const tally__simt_copy *tally__machine_next_copy(void) {
    copies *mine = copies_of(tally__machine.now);
    return mine->done == mine->begun ? NULL : &mine->of[mine->done++ % MOST_COPIES];
}

void tally__machine_sleep(const void *p) {
    thread *self = tally__machine.now;
    self->awaited = p;
    self->block->asleep++;
    tally__schedule_wait(self->number);
    tally__machine_step(TALLY_STEP_WAIT);
}

void tally__machine_wake(const void *p) {
    block *b = tally__machine.now->block;
    for (int i = 0; i < b->threads && b->asleep > 0; i++) {
        thread *t = &b->members[i];
        if (t->awaited != p) continue;
        t->awaited = NULL;
        b->asleep--;
        tally__schedule_ready(t->number);
    }
}

static char *aligned(char *p, size_t alignment) { return p + (alignment - (uintptr_t)p % alignment) % alignment; }

/* Not memset: the thread sanitizer would take it for a write of the running thread, which others race with. */
static void poison(char *from, const char *to) {
    for (volatile char *p = from; p < to; p++) *p = (char)POISON;
}

/* Places an object, with gaps around it that nobody may write to. */
static void *lay_out(block *b, size_t bytes, size_t alignment, const char *site) {
    object *o = &b->objects[b->object_count];
    char *gap = b->shared_end, *start = aligned(gap + GAP, alignment);
    if (alignment > MOST_ALIGNMENT)
        tally__machine_fail("shared memory at %s: an alignment of %zu", tally__short_site(site), alignment);
    if (b->object_count == MOST_OBJECTS)
        tally__machine_fail("shared memory at %s: more than %d objects", tally__short_site(site), MOST_OBJECTS);
    b->object_count++;
    *o = (object){site, start, bytes};
    b->shared_end = start + bytes;
    TALLY_SHOW(gap, (size_t)(b->shared_end + GAP - gap));
    poison(gap, b->shared_end + GAP);
    TALLY_HIDE(gap, (size_t)(start - gap));
    TALLY_HIDE(b->shared_end, GAP);
    return start;
}

/* The object that was made at this place in the text, or NULL. */
static void *object_of(const block *b, size_t bytes, const char *site) {
    for (int i = 0; i < b->object_count; i++) {
        const object *o = &b->objects[i];
        if (o->site != site) continue;
        if (o->bytes != bytes)
            tally__machine_fail("shared memory at %s: %zu bytes, once %zu", tally__short_site(site), bytes, o->bytes);
        return o->start;
    }
    return NULL;
}

/* Like a __shared__ variable: one object for each place in the text, whichever threads ask, and how often. */
void *tally__machine_shared(size_t bytes, size_t alignment, const char *site) {
    block *b = tally__machine.now->block;
    void *known = object_of(b, bytes, site);
    if (known != NULL) return known;
    if (bytes > TALLY_SIMT_SHARED_BYTES - b->shared_bytes)
        tally__machine_fail("shared memory at %s: %zu bytes and %zu more, of %d", tally__short_site(site),
                            b->shared_bytes, bytes, TALLY_SIMT_SHARED_BYTES);
    b->shared_bytes += bytes;
    if ((int64_t)b->shared_bytes > tally__machine.counters.shared_bytes)
        tally__machine.counters.shared_bytes = (int64_t)b->shared_bytes;
    return lay_out(b, bytes, alignment, site);
}

/* Like an extern __shared__ array. */
void *tally__machine_shared_buffer(size_t bytes, const char *site) {
    block *b = tally__machine.now->block;
    void *known = object_of(b, bytes, site);
    if (known != NULL) return known;
    if (bytes > tally__machine.job->shared_bytes)
        tally__machine_fail("shared memory at %s: %zu bytes, and the launch gives %zu", tally__short_site(site), bytes,
                            tally__machine.job->shared_bytes);
    return lay_out(b, bytes, MOST_ALIGNMENT, site);
}

/* Finds writes to gaps when it is too late to say where; the address sanitizer finds them at once. */
void tally__machine_check_gaps(const block *b) {
#ifndef TALLY_SIMT_ASAN
    const char *p = b->shared;
    for (int i = 0; i <= b->object_count && b->object_count > 0; i++) {
        const char *end = i < b->object_count ? b->objects[i].start : b->shared_end + GAP;
        for (; p < end; p++)
            if (*p != (char)POISON && !tally__machine.failed) {
                snprintf(tally__machine.sentence, sizeof tally__machine.sentence,
                         "block %d wrote to shared memory %s %s", b->index, i > 0 ? "behind" : "before",
                         tally__short_site(b->objects[i > 0 ? i - 1 : 0].site));
                tally__machine.failed = true;
            }
        if (i < b->object_count) p += b->objects[i].bytes;
    }
#else
    (void)b;
#endif
}
