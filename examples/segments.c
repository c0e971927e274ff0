/* An operator of our own, over segments: the longest rise, that is the most a price climbs from any day to a later one.
 * Order matters, so it does not commute: Tally keeps the order. */
#include <stdio.h>

#include <tally/tally.h>

typedef struct rise {
    double lowest, highest, most;
} rise;

static void lift(void *accs, const void *values, int64_t count, int64_t first, void *user) {
    const double *prices = values;
    (void)first, (void)user;
    for (int64_t k = 0; k < count; k++) ((rise *)accs)[k] = (rise){prices[k], prices[k], 0};
}

/* The best of both sides, or from the lowest of the earlier to the highest of the later. */
static void combine(void *left, const void *right, int64_t count, void *user) {
    (void)user;
    for (int64_t k = 0; k < count; k++) {
        rise *a = (rise *)left + k;
        const rise *b = (const rise *)right + k;
        double across = b->highest - a->lowest;
        a->most = a->most > b->most ? a->most : b->most;
        a->most = across > a->most ? across : a->most;
        a->lowest = b->lowest < a->lowest ? b->lowest : a->lowest;
        a->highest = b->highest > a->highest ? b->highest : a->highest;
    }
}

static void finish(void *results, const void *accs, int64_t count, void *user) {
    (void)user;
    for (int64_t k = 0; k < count; k++) ((double *)results)[k] = ((const rise *)accs)[k].most;
}

int main(void) {
    const rise nothing = {1e300, -1e300, 0};
    const tally_operator definition = {.size = sizeof definition,
                                       .name = "longest-rise",
                                       .input = TALLY_F64,
                                       .acc_size = sizeof(rise),
                                       .result = TALLY_F64,
                                       .identity = &nothing,
                                       .lift = lift,
                                       .combine = combine,
                                       .finish = finish};
    const double prices[] = {7, 1, 5, 3, 6, 4, /* one share */ 9, 8, 7, /* another */ 2, 2.5, 11, 1 /* a third */};
    const int32_t lengths[] = {6, 3, 4};
    double rises[3];
    tally_context *context = NULL;
    tally_op longest_rise;

    if (tally_context_create(NULL, &context) || tally_define(context, &definition, &longest_rise) ||
        tally_reduce_segments(context, longest_rise, tally_in(prices, TALLY_F64, 13),
                              tally_lengths(lengths, TALLY_I32, 3), tally_out(rises, TALLY_F64, 3))) {
        fprintf(stderr, "%s\n", tally_message());
        return 1;
    }
    printf("longest rises: %g %g %g\n", rises[0], rises[1], rises[2]);
    tally_context_destroy(context);
    return 0;
}
