/* NCCL as a table of functions, opened at run time like the driver. Signatures and numbers are those of nccl.h 2
 * (NVIDIA, NCCL user guide), declared here so that building needs no header of NCCL. */
#ifndef TALLY_CUDA_NCCL_H
#define TALLY_CUDA_NCCL_H

#include "cuda/driver.h"
#include "internal.h"

typedef void *tally__nccl_comm;

/*    type          member      symbol                   parameters */
#define TALLY_NCCL_CALLS(X)                                                                                         \
    X(int, comm_count, "ncclCommCount", (tally__nccl_comm comm, int *count))                                        \
    X(int, comm_rank, "ncclCommUserRank", (tally__nccl_comm comm, int *rank))                                       \
    X(int, comm_device, "ncclCommCuDevice", (tally__nccl_comm comm, int *ordinal))                                  \
    X(int, all_reduce, "ncclAllReduce",                                                                             \
      (const void *from, void *to, size_t count, int type, int op, tally__nccl_comm comm, tally__cu_stream stream)) \
    X(int, all_gather, "ncclAllGather",                                                                             \
      (const void *from, void *to, size_t count, int type, tally__nccl_comm comm, tally__cu_stream stream))         \
    X(int, send, "ncclSend",                                                                                        \
      (const void *from, size_t count, int type, int peer, tally__nccl_comm comm, tally__cu_stream stream))         \
    X(int, receive, "ncclRecv",                                                                                     \
      (void *to, size_t count, int type, int peer, tally__nccl_comm comm, tally__cu_stream stream))                 \
    X(int, group_start, "ncclGroupStart", (void))                                                                   \
    X(int, group_end, "ncclGroupEnd", (void))                                                                       \
    X(const char *, sentence, "ncclGetErrorString", (int error))

typedef struct tally__nccl {
#define TALLY_ROW(type, member, symbol, parameters) type(*member) parameters;
    TALLY_NCCL_CALLS(TALLY_ROW)
#undef TALLY_ROW
} tally__nccl;

enum { TALLY_NCCL_UINT8 = 1, TALLY_NCCL_INT64 = 4, TALLY_NCCL_SUM = 0 };

/* NCCL, opened at the first call. TALLY_NO_DEVICE: there is none, or it lacks a function. */
tally_status tally__nccl_open(const tally__nccl **nccl);
/* The status of a call. `what` ends "NCCL could not ..." */
tally_status tally__nccl_check(const tally__nccl *nccl, int error, const char *what);

#endif
