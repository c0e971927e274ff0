"""What each rank of test_ranks.py does: it reduces its part by all_reduce and compares with the whole.

    rank_checks.py mpi                        under mpiexec
    rank_checks.py torch RANK SIZE FILE       ranks meet at FILE
    rank_checks.py nccl RANK SIZE FILE        the same, each with a GPU
"""
import sys

import numpy as np
import tally_reduce as t

OPS = [op for op in t.info()["operators"] if op != "dot"]
rng = np.random.default_rng(1)
VALUES = rng.standard_normal((9, 4)) * 10.0 ** rng.integers(-7, 4, (9, 4))
LONG = (rng.standard_normal(20_011) * 10.0 ** rng.integers(-20, 20, 20_011)).astype("f4")


def same(got, wanted, what):
    for one, other in zip(got, wanted) if isinstance(wanted, t.Stats) else [(got, wanted)]:
        one, other = np.asarray(one), np.asarray(other)
        assert one.dtype == other.dtype and one.shape == other.shape, (what, one.dtype, other.dtype, one.shape)
        np.testing.assert_array_equal(one, other, err_msg=str(what))


def takes(op, dtype):
    return dtype[0] != "f" if op in ("and", "or", "xor") else dtype[0] == "f" or op != "logsumexp"


def check_values(all_reduce, rank, size, make):
    cut_rng = np.random.default_rng(size)
    for dtype in ("f8", "f2", "i4", "?"):
        values = VALUES.astype("f4").astype(dtype) if dtype != "i4" else (VALUES % 100).astype("i4")
        cuts = np.sort(cut_rng.integers(0, 10, size - 1))  # parts may be empty
        mine = np.split(values, cuts)[rank]
        for op in (op for op in OPS if takes(op, dtype)):
            for accuracy in ("exact", "fast"):
                words = {"accuracy": accuracy, **({"ddof": 1} if op in ("var", "std", "stats") else {})}
                same(all_reduce(make(mine), op, **words), t.reduce(values, op, **words), (op, dtype, words))
                along = t.reduce(values, op, axis=0, keepdims=True, **words)
                same(all_reduce(make(mine), op, axis=0, keepdims=True, **words), along, (op, dtype, "axis=0"))
                side = np.ascontiguousarray(mine.T)
                same(all_reduce(make(side), op, axis=1, **words), t.reduce(values.T, op, axis=1, **words), (op, dtype))
            each = np.stack([values + k if dtype != "?" else values for k in range(size)])
            same(all_reduce(make(each[rank]), op, axis=()), t.reduce(each, op, axis=0), (op, dtype, "axis=()"))
    for op in ("sum", "prod", "argmin", "logsumexp", "mean"):
        for accuracy in ("exact", "fast"):
            mine = np.split(LONG, np.sort(cut_rng.integers(0, len(LONG), size - 1)))[rank]
            same(all_reduce(make(mine), op, accuracy=accuracy), t.reduce(LONG, op, accuracy=accuracy), (op, accuracy))
    same(all_reduce(make(LONG), "sum", dtype="float64", nan="skip"), t.sum(np.tile(LONG, size), dtype="f8"), "dtype")


def fails(call):
    try:
        call()
    except (ValueError, TypeError, OverflowError, t.Error) as error:
        return type(error)
    return None


def check_errors(all_reduce, rank, size, make):
    """All ranks raise, whichever is wrong, and none waits."""
    x, last = make(VALUES), rank == size - 1
    wrong = t.Error if size > 1 else None
    for call, on_last, elsewhere in [
        (lambda: all_reduce(x, "average" if last else "sum"), ValueError, wrong),
        (lambda: all_reduce(x, "sum", axis=2 if last else 1), ValueError, wrong),
        (lambda: all_reduce(make(VALUES.astype("c8")) if last else x, "sum"), TypeError, wrong),
        (lambda: all_reduce(x, "sum", ddof=int(last)), TypeError, wrong),
        (lambda: all_reduce(x, "max" if last else "min"), *[ValueError if size > 1 else None] * 2),
        (lambda: all_reduce(x[:, : 3 if last else 4], "sum", axis=0), *[ValueError if size > 1 else None] * 2),
        (lambda: all_reduce(x, "sum", nan="skip" if last else "propagate"), *[ValueError if size > 1 else None] * 2),
        (lambda: all_reduce(x[:0], "max"), ValueError, ValueError),
        (lambda: all_reduce(make(np.full(2, 2**62)), "sum"), OverflowError, OverflowError),
    ]:
        assert fails(call) == (on_last if last else elsewhere)
    same(all_reduce(x, "count"), t.count(np.stack([VALUES] * size)), "what follows errors")


def check(all_reduce, rank, size, make=lambda x: x):
    check_values(all_reduce, rank, size, make)
    check_errors(all_reduce, rank, size, make)


def run_mpi():
    from mpi4py import MPI
    from tally_reduce.mpi import allreduce

    comm = MPI.COMM_WORLD
    check(allreduce, comm.rank, comm.size)
    if comm.rank == 0:
        print(f"{comm.size} ranks passed, {MPI.Get_library_version().split(',')[0]}".splitlines()[0])


def run_torch(backend, rank, size, file):
    import torch
    from tally_reduce.torch import all_reduce
    from torch import distributed

    device = torch.device("cpu" if backend == "gloo" else f"cuda:{rank}")

    def on_host(result):
        return t.Stats(*(value.cpu() for value in result)) if isinstance(result, tuple) else result.cpu()

    def with_torch_dtype(x, op, dtype=None, **words):
        return on_host(all_reduce(x, op, dtype=getattr(torch, dtype) if dtype else None, **words))

    if device.type == "cuda":
        torch.cuda.set_device(device)
    distributed.init_process_group(backend, init_method=f"file://{file}", rank=rank, world_size=size)
    check(with_torch_dtype, rank, size, lambda x: torch.from_numpy(np.ascontiguousarray(x)).to(device))
    distributed.destroy_process_group()
    print(f"rank {rank} of {size} passed, PyTorch {torch.__version__}, {backend}")


if __name__ == "__main__":
    if sys.argv[1] == "mpi":
        run_mpi()
    else:
        run_torch("gloo" if sys.argv[1] == "torch" else "nccl", int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
