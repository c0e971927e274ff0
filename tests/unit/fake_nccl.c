/* A library that passes for NCCL, for ranks that take turns in one thread. What a rank gives to its n-th exchange is
 * kept, and an exchange gives what all have kept; so after one more turn of all ranks than there are exchanges, results
 * are those of ranks that run at once. Device memory is the simulator's, which the host can read. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 8, EXCHANGES = 8 };

int fake_nccl_fails; /* the call of that number from now on fails; 0: none */

static int ranks = 1, rank, exchange;
static struct {
    char *bytes;
    size_t size;
} kept[EXCHANGES][RANKS][RANKS]; /* of exchange, from, to */

void fake_nccl_begin(int count);
void fake_nccl_turn(int of);
int ncclCommCount(void *comm, int *count);
int ncclCommUserRank(void *comm, int *of);
int ncclCommCuDevice(void *comm, int *ordinal);
int ncclAllReduce(const void *from, void *to, size_t count, int type, int op, void *comm, void *stream);
int ncclAllGather(const void *from, void *to, size_t count, int type, void *comm, void *stream);
int ncclSend(const void *from, size_t count, int type, int peer, void *comm, void *stream);
int ncclRecv(void *to, size_t count, int type, int peer, void *comm, void *stream);
int ncclGroupStart(void);
int ncclGroupEnd(void);
const char *ncclGetErrorString(int error);

void fake_nccl_begin(int count) {
    ranks = count;
    for (int e = 0; e < EXCHANGES; e++)
        for (int a = 0; a < RANKS; a++)
            for (int b = 0; b < RANKS; b++) {
                free(kept[e][a][b].bytes);
                kept[e][a][b].bytes = NULL;
                kept[e][a][b].size = 0;
            }
}
void fake_nccl_turn(int of) {
    rank = of;
    exchange = 0;
}

static int fails(void) { return fake_nccl_fails > 0 && --fake_nccl_fails == 0; }

static void keep(int to, const void *bytes, size_t size) {
    free(kept[exchange][rank][to].bytes);
    kept[exchange][rank][to].bytes = malloc(size + 1);
    memcpy(kept[exchange][rank][to].bytes, bytes, size);
    kept[exchange][rank][to].size = size;
}
/* What rank `from` has kept for this one, if it has had its turn. */
static void give(int from, int to, void *bytes, size_t size) {
    if (kept[exchange][from][to].bytes == NULL)
        memset(bytes, 0, size);
    else
        memcpy(bytes, kept[exchange][from][to].bytes,
               size < kept[exchange][from][to].size ? size : kept[exchange][from][to].size);
}

int ncclCommCount(void *comm, int *count) {
    (void)comm;
    *count = ranks;
    return fails();
}
int ncclCommUserRank(void *comm, int *of) {
    (void)comm;
    *of = rank;
    return fails();
}
int ncclCommCuDevice(void *comm, int *ordinal) {
    *ordinal = *(int *)comm;
    return fails();
}
int ncclAllReduce(const void *from, void *to, size_t count, int type, int op, void *comm, void *stream) {
    int64_t *sums = to;
    (void)comm, (void)stream;
    if (type != 4 || op != 0 || fails()) return 1;
    keep(0, from, count * 8);
    memset(sums, 0, count * 8);
    for (int r = 0; r < ranks; r++) {
        int64_t *words = malloc(count * 8 + 1);
        give(r, 0, words, count * 8);
        for (size_t i = 0; i < count; i++) sums[i] = (int64_t)((uint64_t)sums[i] + (uint64_t)words[i]);
        free(words);
    }
    exchange++;
    return 0;
}
int ncclAllGather(const void *from, void *to, size_t count, int type, void *comm, void *stream) {
    (void)comm, (void)stream;
    if (type != 1 || fails()) return 1;
    keep(0, from, count);
    for (int r = 0; r < ranks; r++) give(r, 0, (char *)to + (size_t)r * count, count);
    exchange++;
    return 0;
}
int ncclSend(const void *from, size_t count, int type, int peer, void *comm, void *stream) {
    (void)comm, (void)stream;
    if (type != 1 || fails()) return 1;
    keep(peer, from, count);
    return 0;
}
int ncclRecv(void *to, size_t count, int type, int peer, void *comm, void *stream) {
    (void)comm, (void)stream;
    if (type != 1 || fails()) return 1;
    give(peer, rank, to, count);
    return 0;
}
int ncclGroupStart(void) { return fails(); }
int ncclGroupEnd(void) {
    exchange++;
    return fails();
}
const char *ncclGetErrorString(int error) { return error ? "the stand-in was told to fail" : "no error"; }
