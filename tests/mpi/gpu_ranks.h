/* Ranks whose arrays lie in a GPU's memory: the simulator's, or that of a real one. */
#ifndef TALLY_TESTS_GPU_RANKS_H
#define TALLY_TESTS_GPU_RANKS_H

#include <stdbool.h>

/* Told by the program's MPI_Allreduce (test_ranks.c) where it adds integers, and by its MPI_Alltoallv where values are
 * sent from. */
void note_added(const void *to);
void note_sent(const void *from);

void test_gpu_ranks(int rank, int ranks, bool is_real);

#endif
