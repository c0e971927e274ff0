/* Between picture.c, which reads a trace, and flow.c, which finds what each element is made of. */
#ifndef GALLERY_HOST_FLOW_H
#define GALLERY_HOST_FLOW_H

#include "gallery/host/gallery.h"

enum {
    TALLY_HELD = 160,            /* elements that a thread can have read and not yet used */
    TALLY_MOST_AT = 2304,        /* cells of a place */
    TALLY_PICTURED_THREADS = 128 /* of a block */
};

/* An element that a thread has in a register: the box it is from, and the frame in which it was read. */
typedef struct tally__held {
    int box, frame;
    uint64_t holds;
} tally__held;

typedef struct tally__hand {
    tally__held held[TALLY_HELD]; /* in the order in which they came */
    int count;
    int word;        /* shuffles take an element word by word: how many of it were given */
    uint32_t low;    /* the first */
    int lane, frame; /* of a shuffle that is under way: whose element comes, and when; lane -1: none */
    int given;       /* the box of the element that it gave last; -1: it was empty */
    int registers;   /* the same, or what it has made of it since by reading itself */
    int received;    /* the box of the element that came last, while nothing is made of it; else -1 */
} tally__hand;

/* The elements of one block, and those of global memory. */
typedef struct tally__flow {
    tally__picture *picture;
    int box_capacity, from_capacity;
    bool no_memory;
    int block;
    tally__hand hands[TALLY_PICTURED_THREADS];
    int cell[TALLY_MOST_PLACES][TALLY_MOST_AT]; /* the box that lies there; -1: nothing */
} tally__flow;

void tally__flow_begin(tally__flow *flow, tally__picture *picture);
/* Registers and shared memory are another block's from now on. */
void tally__flow_begin_block(tally__flow *flow, int block);
/* A barrier, or the end: what the thread made last and nobody takes is a box too. */
void tally__flow_rest(tally__flow *flow, int thread);
void tally__flow_read(tally__flow *flow, int thread, int frame, int place, int at, uint64_t holds);
void tally__flow_write(tally__flow *flow, int thread, int frame, int place, int at, uint64_t holds);
/* A word of the element that the thread gives, while it takes that of thread `from`. */
void tally__flow_shuffle(tally__flow *flow, int thread, int frame, uint32_t word, int from);

#endif
