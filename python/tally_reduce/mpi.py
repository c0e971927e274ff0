"""Reductions of arrays whose parts lie on the ranks of MPI, by mpi4py.

>>> import numpy as np, tally_reduce.mpi as tally  # run by mpiexec, or alone, as one rank
>>> float(tally.allreduce(np.array([1e16, 1.0, -1e16]), "sum"))
1.0

The result has the bits of one process that has all values, whatever the number of ranks and however the values are
shared out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from mpi4py import MPI

from ._partials import reduce_over_ranks

__all__ = ["allreduce"]


def allreduce(
    x: Any,
    op: str,
    /,
    comm: Any = None,
    *,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    dtype: Any = None,
    nan: str = "propagate",
    accuracy: str = "exact",
    ddof: int = 0,
) -> Any:
    """Reduces an array that is distributed over ranks, and gives each rank the results.

    x: this rank's part, an array of NumPy or CuPy or what numpy.asarray takes. The values of a rank follow those of the
    rank before it. op: the name of an operator, but dot. comm: an mpi4py communicator, all of whose ranks must call;
    COMM_WORLD by default. axis: None reduces all values of all ranks to one; an int or several reduce these axes, along
    which parts may have any extents, also 0; () reduces no axis, so that element k is that of the elements k of all
    ranks, as MPI_Allreduce does it. Other keywords are as in tally_reduce.reduce. Returns NumPy arrays and scalars.

    Where the order of values does not show (docs/order.md) a node for each result is sent, 9 to 1728 bytes, 128 for an
    exact sum of float32 and 584 of float64; those of exact sums and counts are added by MPI. Elsewhere a State for each
    result is sent from each rank to all (0.2 to 8 KB): that is meant for few results. Arrays on a GPU are reduced
    there.

    Raises what tally_reduce.reduce raises. If a rank's arguments are wrong, it raises that on this rank and
    tally_reduce.Error on the others; ValueError if ranks disagree on op, dtypes, axes or the shape that is left.

    >>> import numpy as np, tally_reduce.mpi as tally
    >>> tally.allreduce(np.ones((3, 2)), "sum", axis=0).tolist()
    [3.0, 3.0]
    """
    comm = MPI.COMM_WORLD if comm is None else comm
    part = x if hasattr(x, "transpose") else np.asarray(x)
    words = {"nan": nan, "accuracy": accuracy, "ddof": ddof}

    def add(nodes):
        comm.Allreduce(MPI.IN_PLACE, [nodes, MPI.INT64_T], MPI.SUM)

    return reduce_over_ranks(comm.allgather, comm.Get_rank(), part, op, axis, keepdims, dtype, words, _make_array, add)


def _make_array(values: list[Any], dtype: str, shape: tuple[int, ...]) -> Any:
    return np.array(values, dtype).reshape(shape)[()]
