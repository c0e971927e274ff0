/* Fuzz target: the loader of saved states. The input is taken as it is, and again with its hash made right, so that the
 * checks behind the hash are reached. What loads must survive being pushed to, merged, finished and saved again. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/tally.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(int truth, const char *what) {
    if (!truth) {
        fprintf(stderr, "fuzz_state: %s (%s)\n", what, tally_message());
        abort();
    }
}

/* Whatever a state says of itself, using it must be safe. */
static void use(tally_state *state, const tally_state *later) {
    static const uint64_t zeros[600];
    unsigned char result[64];
    size_t size = 0;
    tally_array in = tally_in(zeros, tally_state_type(state), 300);
    tally_status status = tally_op_inputs(tally_state_op(state)) == 2 ? tally_state_push_pair(state, in, in)
                                                                      : tally_state_push(state, in);
    demand(status == TALLY_OK || status == TALLY_BAD_ARGUMENT, "a push has an impossible status");
    status = tally_state_merge(state, later);
    demand(status == TALLY_OK || status == TALLY_BAD_ORDER || status == TALLY_BAD_ARGUMENT, "so has a merge");
    status = tally_state_finish(state, tally_out(result, TALLY_NATURAL, 1));
    demand(status == TALLY_OK || status == TALLY_EMPTY || status == TALLY_BAD_ORDER, "so has a finish");
    for (tally_type type = TALLY_F16; type <= TALLY_F64;
         type++) { /* exact sums are rounded to each format in its own way */
        status = tally_state_finish(state, tally_out(result, type, 1));
        demand(status == TALLY_OK || status == TALLY_EMPTY || status == TALLY_BAD_ORDER || status == TALLY_OVERFLOW ||
                   status == TALLY_BAD_TYPE,
               "so has a finish in another type");
    }
    demand(tally_state_save(state, NULL, 0, &size) == TALLY_OK, "the state has no size");
    void *bytes = malloc(size);
    if (bytes == NULL) return;
    demand(tally_state_save(state, bytes, size, &size) == TALLY_OK, "the state cannot be saved");
    tally_state *again = NULL;
    demand(tally_state_load(NULL, bytes, size, &again) == TALLY_OK, "what was saved does not load");
    tally_state_close(again);
    free(bytes);
}

static void load(const void *data, size_t size) {
    tally_state *state = NULL, *later = NULL;
    tally_status status = tally_state_load(NULL, data, size, &state);
    demand(status == TALLY_OK || status == TALLY_BAD_STATE, "loading has an impossible status");
    if (status != TALLY_OK) return;
    demand(tally_state_load(NULL, data, size, &later) == TALLY_OK, "it loads only once");
    use(state, later);
    tally_state_close(state);
    tally_state_close(later);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    load(data, size);
    if (size > sizeof(uint64_t)) {
        unsigned char *mended = malloc(size);
        uint64_t hash = XXH3_64bits(data, size - sizeof hash);
        if (mended == NULL) return 0;
        memcpy(mended, data, size - sizeof hash);
        memcpy(mended + size - sizeof hash, &hash, sizeof hash);
        load(mended, size);
        free(mended);
    }
    return 0;
}
