/* Where order shows: saved states travel up a binomial tree in which each rank joins what it has with what the ranks
 * behind it have, so that neighbours meet in order. Rank 0 ends with the state of the whole. */
#include <stdlib.h>
#include <string.h>

#include "mpi/ranks.h"

/* Saved states of all segments: the size of each, 8 bytes, then its bytes. */
typedef struct pack {
    unsigned char *bytes;
    size_t size, capacity;
} pack;

/* What goes before a pack: whether there is one. */
typedef struct head {
    int64_t status, size;
    char sentence[SENTENCE_BYTES];
} head;

static tally_status grow(pack *p, size_t more) {
    size_t capacity = p->capacity > 0 ? p->capacity : 1024;
    while (capacity < p->size + more) capacity *= 2;
    if (capacity > p->capacity) {
        unsigned char *bytes = realloc(p->bytes, capacity);
        if (bytes == NULL) return tally__mpi_fail(TALLY_NO_MEMORY, "no memory for states of %zu bytes", capacity);
        p->bytes = bytes;
        p->capacity = capacity;
    }
    return TALLY_OK;
}

static tally_status add_state(pack *p, const tally_state *state) {
    size_t size;
    uint64_t saved;
    TRY_TALLY(tally_state_save(state, NULL, 0, &size));
    TRY(grow(p, sizeof saved + size));
    saved = size;
    memcpy(p->bytes + p->size, &saved, sizeof saved);
    TRY_TALLY(tally_state_save(state, p->bytes + p->size + sizeof saved, size, &size));
    p->size += sizeof saved + size;
    return TALLY_OK;
}

/* Loads the state at *at, and moves *at behind it. */
static tally_status take_state(const request *r, const pack *p, size_t *at, tally_state **state) {
    uint64_t size;
    memcpy(&size, p->bytes + *at, sizeof size);
    *at += sizeof size;
    TRY_TALLY(tally_state_load(r->context, p->bytes + *at, (size_t)size, state));
    *at += (size_t)size;
    return TALLY_OK;
}

/* ---- this rank's own ---- */

static tally_status push_and_add(const request *r, tally_state **states, const int64_t *before, pack *mine) {
    const tally_segments all = tally_rows(1, r->x->count, 1), *segments = r->segments != NULL ? r->segments : &all;
    for (int64_t i = 0; i < r->results; i++)
        TRY_TALLY(tally_state_open(r->context, r->op, r->x->type, before[i], &states[i]));
    TRY_TALLY(r->y != NULL ? tally_push_segments_pair(r->context, r->op, *r->x, *r->y, *segments, states, r->results)
                           : tally_push_segments(r->context, r->op, *r->x, *segments, states, r->results));
    for (int64_t i = 0; i < r->results; i++) TRY(add_state(mine, states[i]));
    return TALLY_OK;
}

static tally_status make_pack(const request *r, const int64_t *before, pack *mine) {
    tally_state **states = calloc((size_t)r->results + 1, sizeof(tally_state *));
    if (states == NULL) return tally__mpi_fail(TALLY_NO_MEMORY, "no memory for %lld states", (long long)r->results);
    tally_status status = push_and_add(r, states, before, mine);
    for (int64_t i = 0; i < r->results; i++) tally_state_close(states[i]);
    free(states);
    return status;
}

/* ---- the tree ---- */

static tally_status join_one(const request *r, const pack *left, size_t *left_at, const pack *right, size_t *right_at,
                             pack *both) {
    tally_state *into = NULL, *later = NULL;
    tally_status status = take_state(r, left, left_at, &into);
    if (status == TALLY_OK) status = take_state(r, right, right_at, &later);
    if (status == TALLY_OK) status = tally__mpi_quote(tally_state_merge(into, later));
    if (status == TALLY_OK) status = add_state(both, into);
    tally_state_close(into);
    tally_state_close(later);
    return status;
}

static tally_status join(const request *r, pack *left, const pack *right) {
    pack both = {NULL, 0, 0};
    size_t left_at = 0, right_at = 0;
    tally_status status = TALLY_OK;
    for (int64_t i = 0; i < r->results && status == TALLY_OK; i++)
        status = join_one(r, left, &left_at, right, &right_at, &both);
    free(left->bytes);
    *left = both;
    return status;
}

static tally_status send_bytes(const request *r, unsigned char *bytes, size_t size, int to) {
    for (size_t at = 0; at < size; at += MESSAGE_BYTES)
        TRY_MPI(MPI_Send(bytes + at, (int)(size - at < MESSAGE_BYTES ? size - at : MESSAGE_BYTES), MPI_BYTE, to, 0,
                         r->comm));
    return TALLY_OK;
}

/* Without memory the messages are received all the same, and dropped: the sender must not wait. */
static tally_status receive_bytes(const request *r, pack *p, size_t size, int from) {
    const tally_status status = grow(p, size);
    for (size_t at = 0; at < size; at += MESSAGE_BYTES) {
        const int some = (int)(size - at < MESSAGE_BYTES ? size - at : MESSAGE_BYTES);
        if (status == TALLY_OK)
            TRY_MPI(MPI_Recv(p->bytes + at, some, MPI_BYTE, from, 0, r->comm, MPI_STATUS_IGNORE));
        else
            (void)MPI_Recv(NULL, 0, MPI_BYTE, from, 0, r->comm, MPI_STATUS_IGNORE);
    }
    if (status == TALLY_OK) p->size = size;
    return status;
}

static head head_of(tally_status status, const pack *p) {
    head h = {(int64_t)status, status == TALLY_OK ? (int64_t)p->size : 0, {0}};
    if (status != TALLY_OK) strncpy(h.sentence, tally_mpi_message(), sizeof h.sentence - 1);
    return h;
}

/* Joins what rank `from` has behind what is here. A failure on either side becomes this side's. */
static tally_status receive_and_join(const request *r, pack *mine, tally_status status, int from) {
    head h;
    pack theirs = {NULL, 0, 0};
    TRY_MPI(MPI_Recv(&h, (int)sizeof h, MPI_BYTE, from, 0, r->comm, MPI_STATUS_IGNORE));
    tally_status received = receive_bytes(r, &theirs, (size_t)h.size, from);
    if (status == TALLY_OK && h.status != TALLY_OK)
        status = tally__mpi_fail((tally_status)h.status, "%.*s", (int)sizeof h.sentence - 1, h.sentence);
    if (status == TALLY_OK) status = received;
    if (status == TALLY_OK) status = join(r, mine, &theirs);
    free(theirs.bytes);
    return status;
}

static tally_status climb(const request *r, pack *mine, tally_status status) {
    for (int apart = 1; apart < r->ranks && apart > 0; apart *= 2) {
        if (r->rank & apart) {
            head h = head_of(status, mine);
            TRY_MPI(MPI_Send(&h, (int)sizeof h, MPI_BYTE, r->rank - apart, 0, r->comm));
            return h.size > 0 ? send_bytes(r, mine->bytes, mine->size, r->rank - apart) : TALLY_OK;
        }
        if (apart < r->ranks - r->rank) status = receive_and_join(r, mine, status, r->rank + apart);
    }
    return status;
}

/* ---- the result ---- */

/* Sends the states of rank 0 to the ranks that want the result. */
static tally_status hand_out(const request *r, pack *p, size_t size) {
    if (r->root == 0) return TALLY_OK;
    if (r->root != EVERY_RANK) {
        if (r->rank == 0) return send_bytes(r, p->bytes, size, r->root);
        return r->rank == r->root ? receive_bytes(r, p, size, 0) : TALLY_OK;
    }
    for (size_t at = 0; at < size; at += MESSAGE_BYTES)
        TRY_MPI(MPI_Bcast(p->bytes + at, (int)(size - at < MESSAGE_BYTES ? size - at : MESSAGE_BYTES), MPI_BYTE, 0,
                          r->comm));
    p->size = size;
    return TALLY_OK;
}

/* Writes all results. If some are TALLY_EMPTY and others TALLY_OVERFLOW, the status is the latter. */
static tally_status finish(const request *r, const pack *p) {
    tally_status worst = TALLY_OK;
    size_t at = 0;
    for (int64_t i = 0; i < r->results; i++) {
        const int64_t stride = r->out.stride != 0 ? r->out.stride : (int64_t)r->result_bytes;
        const tally_output out = {(char *)r->out.data + i * stride, r->out.type, 1, 0};
        tally_state *state = NULL;
        TRY(take_state(r, p, &at, &state));
        const tally_status status = tally__mpi_quote(tally_state_finish(state, out));
        tally_state_close(state);
        if (status != TALLY_OK && status != TALLY_EMPTY && status != TALLY_OVERFLOW) return status;
        if (status > worst) worst = status;
    }
    return worst;
}

static tally_status travel_up_and_down(const request *r, const int64_t *before, pack *mine) {
    tally_status status = make_pack(r, before, mine);
    if (status != TALLY_OK) status = tally__mpi_fail(status, "rank %d: %s", r->rank, tally_mpi_message());
    status = climb(r, mine, status);
    head h = head_of(status, mine);
    TRY_MPI(MPI_Bcast(&h, (int)sizeof h, MPI_BYTE, 0, r->comm));
    if (h.status != TALLY_OK)
        return tally__mpi_fail((tally_status)h.status, "%.*s", (int)sizeof h.sentence - 1, h.sentence);
    if (r->rank != 0) mine->size = 0;
    TRY(tally__mpi_agree(r, r->rank != 0 && tally__mpi_has_result(r) ? grow(mine, (size_t)h.size) : TALLY_OK));
    TRY(hand_out(r, mine, (size_t)h.size));
    return tally__mpi_has_result(r) ? finish(r, mine) : TALLY_OK;
}

tally_status tally__mpi_merge_states(const request *r, travel *t) {
    pack mine = {NULL, 0, 0};
    TRY(tally__mpi_count_before(r, t->counts, t->before, r->results));
    const tally_status status = travel_up_and_down(r, t->before, &mine);
    free(mine.bytes);
    return status;
}
