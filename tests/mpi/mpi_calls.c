#include "mpi_calls.h"

#include <dlfcn.h>
#include <mpi.h>
#include <sched.h>

#include "gpu_ranks.h"

/* MPICH's UCX waits without giving its core away: of more ranks than cores each would wait a time slice for the next.
 * Where there is no UCX nobody calls this. */
__attribute__((visibility("default"))) unsigned ucp_worker_progress(void *worker); /* hidden, MPICH would not see it */
unsigned ucp_worker_progress(void *worker) {
    static unsigned (*real)(void *);
    if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "ucp_worker_progress");
    const unsigned events = real(worker);
    if (events == 0) sched_yield();
    return events;
}

static int failing;
void mpi_fails_next(int which) { failing = which; }
bool mpi_fails_yet(void) { return failing != 0; }
static int fails(int which) {
    if (failing != which) return 0;
    failing = 0;
    return 1;
}
int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    if (type == MPI_INT64_T && op == MPI_SUM) note_added(to);
    return fails(1) ? MPI_ERR_OTHER : PMPI_Allreduce(from, to, count, type, op, comm);
}
int MPI_Alltoallv(const void *from, const int *counts, const int *displs, MPI_Datatype type, void *to,
                  const int *rcounts, const int *rdispls, MPI_Datatype rtype, MPI_Comm comm) {
    note_sent(from);
    return fails(2) ? MPI_ERR_OTHER : PMPI_Alltoallv(from, counts, displs, type, to, rcounts, rdispls, rtype, comm);
}
int MPI_Exscan(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    return fails(3) ? MPI_ERR_OTHER : PMPI_Exscan(from, to, count, type, op, comm);
}
