/* Vectors of features and ids in any order: the mean of the neighbours' features of each member of a karate club
 * (examples/data/karate.txt). This is what a layer of a graph network pools. */
#include <stdio.h>

#include <tally/tally.h>

enum { MEMBERS = 34, MOST_EDGES = 200, FEATURES = 2 };

/* Both directions of each edge: who is a neighbour, and of whom. Lines that are no edges are skipped. */
static int64_t read_edges(FILE *file, int32_t *who, int32_t *of) {
    char line[256];
    int64_t count = 0;
    int a, b;
    while (fgets(line, sizeof line, file) != NULL && count + 2 <= MOST_EDGES) {
        if (sscanf(line, "%d %d", &a, &b) != 2 || a < 0 || a >= MEMBERS || b < 0 || b >= MEMBERS) continue;
        who[count] = a, of[count++] = b;
        who[count] = b, of[count++] = a;
    }
    return count;
}

int main(int argc, char **argv) {
    int32_t who[MOST_EDGES], of[MOST_EDGES];
    double features[MEMBERS][FEATURES] = {{0}}, values[MOST_EDGES][FEATURES], means[MEMBERS][FEATURES];
    FILE *file = fopen(argc == 2 ? argv[1] : "examples/data/karate.txt", "r");
    if (file == NULL) {
        fprintf(stderr, "usage: %s examples/data/karate.txt\n", argv[0]);
        return 1;
    }
    const int64_t count = read_edges(file, who, of);
    fclose(file);

    /* A member's features: how many friends, and whether one of the two leaders, 0 and 33, is among them. */
    for (int64_t e = 0; e < count; e++) {
        features[of[e]][0] += 1;
        if (who[e] == 0 || who[e] == MEMBERS - 1) features[of[e]][1] = 1;
    }
    for (int64_t e = 0; e < count; e++)
        for (int f = 0; f < FEATURES; f++) values[e][f] = features[who[e]][f];

    const tally_segments neighbours =
        tally_features(tally_unsorted_ids(of, TALLY_I32, MEMBERS, TALLY_OUTSIDE_REFUSED), FEATURES);
    if (tally_reduce_segments(NULL, TALLY_MEAN, tally_in(values, TALLY_F64, count * FEATURES), neighbours,
                              tally_out(means, TALLY_F64, MEMBERS * FEATURES)) != TALLY_OK) {
        fprintf(stderr, "%s\n", tally_message());
        return 1;
    }
    for (int member = 0; member < MEMBERS; member += 11)
        printf("member %d: %.4f friends on average, %.4f know a leader\n", member, means[member][0], means[member][1]);
    return 0;
}
