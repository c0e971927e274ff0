/* Calls of MPI's that this program has in MPI's place. */
#ifndef TALLY_TESTS_MPI_CALLS_H
#define TALLY_TESTS_MPI_CALLS_H

#include <stdbool.h>

/* The next MPI_Allreduce (1), MPI_Alltoallv (2) or MPI_Exscan (3) fails; called on all ranks. */
void mpi_fails_next(int which);
/* Whether it has not been called. */
bool mpi_fails_yet(void);

#endif
