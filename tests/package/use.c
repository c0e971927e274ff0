/* A stranger's program: exits with 0 when the sum of 1 .. 1000 is right. With an argument it is the simulator that
 * adds. */
#include <stdio.h>

#include "tally/tally.h"

int main(int argc, char **argv) {
    double values[1000], total = 0;
    tally_options options = TALLY_OPTIONS_INIT;
    tally_context *context;
    (void)argv;
    options.backend = argc > 1 ? TALLY_BACKEND_SIMT : TALLY_BACKEND_AUTO;
    for (int i = 0; i < 1000; i++) values[i] = i + 1;
    if (tally_context_create(NULL, &context) || tally_set_options(context, &options) ||
        tally_reduce(context, TALLY_SUM, tally_in(values, TALLY_F64, 1000), tally_out(&total, TALLY_F64, 1))) {
        fprintf(stderr, "%s\n", tally_message());
        return 1;
    }
    tally_context_destroy(context);
    printf("tally %s: %g\n", tally_version(), total);
    return total != 500500;
}
