"""What differs between array libraries: how results are made, and which stream is current.

The extension asks `family_of` once for each type of array. "numpy" and None (plain buffers) are served by the extension
itself; other libraries have a class here, with these static methods:

    empty(like, shape, dtype): a new array of that library beside `like`, and its address (None: it has a buffer).
    stream(like): the CUDA stream that the library works on now, as an int; None for the default stream.
    view(x): optional; what to read in the place of x.
    finish(array, like): optional; the caller's kind of array, beside `like`, of what `empty` made.

No library is imported before one of its arrays is met. `dtype` is Tally's name ("f32").
"""

from __future__ import annotations

import sys
from math import prod

WORDS = {
    "bool": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
    "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
    "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64",
}  # fmt: skip
FORMATS = {
    "bool": "?", "i8": "b", "i16": "h", "i32": "i", "i64": "q",
    "u8": "B", "u16": "H", "u32": "I", "u64": "Q", "f16": "e", "f32": "f", "f64": "d",
}  # fmt: skip


class Torch:
    dtypes = {}

    @classmethod
    def empty(cls, like, shape, dtype):
        found = cls.dtypes.get(dtype)
        result = like.new_empty(shape, dtype=found or cls.dtype(dtype))
        return result, result.data_ptr()

    @classmethod
    def dtype(cls, name):
        import torch

        return cls.dtypes.setdefault(name, getattr(torch, WORDS[name]))

    @staticmethod
    def stream(like):
        import torch

        return torch.cuda.current_stream(like.device).cuda_stream


class Cupy:
    @staticmethod
    def empty(like, shape, dtype):
        import cupy

        with like.device:
            result = cupy.empty(shape, WORDS[dtype])
        return result, result.data.ptr

    @staticmethod
    def stream(like):
        import cupy

        with like.device:
            return cupy.cuda.get_current_stream().ptr


class OnHost:
    """Libraries whose arrays cannot be written to: results go to memory of NumPy first. Where the array lies on a GPU,
    the call waits for them."""

    @staticmethod
    def empty(like, shape, dtype):
        import numpy

        return numpy.empty(shape, WORDS[dtype]), None

    @staticmethod
    def stream(like):
        return None


class Jax(OnHost):
    @staticmethod
    def empty(like, shape, dtype):
        import jax.numpy
        import numpy

        # NumPy has no bfloat16 of its own, and its buffers none at all
        result = numpy.empty(shape, jax.numpy.dtype(WORDS[dtype]))
        return result, result.__array_interface__["data"][0]

    @staticmethod
    def finish(array, like):
        import jax

        (device,) = like.devices()
        return jax.device_put(array, device)


class JaxTracer(OnHost):
    @staticmethod
    def view(x):
        raise TypeError("there are no values while JAX traces a function (jit, vmap, grad); use tally_reduce.jax")


class ArrayApiStrict(OnHost):
    @staticmethod
    def finish(array, like):
        import array_api_strict

        return array_api_strict.asarray(array)


class OfNumpy(OnHost):
    """Results are NumPy's."""

    @staticmethod
    def finish(array, like):
        return array[()] if array.ndim == 0 else array


class Pandas(OfNumpy):
    """Series and their like: read as NumPy arrays."""

    @staticmethod
    def view(x):
        kind = getattr(x.dtype, "numpy_dtype", None)  # of dtypes that know missing values
        if kind is not None and x.isna().any():
            raise ValueError("the Series has missing values; drop or fill them first: x.dropna(), x.fillna(0)")
        return x.to_numpy(kind)


class ArrowChunks(OfNumpy):
    @staticmethod
    def view(x):
        return x.chunk(0) if x.num_chunks == 1 else x.combine_chunks()


HANDLERS = {
    "torch": Torch,
    "cupy": Cupy,
    "jax": Jax,
    "jaxlib": Jax,
    "array_api_strict": ArrayApiStrict,
    "pandas": Pandas,
    "pyarrow": OfNumpy,
}


def family_of(kind):
    bases = [(base.__module__.partition(".")[0], base.__name__) for base in kind.__mro__]
    if ("jax", "Tracer") in bases:
        return JaxTracer
    if ("pyarrow", "ChunkedArray") in bases:
        return ArrowChunks
    for library, name in bases:
        if library == "numpy":
            return "numpy" if name == "ndarray" else None
        if library in HANDLERS:
            return HANDLERS[library]
    return None


def numpy_parts():
    """numpy.empty, and NumPy's dtypes by Tally's names."""
    numpy = sys.modules["numpy"]
    names = {name: word for name, word in WORDS.items() if name != "bf16"}
    return numpy.empty, {name: numpy.dtype(word) for name, word in names.items()}


def buffer_empty(shape, dtype):
    """A memoryview of its own memory, for callers of plain buffers."""
    if dtype not in FORMATS:
        raise TypeError(f"no buffer can hold {WORDS[dtype]}; ask for dtype='float32'")
    from array import array

    code = FORMATS[dtype]
    size = array("b" if code == "?" else "h" if code == "e" else code).itemsize
    memory = memoryview(bytearray(prod(shape) * size))
    if 0 in shape:
        if len(shape) > 1:
            raise ValueError("a memoryview of several axes cannot be empty; pass a NumPy array")
        return memory.cast(code), None
    return memory.cast(code, shape) if len(shape) > 1 else memory.cast(code), None


def stats_of(words, dtype, handler, like):
    """Six arrays beside `like` of the last axis of `words` (integers of 64 bits, some of them the bits of floats)."""
    from . import Stats

    kinds = ["i64", dtype, dtype, dtype, "f64", "f64"]
    if type(words) is memoryview:
        whole = words.cast("B")
        count = len(whole) // 48
        columns = [
            memoryview(b"".join(whole[48 * k + 8 * field : 48 * k + 8 * field + 8] for k in range(count))).cast(
                FORMATS[kinds[field]], words.shape[:-1] or (count,)
            )
            for field in range(6)
        ]
        return Stats(*columns)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(words, torch.Tensor):
        return Stats(*(words[..., k].view(getattr(torch, WORDS[kind])) for k, kind in enumerate(kinds)))
    columns = (words[..., k].view(WORDS[kind]) for k, kind in enumerate(kinds))
    return Stats(*(handler.finish(column, like) for column in columns) if hasattr(handler, "finish") else columns)
