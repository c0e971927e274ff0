"""A small ctypes binding for the tests. What types and operators there are is read from include/tally/tables.h.

TALLY_LIBRARY names the shared library, TALLY_COMMAND the command; by default those in build/.
"""
import ctypes as c
import os
import pathlib
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = os.environ.get("TALLY_COMMAND", str(ROOT / "build" / "tally"))
LIBRARY = os.environ.get("TALLY_LIBRARY", str(ROOT / "build" / "libtally.so"))
sys.path.insert(0, str(ROOT / "tools"))

import tables  # noqa: E402

# ---- the tables ----


CONSTANTS, rows = tables.CONSTANTS, tables.rows


class Type:
    def __init__(self, number, identifier, name, numpy, size, kind):
        self.number, self.identifier, self.name, self.numpy, self.size = number, identifier, name, numpy, int(size)
        self.mask, self.kind = CONSTANTS[kind], kind.removeprefix("TALLY_CLASS_").lower()


class Operator:
    def __init__(self, number, identifier, name, kernel, inputs, on, gives, order, empty, nans, summary):
        self.number, self.identifier, self.name, self.kernel = number, identifier, name, kernel
        self.inputs = int(inputs)
        self.on, self.gives, self.order, self.empty, self.nans, self.summary = on, gives, order, empty, nans, summary

    def takes(self, type_name):
        return bool(tables.mask(self.on) & TYPES[type_name].mask)

    def exact(self, type_name):
        """Whether its results are true values rounded once, unless accuracy is fast."""
        return TYPES[type_name].kind == "float" and self.identifier in EXACT_SUMS

    def order_shows(self, type_name, accuracy="best"):
        floats = TYPES[type_name].kind == "float"
        if self.exact(type_name) and accuracy != "fast":
            return False
        return self.order == "TALLY_ORDER_FIXED" or (self.order == "TALLY_ORDER_FREE_INTS" and floats)


TYPES = {row[1]: Type(number, *row) for number, row in enumerate(rows("TALLY_TYPES"), 1)}
OPERATORS = {row[1]: Operator(number, *row) for number, row in enumerate(rows("TALLY_OPERATORS"))}
EXACT_SUMS = {row[0]: row[1] for row in rows("TALLY_EXACT_SUMS")}
STATUSES = {int(row[1]): row[0] for row in rows("TALLY_STATUSES")}
STRUCT = len(TYPES) + 1
NANS = {"propagate": 0, "skip": 1, "total": 2}
ACCURACIES = {"best": 0, "fast": 1, "exact": 2}
SEGMENTATIONS = {"offsets": 0, "lengths": 1, "segment_ids": 2, "rows": 3}

# Values as they lie in memory: f16, bf16 and bool as their bits.
RAW = {t: {"bool": "u1", "f16": "u2", "bf16": "u2"}.get(t, row.numpy) for t, row in TYPES.items()}


# ---- the structs of tally.h ----


class Array(c.Structure):
    _fields_ = [("data", c.c_void_p), ("type", c.c_int), ("count", c.c_int64), ("stride", c.c_int64)]


class Segments(c.Structure):
    _fields_ = [("kind", c.c_int), ("index", c.c_void_p), ("index_type", c.c_int), ("count", c.c_int64),
                ("length", c.c_int64), ("inner", c.c_int64), ("ends", c.c_void_p), ("outside", c.c_int),
                ("plan", c.c_void_p)]


class Options(c.Structure):
    _fields_ = [
        ("size", c.c_size_t),
        ("accuracy", c.c_int),
        ("nan", c.c_int),
        ("threads", c.c_int),
        ("ddof", c.c_int),
        ("backend", c.c_int),
        ("overflow", c.c_int),
        ("device", c.c_int),
        ("stream", c.c_void_p),
        ("scratch", c.c_void_p),
        ("scratch_bytes", c.c_size_t),
        ("checked", c.c_int),
    ]


LIFT = c.CFUNCTYPE(None, c.c_void_p, c.c_void_p, c.c_int64, c.c_int64, c.c_void_p)
COMBINE = c.CFUNCTYPE(None, c.c_void_p, c.c_void_p, c.c_int64, c.c_void_p)
FINISH = c.CFUNCTYPE(None, c.c_void_p, c.c_void_p, c.c_int64, c.c_void_p)


class Definition(c.Structure):
    _fields_ = [("size", c.c_size_t), ("name", c.c_char_p), ("input", c.c_int), ("input_size", c.c_size_t),
                ("acc_size", c.c_size_t), ("result", c.c_int), ("result_size", c.c_size_t), ("commutative", c.c_int),
                ("identity", c.c_void_p), ("lift", LIFT), ("combine", COMBINE), ("finish", FINISH),
                ("user", c.c_void_p), ("text", c.c_char_p)]


def load(path=LIBRARY):
    lib = c.CDLL(path)
    handle, number, size = c.c_void_p, c.c_int64, c.c_size_t
    for name, result, arguments in [
        ("context_create", c.c_int, [handle, handle]),
        ("context_destroy", None, [handle]),
        ("set_options", c.c_int, [handle, handle]),
        ("message", c.c_char_p, []),
        ("reduce", c.c_int, [handle, c.c_int, Array, Array]),
        ("reduce_pair", c.c_int, [handle, c.c_int, Array, Array, Array]),
        ("reduce_segments", c.c_int, [handle, c.c_int, Array, Segments, Array]),
        ("reduce_segments_pair", c.c_int, [handle, c.c_int, Array, Array, Segments, Array]),
        ("result_type", c.c_int, [handle, c.c_int, c.c_int, handle, handle]),
        ("leaf_length", number, [c.c_int]),
        ("define", c.c_int, [handle, handle, handle]),
        ("state_open", c.c_int, [handle, c.c_int, c.c_int, number, handle]),
        ("state_close", None, [handle]),
        ("state_push", c.c_int, [handle, Array]),
        ("state_push_pair", c.c_int, [handle, Array, Array]),
        ("state_merge", c.c_int, [handle, handle]),
        ("state_count", number, [handle]),
        ("state_first", number, [handle]),
        ("state_finish", c.c_int, [handle, Array]),
        ("state_save", c.c_int, [handle, handle, size, handle]),
        ("state_load", c.c_int, [handle, handle, size, handle]),
        ("cpu_isa", c.c_char_p, []),
        ("cpu_threads", c.c_int, []),
    ]:
        function = getattr(lib, "tally_" + name)
        function.restype, function.argtypes = result, arguments
    return lib


lib = load()


class Failure(Exception):
    def __init__(self, status):
        self.status = STATUSES[status]
        super().__init__(f"{self.status}: {lib.tally_message().decode()}")


def check(status):
    if status:
        raise Failure(status)


def describe(type_number, x):
    """The tally_array of a numpy array of one dimension, which has to outlive it."""
    stride = x.strides[0] if x.size > 1 else 0
    return Array(x.ctypes.data if x.size else None, type_number, x.size, stride)


class Results:
    """What a call wrote: `status` ("OK", "EMPTY", "OVERFLOW") and the bytes of each result."""

    def __init__(self, status, data, size):
        if STATUSES[status] not in ("OK", "EMPTY", "OVERFLOW"):
            raise Failure(status)
        self.status = STATUSES[status]
        self.bytes = [bytes(data[i * size:(i + 1) * size]) for i in range(len(data) // size if size else 0)]


class Context:
    """Calls on one context. Values are numpy arrays of the dtype in RAW; `out` names another type for results. Sums of
    integers wrap around, unless told otherwise."""

    def __init__(self, nan="propagate", threads=0, ddof=0, backend=0, accuracy="best", wraps=True):
        self.handle = c.c_void_p()
        check(lib.tally_context_create(None, c.byref(self.handle)))
        self.options = Options(c.sizeof(Options), ACCURACIES[accuracy], NANS[nan], threads, ddof, backend, wraps)
        check(lib.tally_set_options(self.handle, c.byref(self.options)))

    def __del__(self):
        if self.handle:
            lib.tally_context_destroy(self.handle)

    def result(self, op, type_name):
        """The number of the result type, and the bytes of one result."""
        result, size = c.c_int(), c.c_size_t()
        check(lib.tally_result_type(self.handle, number_of(op), type_of(type_name), c.byref(result), c.byref(size)))
        return result.value, size.value

    def room(self, op, type_name, out, count):
        natural, size = self.result(op, type_name)
        if out is not None:
            size = TYPES[out].size * (2 if op == "minmax" else 1)
        data = bytearray(b"\xa5" * (size * count))
        buffer = (c.c_char * len(data)).from_buffer(data) if data else None
        number = 0 if out is None else TYPES[out].number
        return data, size, Array(c.addressof(buffer) if data else None, number, count, 0)

    def reduce(self, op, type_name, x, y=None, out=None):
        data, size, sink = self.room(op, type_name, out, 1)
        inputs = [describe(type_of(type_name), v) for v in (x, y) if v is not None]
        call = lib.tally_reduce if y is None else lib.tally_reduce_pair
        return Results(call(self.handle, number_of(op), *inputs, sink), data, size)

    def segments(self, op, type_name, x, segmentation, index=None, count=None, length=0, inner=1, y=None, out=None):
        if segmentation == "rows":
            segments = Segments(SEGMENTATIONS[segmentation], None, 0, count, length, inner)
            results = count * inner
        else:
            count = {"offsets": len(index) - 1, "lengths": len(index), "segment_ids": count}[segmentation]
            kind = TYPES["i32" if index.dtype == np.int32 else "i64"].number
            address = index.ctypes.data if index.size else None
            segments = Segments(SEGMENTATIONS[segmentation], address, kind, count, 0, 0)
            results = count
        data, size, sink = self.room(op, type_name, out, results)
        inputs = [describe(type_of(type_name), v) for v in (x, y) if v is not None]
        call = lib.tally_reduce_segments if y is None else lib.tally_reduce_segments_pair
        return Results(call(self.handle, number_of(op), *inputs, segments, sink), data, size)

    def state(self, op, type_name, first=0):
        handle = c.c_void_p()
        check(lib.tally_state_open(self.handle, number_of(op), type_of(type_name), first, c.byref(handle)))
        return State(self, op, type_name, handle)

    def load(self, op, type_name, saved):
        handle = c.c_void_p()
        check(lib.tally_state_load(self.handle, saved, len(saved), c.byref(handle)))
        return State(self, op, type_name, handle)

    def define(self, **fields):
        """tally_define. The callbacks have to outlive the context; so does what is returned beside the number."""
        definition, number = Definition(size=c.sizeof(Definition), **fields), c.c_int()
        check(lib.tally_define(self.handle, c.byref(definition), c.byref(number)))
        return number.value, definition


class State:
    def __init__(self, context, op, type_name, handle):
        self.context, self.op, self.type_name, self.handle = context, op, type_name, handle

    def __del__(self):
        lib.tally_state_close(self.handle)

    def push(self, x, y=None):
        inputs = [describe(type_of(self.type_name), v) for v in (x, y) if v is not None]
        check((lib.tally_state_push if y is None else lib.tally_state_push_pair)(self.handle, *inputs))
        return self

    def merge(self, later):
        check(lib.tally_state_merge(self.handle, later.handle))
        return self

    def finish(self, out=None):
        data, size, sink = self.context.room(self.op, self.type_name, out, 1)
        return Results(lib.tally_state_finish(self.handle, sink), data, size)

    def save(self):
        size = c.c_size_t()
        check(lib.tally_state_save(self.handle, None, 0, c.byref(size)))
        data = c.create_string_buffer(size.value)
        check(lib.tally_state_save(self.handle, data, size.value, c.byref(size)))
        return data.raw

    @property
    def count(self):
        return lib.tally_state_count(self.handle)

    @property
    def first(self):
        return lib.tally_state_first(self.handle)


def number_of(op):
    return OPERATORS[op].number if isinstance(op, str) else op


def type_of(type_name):
    return TYPES[type_name].number if isinstance(type_name, str) else type_name
