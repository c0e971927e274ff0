/* A stranger's program: exits with 0 when the sum of 1 .. 1000 is right. */
#include <stdio.h>

#include "tally/tally.h"

int main(void) {
    double values[1000], total = 0;
    for (int i = 0; i < 1000; i++) values[i] = i + 1;
    if (tally_reduce(NULL, TALLY_SUM, tally_in(values, TALLY_F64, 1000), tally_out(&total, TALLY_F64, 1))) {
        fprintf(stderr, "%s\n", tally_message());
        return 1;
    }
    printf("tally %s: %g\n", tally_version(), total);
    return total != 500500;
}
