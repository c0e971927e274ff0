/* Communicators of this library's own, and what ranks agree on. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/ranks.h"

/* ---- duplicates ---- */

static int keyval = MPI_KEYVAL_INVALID;
static int keyval_code;

/* MPI frees the attribute when the caller frees the communicator. */
static int free_duplicate(MPI_Comm comm, int key, void *value, void *extra) {
    MPI_Comm *duplicate = value;
    int code = MPI_Comm_free(duplicate);
    (void)comm, (void)key, (void)extra;
    free(duplicate);
    return code;
}

static void make_keyval(void) { /* if the caller duplicates the communicator, the copy does not inherit ours */
    keyval_code = MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_duplicate, &keyval, NULL);
}

static tally_status duplicate(MPI_Comm comm, MPI_Comm *mine) {
    MPI_Comm *kept = malloc(sizeof *kept);
    int code;
    if (kept == NULL) return tally__mpi_fail(TALLY_NO_MEMORY, "no memory for a communicator");
    code = MPI_Comm_dup(comm, kept);
    if (code != MPI_SUCCESS) {
        free(kept);
        return tally__mpi_check(code, "MPI_Comm_dup(");
    }
    *mine = *kept;
    TRY_MPI(MPI_Comm_set_errhandler(*mine, MPI_ERRORS_RETURN));
    TRY_MPI(MPI_Comm_set_attr(comm, keyval, kept));
    return TALLY_OK;
}

tally_status tally__mpi_enter(request *r, MPI_Comm comm) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int begun = 0, ended = 0, is_inter = 0, found = 0;
    MPI_Comm *kept = NULL;
    if (MPI_Initialized(&begun) != MPI_SUCCESS || MPI_Finalized(&ended) != MPI_SUCCESS || !begun || ended)
        return tally__mpi_fail(TALLY_BAD_ARGUMENT, "MPI is not initialised, or was finalised: call MPI_Init first");
    if (comm == MPI_COMM_NULL) return tally__mpi_fail(TALLY_BAD_ARGUMENT, "the communicator is MPI_COMM_NULL");
    TRY_MPI(MPI_Comm_test_inter(comm, &is_inter));
    if (is_inter)
        return tally__mpi_fail(TALLY_BAD_ARGUMENT, "the communicator is an intercommunicator: one group is reduced");
    pthread_once(&once, make_keyval);
    TRY(tally__mpi_check(keyval_code, "MPI_Comm_create_keyval("));
    TRY_MPI(MPI_Comm_get_attr(comm, keyval, &kept, &found));
    if (found)
        r->comm = *kept;
    else
        TRY(duplicate(comm, &r->comm));
    TRY_MPI(MPI_Comm_rank(r->comm, &r->rank));
    TRY_MPI(MPI_Comm_size(r->comm, &r->ranks));
    return TALLY_OK;
}

/* ---- agreeing ---- */

/* Spreads the status and the sentence of the lowest rank that failed. */
static tally_status hear(const request *r, int failed, tally_status mine) {
    struct {
        int32_t status;
        char sentence[SENTENCE_BYTES];
    } word = {(int32_t)mine, {0}};
    strncpy(word.sentence, tally_mpi_message(), sizeof word.sentence - 1);
    TRY_MPI(MPI_Bcast(&word, (int)sizeof word, MPI_BYTE, failed, r->comm));
    word.sentence[sizeof word.sentence - 1] = '\0';
    return tally__mpi_fail((tally_status)word.status, "rank %d: %s", failed, word.sentence);
}

tally_status tally__mpi_agree(const request *r, tally_status mine) {
    int failed = mine == TALLY_OK ? 0 : r->ranks - r->rank, most = 0;
    TRY_MPI(MPI_Allreduce(&failed, &most, 1, MPI_INT, MPI_MAX, r->comm));
    return most == 0 ? TALLY_OK : hear(r, r->ranks - most, mine);
}

enum { FORM, ROOT, OPERATOR, TYPE, OPTIONS, RESULTS, OUT_TYPE, SAME };
static const char *const same_words[SAME] = {
    "which function they call",
    "the root",
    "the operator",
    "the type of the values",
    "the options accuracy, nan, ddof or overflow",
    "the number of results",
    "the type of out",
};

static void describe(const request *r, int64_t *same) {
    const tally_options o = tally_get_options(r->context);
    same[OPERATOR] = r->op;
    same[TYPE] = r->x->type;
    same[OPTIONS] =
        (((int64_t)(o.accuracy == TALLY_FAST) * 4 + o.nan) * 2 + o.overflow) * (TALLY_MOST_DDOF + 1) + o.ddof;
    same[RESULTS] = r->results;
    same[OUT_TYPE] = r->out.type;
    same[ROOT] = r->root;
    same[FORM] = (r->segments != NULL) * 2 + r->elements;
}

/* One MPI_MAX finds who failed, and of each word the largest value and, as a negative number, the smallest. A rank that
 * failed gives numbers below all others. */
tally_status tally__mpi_agree_on_request(request *r, tally_status mine) {
    int64_t words[1 + 2 * SAME], most[1 + 2 * SAME], same[SAME];
    describe(r, same);
    words[0] = mine == TALLY_OK ? 0 : r->ranks - r->rank;
    for (int i = 0; i < SAME; i++) {
        const bool counts = mine == TALLY_OK && (i != OUT_TYPE || tally__mpi_has_result(r));
        words[1 + 2 * i] = counts ? same[i] : INT64_MIN;
        words[2 + 2 * i] = counts ? -same[i] : INT64_MIN;
    }
    TRY_MPI(MPI_Allreduce(words, most, 1 + 2 * SAME, MPI_INT64_T, MPI_MAX, r->comm));
    if (most[0] != 0) return hear(r, (int)(r->ranks - most[0]), mine);
    for (int i = 0; i < SAME; i++) {
        const int64_t high = most[1 + 2 * i], low = -most[2 + 2 * i];
        if (high != low)
            return tally__mpi_fail(TALLY_BAD_ARGUMENT, "the ranks differ in %s: from %lld to %lld", same_words[i],
                                   (long long)low, (long long)high);
    }
    r->out.type = (tally_type)most[1 + 2 * OUT_TYPE];
    return TALLY_OK;
}

tally_status tally__mpi_count_before(const request *r, const int64_t *counts, int64_t *before, int64_t count) {
    const int64_t most = MESSAGE_BYTES / 8;
    for (int64_t at = 0; at < count; at += most) {
        const int64_t n = count - at < most ? count - at : most;
        TRY_MPI(MPI_Exscan(counts + at, before + at, (int)n, MPI_INT64_T, MPI_SUM, r->comm));
    }
    if (r->rank == 0 && count > 0) memset(before, 0, (size_t)count * sizeof *before); /* which MPI does not set */
    return TALLY_OK;
}
