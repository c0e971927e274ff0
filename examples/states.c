/* Two workers take halves of an array; one sends its state as bytes, the other merges it: the bits are those of one
 * pass. */
#include <stdio.h>
#include <stdlib.h>

#include <tally/tally.h>

enum { COUNT = 100000, HALF = 33333 };

#define CHECKED(call)                             \
    if (call) {                                   \
        fprintf(stderr, "%s\n", tally_message()); \
        exit(1);                                  \
    }

int main(void) {
    static double values[COUNT];
    double at_once, merged;
    tally_state *left, *right, *received;
    size_t size;
    void *bytes;

    for (int i = 0; i < COUNT; i++) values[i] = 1.0 / (i + 1);
    CHECKED(tally_reduce(NULL, TALLY_STD, tally_in(values, TALLY_F64, COUNT), tally_out(&at_once, TALLY_F64, 1)));

    /* A state is told where its run begins in the whole. */
    CHECKED(tally_state_open(NULL, TALLY_STD, TALLY_F64, 0, &left));
    CHECKED(tally_state_open(NULL, TALLY_STD, TALLY_F64, HALF, &right));
    CHECKED(tally_state_push(left, tally_in(values, TALLY_F64, HALF)));
    CHECKED(tally_state_push(right, tally_in(values + HALF, TALLY_F64, COUNT - HALF)));

    CHECKED(tally_state_save(right, NULL, 0, &size));
    bytes = malloc(size);
    if (bytes == NULL) return 1;
    CHECKED(tally_state_save(right, bytes, size, &size));

    CHECKED(tally_state_load(NULL, bytes, size, &received)); /* ... on another machine */
    CHECKED(tally_state_merge(left, received));
    CHECKED(tally_state_finish(left, tally_out(&merged, TALLY_F64, 1)));
    printf("at once %.17g, merged %.17g: %s\n", at_once, merged, at_once == merged ? "the same" : "different");

    tally_state_close(left);
    tally_state_close(right);
    tally_state_close(received);
    free(bytes);
    return at_once != merged;
}
