#include "commands/pass.h"

#include <inttypes.h>
#include <pthread.h>

#include "base/complain.h"
#include "base/progress.h"

enum { MOST_THREADS = 64 };

/* All but `lock` and `turn` belong to the thread that holds the lock. */
typedef struct pass {
    pthread_mutex_t lock;
    pthread_cond_t turn; /* a block was taken, or there are no more */
    table_reader *t;
    groups *all;
    block_end after;
    void *taker;
    int64_t taken, bytes; /* blocks, and bytes read up to them */
    int64_t lines;        /* of the file so far */
    const table_shape *shape;
    bool ended;  /* no more blocks are read */
    bool failed; /* and none is taken */
} pass;

/* The next block for a thread. The first of a file is read when all of the files before it are taken, so that what is
 * wrong in those comes first. */
static bool get_block(pass *p, table_block *b) {
    while (!p->ended && begins_file(p->t) && p->taken < p->t->blocks) {
        pthread_cond_wait(&p->turn, &p->lock);
    }
    if (!p->ended) {
        p->failed = !next_block(p->t, b);
        p->ended = p->failed || b->size == 0;
        pthread_cond_broadcast(&p->turn);
    }
    return !p->ended;
}

/* Takes a block, whose turn it is. */
static bool take_block(pass *p, const table_block *b, const block_rows *r) {
    if (p->shape != b->shape) {
        p->shape = b->shape;
        p->lines = b->shape->header_lines;
    }
    bool fine = take_rows(p->all, r, (int)(b->shape - p->t->shapes), p->lines + 1);
    if (fine && r->failed) {
        fine = complain(b->shape->name, "line %" PRId64 ": %s", p->lines + 1 + r->trouble_line, r->trouble);
    }
    p->lines += r->line_count;
    advance_progress(b->bytes_read - p->bytes);
    p->bytes = b->bytes_read;
    p->taken++;
    return fine && p->after(p->taker);
}

static void *work(void *argument) {
    pass *p = argument;
    table_block b = {0};
    block_rows r = {0};
    pthread_mutex_lock(&p->lock);
    while (get_block(p, &b)) {
        pthread_mutex_unlock(&p->lock);
        read_rows(p->t->wish, &b, &r);
        pthread_mutex_lock(&p->lock);
        while (!p->failed && p->taken != b.number) {
            pthread_cond_wait(&p->turn, &p->lock);
        }
        if (!p->failed && !take_block(p, &b, &r)) {
            p->failed = p->ended = true;
        }
        pthread_cond_broadcast(&p->turn);
    }
    pthread_mutex_unlock(&p->lock);
    free_block(&b);
    free_rows(&r);
    return NULL;
}

bool pass_table(table_reader *t, groups *all, int threads, block_end after, void *taker) {
    pass p = {.t = t, .all = all, .after = after, .taker = taker};
    pthread_t others[MOST_THREADS];
    int count = 0;
    pthread_mutex_init(&p.lock, NULL);
    pthread_cond_init(&p.turn, NULL);
    start_progress(t->total_bytes);
    while (count < MOST_THREADS && count < threads - 1 && pthread_create(&others[count], NULL, work, &p) == 0) {
        count++;
    }
    work(&p);
    for (int k = 0; k < count; k++) {
        pthread_join(others[k], NULL);
    }
    end_progress();
    pthread_cond_destroy(&p.turn);
    pthread_mutex_destroy(&p.lock);
    return !p.failed;
}
