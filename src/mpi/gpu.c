/* Asks MPI whether it can send what lies in GPU memory ("CUDA-aware"). */
#include <stdlib.h>

#include "mpi/ranks.h"
#ifdef OPEN_MPI
#include <mpi-ext.h> /* its macros say whether MPI has the function that is asked */
#endif

/* MPICH has it since 4.0. */
#if (defined(OPEN_MPI) && defined(MPIX_CUDA_AWARE_SUPPORT)) || \
    (defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 40000000)
#define ASKED MPIX_Query_cuda_support()
#else
#define ASKED 0
#endif

bool tally__mpi_reaches_gpus(void) {
    const char *said = getenv("TALLY_MPI_CUDA");
    if (said != NULL && (said[0] == '0' || said[0] == '1') && said[1] == '\0') return said[0] == '1';
    return ASKED != 0;
}
