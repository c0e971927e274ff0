# Made by tools/gen_python_stubs.py from include/tally/tables.h.
from collections.abc import Sequence
from typing import Any, Literal, Protocol, TypeAlias

from torch import Tensor as _Array
from torch import dtype as _DType
from torch.distributed import ProcessGroup as _Group

_In: TypeAlias = _Array
_Index: TypeAlias = _Array | Sequence[int]

_Axis: TypeAlias = int | Sequence[int] | None
_Nan: TypeAlias = Literal["propagate", "skip", "total"]
_Accuracy: TypeAlias = Literal["exact", "fast"]
_OutOfRange: TypeAlias = Literal["error", "drop"]

__all__: list[str]

def reduce(
    x: _In,
    op: str,
    /,
    *,
    axis: _Axis = None,
    keepdims: bool = False,
    dtype: _DType | None = None,
    nan: _Nan = "propagate",
    accuracy: _Accuracy = "exact",
    ddof: int = 0,
) -> _Array: ...
def segment_reduce(
    data: _In,
    op: str,
    /,
    segment_ids: _Index | None = None,
    num_segments: int | None = None,
    *,
    lengths: _Index | None = None,
    offsets: _Index | None = None,
    indices_are_sorted: bool = True,
    out_of_range: _OutOfRange = "error",
    axis: int = 0,
    dtype: _DType | None = None,
    nan: _Nan = "propagate",
    accuracy: _Accuracy = "exact",
    ddof: int = 0,
) -> _Array: ...
def segment_softmax(
    data: _In,
    segment_ids: _Index | None = None,
    num_segments: int | None = None,
    *,
    lengths: _Index | None = None,
    offsets: _Index | None = None,
    indices_are_sorted: bool = True,
    axis: int = 0,
) -> _Array: ...

def all_reduce(
    x: _In,
    op: str,
    /,
    group: _Group | None = None,
    *,
    axis: _Axis = None,
    keepdims: bool = False,
    dtype: _DType | None = None,
    nan: _Nan = "propagate",
    accuracy: _Accuracy = "exact",
    ddof: int = 0,
) -> Any: ...

class _Reduce(Protocol):
    def __call__(
        self,
        x: _In,
        /,
        *,
        axis: _Axis = None,
        keepdims: bool = False,
        dtype: _DType | None = None,
        nan: _Nan = "propagate",
        accuracy: _Accuracy = "exact",
        ddof: int = 0,
    ) -> _Array: ...

class _Segment(Protocol):
    def __call__(
        self,
        data: _In,
        segment_ids: _Index | None = None,
        num_segments: int | None = None,
        *,
        lengths: _Index | None = None,
        offsets: _Index | None = None,
        indices_are_sorted: bool = True,
        out_of_range: _OutOfRange = "error",
        axis: int = 0,
        dtype: _DType | None = None,
        nan: _Nan = "propagate",
        accuracy: _Accuracy = "exact",
        ddof: int = 0,
    ) -> _Array: ...

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
norm1: _Reduce
norm2: _Reduce
norminf: _Reduce
sumsq: _Reduce
logsumexp: _Reduce
segment_sum: _Segment
segment_prod: _Segment
segment_min: _Segment
segment_max: _Segment
segment_argmin: _Segment
segment_argmax: _Segment
segment_minmax: _Segment
segment_any: _Segment
segment_all: _Segment
segment_count: _Segment
segment_and: _Segment
segment_or: _Segment
segment_xor: _Segment
segment_mean: _Segment
segment_var: _Segment
segment_std: _Segment
segment_norm1: _Segment
segment_norm2: _Segment
segment_norminf: _Segment
segment_sumsq: _Segment
segment_logsumexp: _Segment
