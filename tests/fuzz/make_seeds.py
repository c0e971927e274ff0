"""Writes the corpora of fuzz_state and fuzz_segments: python3 tests/fuzz/make_seeds.py [LIBRARY] (after make)."""
import ctypes
import struct
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
library = ctypes.CDLL(sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "build/libtally.so"))


class Array(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("type", ctypes.c_int),
        ("count", ctypes.c_int64),
        ("stride", ctypes.c_int64),
    ]


EXACT = ["sum", "mean", "norm1", "norm2", "sumsq", "dot", "var", "std", "stats"]
FLOATS = ["f16", "bf16", "f32", "f64"]
NUMBERS = [1.5, -2.75, 3e-5, 40000.0, -0.0, 0.1, -40000.0]
SPECIALS = [float("inf"), 1.0, float("nan"), -1.0]


def packed(type_name, numbers):
    if type_name == "bf16":
        return b"".join(struct.pack("<f", number)[2:] for number in numbers)
    return struct.pack("<%d%s" % (len(numbers), {"f16": "e", "f32": "f", "f64": "d"}[type_name]), *numbers)


def saved_state(op, type_name, count, first, values=None):
    op = library.tally_op_from_name(op.encode())
    type_ = library.tally_type_from_name(type_name.encode())
    state = ctypes.c_void_p()
    assert library.tally_state_open(None, op, type_, ctypes.c_int64(first), ctypes.byref(state)) == 0
    data = ctypes.create_string_buffer(values or bytes(range(256)) * (count * 8 // 256 + 1))
    array = Array(ctypes.addressof(data), type_, count, 0)
    push = library.tally_state_push if library.tally_op_inputs(op) == 1 else library.tally_state_push_pair
    assert push(state, *[array] * library.tally_op_inputs(op)) == 0
    size = ctypes.c_size_t()
    assert library.tally_state_save(state, None, ctypes.c_size_t(0), ctypes.byref(size)) == 0
    out = ctypes.create_string_buffer(size.value)
    assert library.tally_state_save(state, out, size, ctypes.byref(size)) == 0
    library.tally_state_close(state)
    return out.raw


def main():
    states = ROOT / "tests/fuzz/corpus/state"
    for op, type_name, count, first in [("sum", "f64", 5, 0), ("sum", "f64", 1600, 0), ("argmin", "i32", 3000, 1000),
                                        ("stats", "f64", 2000, 512), ("var", "f64", 600, 100), ("xor", "i64", 0, 7)]:
        (states / f"{op}_{type_name}_{count}_{first}").write_bytes(saved_state(op, type_name, count, first))
    for op in EXACT:
        for type_name in FLOATS:
            (states / f"exact_{op}_{type_name}").write_bytes(
                saved_state(op, type_name, len(NUMBERS), 0, packed(type_name, NUMBERS)))
    for op in ("sum", "stats"):
        (states / f"exact_{op}_specials").write_bytes(saved_state(op, "f32", len(SPECIALS), 0, packed("f32", SPECIALS)))
    (states / "bad_magic").write_bytes(b"TALLYSTX" + bytes(200))
    segments = ROOT / "tests/fuzz/corpus/segments"
    seeds = {
        "offsets_i32": (0, 11, 0, 0, 10, struct.pack("<5i", 0, 3, 3, 7, 10)),
        "offsets_i64": (2, 3, 0, 1, 10, struct.pack("<4q", 1, 3, 3, 9)),
        "offsets_decrease": (0, 11, 0, 0, 10, struct.pack("<4i", 0, 5, 3, 10)),
        "lengths": (16, 11, 1, 0, 12, struct.pack("<5i", 3, 0, 2, 1, 6)),
        "lengths_negative": (0, 11, 1, 1, 12, struct.pack("<3q", 3, -1, 2)),
        "segment_ids": (4, 11, 2, 2, 6, struct.pack("<6i", 0, 0, 2, 2, 2, 5)),
        "segment_ids_unsorted": (4, 11, 2, 2, 6, struct.pack("<6i", 0, 3, 2, 2, 2, 5)),
        "rows": (0, 11, 3, 5, 30, bytes([3, 2])),
    }
    for name, (op, type_, cut, count, values, index) in seeds.items():
        (segments / name).write_bytes(bytes([op, type_, cut, count]) + struct.pack("<H", values) + index)


main()
