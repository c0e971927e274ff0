/* Who runs, and how a launch fails. */
#include "simt/running.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

tally__simt_machine tally__machine = {.settings = TALLY_SIMT_SETTINGS_INIT};
const tally__simt_words *tally__simt = &tally__machine.words;

const char *tally__meeting_name(tally__simt_meeting meeting) {
    static const char *const names[] = {"warp barrier", "shuffle",  "shuffle_xor", "any",
                                        "ballot",       "warp_max", "warp_min"};
    return names[meeting];
}

const char *tally__short_site(const char *site) {
    const char *kept[2] = {site, site};
    for (const char *c = site; *c != '\0' && *c != ' '; c++)
        if (*c == '/') kept[0] = kept[1], kept[1] = c + 1;
    return kept[0];
}

_Noreturn void tally__machine_fail(const char *format, ...) {
    const tally__simt_place *place = &tally__machine.now->place;
    int length = snprintf(tally__machine.sentence, sizeof tally__machine.sentence,
                          "block %d, thread %d: ", place->block, place->thread);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(tally__machine.sentence + length, sizeof tally__machine.sentence - (size_t)length, format, arguments);
    va_end(arguments);
    tally__machine.failed = true;
    TALLY_RELEASE(&tally__machine.ended); /* publishes the sentence */
    tally__fiber_switch(tally__machine.now->fiber, tally__machine.host);
    abort();
}

thread *tally__machine_thread(int number) {
    return &tally__machine.slots[number / TALLY_SIMT_MOST_THREADS].members[number % TALLY_SIMT_MOST_THREADS];
}

void tally__machine_run(tally__fiber *from, thread *next) {
    tally__machine.now = next;
    tally__machine.words.here = &next->place;
    tally__machine.counters.switches++;
    tally__fiber_switch(from, next->fiber);
}

void tally__machine_step(tally__step why) {
    thread *self = tally__machine.now;
    int next;
    if (++tally__machine.quiet_steps > tally__machine.settings.patience)
        tally__machine_fail("livelock: %lld steps and no thread ended", (long long)tally__machine.settings.patience);
    next = tally__schedule_next(self->number, why);
    if (next == self->number) return;
    if (next >= 0)
        tally__machine_run(self->fiber, tally__machine_thread(next));
    else
        tally__fiber_switch(self->fiber, tally__machine.host);
}
