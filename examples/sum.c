/* The sum of an array, and what happens when a call cannot be done. */
#include <stdio.h>

#include <tally/tally.h>

int main(void) {
    float heights[5] = {1.62f, 1.80f, 1.75f, 1.91f, 1.68f};
    float total;
    tally_array in = tally_in(heights, TALLY_F32, 5);

    if (tally_reduce(NULL, TALLY_SUM, in, tally_out(&total, TALLY_F32, 1)) != TALLY_OK) {
        fprintf(stderr, "%s\n", tally_message());
        return 1;
    }
    printf("sum: %g\n", (double)total);

    /* Every failure is a status, and a sentence that says what to do. */
    tally_status status = tally_reduce(NULL, TALLY_DOT, in, tally_out(&total, TALLY_F32, 1));
    printf("%s: %s\n", tally_status_name(status), tally_message());
    return 0;
}
