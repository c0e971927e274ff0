/* What each element is made of. A trace tells what threads read and write, and not what they do in between. But an
 * element is the set of the inputs in it, so that what was read last and together makes the set is what was combined.
 */
#include "gallery/host/flow.h"

#include <stdlib.h>
#include <string.h>

/* ---- boxes ---- */

static void grow(tally__flow *flow, void **array, int count, int *capacity, size_t bytes) {
    if (count < *capacity || flow->no_memory) return;
    void *more = realloc(*array, (size_t)(2 * *capacity + 256) * bytes);
    flow->no_memory = more == NULL;
    if (more == NULL) return;
    *array = more;
    *capacity = 2 * *capacity + 256;
}

static int add_box(tally__flow *flow, tally__box box) {
    tally__picture *picture = flow->picture;
    void *array = picture->box;
    grow(flow, &array, picture->boxes, &flow->box_capacity, sizeof box);
    picture->box = array;
    if (flow->no_memory) return -1;
    box.first_from = picture->froms;
    picture->box[picture->boxes] = box;
    return picture->boxes++;
}
static void add_from(tally__flow *flow, int from) {
    tally__picture *picture = flow->picture;
    void *array = picture->from;
    grow(flow, &array, picture->froms, &flow->from_capacity, sizeof from);
    picture->from = array;
    if (flow->no_memory) return;
    picture->from[picture->froms++] = from;
    picture->box[picture->boxes - 1].froms++;
}

/* ---- what a thread holds ---- */

static void hold(tally__hand *hand, int box, int frame, uint64_t holds) {
    for (int i = 0; i < hand->count; i++)
        if (hand->held[i].box == box) { /* it is the latest now */
            memmove(&hand->held[i], &hand->held[i + 1], (size_t)(--hand->count - i) * sizeof *hand->held);
            break;
        }
    if (hand->count == TALLY_HELD) memmove(hand->held, hand->held + 1, (size_t)--hand->count * sizeof *hand->held);
    hand->held[hand->count++] = (tally__held){box, frame, holds};
}

/* An element of the thread's registers, without what it is made of. */
static tally__box in_registers(const tally__flow *flow, int thread, int frame, uint64_t holds) {
    return (tally__box){.frame = frame,
                        .block = flow->block,
                        .thread = thread,
                        .place = TALLY_PLACE_REGISTERS,
                        .at = thread,
                        .holds = holds};
}

/* What the thread's last shuffle gave it is there when it goes on: all lanes have given theirs then. A lane that reads
 * itself combines its element with itself. */
static void receive(tally__flow *flow, int thread) {
    tally__hand *hand = &flow->hands[thread];
    int lane = hand->lane, given = lane < 0 ? -1 : flow->hands[lane].given;
    hand->lane = -1;
    if (given < 0 || flow->no_memory) return;
    uint64_t holds = flow->picture->box[given].holds;
    if (lane == thread) {
        hand->registers = add_box(flow, in_registers(flow, thread, hand->frame, holds));
        add_from(flow, given);
        hold(hand, hand->registers, hand->frame, holds);
        return;
    }
    hold(hand, given, hand->frame, holds);
    hand->received = given;
}

/* Takes out of the hand what makes `holds`: the latest first, and only what adds something. In the order in which it
 * came. */
static int take_makers(tally__hand *hand, uint64_t holds, tally__held *makers) {
    bool chosen[TALLY_HELD] = {false};
    uint64_t made = 0;
    int count = 0, kept = 0;
    for (int i = hand->count - 1; i >= 0; i--) {
        uint64_t in = hand->held[i].holds;
        chosen[i] = (in & ~holds) == 0 && (in & ~made) != 0;
        if (chosen[i]) made |= in;
    }
    for (int i = 0; i < hand->count; i++)
        if (chosen[i])
            makers[count++] = hand->held[i];
        else
            hand->held[kept++] = hand->held[i];
    hand->count = kept;
    return count;
}

/* What was read in a frame before the last is combined there, in a register. Gives how many makers are left. */
static int combine_early(tally__flow *flow, int thread, int frame, tally__held *makers, int count) {
    int first = 0;
    for (int i = 0; i < count; i++) {
        bool ends = i + 1 == count || makers[i + 1].frame != makers[i].frame;
        tally__held sum = makers[i];
        if (!ends || makers[i].frame == frame || i == first) continue;
        sum.holds = 0;
        for (int k = first; k <= i; k++) sum.holds |= makers[k].holds;
        sum.box = add_box(flow, in_registers(flow, thread, sum.frame, sum.holds));
        for (int k = first; k <= i; k++) add_from(flow, makers[k].box);
        makers[i] = sum;
        first = i;
    }
    memmove(makers, makers + first, (size_t)(count - first) * sizeof *makers);
    return count - first;
}

/* The box of an element that the thread has made, in a cell; -1: there is no memory. */
static int make(tally__flow *flow, int thread, int frame, int place, int at, uint64_t holds) {
    tally__held makers[TALLY_HELD];
    int count = take_makers(&flow->hands[thread], holds, makers), box;
    flow->hands[thread].received = -1;
    count = combine_early(flow, thread, frame, makers, count);
    box = add_box(
        flow,
        (tally__box){.frame = frame, .block = flow->block, .thread = thread, .place = place, .at = at, .holds = holds});
    for (int i = 0; i < count; i++) add_from(flow, makers[i].box);
    return box;
}

/* ---- what a thread does ---- */

void tally__flow_begin(tally__flow *flow, tally__picture *picture) {
    memset(flow, 0, sizeof *flow);
    flow->picture = picture;
    memset(flow->cell, -1, sizeof flow->cell);
    for (int i = 0; i < picture->count; i++)
        flow->cell[TALLY_PLACE_INPUT][i] = add_box(flow, (tally__box){.frame = -1, .at = i, .holds = UINT64_C(1) << i});
    picture->count = picture->boxes;
}

void tally__flow_begin_block(tally__flow *flow, int block) {
    flow->block = block;
    memset(flow->cell + TALLY_PLACE_SHARED, -1, sizeof flow->cell - TALLY_PLACE_SHARED * sizeof flow->cell[0]);
    for (int t = 0; t < TALLY_PICTURED_THREADS; t++)
        flow->hands[t] = (tally__hand){.lane = -1, .given = -1, .registers = -1, .received = -1};
}

/* After the last shuffle all lanes combine. */
void tally__flow_rest(tally__flow *flow, int thread) {
    tally__hand *hand = &flow->hands[thread];
    receive(flow, thread);
    if (hand->received < 0 || hand->registers < 0 || flow->no_memory) return;
    const tally__box *box = flow->picture->box;
    make(flow, thread, hand->frame, TALLY_PLACE_REGISTERS, thread,
         box[hand->registers].holds | box[hand->received].holds);
}

void tally__flow_read(tally__flow *flow, int thread, int frame, int place, int at, uint64_t holds) {
    int box = flow->cell[place][at];
    receive(flow, thread);
    if (holds != 0 && box >= 0) hold(&flow->hands[thread], box, frame, holds);
}

void tally__flow_write(tally__flow *flow, int thread, int frame, int place, int at, uint64_t holds) {
    int box = -1;
    receive(flow, thread);
    if (holds != 0) box = make(flow, thread, frame, place, at, holds);
    flow->cell[place][at] = box;
    if (box >= 0 && place != TALLY_PLACE_OUTPUT) hold(&flow->hands[thread], box, frame, holds);
}

/* With the last word the element is known. It was in a register since its makers came. */
void tally__flow_shuffle(tally__flow *flow, int thread, int frame, uint32_t word, int from) {
    tally__hand *hand = &flow->hands[thread];
    receive(flow, thread);
    if (++hand->word == 1) {
        hand->low = word;
        return;
    }
    uint64_t holds = hand->low | (uint64_t)word << 32;
    hand->word = 0;
    hand->lane = from;
    hand->frame = frame;
    if (holds == 0) {
        hand->given = hand->registers = -1;
        return;
    }
    const tally__held *latest = hand->count > 0 ? &hand->held[hand->count - 1] : NULL;
    bool is_there = latest != NULL && latest->box == hand->registers && latest->holds == holds;
    hand->given = hand->registers;
    if (is_there) return;
    hand->given = hand->registers =
        make(flow, thread, latest != NULL ? latest->frame : frame, TALLY_PLACE_REGISTERS, thread, holds);
    hold(hand, hand->registers, frame, holds);
}
