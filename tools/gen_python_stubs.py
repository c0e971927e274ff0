#!/usr/bin/env python3
"""Writes the types of the Python modules, python/tally_reduce/*.pyi, from include/tally/tables.h.

tools/gen_python_stubs.py            writes them
tools/gen_python_stubs.py --check    says whether they are what this would write
"""

import sys
from pathlib import Path

import tables

FOLDER = Path(__file__).resolve().parents[1] / "python" / "tally_reduce"

HEAD = '''\
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
'''
AXES = ["axis: _Axis = None", "keepdims: bool = False", "where: _Array | bool | None = None"]
OPTIONS = [
    "dtype: Any = None",
    "out: Any = None",
    'nan: _Nan = "propagate"',
    'accuracy: _Accuracy = "exact"',
    "stream: Any = None",
]
CUTS = [
    "lengths: _Index | None = None",
    "offsets: _Index | None = None",
    "starts: _Index | None = None",
    "ends: _Index | None = None",
    "plan: Plan | None = None",
    "indices_are_sorted: bool = True",
    'out_of_range: _OutOfRange = "error"',
    "axis: SupportsIndex = 0",
    "checked: bool = False",
]
IDS = ["segment_ids: _Index | None = None", "num_segments: SupportsIndex | None = None"]
INITIAL, DDOF = "initial: Any = None", "ddof: SupportsIndex = 0"


# Kinds of functions: operators of one array, those that take initial or ddof, stats, and operators of two arrays.
KINDS = {
    "": (1, [], "Any"),
    "Fold": (1, [INITIAL], "Any"),
    "Ddof": (1, [DDOF], "Any"),
    "Stats": (1, [DDOF], "Stats"),
    "Pair": (2, [], "Any"),
}


def function(name, parameters, gives="Any", indent=""):
    lines = [f"{indent}def {name}("] + [f"{indent}    {parameter}," for parameter in parameters]
    return "\n".join([*lines, f"{indent}) -> {gives}: ...", ""])


def kinds():
    for kind, (inputs, more, gives) in KINDS.items():
        reduce = ["self", *["x: _Array", "y: _Array"][:inputs], "/", "*", *AXES, *OPTIONS, *more]
        yield f"class _Reduce{kind}(Protocol):\n" + function("__call__", reduce, gives, "    ") + "\n"
        if kind != "Fold":
            data = ["self", *["data: _Array", "other: _Array"][:inputs], *IDS, "*", *CUTS, *OPTIONS, *more]
            yield f"class _Segment{kind}(Protocol):\n" + function("__call__", data, gives, "    ") + "\n"


def kind_of(row):
    name, inputs, gives = row[1], row[3], row[5]
    if name == "stats":
        return "Stats"
    if [row[0]] in tables.rows("TALLY_WITH_DDOF"):
        return "Ddof"
    if inputs == "2":
        return "Pair"
    return "Fold" if gives in ("TALLY_GIVES_WIDE", "TALLY_GIVES_SAME") else ""


def functions():
    op = "op: str | define"
    yield function("reduce", ["x: _Array", op, "/", "*", *AXES, INITIAL, *OPTIONS, DDOF])
    yield function("segment_reduce", ["data: _Array", op, "/", "*", *IDS, *CUTS, *OPTIONS, DDOF]) + "\n"
    yield from kinds()
    for row in tables.rows("TALLY_OPERATORS"):
        python = row[1] + "_" if row[1] in ("and", "or") else row[1]
        yield f"{python}: _Reduce{kind_of(row)}\n"
    for row in tables.rows("TALLY_OPERATORS"):
        yield f"segment_{row[1]}: _Segment{kind_of(row).replace('Fold', '')}\n"


# ---- tally_reduce.torch, tally_reduce.jax and tally_reduce.dask ----

TRACED_HEAD = '''\
# Made by tools/gen_python_stubs.py from include/tally/tables.h.
from collections.abc import Sequence
from typing import Any, Literal, Protocol, TypeAlias

{imports}

_Axis: TypeAlias = int | Sequence[int] | None
_Nan: TypeAlias = Literal["propagate", "skip", "total"]
_Accuracy: TypeAlias = Literal["exact", "fast"]
_OutOfRange: TypeAlias = Literal["error", "drop"]

__all__: list[str]

'''
LIBRARIES = {
    "torch": "from torch import Tensor as _Array\nfrom torch import dtype as _DType\n"
    "from torch.distributed import ProcessGroup as _Group\n\n_In: TypeAlias = _Array\n"
    "_Index: TypeAlias = _Array | Sequence[int]",
    "jax": "from jax import Array as _Array\nfrom jax.typing import ArrayLike as _In\n"
    "from jax.typing import DTypeLike as _DType\n\n_Index: TypeAlias = _In | Sequence[int]",
}
TRACED = ["dtype: _DType | None = None", 'nan: _Nan = "propagate"', 'accuracy: _Accuracy = "exact"', "ddof: int = 0"]
TRACED_AXES = ["axis: _Axis = None", "keepdims: bool = False"]
TRACED_IDS = ["segment_ids: _Index | None = None", "num_segments: int | None = None"]
TRACED_CUTS = ["lengths: _Index | None = None", "offsets: _Index | None = None", "indices_are_sorted: bool = True"]


def traced(library):
    """The stub of a module that has functions for tensors of one library."""
    dropping = ['out_of_range: _OutOfRange = "error"', "axis: int = 0"]
    segments = [*TRACED_IDS, "*", *TRACED_CUTS, *dropping, *TRACED]
    yield TRACED_HEAD.format(imports=LIBRARIES[library])
    yield function("reduce", ["x: _In", "op: str", "/", "*", *TRACED_AXES, *TRACED], "_Array")
    yield function("segment_reduce", ["data: _In", "op: str", "/", *segments], "_Array")
    softmax = ["data: _In", *TRACED_IDS, "*", *TRACED_CUTS, "axis: int = 0"]
    yield function("segment_softmax", softmax, "_Array") + "\n"
    if library == "torch":
        group = ["x: _In", "op: str", "/", "group: _Group | None = None", "*", *TRACED_AXES, *TRACED]
        yield function("all_reduce", group, "Any") + "\n"
    for kind, parameters in (("Reduce", ["x: _In", "/", "*", *TRACED_AXES]), ("Segment", ["data: _In", *segments])):
        options = TRACED if kind == "Reduce" else []
        yield f"class _{kind}(Protocol):\n" + function("__call__", ["self", *parameters, *options], "_Array", "    ")
        yield "\n"
    names = [row[1] for row in tables.rows("TALLY_OPERATORS") if row[1] != "stats" and row[3] == "1"]
    yield from (f"{name + '_' * (name in ('and', 'or'))}: _Reduce\n" for name in names)
    yield from (f"segment_{name}: _Segment\n" for name in names)


DASK_HEAD = '''\
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

'''


def dask():
    options = [*TRACED_AXES, "dtype: Any = None", *TRACED[1:], "split_every: int | dict[int, int] | None = None"]
    yield DASK_HEAD
    yield function("reduce", ["x: _In", "op: str", "/", "*", *options], "Any") + "\n"
    for kind, gives in (("", "_Array"), ("Stats", "Stats")):
        yield f"class _Reduce{kind}(Protocol):\n"
        yield function("__call__", ["self", "x: _In", "/", "*", *options], gives, "    ") + "\n"
    names = [row[1] for row in tables.rows("TALLY_OPERATORS") if row[3] == "1"]
    yield from (f"{name + '_' * (name in ('and', 'or'))}: _Reduce{'Stats' * (name == 'stats')}\n" for name in names)


def main():
    texts = {"__init__": HEAD + "".join(functions())} | {name: "".join(traced(name)) for name in LIBRARIES}
    texts["dask"] = "".join(dask())
    wrong = 0
    for name, text in texts.items():
        file = FOLDER / f"{name}.pyi"
        if sys.argv[1:] != ["--check"]:
            file.write_text(text)
        elif not file.exists() or file.read_text() != text:
            print(f"{file.name} is not what the tables say: run make generated")
            wrong += 1
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
