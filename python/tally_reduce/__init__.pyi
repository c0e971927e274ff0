# Made by tools/gen_python_stubs.py from include/tally/tables.h.
from collections.abc import Sequence
from typing import Any, Literal, Protocol, SupportsIndex, TypeAlias

from ._types import Error as Error
from ._types import Stats as Stats

class _DLPack(Protocol):
    def __dlpack__(self, /, *, stream: Any = ...) -> Any: ...
    def __dlpack_device__(self, /) -> tuple[Any, int]: ...

class _CudaArray(Protocol):
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...

class _Buffer(Protocol):
    def __buffer__(self, flags: int, /) -> memoryview: ...

_Array: TypeAlias = _Buffer | _DLPack | _CudaArray | bytes | bytearray | memoryview
_Index: TypeAlias = _Array | Sequence[int]
_Axis: TypeAlias = SupportsIndex | tuple[SupportsIndex, ...] | None
_Nan: TypeAlias = Literal["propagate", "skip", "total"]
_Accuracy: TypeAlias = Literal["exact", "fast"]
_OutOfRange: TypeAlias = Literal["error", "drop"]

__version__: str
__all__: list[str]

class define:
    def __new__(
        cls,
        text: str,
        *,
        name: str,
        dtype: Any,
        identity: bytes,
        result: Any = None,
        commutative: bool = False,
    ) -> define: ...
    @property
    def name(self) -> str: ...

class Plan:
    def __new__(
        cls,
        values: SupportsIndex,
        *,
        lengths: _Index | None = None,
        offsets: _Index | None = None,
        starts: _Index | None = None,
        ends: _Index | None = None,
        segment_ids: _Index | None = None,
        num_segments: SupportsIndex | None = None,
        indices_are_sorted: bool = True,
        out_of_range: _OutOfRange = "error",
        dtype: Any = None,
        stream: Any = None,
    ) -> Plan: ...
    @property
    def values(self) -> int: ...
    @property
    def segments(self) -> int: ...

class State:
    def __new__(
        cls,
        op: str,
        dtype: Any = "float64",
        *,
        first: SupportsIndex = 0,
        nan: _Nan = "propagate",
        accuracy: _Accuracy = "exact",
        ddof: SupportsIndex = 0,
    ) -> State: ...
    def push(self, *arrays: _Array) -> None: ...
    def merge(self, later: State, /) -> None: ...
    def finish(self, *, dtype: Any = None) -> Any: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(data: bytes, /) -> State: ...
    def __add__(self, other: State, /) -> State: ...
    @property
    def count(self) -> int: ...
    @property
    def first(self) -> int: ...
    @property
    def op(self) -> str: ...
    @property
    def dtype(self) -> str: ...

def info() -> dict[str, Any]: ...
def warm(
    op: str | define,
    dtype: Any,
    *,
    segments: Literal["offsets", "lengths", "segment_ids", "rows"] | None = None,
    device: int = 0,
    nan: _Nan = "propagate",
    accuracy: _Accuracy = "exact",
    ddof: SupportsIndex = 0,
) -> None: ...
def reduce(
    x: _Array,
    op: str | define,
    /,
    *,
    axis: _Axis = None,
    keepdims: bool = False,
    where: _Array | bool | None = None,
    initial: Any = None,
    dtype: Any = None,
    out: Any = None,
    nan: _Nan = "propagate",
    accuracy: _Accuracy = "exact",
    stream: Any = None,
    ddof: SupportsIndex = 0,
) -> Any: ...
def segment_reduce(
    data: _Array,
    op: str | define,
    /,
    *,
    segment_ids: _Index | None = None,
    num_segments: SupportsIndex | None = None,
    lengths: _Index | None = None,
    offsets: _Index | None = None,
    starts: _Index | None = None,
    ends: _Index | None = None,
    plan: Plan | None = None,
    indices_are_sorted: bool = True,
    out_of_range: _OutOfRange = "error",
    axis: SupportsIndex = 0,
    checked: bool = False,
    dtype: Any = None,
    out: Any = None,
    nan: _Nan = "propagate",
    accuracy: _Accuracy = "exact",
    stream: Any = None,
    ddof: SupportsIndex = 0,
) -> Any: ...

class _Reduce(Protocol):
    def __call__(
        self,
        x: _Array,
        /,
        *,
        axis: _Axis = None,
        keepdims: bool = False,
        where: _Array | bool | None = None,
        dtype: Any = None,
        out: Any = None,
        nan: _Nan = "propagate",
        accuracy: _Accuracy = "exact",
        stream: Any = None,
    ) -> Any: ...

class _Segment(Protocol):
    def __call__(
        self,
        data: _Array,
        segment_ids: _Index | None = None,
        num_segments: SupportsIndex | None = None,
        *,
        lengths: _Index | None = None,
        offsets: _Index | None = None,
        starts: _Index | None = None,
        ends: _Index | None = None,
        plan: Plan | None = None,
        indices_are_sorted: bool = True,
        out_of_range: _OutOfRange = "error",
        axis: SupportsIndex = 0,
        checked: bool = False,
        dtype: Any = None,
        out: Any = None,
        nan: _Nan = "propagate",
        accuracy: _Accuracy = "exact",
        stream: Any = None,
    ) -> Any: ...

class _ReduceFold(Protocol):
    def __call__(
        self,
        x: _Array,
        /,
        *,
        axis: _Axis = None,
        keepdims: bool = False,
        where: _Array | bool | None = None,
        dtype: Any = None,
        out: Any = None,
        nan: _Nan = "propagate",
        accuracy: _Accuracy = "exact",
        stream: Any = None,
        initial: Any = None,
    ) -> Any: ...

class _ReduceDdof(Protocol):
    def __call__(
        self,
        x: _Array,
        /,
        *,
        axis: _Axis = None,
        keepdims: bool = False,
        where: _Array | bool | None = None,
        dtype: Any = None,
        out: Any = None,
        nan: _Nan = "propagate",
        accuracy: _Accuracy = "exact",
        stream: Any = None,
        ddof: SupportsIndex = 0,
    ) -> Any: ...

class _SegmentDdof(Protocol):
    def __call__(
        self,
        data: _Array,
        segment_ids: _Index | None = None,
        num_segments: SupportsIndex | None = None,
        *,
        lengths: _Index | None = None,
        offsets: _Index | None = None,
        starts: _Index | None = None,
        ends: _Index | None = None,
        plan: Plan | None = None,
        indices_are_sorted: bool = True,
        out_of_range: _OutOfRange = "error",
        axis: SupportsIndex = 0,
        checked: bool = False,
        dtype: Any = None,
        out: Any = None,
        nan: _Nan = "propagate",
        accuracy: _Accuracy = "exact",
        stream: Any = None,
        ddof: SupportsIndex = 0,
    ) -> Any: ...

class _ReduceStats(Protocol):
    def __call__(
        self,
        x: _Array,
        /,
        *,
        axis: _Axis = None,
        keepdims: bool = False,
        where: _Array | bool | None = None,
        dtype: Any = None,
        out: Any = None,
        nan: _Nan = "propagate",
        accuracy: _Accuracy = "exact",
        stream: Any = None,
        ddof: SupportsIndex = 0,
    ) -> Stats: ...

class _SegmentStats(Protocol):
    def __call__(
        self,
        data: _Array,
        segment_ids: _Index | None = None,
        num_segments: SupportsIndex | None = None,
        *,
        lengths: _Index | None = None,
        offsets: _Index | None = None,
        starts: _Index | None = None,
        ends: _Index | None = None,
        plan: Plan | None = None,
        indices_are_sorted: bool = True,
        out_of_range: _OutOfRange = "error",
        axis: SupportsIndex = 0,
        checked: bool = False,
        dtype: Any = None,
        out: Any = None,
        nan: _Nan = "propagate",
        accuracy: _Accuracy = "exact",
        stream: Any = None,
        ddof: SupportsIndex = 0,
    ) -> Stats: ...

class _ReducePair(Protocol):
    def __call__(
        self,
        x: _Array,
        y: _Array,
        /,
        *,
        axis: _Axis = None,
        keepdims: bool = False,
        where: _Array | bool | None = None,
        dtype: Any = None,
        out: Any = None,
        nan: _Nan = "propagate",
        accuracy: _Accuracy = "exact",
        stream: Any = None,
    ) -> Any: ...

class _SegmentPair(Protocol):
    def __call__(
        self,
        data: _Array,
        other: _Array,
        segment_ids: _Index | None = None,
        num_segments: SupportsIndex | None = None,
        *,
        lengths: _Index | None = None,
        offsets: _Index | None = None,
        starts: _Index | None = None,
        ends: _Index | None = None,
        plan: Plan | None = None,
        indices_are_sorted: bool = True,
        out_of_range: _OutOfRange = "error",
        axis: SupportsIndex = 0,
        checked: bool = False,
        dtype: Any = None,
        out: Any = None,
        nan: _Nan = "propagate",
        accuracy: _Accuracy = "exact",
        stream: Any = None,
    ) -> Any: ...

sum: _ReduceFold
prod: _ReduceFold
min: _ReduceFold
max: _ReduceFold
argmin: _Reduce
argmax: _Reduce
minmax: _Reduce
any: _Reduce
all: _Reduce
count: _Reduce
and_: _ReduceFold
or_: _ReduceFold
xor: _ReduceFold
mean: _Reduce
var: _ReduceDdof
std: _ReduceDdof
stats: _ReduceStats
norm1: _Reduce
norm2: _Reduce
norminf: _Reduce
sumsq: _Reduce
logsumexp: _Reduce
dot: _ReducePair
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
segment_var: _SegmentDdof
segment_std: _SegmentDdof
segment_stats: _SegmentStats
segment_norm1: _Segment
segment_norm2: _Segment
segment_norminf: _Segment
segment_sumsq: _Segment
segment_logsumexp: _Segment
segment_dot: _SegmentPair
