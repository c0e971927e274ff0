/* What the frames of a picture are called. */
#include <string.h>

#include "gallery/command/picture.h"

const char *set_text(uint64_t set, char *text) {
    int at = 0, runs = 0;
    text[0] = '\0';
    for (int i = 0; i < TALLY_MOST_PICTURED;) {
        if ((set >> i & 1) == 0) {
            i++;
            continue;
        }
        int end = i;
        while (end + 1 < TALLY_MOST_PICTURED && set >> (end + 1) & 1) {
            end++;
        }
        uint64_t rest = end + 1 < TALLY_MOST_PICTURED ? set >> (end + 1) : 0;
        if (runs < 2 || rest == 0) {
            at +=
                snprintf(text + at, (size_t)(SET_TEXT - at), end > i ? "%s%d-%d" : "%s%d", runs > 0 ? "," : "", i, end);
        } else if (runs == 2) {
            at += snprintf(text + at, (size_t)(SET_TEXT - at), ",..");
        }
        runs++;
        i = end + 1;
    }
    return text;
}

static bool is_global(int place) { return place < TALLY_PLACE_SHARED && place != TALLY_PLACE_REGISTERS; }

/* What is done to make a box. */
enum { LOAD = 1, COMBINE = 2, COPY = 4, STORE = 8 };
static unsigned deed_of(const tally__picture *picture, const tally__box *box) {
    const int *from = picture->from + box->first_from;
    bool loads = true;
    for (int k = 0; k < box->froms; k++) {
        loads = loads && is_global(picture->box[from[k]].place);
    }
    const tally__box *only = &picture->box[from[0]]; /* of its own cell: what it was combined with is the identity */
    bool combines = box->froms > 1 || (only->place == box->place && only->at == box->at);
    return (loads && box->place != TALLY_PLACE_OUTPUT ? LOAD : 0U) | (combines ? COMBINE : 0U) |
           (is_global(box->place) ? STORE : 0U) | (!combines && !loads && !is_global(box->place) ? COPY : 0U);
}

const char *frame_text(const tally__picture *picture, int frame, char *text) {
    static const char *const words[] = {"load", "combine", "copy", "store"};
    unsigned deeds = 0;
    int at = 0;
    for (int b = picture->count; b < picture->boxes; b++) {
        deeds |= picture->box[b].frame == frame ? deed_of(picture, &picture->box[b]) : 0;
    }
    const tally__frame *of = &picture->frame[frame];
    if (of->label >= 0) {
        at = snprintf(text, FRAME_TEXT, "step %d: ", of->label);
    }
    const char *between = "";
    for (int k = 0; k < 4; k++) {
        if (deeds >> k & 1) {
            at += snprintf(text + at, (size_t)(FRAME_TEXT - at), "%s%s", between, words[k]);
            between = ", ";
        }
    }
    return text;
}

const char *guard_text(const tally__picture *picture, int frame, char *text) {
    const tally__frame *of = &picture->frame[frame];
    text[0] = '\0';
    if (of->arrivals > 0 && of->last >= 0) {
        snprintf(text, FRAME_TEXT, "fence, then count: block %d is last", of->last);
    } else if (of->arrivals > 0) {
        snprintf(text, FRAME_TEXT, "fence, then count");
    }
    return text;
}

bool is_active(const tally__picture *picture, int frame, int block, int thread) {
    for (int b = picture->count; b < picture->boxes; b++) {
        const tally__box *box = &picture->box[b];
        if (box->frame == frame && box->block == block && box->thread == thread) {
            return true;
        }
    }
    return false;
}
