# Made by tools/gen_python_stubs.py from include/tally/tables.h.
from collections.abc import Sequence
from typing import Any, Literal, Protocol, TypeAlias

from dask.array import Array as _Array

from ._types import Stats

_In: TypeAlias = Any
_Axis: TypeAlias = int | Sequence[int] | None
_Nan: TypeAlias = Literal["propagate", "skip", "total"]
_Accuracy: TypeAlias = Literal["exact", "fast"]

__all__: list[str]

def reduce(
    x: _In,
    op: str,
    /,
    *,
    axis: _Axis = None,
    keepdims: bool = False,
    dtype: Any = None,
    nan: _Nan = "propagate",
    accuracy: _Accuracy = "exact",
    ddof: int = 0,
    split_every: int | dict[int, int] | None = None,
) -> Any: ...

class _Reduce(Protocol):
    def __call__(
        self,
        x: _In,
        /,
        *,
        axis: _Axis = None,
        keepdims: bool = False,
        dtype: Any = None,
        nan: _Nan = "propagate",
        accuracy: _Accuracy = "exact",
        ddof: int = 0,
        split_every: int | dict[int, int] | None = None,
    ) -> _Array: ...

class _ReduceStats(Protocol):
    def __call__(
        self,
        x: _In,
        /,
        *,
        axis: _Axis = None,
        keepdims: bool = False,
        dtype: Any = None,
        nan: _Nan = "propagate",
        accuracy: _Accuracy = "exact",
        ddof: int = 0,
        split_every: int | dict[int, int] | None = None,
    ) -> Stats: ...

sum: _Reduce
prod: _Reduce
min: _Reduce
max: _Reduce
argmin: _Reduce
argmax: _Reduce
minmax: _Reduce
any: _Reduce
all: _Reduce
count: _Reduce
and_: _Reduce
or_: _Reduce
xor: _Reduce
mean: _Reduce
var: _Reduce
std: _Reduce
stats: _ReduceStats
norm1: _Reduce
norm2: _Reduce
norminf: _Reduce
sumsq: _Reduce
logsumexp: _Reduce
