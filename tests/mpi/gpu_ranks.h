/* Ranks whose arrays lie in a GPU's memory: the simulator's. */
#ifndef TALLY_TESTS_GPU_RANKS_H
#define TALLY_TESTS_GPU_RANKS_H

/* Told by the program's MPI_Allreduce (test_ranks.c) where it adds integers, and by its MPI_Alltoallv where values are
 * sent from. */
void note_added(const void *to);
void note_sent(const void *from);

void test_gpu_ranks(int rank, int ranks);

#endif
